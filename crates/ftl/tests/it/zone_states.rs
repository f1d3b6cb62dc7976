//! The states of zones against a reference that is written another way: it keeps lists of what holds a resource, and sets of
//! sectors.

use device::Rng;
use ftl::{ZoneError, ZoneLimits, ZoneState, ZoneStates};
use std::collections::BTreeSet;

/// Zones by what they hold, as the specification tells it.
#[derive(Default)]
struct Reference {
    limits: Option<ZoneLimits>,
    /// Sectors that were written, and not reset.
    written: BTreeSet<(u32, u32)>,
    /// Zones that hold an open resource, in the order in which they were last written; with `true`: the host opened it.
    open: Vec<(u32, bool)>,
    closed: BTreeSet<u32>,
    full: BTreeSet<u32>,
    read_only: BTreeSet<u32>,
    offline: BTreeSet<u32>,
    implicit_closes: u64,
}

impl Reference {
    fn state(&self, zone: u32) -> ZoneState {
        if self.offline.contains(&zone) {
            ZoneState::Offline
        } else if self.read_only.contains(&zone) {
            ZoneState::ReadOnly
        } else if self.full.contains(&zone) {
            ZoneState::Full
        } else if self.closed.contains(&zone) {
            ZoneState::Closed
        } else {
            match self.open.iter().find(|(open, _)| *open == zone) {
                Some((_, true)) => ZoneState::ExplicitlyOpen,
                Some((_, false)) => ZoneState::ImplicitlyOpen,
                None => ZoneState::Empty,
            }
        }
    }

    fn sectors(&self, zone: u32) -> u32 {
        self.written.range((zone, 0)..(zone + 1, 0)).count() as u32
    }

    fn refuse(&self, zone: u32) -> Result<(), ZoneError> {
        match self.state(zone) {
            ZoneState::Full => Err(ZoneError::Full),
            ZoneState::ReadOnly => Err(ZoneError::ReadOnly),
            ZoneState::Offline => Err(ZoneError::Offline),
            _ => Ok(()),
        }
    }

    /// The zone gets an open resource, as the last in the order of writes.
    fn hold_open(&mut self, zone: u32, by_host: bool) -> Result<(), ZoneError> {
        let limits = self.limits.unwrap();
        if let Some(at) = self.open.iter().position(|(open, _)| *open == zone) {
            let (_, was) = self.open.remove(at);
            self.open.push((zone, was || by_host));
            return Ok(());
        }
        let active = self.open.len() + self.closed.len();
        if !self.closed.contains(&zone) && active == limits.max_active as usize {
            return Err(ZoneError::TooManyActive);
        }
        if self.open.len() == limits.max_open as usize {
            let at = self.open.iter().position(|(_, by_host)| !by_host).ok_or(ZoneError::TooManyOpen)?;
            self.closed.insert(self.open.remove(at).0);
            self.implicit_closes += 1;
        }
        self.closed.remove(&zone);
        self.open.push((zone, by_host));
        Ok(())
    }

    fn let_go(&mut self, zone: u32) {
        self.open.retain(|(open, _)| *open != zone);
        self.closed.remove(&zone);
    }

    fn append(&mut self, zone: u32, sectors: u32) -> Result<u32, ZoneError> {
        self.refuse(zone)?;
        let (offset, capacity) = (self.sectors(zone), self.limits.unwrap().capacity);
        if offset + sectors > capacity {
            return Err(ZoneError::Boundary);
        }
        self.hold_open(zone, false)?;
        self.written.extend((offset..offset + sectors).map(|sector| (zone, sector)));
        if offset + sectors == capacity {
            self.let_go(zone);
            self.full.insert(zone);
        }
        Ok(offset)
    }

    fn write(&mut self, zone: u32, offset: u32, sectors: u32) -> Result<(), ZoneError> {
        self.refuse(zone)?;
        if offset != self.sectors(zone) { Err(ZoneError::NotAtPointer) } else { self.append(zone, sectors).map(drop) }
    }

    fn open(&mut self, zone: u32) -> Result<(), ZoneError> {
        match self.state(zone) {
            ZoneState::Full | ZoneState::ReadOnly | ZoneState::Offline => Err(ZoneError::Transition),
            _ => self.hold_open(zone, true),
        }
    }

    fn close(&mut self, zone: u32) -> Result<(), ZoneError> {
        if !self.open.iter().any(|(open, _)| *open == zone) && !self.closed.contains(&zone) {
            return Err(ZoneError::Transition);
        }
        self.let_go(zone);
        self.closed.insert(zone);
        Ok(())
    }

    fn finish(&mut self, zone: u32) -> Result<u32, ZoneError> {
        match self.state(zone) {
            ZoneState::Full => return Ok(0),
            ZoneState::ReadOnly | ZoneState::Offline => return Err(ZoneError::Transition),
            _ => self.let_go(zone),
        }
        self.full.insert(zone);
        Ok(self.limits.unwrap().capacity - self.sectors(zone))
    }

