//! How flash ages.

use crate::common::*;
use media::{ErrorRates, Flash, Media, MediaError, Physics, ReadReport, SectorState, Unit};

/// Wears out fast enough for a test.
const POOR: Physics = Physics {
    rated_cycles: 10,
    errors: ErrorRates { fresh: 1e-5, cycles: 2e-4, retention_year: 1e-3, disturb_read: 1e-6 },
    ..Physics::MLC
};

fn worn(read_retries: u32, cycles: u32) -> Flash {
    let mut flash = flash(Physics { read_retries, erase_fail_ppm_at_rated: 0, factory_bad_ppm: 0, ..POOR });
    (0..cycles).for_each(|_| flash.erase(at(0, 0, 0).block).unwrap());
    (0..4).for_each(|row| program(&mut flash, at(0, 0, row), 1).unwrap());
    flash
}

/// The report of a unit and how many of its sectors were good.
fn read(flash: &mut Flash, row: u32) -> (ReadReport, usize) {
    let mut unit = Unit::new(flash.shape());
    let report = flash.read(at(0, 0, row), &mut unit).unwrap();
    (report, (0..4).filter(|&sector| unit.state(sector) == SectorState::Good).count())
}

#[test]
fn errors_never_fall_with_time_and_end_beyond_correction() {
    let mut flash = worn(0, 10);
    let mut last = [(0, 4); 4];
    for _ in 0..400 {
        flash.advance_time(10.0);
        for row in 0..4 {
            let (report, good) = read(&mut flash, row);
            let (last_bits, last_good) = &mut last[row as usize];
            assert!(good <= *last_good, "{good} after {last_good}");
            // The worst sector is out of it when it is lost.
            assert!(report.corrected_bits >= *last_bits || good < 4, "{report:?} after {last_bits} bits");
            (*last_bits, *last_good) = (report.corrected_bits, good);
        }
    }
    assert!(last.iter().all(|&(_, good)| good == 0), "{last:?}");
}

#[test]
fn retries_never_fall_with_time_and_save_what_would_be_lost() {
    let mut flashes = [worn(0, 10), worn(4, 10)];
    let (mut last, mut saved) = ((0, 4), 0);
    for _ in 0..400 {
        let [(without, lost), (with, kept)] = [0, 1].map(|i| {
            flashes[i].advance_time(10.0);
            let (report, good) = read(&mut flashes[i], 0);
            (report, good)
        });
        assert_eq!(without.retries, 0);
        assert!(with.retries >= last.0 && kept <= last.1 && kept >= lost, "{with:?}, {kept} good, after {last:?}");
        assert_eq!(with.retries > 0, lost < 4);
        saved += kept - lost;
        last = (with.retries, kept);
    }
    assert!(saved > 0 && last.0 >= 2, "{saved} saved, {last:?}");
}

#[test]
fn errors_grow_with_cycles_and_with_reads() {
    let bits = |flash: &mut Flash| (0..4).map(|row| read(flash, row).0.corrected_bits).sum::<u32>();
    let (mut young, mut old) = (worn(4, 0), worn(4, 10));
    let before = bits(&mut old);
    assert!(bits(&mut young) < before);
    (0..500).for_each(|_| {
        read(&mut old, 3);
    });
    assert!(bits(&mut old) > before);
}

#[test]
fn the_same_read_has_the_same_answer_and_another_seed_another() {
    let run = |seed| {
        let mut flash = Flash::new(SHAPE, Physics { factory_bad_ppm: 0, ..POOR }, seed);
        (0..4).for_each(|row| program(&mut flash, at(0, 0, row), 1).unwrap());
        flash.advance_time(3_000.0);
        let answers: Vec<_> = (0..4).map(|row| read(&mut flash, row)).collect();
        assert_eq!(answers, (0..4).map(|row| read(&mut flash, row)).collect::<Vec<_>>());
        answers
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn a_refresh_is_advised_before_the_end() {
    let mut flash = worn(4, 10);
    let mut advised = false;
    for _ in 0..200 {
        flash.advance_time(10.0);
        let (report, good) = read(&mut flash, 0);
        assert!(good == 4 || advised, "lost without advice");
        advised |= report.refresh_advised;
    }
    assert!(advised);
}

#[test]
fn worn_blocks_fail_for_good() {
    let physics = Physics { rated_cycles: 10, erase_fail_ppm_at_rated: 50_000, ..Physics::IDEAL };
    let mut flash = flash(physics);
    for block in 0..8 {
        let place = at(0, block, 0);
        program(&mut flash, place, 1).unwrap();
        let failed_at = (0..200).find(|_| flash.erase(place.block).is_err()).expect("it wears out");
        assert!(failed_at > 3, "{failed_at}");
        assert_eq!(flash.erase(place.block), Err(MediaError::Failed));
        assert_eq!(program(&mut flash, place, 1), Err(MediaError::Failed));
        assert_eq!(look(&mut flash, place, 1), "UUUU");
    }
}

#[test]
fn worn_blocks_fail_programs() {
    let mut flash = flash(Physics { rated_cycles: 1, program_fail_ppm_at_rated: 1_000_000, ..Physics::IDEAL });
    program(&mut flash, at(0, 0, 0), 1).unwrap();
    flash.erase(at(0, 0, 0).block).unwrap();
    assert_eq!(program(&mut flash, at(0, 0, 0), 1), Err(MediaError::Failed));
    assert_eq!(look(&mut flash, at(0, 0, 0), 1), "UUUU");
}

#[test]
fn factory_bad_blocks_come_in_the_asked_share_and_repeat_with_the_seed() {
    let shape = media::Shape { blocks_per_die: 5_000, ..SHAPE };
    let bad = |seed| {
        let flash = Flash::new(shape, Physics { factory_bad_ppm: 20_000, ..Physics::IDEAL }, seed);
        (0..5_000).filter(|&block| flash.is_bad(at(2, block, 0).block)).collect::<Vec<_>>()
    };
    assert!((70..130).contains(&bad(1).len()), "{}", bad(1).len());
    assert_eq!(bad(1), bad(1));
    assert_ne!(bad(1), bad(2));
}
