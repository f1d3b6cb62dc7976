//! The headers that are on the modules whenever power goes.

use super::*;
use crate::tiny;
use format::CardId;
use format::Slot;
use media::{Fault, Flash};
use std::collections::BTreeSet;

const SLOTS: [Option<u32>; 6] = [Some(0), Some(1), Some(2), Some(3), Some(4), Some(5)];

/// Headers that all modules have.
fn complete() -> (Headers, Flash) {
    let store = tiny::card().contents.store;
    (store.headers, store.media.into_flash().unwrap())
}

/// Generations and sequences in the copies of a module.
fn copies(flash: &mut Flash, module: u32) -> Vec<(u64, u64)> {
    (0..HEADER_COPIES).filter_map(|copy| written(flash, module, copy)).map(|w| (w.generation, w.sequence)).collect()
}

/// Writes the next generation, as far as the medium lasts for each number of operations; the last time it does to the end.
/// On the way each module has the generation that all had before, until each has the next one.
fn write_to_any_extent(headers: &Headers, flash: &Flash) {
    let before = headers.complete;
    for operations in 0.. {
        let (mut headers, mut flash) = (headers.clone(), flash.clone());
        let sequence = headers.common.sequence;
        headers.common.generation += 1;
        let next = headers.common.generation;
        assert!(flash.inject(Fault::NoSpace { module: None, after: operations, for_ever: true }));
        let done = headers.write(&mut flash, &SLOTS);
        assert!(headers.common.sequence > sequence);
        let have = |flash: &mut Flash, of| (0..6).filter(|m| copies(flash, *m).iter().any(|c| c.0 == of)).count();
        assert!(have(&mut flash, next) == 6 || have(&mut flash, before) == 6, "after {operations} operations");
        if done.is_ok() {
            assert!((0..6).all(|module| copies(&mut flash, module) == [(next, sequence + 1); 2]));
            break;
        }
    }
}

#[test]
fn all_modules_have_a_generation_in_common_whenever_power_goes() {
    let (mut headers, flash) = complete();
    write_to_any_extent(&headers, &flash);
    // A copy that can't be read is written first, whichever it is.
    for (module, copy) in (0..6).flat_map(|module| (0..HEADER_COPIES).map(move |copy| (module, copy))) {
        let mut flash = flash.clone();
        assert!(flash.inject(Fault::LoseHeader { module, copy }));
        write_to_any_extent(&headers, &flash);
    }
    // And before the others one of a generation that was given up, as not all modules took it.
    let before = headers.complete;
    for copy in 0..HEADER_COPIES {
        let mut flash = flash.clone();
        let mut given_up = headers.clone();
        given_up.common.generation += 1;
        given_up.common.sequence += 1;
        for module in 0..3 {
            given_up.write_copy(&mut flash, module as usize, module, copy).unwrap();
        }
        headers.common.generation = given_up.common.generation;
        headers.common.sequence = given_up.common.sequence;
        assert_eq!(headers.complete, before);
        write_to_any_extent(&headers, &flash);
    }
}

/// However many modules are out of reach from any operation on, and from whichever on each: once they answer again all that
/// is needed is trusted.
#[test]
fn modules_that_were_out_of_reach_for_a_while_are_trusted_where_the_card_needs_them() {
    let (headers, flash) = complete();
    let (mut stopped, mut went_on) = (0, 0);
    for triple in 0..6 * 6 * 6 {
        let modules = [triple / 36, triple / 6 % 6, triple % 6];
        for (after, apart) in (0..40).flat_map(|after| [0, 1, 7].map(|apart| (after, apart))) {
            let (mut headers, mut flash, mut slots) = (headers.clone(), flash.clone(), SLOTS);
            for (module, after) in modules.into_iter().zip([after, after + apart, after + 2 * apart]) {
                assert!(flash.inject(Fault::OutOfReach { module, after }));
            }
            let told = headers.tell(&mut flash, &mut slots);
            assert!(flash.come_within_reach() && !flash.come_within_reach());
            let found = ftl::recover::assemble(&mut flash, Some(headers.common.card));
            assert!(found.is_ok(), "{modules:?} after {after}, {apart} apart: {found:?}");
            stopped += u32::from(told.is_err());
            went_on += u32::from(told.is_ok_and(|gone| !gone.is_empty()));
        }
    }
    assert!(stopped > 1_000 && went_on > 1_000, "{stopped} stopped, {went_on} went on");
}

#[test]
fn totals_leave_the_copy_that_was_written_before() {
    let (mut headers, mut flash) = complete();
    for _ in 0..5 {
        let before = headers.common.sequence;
        headers.write_totals(&mut flash, &SLOTS).unwrap();
        for module in 0..6 {
            let sequences: BTreeSet<u64> =
                copies(&mut flash, module).into_iter().map(|(_, sequence)| sequence).collect();
            assert_eq!(sequences, [before, before + 1].into());
        }
    }
}

#[test]
fn the_highest_generation_that_can_be_read_is_a_modules_own() {
    let (mut headers, mut flash) = complete();
    headers.common.generation = 7;
    headers.write_copy(&mut flash, 2, 2, 1).unwrap();
    assert_eq!(Headers::generation_in(&mut flash, 2), 7);
    assert_eq!(Headers::generation_in(&mut flash, 3), headers.complete);
    (0..HEADER_COPIES).for_each(|copy| assert!(flash.inject(Fault::LoseHeader { module: 2, copy })));
    assert_eq!(Headers::generation_in(&mut flash, 2), 0);
}

#[test]
fn no_two_modules_of_a_card_are_the_same() {
    for id in [[0; 16], [7; 16], [0xff; 16]] {
        let (mut headers, _) = complete();
        headers.common.card = CardId(id);
        let mut seen: BTreeSet<[u8; 16]> = headers.common.slots.iter().map(|slot| slot.module.0).collect();
        let mut count = seen.len();
        for generation in 0..300 {
            headers.common.generation = generation;
            for logical in 0..6 {
                headers.set_new_module(logical);
                let Slot { module, state, .. } = headers.common.slots[logical];
                assert!(state == SlotState::Rebuilding && seen.insert(module.0), "{generation}, {logical}");
                count += 1;
            }
        }
        assert_eq!(seen.len(), count);
    }
}
