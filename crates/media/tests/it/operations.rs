//! The operations of flash without faults.

use crate::common::*;
use media::{BlockAt, Flash, HEADER_BYTES, Media, MediaError, Module, Physics, Shape, Unit};

#[test]
fn what_was_programmed_is_read_until_the_block_is_erased() {
    let mut flash = flash(Physics::IDEAL);
    for row in 0..4 {
        assert_eq!(look(&mut flash, at(1, 3, row), 0), "EEEE");
        program(&mut flash, at(1, 3, row), row as u8).unwrap();
    }
    for row in 0..4 {
        assert_eq!(look(&mut flash, at(1, 3, row), row as u8), "GGGG");
    }
    assert_eq!(look(&mut flash, at(0, 3, 0), 0), "EEEE");
    flash.erase(at(1, 3, 0).block).unwrap();
    assert_eq!((look(&mut flash, at(1, 3, 0), 0), flash.cycles(at(1, 3, 0).block)), ("EEEE".into(), 1));
    program(&mut flash, at(1, 3, 0), 9).unwrap();
    assert_eq!(look(&mut flash, at(1, 3, 0), 9), "GGGG");
}

#[test]
fn rows_may_be_skipped() {
    let mut flash = flash(Physics::IDEAL);
    program(&mut flash, at(0, 0, 2), 1).unwrap();
    assert_eq!(look(&mut flash, at(0, 0, 1), 1), "EEEE");
    program(&mut flash, at(0, 0, 3), 2).unwrap();
    assert_eq!(look(&mut flash, at(0, 0, 2), 1), "GGGG");
}

#[test]
#[should_panic(expected = "illegal program")]
fn going_back_in_a_block_panics() {
    let mut flash = flash(Physics::IDEAL);
    program(&mut flash, at(0, 0, 2), 1).unwrap();
    let _ = program(&mut flash, at(0, 0, 1), 1);
}

#[test]
#[should_panic(expected = "illegal program")]
fn programming_twice_panics() {
    let mut flash = flash(Physics::IDEAL);
    program(&mut flash, at(0, 0, 0), 1).unwrap();
    let _ = program(&mut flash, at(0, 0, 0), 1);
}

#[test]
#[should_panic(expected = "illegal address")]
fn a_place_that_is_not_there_panics() {
    let _ = flash(Physics::IDEAL).erase(BlockAt { module: 0, die: 2, block: 0 });
}

#[test]
#[should_panic(expected = "a unit of")]
fn a_unit_of_another_shape_panics() {
    let other = Shape { payload_bytes: 64, ..SHAPE };
    let _ = flash(Physics::IDEAL).program(at(0, 0, 0), &Unit::new(&other));
}

#[test]
fn a_bad_block_takes_no_program_and_is_still_read_and_erased() {
    let mut flash = flash(Physics::IDEAL);
    program(&mut flash, at(0, 0, 0), 1).unwrap();
    flash.mark_bad(at(0, 0, 0).block).unwrap();
    assert!(flash.is_bad(at(0, 0, 0).block) && !flash.is_bad(at(0, 1, 0).block));
    assert_eq!(program(&mut flash, at(0, 0, 1), 1), Err(MediaError::Failed));
    assert_eq!(look(&mut flash, at(0, 0, 0), 1), "GGGG");
    flash.erase(at(0, 0, 0).block).unwrap();
    assert_eq!(look(&mut flash, at(0, 0, 0), 1), "EEEE");
    assert!(flash.is_bad(at(0, 0, 0).block));
    assert_eq!(program(&mut flash, at(0, 0, 0), 1), Err(MediaError::Failed));
}

#[test]
fn headers_have_copies_of_their_own() {
    let mut flash = flash(Physics::IDEAL);
    flash.write_header(2, 1, &[5; HEADER_BYTES]).unwrap();
    assert_eq!(flash.read_header(2, 0), Ok(None));
    assert_eq!(flash.read_header(2, 1).unwrap().unwrap(), [5; HEADER_BYTES]);
    assert_eq!(flash.read_header(1, 1), Ok(None));
}

#[test]
fn a_copy_of_a_card_is_another_card() {
    let mut flash = flash(Physics::IDEAL);
    program(&mut flash, at(0, 0, 0), 1).unwrap();
    let mut copy = flash.clone();
    copy.erase(at(0, 0, 0).block).unwrap();
    program(&mut copy, at(0, 0, 0), 2).unwrap();
    assert_eq!(look(&mut flash, at(0, 0, 0), 1), "GGGG");
    assert_eq!(look(&mut copy, at(0, 0, 0), 2), "GGGG");
    assert_ne!(flash.trace(), copy.trace());
}

