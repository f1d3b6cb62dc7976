//! Zones of a card without time: each sector lies where it was put, nothing is moved, and resets give everything back.

use crate::common::{Card, PLAIN};
use device::Rng;
use ftl::{Ftl, GcMode, Lba, ZoneConfig, ZoneError, ZoneState};
use media::nand::Endurance;

/// Bands of 4 dies, 3 of data, whose blocks have 16 units of 4 sectors.
fn zoned(bands: u32, zone_bands: u32) -> Card {
    Card {
        bands,
        dies: 8,
        width: 4,
        parity_units: 1,
        pages_per_block: 16,
        page_bytes: 16_384,
        gc: GcMode::Paced { target_free_bands: 1 },
        zones: Some(ZoneConfig { bands: zone_bands, max_open: 4, max_active: 6 }),
        u: 1.0,
        ..PLAIN
    }
}

fn zone_sectors(ftl: &Ftl) -> u32 {
    ftl.zones().unwrap().limits().capacity
}

#[test]
fn zones_that_are_written_in_turn_and_reset_cost_no_program_beyond_the_hosts() {
    for zone_bands in [1, 3] {
        let mut ftl = zoned(40, zone_bands).empty();
        let zones = ftl.zones().unwrap().limits().zones;
        let capacity = zone_sectors(&ftl);
        assert_eq!(capacity, zone_bands * 6 * 16 * 4);
        let sectors = zones * capacity;
        for _ in 0..5 {
            // Six zones at a time, a sector of each in turn.
            for first in (0..zones).step_by(6) {
                for offset in 0..capacity {
                    for zone in first..(first + 6).min(zones) {
                        ftl.write_now(Lba(zone * capacity + offset)).unwrap();
                    }
                }
            }
            ftl.check().unwrap();
            assert_eq!(ftl.valid_sectors(), u64::from(sectors));
        }
        let counters = ftl.counters();
        assert_eq!(counters.host_sectors, 5 * u64::from(sectors));
        assert_eq!((counters.relocated_sectors, counters.padding_sectors, counters.metadata_sectors), (0, 0, 0));
        assert_eq!(counters.waf(), 1.0);
        // A parity unit for three of data.
        assert_eq!(counters.parity_sectors * 3, counters.host_sectors);
        let of_zones = ftl.zones().unwrap().counters();
        assert_eq!((of_zones.filled, of_zones.reset), (5 * u64::from(zones), 4 * u64::from(zones)));
        assert_eq!(of_zones.written_sectors, counters.host_sectors);
        assert_eq!(counters.erases, 4 * u64::from(zones * zone_bands) * 8);
        // Bands wear alike: all were used in turn.
        let (least, most) = ftl.blocks().wear_range();
        assert!(most - least <= 2, "{least} to {most} cycles");
    }
}

#[test]
fn finishing_a_zone_pads_exactly_what_is_left_of_its_open_band() {
    let mut ftl = zoned(20, 1).empty();
    let capacity = zone_sectors(&ftl);
    let mut padded = 0;
    for (zone, written) in [(0, 1), (1, capacity / 2), (2, capacity - 1), (3, 7)] {
        for offset in 0..written {
            ftl.write_now(Lba(zone * capacity + offset)).unwrap();
        }
        let padding = ftl.finish_zone(zone).unwrap().expect("there is something to pad");
        padded += capacity - written;
        assert!(!ftl.zone_is_durable(padding));
        ftl.settle_now();
        assert!(ftl.zone_is_durable(padding));
        assert_eq!(ftl.zones().unwrap().state(zone), ZoneState::Full);
        assert_eq!(ftl.zones().unwrap().readable(zone), written);
        assert_eq!(ftl.lookup(Lba(zone * capacity + written)), None, "nothing is readable beyond what was written");
    }
    assert_eq!(ftl.counters().padding_sectors, u64::from(padded));
    // A zone that holds nothing has nothing to pad.
    assert_eq!(ftl.finish_zone(9).unwrap(), None);
    assert_eq!(ftl.counters().padding_sectors, u64::from(padded));
    assert_eq!(ftl.begin_zone_append(9, 1), Err(ZoneError::Full));
    for zone in 0..10 {
        ftl.reset_zone(zone).unwrap();
    }
    ftl.settle_now();
    ftl.check().unwrap();
    assert_eq!((ftl.valid_sectors(), ftl.free_bands()), (0, 20));
}