    fn reset(&mut self, zone: u32) -> Result<u32, ZoneError> {
        if matches!(self.state(zone), ZoneState::ReadOnly | ZoneState::Offline) {
            return Err(ZoneError::Transition);
        }
        let held = self.sectors(zone);
        self.let_go(zone);
        self.full.remove(&zone);
        self.written.retain(|(of, _)| *of != zone);
        Ok(held)
    }
}

fn lives(limits: ZoneLimits, seed: u64, commands: u32) {
    let mut zones = ZoneStates::new(limits);
    let mut reference = Reference { limits: Some(limits), ..Reference::default() };
    let mut rng = Rng::stream(seed, "zones");
    for _ in 0..commands {
        let zone = rng.below(limits.zones.into()) as u32;
        let sectors = 1 + rng.below(6) as u32;
        match rng.below(100) {
            0..40 => assert_eq!(zones.append(zone, sectors), reference.append(zone, sectors)),
            40..60 => {
                // Mostly where it belongs.
                let offset = if rng.below(8) == 0 { rng.below(12) as u32 } else { reference.sectors(zone) };
                assert_eq!(zones.write(zone, offset, sectors), reference.write(zone, offset, sectors));
            }
            60..70 => assert_eq!(zones.open(zone), reference.open(zone)),
            70..78 => assert_eq!(zones.close(zone), reference.close(zone)),
            78..84 => assert_eq!(zones.finish(zone), reference.finish(zone)),
            84..98 => assert_eq!(zones.reset(zone), reference.reset(zone)),
            98 if rng.below(20) == 0 => {
                let expected = match reference.state(zone) {
                    ZoneState::Offline => Err(ZoneError::Transition),
                    _ => Ok(()),
                };
                assert_eq!(zones.make_read_only(zone), expected);
                if expected.is_ok() {
                    reference.let_go(zone);
                    reference.full.remove(&zone);
                    reference.read_only.insert(zone);
                }
            }
            99 if rng.below(20) == 0 => {
                zones.take_offline(zone);
                reference.let_go(zone);
                reference.written.retain(|(of, _)| *of != zone);
                reference.offline.insert(zone);
            }
            _ => {}
        }
        let of_all = 0..limits.zones;
        for zone in of_all.clone() {
            assert_eq!(zones.state(zone), reference.state(zone), "zone {zone}");
            assert_eq!(zones.readable(zone), reference.sectors(zone), "nothing is readable that is not written");
            match zones.state(zone) {
                ZoneState::Full => assert_eq!(zones.pointer(zone), limits.capacity),
                ZoneState::ReadOnly => assert!(zones.pointer(zone) >= zones.readable(zone)),
                _ => assert_eq!(zones.pointer(zone), zones.readable(zone)),
            }
        }
        assert_eq!(zones.open_count() as usize, reference.open.len());
        assert_eq!(zones.active_count() as usize, reference.open.len() + reference.closed.len());
        assert!(zones.open_count() <= limits.max_open && zones.active_count() <= limits.max_active);
        let counters = zones.counters();
        assert_eq!(counters.closed_implicitly, reference.implicit_closes);
        let readable: u64 = of_all.map(|zone| u64::from(zones.readable(zone))).sum();
        assert_eq!(counters.written_sectors, readable + counters.reset_sectors);
    }
}

#[test]
fn zones_do_what_a_reference_of_sets_does() {
    for seed in 0..60 {
        let capacity = [5, 8, 11, 16][seed as usize % 4];
        let max_active = 1 + seed as u32 % 6;
        let max_open = 1 + seed as u32 / 6 % max_active;
        lives(ZoneLimits { zones: 9, capacity, max_open, max_active }, seed, 3_000);
    }
}

#[test]
fn a_write_takes_the_open_resource_of_the_zone_that_was_written_longest_ago() {
    let mut zones = ZoneStates::new(ZoneLimits { zones: 4, capacity: 8, max_open: 2, max_active: 3 });
    zones.append(0, 1).unwrap();
    zones.append(1, 1).unwrap();
    zones.append(0, 1).unwrap();
    zones.append(2, 1).unwrap();
    assert_eq!(
        [0, 1, 2].map(|zone| zones.state(zone)),
        [ZoneState::ImplicitlyOpen, ZoneState::Closed, ZoneState::ImplicitlyOpen]
    );
    assert_eq!(zones.append(3, 1), Err(ZoneError::TooManyActive));
    // Zones that the host opened are not closed for others.
    zones.open(0).unwrap();
    zones.open(2).unwrap();
    assert_eq!(zones.append(1, 1), Err(ZoneError::TooManyOpen));
    zones.finish(2).unwrap();
    assert_eq!(zones.append(1, 1), Ok(1));
    assert_eq!(zones.append(3, 1), Ok(0));
    assert_eq!(zones.state(1), ZoneState::Closed);
}
