//! A card that compresses costs what one does on which compressed data take a part of the space.

use crate::common::{Card, PLAIN, assert_all_readable};
use crate::oracle::greedy;
use device::{Compressible, Rng};
use ftl::{BandId, CompressionConfig, Ftl, FtlConfig, FtlError, Lba, SlcCache};

const GRANULES: CompressionConfig = CompressionConfig { granule_bytes: 512, header_bytes: 0, least_bytes: 0 };

/// Four dies of 64 KiB units: stripes of 256 KiB, bands of 2 MiB.
fn card(u: f64) -> Card {
    Card {
        bands: 512,
        dies: 4,
        width: 4,
        pages_per_block: 8,
        page_bytes: 65_536,
        u,
        compression: Some(GRANULES),
        ..PLAIN
    }
}

fn constant(share: f64) -> Compressible {
    Compressible { least: share, most: share }
}

/// Filled with such data, and overwritten at random until nothing is left of the order: what the flash wrote for a sector of
/// the host, and the mean size.
fn overwritten(card: &Card, compressible: Compressible) -> (Ftl, f64, f64) {
    let mut ftl = card.empty();
    ftl.compress(compressible);
    let sectors = ftl.user_sectors();
    (0..sectors).for_each(|lba| ftl.write_now(Lba(lba as u32)).unwrap());
    let mut rng = Rng::stream(7, "overwrites");
    let mut overwrite =
        |ftl: &mut Ftl, count: u64| (0..count).for_each(|_| ftl.write_now(Lba(rng.below(sectors) as u32)).unwrap());
    // As much is written to flash as to a card that does not compress.
    overwrite(&mut ftl, 8 * sectors);
    let before = ftl.counters();
    overwrite(&mut ftl, 6 * sectors);
    ftl.check().unwrap();
    let done = ftl.counters().since(&before);
    let stored = done.compression.unwrap().host_granules as f64 / done.host_sectors as f64 / 8.0;
    (ftl, done.waf(), stored)
}

fn check_against_closed_form(u: f64, compressible: Compressible) {
    let card = card(u);
    let (ftl, waf, stored) = overwritten(&card, compressible);
    let used = 1.0 - ftl.effective_spare_factor();
    // The sectors that lie in a band.
    let in_band = f64::from(card.band_sectors()) / stored;
    let expected = stored * greedy(used, in_band.round() as u32);
    println!("u {u}, {compressible:?}: {waf:.3}, expected {expected:.3}, {:+.2} %", 100.0 * (waf / expected - 1.0));
    assert!((waf / expected - 1.0).abs() < 0.02, "u {u}, {compressible:?}: {waf}, expected {expected}");
}

#[test]
fn compressed_data_cost_their_size_times_what_a_card_costs_that_they_fill_as_far() {
    for u in [0.8, 0.9] {
        for share in [0.0, 0.125, 0.25, 0.5] {
            check_against_closed_form(u, constant(share));
        }
    }
}

#[test]
fn compressed_data_on_a_full_card_do_too() {
    for share in [0.5, 0.25, 0.125] {
        check_against_closed_form(0.95, constant(share));
    }
}

#[test]
fn sizes_that_differ_from_sector_to_sector_cost_their_mean() {
    for u in [0.8, 0.9] {
        check_against_closed_form(u, Compressible { least: 0.0, most: 0.5 });
        check_against_closed_form(u, Compressible { least: 0.1, most: 1.0 });
    }
}

/// Rounded sizes, and nothing else: 573 bytes are two granules of 512.
#[test]
fn sequential_writes_cost_their_rounded_size() {
    for (config, share, granules) in [
        (GRANULES, 0.5, 4),
        (GRANULES, 0.51, 4),
        (CompressionConfig { least_bytes: 573, ..GRANULES }, 0.99, 2),
        (CompressionConfig { header_bytes: 16, ..GRANULES }, 0.75, 3),
        (CompressionConfig { granule_bytes: 1024, ..GRANULES }, 0.99, 1),
        (CompressionConfig { granule_bytes: 64, least_bytes: 573, ..GRANULES }, 0.99, 9),
    ] {
        let mut ftl = Card { compression: Some(config), ..card(0.9) }.empty();
        ftl.compress(constant(share));
        let sectors = ftl.user_sectors();
        (0..5 * sectors).for_each(|lba| ftl.write_now(Lba((lba % sectors) as u32)).unwrap());
        let counters = ftl.counters();
        let expected = f64::from(granules * config.granule_bytes) / 4096.0;
        assert_eq!(counters.relocated_sectors, 0, "{config:?} {share}");
        assert!((counters.waf() - expected).abs() < 1e-9, "{config:?} {share}: {}", counters.waf());
        assert!(counters.padding_sectors as f64 <= 0.01 * counters.compression.unwrap().host_granules as f64);
    }
}

