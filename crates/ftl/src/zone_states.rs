//! The states of zones, as NVMe's zoned namespaces have them: a pure machine, which knows no flash.
//!
//! A zone is written in order, from its first sector to its last, and reset as a whole. A zone with sectors that may still be
//! written takes one of the device's active resources, and one that takes writes right now an open one. A write to a zone that is
//! not open opens it implicitly; where all open resources are taken, the zone that was opened implicitly and written longest ago
//! is closed for it. Without an active resource the write is refused.
//!
//! Invariants:
//! - open zones are at most `max_open`, active ones (open and closed) at most `max_active`;
//! - a zone is readable below its write pointer and nowhere else;
//! - sectors written since the start = the sum of write pointers + sectors that resets have given up.

use std::collections::VecDeque;

/// The state of a zone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ZoneState {
    /// Nothing is written.
    #[default]
    Empty,
    /// Open since a write.
    ImplicitlyOpen,
    /// Open since the host said so.
    ExplicitlyOpen,
    /// Not open, and it may be written on.
    Closed,
    /// It takes no more until it is reset.
    Full,
    /// It can be read and no more be written.
    ReadOnly,
    /// It can't be used at all.
    Offline,
}

impl ZoneState {
    /// Whether the zone takes an open resource.
    pub fn is_open(self) -> bool {
        matches!(self, ZoneState::ImplicitlyOpen | ZoneState::ExplicitlyOpen)
    }

    /// Whether the zone takes an active resource.
    pub fn is_active(self) -> bool {
        self.is_open() || self == ZoneState::Closed
    }
}

/// The reason why a command to a zone is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ZoneError {
    /// All active resources are taken.
    #[error("too many active zones")]
    TooManyActive,
    /// All open resources are taken by zones that the host opened itself.
    #[error("too many open zones")]
    TooManyOpen,
    /// A write that does not begin where the zone is written to.
    #[error("the write is not at the zone's write pointer")]
    NotAtPointer,
    /// A write beyond the zone's capacity.
    #[error("the write goes beyond the zone's capacity")]
    Boundary,
    /// The zone takes no more.
    #[error("the zone is full")]
    Full,
    /// The zone can only be read.
    #[error("the zone is read-only")]
    ReadOnly,
    /// The zone can't be used.
    #[error("the zone is offline")]
    Offline,
    /// The zone has no way from its state to the one that is asked for.
    #[error("there is no such transition from the zone's state")]
    Transition,
}

/// The commands that the zones have carried out since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ZoneCounters {
    /// Zones that were empty or closed and were opened.
    pub opened: u64,
    /// Zones that were closed because another one took their open resource.
    pub closed_implicitly: u64,
    /// Zones that were written to their end.
    pub filled: u64,
    /// Zones that the host finished before their end.
    pub finished: u64,
    /// Zones that were written and reset.
    pub reset: u64,
    /// Sectors that were written.
    pub written_sectors: u64,
    /// Sectors that were written and given up by resets.
    pub reset_sectors: u64,
}

/// The number and the size of zones, and their limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneLimits {
    /// The number of zones.
    pub zones: u32,
    /// Sectors that can be written to a zone.
    pub capacity: u32,
    /// Zones that may be open at once.
    pub max_open: u32,
    /// Zones that may be open or closed at once.
    pub max_active: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Zone {
    state: ZoneState,
    /// The next sector to be written.
    pointer: u32,
    /// Sectors that can be read, from the first on; finishing a zone moves its pointer and not this.
    readable: u32,
}

/// The zones of a device.
#[derive(Clone, Debug)]
pub struct ZoneStates {
    limits: ZoneLimits,
    zones: Vec<Zone>,
    open: u32,
    active: u32,
    /// Zones that are open implicitly, the one that was written longest ago first. At most `max_open`.
    implicit: VecDeque<u32>,
    counters: ZoneCounters,
}

impl ZoneStates {
    /// Zones that are all empty.
    pub fn new(limits: ZoneLimits) -> ZoneStates {
        ZoneStates {
            limits,
            zones: vec![Zone::default(); limits.zones as usize],
            open: 0,
            active: 0,
            implicit: VecDeque::new(),
            counters: ZoneCounters::default(),
        }
    }

    /// The number and the size of the zones, and their limits.
    pub fn limits(&self) -> ZoneLimits {
        self.limits
    }

    /// The commands since the start.
    pub fn counters(&self) -> ZoneCounters {
        self.counters
    }

    /// The state of a zone.
    pub fn state(&self, zone: u32) -> ZoneState {
        self.zones[zone as usize].state
    }

    /// The next sector of a zone to be written; of a full one its capacity.
    pub fn pointer(&self, zone: u32) -> u32 {
        self.zones[zone as usize].pointer
    }

    /// Sectors of a zone that hold data, from the first on.
    pub fn readable(&self, zone: u32) -> u32 {
        self.zones[zone as usize].readable
    }

    /// The number of zones in a state.
    pub fn count(&self, state: ZoneState) -> u32 {
        self.zones.iter().filter(|zone| zone.state == state).count() as u32
    }

    /// Zones that are open.
    pub fn open_count(&self) -> u32 {
        self.open
    }

    /// Zones that are open or closed.
    pub fn active_count(&self) -> u32 {
        self.active
    }

    /// A write of sectors at an offset within a zone.
    pub fn write(&mut self, zone: u32, offset: u32, sectors: u32) -> Result<(), ZoneError> {
        self.may_write(zone)?;
        if offset != self.pointer(zone) {
            return Err(ZoneError::NotAtPointer);
        }
        self.append(zone, sectors).map(drop)
    }