#[test]
fn modules_keep_what_they_hold_in_any_slot() {
    let mut flash = flash(Physics::IDEAL);
    (0..3).for_each(|module| program(&mut flash, at(module, 0, 0), module as u8).unwrap());
    let (first, second) = (flash.pull(0).unwrap(), flash.pull(1).unwrap());
    assert_eq!(flash.pull(0).map(|_| ()), None);
    assert_eq!(program(&mut flash, at(0, 0, 1), 0), Err(MediaError::NoModule));
    assert_eq!(flash.read_header(1, 0), Err(MediaError::NoModule));
    flash.insert(1, first.clone());
    flash.insert(0, second);
    assert_eq!(look(&mut flash, at(0, 0, 0), 1), "GGGG");
    assert_eq!(look(&mut flash, at(1, 0, 0), 0), "GGGG");
    // The copy is stale from now on.
    program(&mut flash, at(1, 0, 1), 8).unwrap();
    flash.pull(1);
    flash.insert(1, first);
    assert_eq!(look(&mut flash, at(1, 0, 1), 8), "EEEE");
    flash.pull(2);
    flash.insert(2, Module::blank(&SHAPE, &Physics::IDEAL, 99));
    assert_eq!(look(&mut flash, at(2, 0, 0), 2), "EEEE");
}

#[test]
fn the_trace_tells_runs_apart_by_what_they_changed() {
    let mut runs = [flash(Physics::IDEAL), flash(Physics::IDEAL), flash(Physics::IDEAL)];
    for (run, mark) in runs.iter_mut().zip([1, 1, 2]) {
        program(run, at(0, 0, 0), mark).unwrap();
        run.erase(at(0, 1, 0).block).unwrap();
    }
    look(&mut runs[1], at(0, 0, 0), 1);
    assert_eq!(runs[0].trace(), runs[1].trace());
    assert_ne!(runs[0].trace(), runs[2].trace());
    assert_eq!((runs[1].ops(), runs[1].reads()), (2, 1));
}

#[test]
fn only_the_last_claimer_writes_to_a_module_that_can_refuse() {
    let mut flash = flash(Physics { fencing: true, ..Physics::IDEAL });
    program(&mut flash, at(0, 0, 0), 1).unwrap();
    flash.set_controller(1);
    flash.claim(0, 5).unwrap();
    flash.claim(0, 5).unwrap();
    flash.set_controller(2);
    assert_eq!(program(&mut flash, at(0, 0, 1), 1), Err(MediaError::Fenced));
    assert_eq!(flash.claim(0, 5), Err(MediaError::Fenced));
    assert_eq!(flash.claim(0, 4), Err(MediaError::Fenced));
    flash.claim(0, 6).unwrap();
    program(&mut flash, at(0, 0, 1), 1).unwrap();
    flash.set_controller(1);
    assert_eq!(program(&mut flash, at(0, 0, 2), 1), Err(MediaError::Fenced));
    assert_eq!(flash.erase(at(0, 0, 0).block), Err(MediaError::Fenced));
    assert_eq!(flash.write_header(0, 0, &[0; HEADER_BYTES]), Err(MediaError::Fenced));
    assert_eq!(look(&mut flash, at(0, 0, 0), 1), "GGGG");
    program(&mut flash, at(1, 0, 0), 1).unwrap();
}

#[test]
fn a_module_that_cannot_refuse_takes_all() {
    let mut flash = flash(Physics::IDEAL);
    flash.set_controller(1);
    flash.claim(0, 5).unwrap();
    flash.set_controller(2);
    flash.claim(0, 4).unwrap();
    program(&mut flash, at(0, 0, 0), 1).unwrap();
}

#[test]
fn large_flash_takes_memory_for_what_is_programmed() {
    // 64 TB: more than any machine that tests this has.
    let shape = Shape {
        modules: 4,
        dies_per_module: 64,
        blocks_per_die: 4096,
        rows_per_block: 1024,
        unit_sectors: 16,
        payload_bytes: 4096,
        rows_sharing_cells: 3,
    };
    let mut flash = Flash::new(shape, Physics::IDEAL, 1);
    for module in 0..4 {
        program(&mut flash, at(module, 4095, 1023), 3).unwrap();
        assert_eq!(look(&mut flash, at(module, 4095, 1023), 3), "G".repeat(16));
        flash.erase(at(module, 4095, 0).block).unwrap();
        assert_eq!(look(&mut flash, at(module, 4095, 1023), 3), "E".repeat(16));
    }
}