/// The host can address no more than fits without compression, so data that become incompressible fit as well.
#[test]
fn data_that_become_incompressible_fit_and_cost_what_they_always_do() {
    let card = card(0.9);
    let mut ftl = card.empty();
    let sectors = ftl.user_sectors();
    ftl.compress(constant(0.86));
    (0..3 * sectors).for_each(|lba| ftl.write_now(Lba((lba % sectors) as u32)).unwrap());
    assert_eq!(ftl.valid_sectors(), 2 * sectors);
    let spare = ftl.effective_spare_factor();
    assert!(spare > 0.7, "{spare}");
    ftl.compress(Compressible::NOT);
    let mut rng = Rng::stream(9, "overwrites");
    let mut overwrite = |ftl: &mut Ftl, count| {
        (0..count).for_each(|_| ftl.write_now(Lba(rng.below(sectors) as u32)).unwrap());
    };
    // Until every sector was written again, all but one in three thousand.
    overwrite(&mut ftl, 8 * sectors);
    assert!(ftl.valid_sectors() as f64 > 7.99 * sectors as f64);
    let before = ftl.counters();
    overwrite(&mut ftl, 4 * sectors);
    ftl.check().unwrap();
    let expected = greedy(1.0 - ftl.effective_spare_factor(), card.band_sectors());
    let waf = ftl.counters().since(&before).waf();
    assert!((waf / expected - 1.0).abs() < 0.02, "{waf}, expected {expected}");
}

/// Sizes of all kinds in a card that is as full as may be: room is never short, whatever fits or not.
#[test]
fn sectors_of_all_sizes_are_kept_on_a_card_with_next_to_no_spare() {
    for (page_bytes, width, parity_units, ppm) in
        [(16_384, 1, 0, 0), (16_384, 4, 1, 5_000), (4_096, 4, 1, 0), (262_144, 2, 0, 5_000)]
    {
        for gc in [crate::common::PACED, crate::common::STOP_THE_WORLD] {
            let tight = Card {
                bands: 128,
                dies: 4,
                width,
                parity_units,
                page_bytes,
                u: if ppm > 0 { 0.9 } else { 0.97 },
                gc,
                static_wear_spread_cycles: 10,
                endurance: media::nand::Endurance { factory_bad_ppm: ppm, ..PLAIN.endurance },
                ..card(0.0)
            };
            let mut ftl = tight.empty();
            let sectors = ftl.user_sectors();
            let mut rng = Rng::stream(u64::from(page_bytes), "any");
            for round in 0..12_u64 {
                let share = [0.0, 0.13, 0.4, 0.9][round as usize % 4];
                ftl.compress(Compressible { least: share / 2.0, most: share });
                for _ in 0..sectors {
                    let lba = Lba(rng.below(sectors) as u32);
                    if rng.below(20) == 0 {
                        ftl.trim(lba)
                    } else {
                        ftl.write_now(lba).unwrap()
                    }
                    if rng.below(500) == 0 {
                        ftl.flush_now();
                    }
                }
                ftl.check().unwrap();
            }
            ftl.compress(Compressible::NOT);
            (0..sectors).for_each(|lba| ftl.write_now(Lba(lba as u32)).unwrap());
            ftl.settle_now();
            assert_all_readable(&ftl);
            assert_no_overlap(&ftl);
        }
    }
}