    /// An append of sectors to a zone; returns the offset that they got.
    pub fn append(&mut self, zone: u32, sectors: u32) -> Result<u32, ZoneError> {
        self.may_write(zone)?;
        let offset = self.pointer(zone);
        if sectors > self.limits.capacity - offset {
            return Err(ZoneError::Boundary);
        }
        match self.state(zone) {
            ZoneState::ImplicitlyOpen => self.forget_implicit(zone),
            ZoneState::ExplicitlyOpen => {}
            _ => self.take_resources(zone)?,
        }
        let of_zone = &mut self.zones[zone as usize];
        of_zone.pointer += sectors;
        of_zone.readable = of_zone.pointer;
        self.counters.written_sectors += u64::from(sectors);
        if of_zone.pointer == self.limits.capacity {
            of_zone.state = ZoneState::Full;
            self.open -= 1;
            self.active -= 1;
            self.counters.filled += 1;
        } else if of_zone.state != ZoneState::ExplicitlyOpen {
            of_zone.state = ZoneState::ImplicitlyOpen;
            self.implicit.push_back(zone);
        }
        Ok(offset)
    }

    /// The host opens a zone.
    pub fn open(&mut self, zone: u32) -> Result<(), ZoneError> {
        match self.state(zone) {
            ZoneState::ExplicitlyOpen => return Ok(()),
            ZoneState::ImplicitlyOpen => self.forget_implicit(zone),
            ZoneState::Empty | ZoneState::Closed => self.take_resources(zone)?,
            ZoneState::Full | ZoneState::ReadOnly | ZoneState::Offline => return Err(ZoneError::Transition),
        }
        self.zones[zone as usize].state = ZoneState::ExplicitlyOpen;
        Ok(())
    }

    /// The host closes a zone.
    pub fn close(&mut self, zone: u32) -> Result<(), ZoneError> {
        match self.state(zone) {
            ZoneState::Closed => return Ok(()),
            ZoneState::ImplicitlyOpen => self.forget_implicit(zone),
            ZoneState::ExplicitlyOpen => {}
            _ => return Err(ZoneError::Transition),
        }
        self.open -= 1;
        self.zones[zone as usize].state = ZoneState::Closed;
        Ok(())
    }

    /// The host finishes a zone: it takes no more. Returns the sectors that stay unwritten.
    pub fn finish(&mut self, zone: u32) -> Result<u32, ZoneError> {
        match self.state(zone) {
            ZoneState::Full => return Ok(0),
            ZoneState::ReadOnly | ZoneState::Offline => return Err(ZoneError::Transition),
            _ => self.release_resources(zone),
        }
        let of_zone = &mut self.zones[zone as usize];
        let left = self.limits.capacity - of_zone.pointer;
        of_zone.state = ZoneState::Full;
        of_zone.pointer = self.limits.capacity;
        self.counters.finished += 1;
        Ok(left)
    }

    /// The host resets a zone. Returns the sectors that it held.
    pub fn reset(&mut self, zone: u32) -> Result<u32, ZoneError> {
        match self.state(zone) {
            ZoneState::Empty => return Ok(0),
            ZoneState::ReadOnly | ZoneState::Offline => return Err(ZoneError::Transition),
            _ => self.release_resources(zone),
        }
        let held = std::mem::take(&mut self.zones[zone as usize]).readable;
        self.counters.reset += 1;
        self.counters.reset_sectors += u64::from(held);
        Ok(held)
    }

    /// The device can't write a zone any more.
    pub fn make_read_only(&mut self, zone: u32) -> Result<(), ZoneError> {
        match self.state(zone) {
            ZoneState::ReadOnly => return Ok(()),
            ZoneState::Offline => return Err(ZoneError::Transition),
            _ => self.release_resources(zone),
        }
        self.zones[zone as usize].state = ZoneState::ReadOnly;
        Ok(())
    }

    /// The device, or the host of a zone that is read-only, gives a zone up.
    pub fn take_offline(&mut self, zone: u32) {
        self.release_resources(zone);
        let held = std::mem::take(&mut self.zones[zone as usize]).readable;
        self.counters.reset_sectors += u64::from(held);
        self.zones[zone as usize].state = ZoneState::Offline;
    }

    fn may_write(&self, zone: u32) -> Result<(), ZoneError> {
        match self.state(zone) {
            ZoneState::Full => Err(ZoneError::Full),
            ZoneState::ReadOnly => Err(ZoneError::ReadOnly),
            ZoneState::Offline => Err(ZoneError::Offline),
            _ => Ok(()),
        }
    }

    /// A zone that is empty or closed takes an open resource, and an active one if it has none.
    fn take_resources(&mut self, zone: u32) -> Result<(), ZoneError> {
        let is_new = !self.state(zone).is_active();
        if is_new && self.active == self.limits.max_active {
            return Err(ZoneError::TooManyActive);
        }
        if self.open == self.limits.max_open {
            let oldest = self.implicit.pop_front().ok_or(ZoneError::TooManyOpen)?;
            self.zones[oldest as usize].state = ZoneState::Closed;
            self.open -= 1;
            self.counters.closed_implicitly += 1;
        }
        self.open += 1;
        self.active += u32::from(is_new);
        self.counters.opened += 1;
        Ok(())
    }

    fn release_resources(&mut self, zone: u32) {
        let state = self.state(zone);
        if state == ZoneState::ImplicitlyOpen {
            self.forget_implicit(zone);
        }
        self.open -= u32::from(state.is_open());
        self.active -= u32::from(state.is_active());
    }

    fn forget_implicit(&mut self, zone: u32) {
        self.implicit.retain(|&open| open != zone);
    }
}
