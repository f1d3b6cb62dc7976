//! Trimmed sectors are spare space, and can be written again.

use crate::common::{Card, PLAIN, STOP_THE_WORLD, assert_all_readable, steady_waf};
use device::Rng;
use ftl::{Ftl, Lba, SlcCache, StripeUnits, VictimPolicy};

/// Draws which sectors stay: `(kept, trimmed)`.
fn draw_kept(ftl: &Ftl, share: f64) -> (Vec<u32>, Vec<u32>) {
    let mut rng = Rng::stream(11, "trim");
    (0..ftl.user_sectors() as u32).partition(|_| rng.unit() < share)
}

#[test]
fn a_trimmed_sector_is_unmapped_and_the_others_are_not() {
    let mut ftl = Card { dies: 8, width: 4, parity_units: 1, pages_per_block: 16, ..PLAIN }.filled();
    let (kept, trimmed) = draw_kept(&ftl, 0.5);
    let before: Vec<_> = kept.iter().map(|&lba| ftl.lookup(Lba(lba))).collect();
    let counters = ftl.counters();
    for &lba in &trimmed {
        ftl.trim(Lba(lba));
        assert_eq!(ftl.lookup(Lba(lba)), None);
    }
    ftl.check().unwrap();
    assert_eq!(ftl.counters(), counters, "a trim writes nothing");
    assert!(kept.iter().map(|&lba| ftl.lookup(Lba(lba))).eq(before));
}

#[test]
fn trimming_twice_or_what_was_never_written_does_nothing() {
    let mut ftl = PLAIN.empty();
    ftl.trim(Lba(5));
    ftl.write_now(Lba(5)).unwrap();
    ftl.trim(Lba(5));
    ftl.trim(Lba(5));
    ftl.trim(Lba(6));
    assert_eq!((ftl.lookup(Lba(5)), ftl.lookup(Lba(6))), (None, None));
    ftl.check().unwrap();
}

#[test]
fn scattered_trimmed_space_works_as_spare() {
    for (victim, gc) in
        [(VictimPolicy::Greedy, PLAIN.gc), (VictimPolicy::Greedy, STOP_THE_WORLD), (VictimPolicy::Fifo, PLAIN.gc)]
    {
        let mut ftl = Card { bands: 2048, u: 0.9, victim, gc, ..PLAIN }.filled();
        let all: Vec<u32> = (0..ftl.user_sectors() as u32).collect();
        let full = steady_waf(&mut ftl, &all);
        let (kept, trimmed) = draw_kept(&ftl, 0.7);
        trimmed.iter().for_each(|&lba| ftl.trim(Lba(lba)));
        let waf = steady_waf(&mut ftl, &kept);
        let u = (1.0 - ftl.effective_spare_factor()) * kept.len() as f64 / all.len() as f64;
        let theory = if victim == VictimPolicy::Fifo { crate::oracle::fifo(u) } else { crate::oracle::greedy(u, 64) };
        println!("{victim:?} {gc:?}: {full:.3} full, {waf:.4} trimmed, theory {theory:.4}");
        assert!(waf < 0.5 * full, "{victim:?}: {full} full, {waf} trimmed");
        assert!((waf / theory - 1.0).abs() < 0.02, "{victim:?}: {waf}, theory {theory}");
    }
}

#[test]
fn what_was_trimmed_can_be_written_again_and_costs_what_it_did() {
    let mut ftl = Card { bands: 1024, u: 0.85, ..PLAIN }.filled();
    let all: Vec<u32> = (0..ftl.user_sectors() as u32).collect();
    let before = steady_waf(&mut ftl, &all);
    let (kept, trimmed) = draw_kept(&ftl, 0.6);
    trimmed.iter().for_each(|&lba| ftl.trim(Lba(lba)));
    steady_waf(&mut ftl, &kept);
    for &lba in &trimmed {
        assert_eq!(ftl.lookup(Lba(lba)), None, "collection brought a trimmed sector back");
        ftl.write_now(Lba(lba)).unwrap();
        assert!(ftl.lookup(Lba(lba)).is_some());
    }
    let after = steady_waf(&mut ftl, &all);
    assert!((after / before - 1.0).abs() < 0.02, "{before} before, {after} after");
    ftl.settle_now();
    assert_all_readable(&ftl);
}

