//! The contents of flash after a power cut.

use crate::common::*;
use media::{CacheLoss, CutOutcome, Flash, HEADER_BYTES, Media, MediaError, Physics, Shape, UnderWay, Unit, Unsynced};

fn cut(flash: &mut Flash, operation: UnderWay, outcome: CutOutcome) {
    flash.power_cut(&[operation], &mut |_, _| outcome);
    flash.power_on();
}

fn programming(place: media::UnitAt, mark: u8) -> UnderWay {
    UnderWay::Program { at: place, unit: unit(&SHAPE, mark) }
}

#[test]
fn without_power_nothing_answers() {
    let mut flash = flash(Physics::IDEAL);
    program(&mut flash, at(0, 0, 0), 1).unwrap();
    let (ops, reads) = (flash.ops(), flash.reads());
    flash.power_cut(&[], &mut |_, _| unreachable!());
    assert!(!flash.has_power());
    let mut out = Unit::new(&SHAPE);
    assert_eq!(flash.read(at(0, 0, 0), &mut out), Err(MediaError::NoPower));
    assert_eq!(program(&mut flash, at(0, 0, 1), 1), Err(MediaError::NoPower));
    assert_eq!(flash.erase(at(0, 0, 0).block), Err(MediaError::NoPower));
    assert_eq!(flash.mark_bad(at(0, 0, 0).block), Err(MediaError::NoPower));
    assert_eq!(flash.sync(0), Err(MediaError::NoPower));
    assert_eq!(flash.claim(0, 1), Err(MediaError::NoPower));
    assert_eq!(flash.read_header(0, 0), Err(MediaError::NoPower));
    assert_eq!(flash.write_header(0, 0, &[0; HEADER_BYTES]), Err(MediaError::NoPower));
    assert_eq!((flash.ops(), flash.reads()), (ops, reads));
    flash.power_on();
    assert_eq!(look(&mut flash, at(0, 0, 0), 1), "GGGG");
}

#[test]
fn a_cut_program_leaves_what_was_chosen() {
    for (outcome, expected) in [
        (CutOutcome::NotBegun, "EEEE"),
        (CutOutcome::Done, "GGGG"),
        (CutOutcome::prefix(3), "GGGU"),
        (CutOutcome::suffix(3), "UUUG"),
        (CutOutcome::Torn { good: 0b1010, blank: 0b0001, spoil_earlier: false }, "EGUG"),
        (CutOutcome::Garbage { spoil_earlier: true }, "UUUU"),
        (CutOutcome::Weak, "UUUU"),
    ] {
        let mut flash = flash(Physics::IDEAL);
        program(&mut flash, at(0, 0, 0), 1).unwrap();
        cut(&mut flash, programming(at(0, 0, 1), 2), outcome);
        assert_eq!(look(&mut flash, at(0, 0, 1), 2), expected, "{outcome:?}");
        // Rows do not share cells here.
        assert_eq!(look(&mut flash, at(0, 0, 0), 1), "GGGG", "{outcome:?}");
    }
}

#[test]
fn a_cut_program_spoils_only_earlier_rows_of_its_cells() {
    for spoil_earlier in [false, true] {
        let mut flash = Flash::new(Shape { rows_sharing_cells: 2, ..SHAPE }, Physics::IDEAL, 1);
        (0..3).for_each(|row| program(&mut flash, at(0, 0, row), row as u8).unwrap());
        cut(&mut flash, programming(at(0, 0, 3), 3), CutOutcome::Garbage { spoil_earlier });
        let expected = if spoil_earlier { "UUUU" } else { "GGGG" };
        assert_eq!(look(&mut flash, at(0, 0, 2), 2), expected);
        assert_eq!(look(&mut flash, at(0, 0, 1), 1), "GGGG");
    }
}