#[test]
fn zones_that_are_written_finished_and_reset_at_random_lose_no_band_and_no_sector() {
    for seed in 0..12 {
        let card = Card { seed, ..zoned(24, 1 + seed as u32 % 2) };
        let mut ftl = card.empty();
        let (zones, capacity) = (ftl.zones().unwrap().limits().zones, zone_sectors(&ftl));
        let mut rng = Rng::stream(seed, "hosts");
        for _ in 0..20_000 {
            let zone = rng.below(zones.into()) as u32;
            let states = ftl.zones().unwrap();
            match (rng.below(200), states.state(zone)) {
                (0, _) => {
                    ftl.finish_zone(zone).unwrap();
                    ftl.settle_now();
                }
                (1..6, _) | (_, ZoneState::Full) => {
                    let reset = ftl.reset_zone(zone).unwrap();
                    assert!(reset.unbuffered_sectors < 3 * 4, "less than a stripe is in the buffer");
                    ftl.settle_now();
                }
                _ => {
                    let first = Lba(zone * capacity + states.pointer(zone));
                    let sectors = (1 + rng.below(40) as u32).min(capacity - states.pointer(zone));
                    for lba in first.0..first.0 + sectors {
                        match ftl.write_now(Lba(lba)) {
                            Ok(()) => {}
                            Err(ftl::ReadOnly) => {
                                assert_eq!(ftl.zones().unwrap().active_count(), 6);
                                break;
                            }
                        }
                    }
                }
            }
        }
        ftl.check().unwrap();
        let states = ftl.zones().unwrap();
        let readable: u64 = (0..zones).map(|zone| u64::from(states.readable(zone))).sum();
        assert_eq!(ftl.valid_sectors(), readable);
        let counters = states.counters();
        assert_eq!(counters.written_sectors, readable + counters.reset_sectors);
        assert_eq!(ftl.counters().host_sectors, counters.written_sectors);
        for zone in 0..zones {
            for offset in 0..capacity {
                let is_there = ftl.lookup(Lba(zone * capacity + offset)).is_some();
                assert_eq!(is_there, offset < ftl.zones().unwrap().readable(zone));
            }
        }
        (0..zones).for_each(|zone| drop(ftl.reset_zone(zone).unwrap()));
        ftl.settle_now();
        assert_eq!((ftl.valid_sectors(), ftl.free_bands()), (0, 24));
    }
}

/// Bands are as many as the worst die has good blocks.
#[test]
fn bad_blocks_take_as_many_bands_as_the_worst_die_has_of_them() {
    for seed in 0..20 {
        let endurance = Endurance { factory_bad_ppm: 20_000, ..PLAIN.endurance };
        let plain = Card { seed, endurance, u: 0.5, zones: None, ..zoned(200, 1) }.empty();
        let bad = |die| (0..200).filter(|&band| plain.blocks().is_bad(band, die)).count() as u32;
        let worst = (0..8).map(bad).max().unwrap();
        let ftl = Card { seed, endurance, u: 0.9, ..zoned(200, 1) }.empty();
        assert_eq!(ftl.free_bands(), 200 - worst);
        assert_eq!(ftl.blocks().bad_count(), plain.blocks().bad_count());
        // Without exchanging, each band with a bad block would be narrow.
        assert!(plain.data_sectors() < 200 * 6 * 64);
        assert_eq!(ftl.data_sectors(), u64::from(200 - worst) * 6 * 64);
    }
}

#[test]
fn blocks_that_go_bad_are_replaced_until_zones_go_offline() {
    let endurance = Endurance { rated_cycles: 40, factory_bad_ppm: 10_000, erase_fail_ppm_at_rated: 30_000 };
    let mut ftl = Card { endurance, u: 0.8, ..zoned(40, 1) }.empty();
    let (zones, capacity) = (ftl.zones().unwrap().limits().zones, zone_sectors(&ftl));
    let (mut rounds, mut replaced) = (0, 0);
    'life: loop {
        for lba in 0..zones * capacity {
            if ftl.write_now(Lba(lba)).is_err() {
                break 'life;
            }
        }
        rounds += 1;
        if ftl.offline_zones() == 0 {
            replaced = ftl.counters().retired_blocks;
        }
        assert!(rounds < 1_000, "blocks go bad at last");
    }
    assert!(replaced > 8, "{replaced} blocks were replaced before the first zone was lost");
    assert!(ftl.offline_zones() > 0);
    assert_eq!(ftl.zones().unwrap().count(ZoneState::Offline), ftl.offline_zones());
    assert_eq!(ftl.counters().relocated_sectors, 0);
    ftl.check().unwrap();
}