#[test]
fn a_card_that_was_trimmed_as_a_whole_can_be_filled_again() {
    for gc in [PLAIN.gc, STOP_THE_WORLD] {
        let mut ftl = Card { gc, u: 0.95, ..PLAIN }.filled();
        for _ in 0..5 {
            (0..ftl.user_sectors() as u32).for_each(|lba| ftl.trim(Lba(lba)));
            ftl.check().unwrap();
            let before = ftl.counters();
            (0..ftl.user_sectors() as u32).for_each(|lba| ftl.write_now(Lba(lba)).unwrap());
            let waf = ftl.counters().since(&before).waf();
            assert!(waf < 1.01, "{gc:?}: nothing had to be moved, {waf}");
        }
        ftl.settle_now();
        assert_all_readable(&ftl);
    }
}

#[test]
fn random_writes_and_trims_leave_exactly_what_was_written_last() {
    for seed in 0..10 {
        let card = Card { bands: 64, dies: 4, width: 4, parity_units: 1, pages_per_block: 8, u: 0.9, ..PLAIN };
        let mut ftl = Card { seed, separate_streams: seed % 2 == 0, ..card }.empty();
        let sectors = ftl.user_sectors();
        let mut rng = Rng::stream(seed, "writes and trims");
        let mut written = vec![false; sectors as usize];
        for step in 0..50_000 {
            // Phases of mostly writes and mostly trims.
            let lba = rng.below(sectors);
            let write = rng.unit() < if step / 5_000 % 2 == 0 { 0.95 } else { 0.4 };
            if write {
                ftl.write_now(Lba(lba as u32)).unwrap();
            } else {
                ftl.trim(Lba(lba as u32));
            }
            written[lba as usize] = write;
        }
        ftl.check().unwrap();
        for (lba, &written) in written.iter().enumerate() {
            assert_eq!(ftl.lookup(Lba(lba as u32)).is_some(), written, "seed {seed}, LBA {lba}");
        }
    }
}

/// Moves what the SLC cache holds to native bands, as far as it can be moved.
fn fold(ftl: &mut Ftl) {
    while ftl.prepare_fold() {
        if let Some(relocation) = ftl.next_relocation() {
            ftl.relocate(relocation, |_, _| {});
        }
        while let Some(sealed) = ftl.pop_sealed() {
            let StripeUnits { data, parity } = ftl.stripe_units(sealed.stripe);
            for unit in (0..64).filter(|unit| (data | parity) >> unit & 1 == 1) {
                ftl.unit_programmed(ftl.layout().unit_address(sealed.stripe, unit));
            }
            ftl.stripe_durable(sealed.stream, sealed.sequence);
        }
        while let Some(band) = ftl.next_erase() {
            ftl.erased(band);
        }
    }
    ftl.settle_now();
}

#[test]
fn the_slc_cache_never_exceeds_its_bands_and_loses_nothing() {
    for (bands, bits_per_cell) in [(1, 2), (6, 3), (20, 4)] {
        for separate_streams in [false, true] {
            let slc_cache = Some(SlcCache { bands, bits_per_cell });
            let card = Card { dies: 4, width: 4, parity_units: 1, pages_per_block: 24, slc_cache, ..PLAIN };
            let mut ftl = Card { separate_streams, ..card }.empty();
            let sectors = ftl.user_sectors();
            let mut rng = Rng::stream(5, "slc");
            let mut most = 0;
            let mut write = |ftl: &mut Ftl, lba: u64| {
                ftl.write_now(Lba(lba as u32)).unwrap();
                assert!(ftl.slc_bands() <= bands, "{} SLC bands of {bands}", ftl.slc_bands());
                most = most.max(ftl.slc_bands());
            };
            (0..sectors).for_each(|lba| write(&mut ftl, lba));
            for _ in 0..4 {
                (0..2 * sectors).for_each(|_| write(&mut ftl, rng.below(sectors)));
                ftl.check().unwrap();
                // A trim makes room; what the cache takes then is folded.
                (0..sectors / 2).for_each(|lba| ftl.trim(Lba(lba as u32)));
                fold(&mut ftl);
                ftl.check().unwrap();
                assert!(!ftl.can_fold(), "bands left in the cache");
                (0..sectors / 2).for_each(|lba| write(&mut ftl, lba));
            }
            assert_eq!(most, bands, "the cache was never full");
            ftl.settle_now();
            assert_all_readable(&ftl);
        }
    }
}