#[test]
fn what_is_programmed_over_a_program_without_a_trace_is_lost() {
    let mut flash = flash(Physics::IDEAL);
    let traceless = CutOutcome::Torn { good: 0, blank: u64::MAX, spoil_earlier: false };
    cut(&mut flash, programming(at(0, 0, 0), 1), traceless);
    assert_eq!(look(&mut flash, at(0, 0, 0), 1), "EEEE");
    program(&mut flash, at(0, 0, 0), 2).unwrap();
    assert_eq!(look(&mut flash, at(0, 0, 0), 2), "UUUU");
    program(&mut flash, at(0, 0, 1), 2).unwrap();
    assert_eq!(look(&mut flash, at(0, 0, 1), 2), "GGGG");
}

#[test]
fn a_cut_erase_leaves_what_was_chosen() {
    for (outcome, expected) in [
        (CutOutcome::NotBegun, "GGGG"),
        (CutOutcome::Done, "EEEE"),
        (CutOutcome::PartlyErased, "UUUU"),
        (CutOutcome::Weak, "EEEE"),
        (CutOutcome::prefix(1), "UUUU"),
    ] {
        let mut flash = flash(Physics::IDEAL);
        program(&mut flash, at(0, 0, 0), 1).unwrap();
        cut(&mut flash, UnderWay::Erase { at: at(0, 0, 0).block }, outcome);
        assert_eq!(look(&mut flash, at(0, 0, 0), 1), expected, "{outcome:?}");
        flash.erase(at(0, 0, 0).block).unwrap();
        program(&mut flash, at(0, 0, 0), 2).unwrap();
        assert_eq!(look(&mut flash, at(0, 0, 0), 2), "GGGG", "{outcome:?}");
    }
}

#[test]
#[should_panic(expected = "illegal program")]
fn programming_a_partly_erased_block_panics() {
    let mut flash = flash(Physics::IDEAL);
    cut(&mut flash, UnderWay::Erase { at: at(0, 0, 0).block }, CutOutcome::PartlyErased);
    let _ = program(&mut flash, at(0, 0, 0), 1);
}

#[test]
fn a_weakly_erased_block_loses_about_half_of_what_it_takes() {
    let mut flash = flash(Physics::IDEAL);
    let mut lost = 0;
    for block in 0..8 {
        cut(&mut flash, UnderWay::Erase { at: at(0, block, 0).block }, CutOutcome::Weak);
        for row in 0..4 {
            program(&mut flash, at(0, block, row), 1).unwrap();
            lost += look(&mut flash, at(0, block, row), 1).matches('U').count();
        }
    }
    assert!((40..90).contains(&lost), "{lost} of 128");
}

#[test]
fn power_goes_at_the_operation_that_was_named() {
    let mut flash = flash(Physics::IDEAL);
    program(&mut flash, at(0, 0, 0), 1).unwrap();
    flash.cut_at(flash.ops() + 1, CutOutcome::prefix(2));
    look(&mut flash, at(0, 0, 0), 1);
    program(&mut flash, at(0, 0, 1), 1).unwrap();
    assert_eq!(program(&mut flash, at(0, 0, 2), 1), Err(MediaError::NoPower));
    assert_eq!(flash.erase(at(0, 1, 0).block), Err(MediaError::NoPower));
    flash.power_on();
    assert_eq!(look(&mut flash, at(0, 0, 2), 1), "GGUU");
    program(&mut flash, at(0, 0, 3), 1).unwrap();
}

#[test]
fn a_cut_header_is_the_old_one_the_new_one_or_unreadable_and_the_other_copy_is_whole() {
    for (outcome, expected) in
        [(CutOutcome::NotBegun, Some(1)), (CutOutcome::Done, Some(2)), (CutOutcome::PartlyErased, None)]
    {
        let mut flash = flash(Physics::IDEAL);
        (0..2).for_each(|copy| flash.write_header(0, copy, &[1; HEADER_BYTES]).unwrap());
        flash.cut_at(flash.ops(), outcome);
        assert_eq!(flash.write_header(0, 0, &[2; HEADER_BYTES]), Err(MediaError::NoPower));
        flash.power_on();
        assert_eq!(flash.read_header(0, 0).unwrap().map(|bytes| bytes[0]), expected);
        assert_eq!(flash.read_header(0, 1).unwrap().map(|bytes| bytes[0]), Some(1));
    }
}