/// Every sector reads back where it was put: its granules are its own, on data units of one stripe.
fn assert_no_overlap(ftl: &Ftl) {
    let layout = ftl.layout();
    let mut taken = std::collections::HashSet::new();
    for lba in (0..ftl.user_sectors()).map(|lba| Lba(lba as u32)) {
        let Some(extents) = ftl.extents_of(lba) else { continue };
        let mut granules = 0;
        let mut stripes = Vec::new();
        for extent in extents.into_iter().flatten() {
            granules += extent.granules;
            let stripe = layout.stripe_of(extent.unit);
            assert_eq!(layout.locate(extent.first), extent.unit);
            assert!(extent.first.0 % layout.unit_sectors + extent.granules <= layout.unit_sectors);
            let number = extent.unit.die % layout.width;
            assert_eq!(ftl.stripe_units(stripe).data >> number & 1, 1, "{lba:?} lies on no data unit");
            assert!(ftl.is_programmed(extent.unit), "{lba:?}");
            stripes.push(stripe);
            assert!((extent.first.0..extent.first.0 + extent.granules).all(|granule| taken.insert(granule)), "{lba:?}");
        }
        assert_eq!(granules, ftl.room_of(lba));
        assert!(stripes.windows(2).all(|pair| pair[0] == pair[1]), "{lba:?} lies on two stripes");
    }
    assert_eq!(taken.len() as u64, ftl.valid_sectors());
}

#[test]
fn every_sector_is_where_it_was_put() {
    for (width, parity_units, page_bytes) in [(4, 1, 16_384), (1, 0, 65_536), (2, 0, 4_096)] {
        let mut ftl = Card { bands: 128, width, parity_units, page_bytes, ..card(0.85) }.empty();
        ftl.compress(Compressible { least: 0.0, most: 1.0 });
        let sectors = ftl.user_sectors();
        let mut rng = Rng::stream(1, "written");
        for _ in 0..6 * sectors {
            let lba = Lba(rng.below(sectors) as u32);
            if rng.below(10) == 0 { ftl.trim(lba) } else { ftl.write_now(lba).unwrap() }
        }
        ftl.settle_now();
        ftl.check().unwrap();
        assert_no_overlap(&ftl);
    }
}

/// A relocation's last sector may have a second part, which is named for the read of the unit after.
#[test]
fn relocations_name_the_part_of_a_sector_that_lies_in_the_next_unit() {
    let mut ftl = card(0.9).empty();
    ftl.compress(constant(0.375));
    let sectors = ftl.user_sectors();
    let mut rng = Rng::stream(2, "written");
    (0..sectors).for_each(|lba| ftl.write_now(Lba(lba as u32)).unwrap());
    (0..sectors / 2).for_each(|_| ftl.write_now(Lba(rng.below(sectors) as u32)).unwrap());
    ftl.evacuate(BandId(0));
    let unit = ftl.layout().unit_sectors;
    let (mut room, mut tails, mut units) = (0, 0, 0);
    let valid = (0..sectors)
        .filter_map(|lba| ftl.lookup(Lba(lba as u32)).map(|ppa| (lba, ppa)))
        .filter(|(_, ppa)| ftl.layout().band_of(*ppa) == BandId(0))
        .map(|(lba, _)| ftl.room_of(Lba(lba as u32)))
        .sum::<u32>();
    while ftl.prepare_relocation(false) {
        let Some(relocation) = ftl.next_relocation() else { break };
        if relocation.unit.band == BandId(0) {
            assert!(relocation.mask.count_ones() * 5 == relocation.sectors());
            if let Some(tail) = ftl.tail_of(&relocation) {
                assert_ne!(tail.unit, relocation.unit);
                assert_eq!(tail.first.0 % unit, 0);
                assert!((1..5).contains(&tail.granules));
                tails += 1;
            }
            room += relocation.sectors();
            units += 1;
        }
        ftl.relocate(relocation, |_, _| {});
        while ftl.pop_sealed().is_some() {}
    }
    assert_eq!(room, valid);
    // 128 granules of a unit are no multiple of five; stripes end with their last unit.
    assert!(tails > 0 && tails < units, "{tails} of {units}");
}

#[test]
fn what_cannot_be_combined_is_refused() {
    let refused = |change: fn(&mut FtlConfig)| {
        let ftl = card(0.8).empty();
        let mut config = *ftl.config();
        change(&mut config);
        matches!(Ftl::new(&card(0.8).nand(), 512, &config, 1), Err(FtlError::Compression { .. }))
    };
    assert!(!refused(|_| {}));
    assert!(refused(|c| c.compression = Some(CompressionConfig { granule_bytes: 32, ..GRANULES })));
    assert!(refused(|c| c.compression = Some(CompressionConfig { granule_bytes: 768, ..GRANULES })));
    assert!(refused(|c| c.compression = Some(CompressionConfig { granule_bytes: 4_096, ..GRANULES })));
    assert!(refused(|c| c.mapping_sectors = 2));
    assert!(refused(|c| c.slc_cache = Some(SlcCache { bands: 4, bits_per_cell: 2 })));
}