fn volatile() -> Flash {
    flash(Physics { volatile_cache: true, ..Physics::IDEAL })
}

#[test]
fn a_volatile_cache_loses_what_was_not_synced() {
    for (loss, expected) in [(CacheLoss::All, ["GGGG", "EEEE"]), (CacheLoss::None, ["GGGG", "GGGG"])] {
        let mut flash = volatile();
        assert!(flash.is_volatile());
        flash.set_cache_loss(loss);
        program(&mut flash, at(0, 0, 0), 1).unwrap();
        program(&mut flash, at(1, 0, 0), 1).unwrap();
        flash.sync(0).unwrap();
        program(&mut flash, at(0, 0, 1), 1).unwrap();
        flash.mark_bad(at(0, 5, 0).block).unwrap();
        flash.write_header(0, 0, &[1; HEADER_BYTES]).unwrap();
        assert_eq!((flash.unsynced(0), flash.unsynced(1)), (1, 1));
        flash.power_cut(&[], &mut |_, _| unreachable!());
        flash.power_on();
        assert_eq!([0, 1].map(|row| look(&mut flash, at(0, 0, row), 1)), expected);
        assert_eq!(look(&mut flash, at(1, 0, 0), 1), expected[1]);
        assert!(flash.is_bad(at(0, 5, 0).block) && flash.read_header(0, 0).unwrap().is_some());
    }
}

#[test]
fn any_subset_of_what_was_not_synced_may_be_gone() {
    // An erase and four programs, of which each subset may stay.
    for kept in 0u32..32 {
        let mut flash = volatile();
        program(&mut flash, at(0, 0, 3), 9).unwrap();
        flash.sync(0).unwrap();
        flash.erase(at(0, 0, 0).block).unwrap();
        (0..4).for_each(|row| program(&mut flash, at(0, 0, row), 1).unwrap());
        let mut seen = Vec::new();
        flash.power_cut_keeping(&[], &mut |_, _| unreachable!(), &mut |operation| {
            seen.push(*operation);
            kept >> (seen.len() - 1) & 1 == 1
        });
        assert_eq!(seen.len(), 5);
        assert_eq!(seen[0], Unsynced::Erase(at(0, 0, 0).block));
        assert_eq!(seen[4], Unsynced::Program(at(0, 0, 3)));
        flash.power_on();
        for row in 0..4 {
            let (mark, expected) = match (kept >> (row + 1) & 1, kept & 1, row) {
                (1, ..) => (1, "GGGG"),
                (0, 0, 3) => (9, "GGGG"),
                _ => (1, "EEEE"),
            };
            assert_eq!(look(&mut flash, at(0, 0, row), mark), expected, "{kept:05b} row {row}");
        }
    }
}

#[test]
fn the_seed_throws_the_coins_and_throws_them_again() {
    let run = || {
        let mut flash = volatile();
        (0..8).for_each(|block| program(&mut flash, at(0, block, 0), 1).unwrap());
        flash.power_cut(&[], &mut |_, _| unreachable!());
        flash.power_on();
        (0..8).map(|block| look(&mut flash, at(0, block, 0), 1)).collect::<Vec<_>>()
    };
    assert_eq!(run(), run());
    assert!(run().contains(&"GGGG".to_string()) && run().contains(&"EEEE".to_string()));
}

#[test]
fn a_full_cache_makes_room_by_keeping_the_oldest() {
    let mut flash = volatile();
    flash.set_cache_loss(CacheLoss::All);
    program(&mut flash, at(0, 0, 0), 1).unwrap();
    program(&mut flash, at(0, 1, 0), 1).unwrap();
    for _ in 0..media::CACHE_OPERATIONS - 1 {
        flash.erase(at(0, 2, 0).block).unwrap();
    }
    flash.power_cut(&[], &mut |_, _| unreachable!());
    flash.power_on();
    assert_eq!(look(&mut flash, at(0, 0, 0), 1), "GGGG");
    assert_eq!(look(&mut flash, at(0, 1, 0), 1), "EEEE");
}
