//! Modules are put together to a card.

use format::{CardId, ModuleHeader, ModuleId, Slot, SlotState};
use ftl::recover::{AssembleError, JoinError, Joins, MemberState, assemble, join};
use media::{Fault, Flash, Media, Physics, Shape};

const SHAPE: Shape = Shape {
    modules: 3,
    dies_per_module: 1,
    blocks_per_die: 8,
    rows_per_block: 4,
    unit_sectors: 1,
    payload_bytes: 128,
    rows_sharing_cells: 1,
};
const CARD: CardId = CardId([7; 16]);
const OTHER: CardId = CardId([8; 16]);

fn module(number: u8) -> ModuleId {
    ModuleId([number + 1; 16])
}

fn header(card: CardId, logical: u16, generation: u64) -> ModuleHeader {
    let id = |number: u8| if card == CARD { module(number) } else { ModuleId([number + 101; 16]) };
    ModuleHeader {
        card,
        module: id(logical as u8),
        slot: logical,
        generation,
        sequence: generation * 2,
        shape: SHAPE,
        stripe_width: 3,
        parity_units: 1,
        user_sectors: 40,
        slc_bits_per_cell: 1,
        power_loss_protection: false,
        clean: false,
        read_only: false,
        lost_writes: false,
        power_cycles: 0,
        unsafe_shutdowns: 0,
        host_sectors_written: 0,
        host_sectors_read: 0,
        media_errors: 0,
        busy_ns: 0,
        power_on_ns: 0,
        host_read_commands: 0,
        host_write_commands: 0,
        durable: Default::default(),
        holds: Default::default(),
        log_begins: 0,
        no_erases: false,
        new_data_sectors: 0,
        slots: (0..3).map(|number| Slot::new(id(number), SlotState::Active)).collect(),
    }
}

fn write(flash: &mut Flash, slot: u32, copy: u32, header: &ModuleHeader) {
    flash.write_header(slot, copy, &header.encode()).unwrap();
}

fn write_both(flash: &mut Flash, slot: u32, header: &ModuleHeader) {
    (0..2).for_each(|copy| write(flash, slot, copy, header));
}

/// Three modules of one generation, in their slots.
fn card(generation: u64) -> Flash {
    let mut flash = Flash::new(SHAPE, Physics::IDEAL, 1);
    (0..3).for_each(|slot| write_both(&mut flash, slot, &header(CARD, slot as u16, generation)));
    flash
}

fn states(flash: &mut Flash) -> Vec<MemberState> {
    assemble(flash, None).unwrap().members.iter().map(|member| member.state).collect()
}

use MemberState::{Blank, Missing, Rebuilding, Stale, Trusted};

#[test]
fn modules_are_found_in_any_slot() {
    let mut flash = card(5);
    let modules: Vec<_> = (0..3).map(|slot| flash.pull(slot).unwrap()).collect();
    for (module, slot) in modules.into_iter().zip([2, 0, 1]) {
        flash.insert(slot, module);
    }
    for expected in [None, Some(CARD)] {
        let assembly = assemble(&mut flash, expected).unwrap();
        assert_eq!(assembly.trusted_slots(), [Some(2), Some(0), Some(1)]);
        assert_eq!((assembly.header.generation, assembly.header.card), (5, CARD));
    }
}

#[test]
fn one_module_may_be_missing_dead_or_blank_and_two_may_not() {
    for lost in 0..3 {
        let mut missing = card(5);
        missing.pull(lost);
        let mut dead = card(5);
        dead.inject(Fault::ModuleDead { module: lost });
        let mut blank = card(5);
        blank.pull(lost);
        let new = Flash::new(SHAPE, Physics::IDEAL, 2).pull(0).unwrap();
        blank.insert(lost, new);
        for (flash, state) in [(&mut missing, Missing), (&mut dead, Missing), (&mut blank, Blank)] {
            let mut expected = vec![Trusted; 3];
            expected[lost as usize] = state;
            assert_eq!(states(flash), expected);
            let slot = (state == Blank).then_some(lost);
            let assembly = assemble(flash, None).unwrap();
            assert_eq!(assembly.members[lost as usize].slot, slot);
            assert_eq!(assembly.trusted_slots()[lost as usize], None);
            flash.pull((lost + 1) % 3);
            let error = assemble(flash, None).unwrap_err();
            assert!(matches!(&error, AssembleError::TooFew { missing, spared: 1 } if missing.len() == 2));
            assert!(error.to_string().contains(&format!("module {} is missing", (lost + 1) % 3)), "{error}");
        }
    }
}

#[test]
fn a_module_that_was_away_is_stale() {
    // Marked by the others, or put back as it was earlier.
    for marked in [true, false] {
        let mut flash = card(5);
        for slot in [0, 2] {
            let mut header = header(CARD, slot, 6);
            if marked {
                header.slots[1].state = SlotState::Missing;
            }
            write_both(&mut flash, slot.into(), &header);
        }
        assert_eq!(states(&mut flash), [Trusted, Stale, Trusted]);
    }
}

#[test]
fn a_module_that_is_being_filled_does_not_count() {
    let mut flash = card(5);
    for slot in 0..3 {
        let mut header = header(CARD, slot, 6);
        header.slots[2].state = SlotState::Rebuilding;
        write_both(&mut flash, slot.into(), &header);
    }
    assert_eq!(states(&mut flash), [Trusted, Trusted, Rebuilding]);
}

#[test]
fn headers_may_be_cut_at_any_write() {
    // The copy that comes first may differ from module to module.
    for first in 0..8u32 {
        let copy = |round: u32, slot: u32| (first >> slot & 1) ^ round;
        let order: Vec<(u32, u32)> =
            (0..2).flat_map(|round| (0..3).map(move |slot| (slot, copy(round, slot)))).collect();
        for cut in 0..=order.len() {
            for unreadable in [false, true] {
                let mut flash = card(5);
                for (slot, copy) in &order[..cut] {
                    write(&mut flash, *slot, *copy, &header(CARD, *slot as u16, 6));
                }
                if let Some((slot, copy)) = order.get(cut).filter(|_| unreadable) {
                    flash.inject(Fault::LoseHeader { module: *slot, copy: *copy });
                }
                assert_eq!(states(&mut flash), [Trusted; 3], "{order:?} {cut} {unreadable}");
                let generation = assemble(&mut flash, None).unwrap().header.generation;
                assert_eq!(generation, if cut == 0 { 5 } else { 6 });
            }
        }
    }
}

#[test]
fn a_module_that_missed_a_settled_generation_is_stale_whatever_else_is_cut() {
    // Module 1 has generation 4, the others 5 in both copies, and generation 6 was begun.
    let mut flash = card(5);
    write_both(&mut flash, 1, &header(CARD, 1, 4));
    write(&mut flash, 0, 0, &header(CARD, 0, 6));
    assert_eq!(states(&mut flash), [Trusted, Stale, Trusted]);
}

#[test]
fn one_readable_copy_is_enough() {
    for copy in 0..2 {
        let mut flash = card(5);
        (0..3).for_each(|module| assert!(flash.inject(Fault::DamageHeader { module, copy, byte: 900, xor: 1 })));
        assert_eq!(states(&mut flash), [Trusted; 3]);
    }
    let mut flash = card(5);
    (0..2).for_each(|copy| assert!(flash.inject(Fault::DamageHeader { module: 1, copy, byte: 900, xor: 1 })));
    assert_eq!(states(&mut flash), [Trusted, Blank, Trusted]);
}

#[test]
fn what_is_somebody_elses_is_not_blank() {
    let mut flash = card(5);
    (0..2).for_each(|copy| flash.write_header(1, copy, &[0x55; 4096]).unwrap());
    assert_eq!(states(&mut flash), [Trusted, Missing, Trusted]);
}

#[test]
fn a_module_of_another_card_is_refused_by_name() {
    let mut flash = card(5);
    write_both(&mut flash, 1, &header(OTHER, 1, 9));
    for expected in [None, Some(CARD)] {
        let error = assemble(&mut flash, expected).unwrap_err();
        assert_eq!(error, AssembleError::Foreign { slot: 1, found: OTHER, card: CARD });
        assert!(error.to_string().contains(&OTHER.to_string()));
    }
    let error = assemble(&mut flash, Some(OTHER)).unwrap_err();
    assert_eq!(error, AssembleError::Foreign { slot: 0, found: CARD, card: OTHER });
    assert_eq!(error.slot_in_the_way(), Some(0));
    // No single module is in the way where none is of the card.
    let error = assemble(&mut card(5), Some(OTHER)).unwrap_err();
    assert_eq!(error, AssembleError::Others { found: CARD, card: OTHER });
    assert_eq!(error.slot_in_the_way(), None);
}

#[test]
fn a_copied_module_is_refused_by_name() {
    let mut flash = card(5);
    write_both(&mut flash, 2, &header(CARD, 0, 4));
    let error = assemble(&mut flash, None).unwrap_err();
    assert_eq!(error, AssembleError::Cloned { first: 0, second: 2, module: module(0), copy: 2 });
    // The one out of its place is the copy, unless it is the newer of the two.
    let mut flash = card(5);
    write_both(&mut flash, 0, &header(CARD, 2, 5));
    let error = assemble(&mut flash, None).unwrap_err();
    assert_eq!(error, AssembleError::Cloned { first: 0, second: 2, module: module(2), copy: 0 });
    let mut flash = card(5);
    write_both(&mut flash, 0, &header(CARD, 2, 6));
    assert_eq!(assemble(&mut flash, None).unwrap_err().slot_in_the_way(), Some(2));
}

#[test]
fn a_module_whose_place_was_taken_is_set_aside() {
    let mut flash = card(5);
    for slot in [0, 2] {
        let mut header = header(CARD, slot, 6);
        header.slots[1].module = ModuleId([99; 16]);
        write_both(&mut flash, slot.into(), &header);
    }
    let assembly = assemble(&mut flash, None).unwrap();
    assert_eq!(assembly.replaced, [(1, module(1))]);
    assert_eq!(assembly.trusted_slots(), [Some(0), None, Some(2)]);
}

#[test]
fn a_newer_format_is_refused() {
    let mut flash = card(5);
    let mut bytes = header(CARD, 1, 5).encode();
    bytes[8] = 9;
    let crc = format::payload_crc(&bytes[..4092]);
    bytes[4092..].copy_from_slice(&crc.to_le_bytes());
    flash.write_header(1, 1, &bytes).unwrap();
    let error = assemble(&mut flash, None).unwrap_err();
    assert!(matches!(error, AssembleError::NewerVersion { slot: 1, .. }));
    assert_eq!(
        error.to_string(),
        "slot 1: module header: format version 9, supported up to 1; a newer flashrig reads it"
    );
}

#[test]
fn a_card_that_is_divided_otherwise_is_refused() {
    let mut flash = card(5);
    let mut other = header(CARD, 1, 5);
    other.shape.rows_per_block = 8;
    write_both(&mut flash, 1, &other);
    let error = assemble(&mut flash, None).unwrap_err();
    assert_eq!(error.to_string(), "slot 1: rows per block 8 instead of 4");
    for slot in 0..3 {
        let mut other = header(CARD, slot, 5);
        other.shape.blocks_per_die = 16;
        write_both(&mut flash, slot.into(), &other);
    }
    let error = assemble(&mut flash, None).unwrap_err();
    assert_eq!(error.to_string(), "slot 0: blocks per die 16 instead of 8");
}

#[test]
fn without_headers_there_is_no_card() {
    let mut flash = Flash::new(SHAPE, Physics::IDEAL, 1);
    assert_eq!(assemble(&mut flash, None), Err(AssembleError::NoCard));
    assert_eq!(assemble(&mut flash, Some(CARD)), Err(AssembleError::NoCard));
    flash.power_cut(&[], &mut |_, _| media::CutOutcome::Done);
    assert!(matches!(assemble(&mut flash, None), Err(AssembleError::Media { slot: 0, .. })));
}

#[test]
fn without_parity_no_module_may_be_missing() {
    let mut flash = Flash::new(SHAPE, Physics::IDEAL, 1);
    for slot in 0..3 {
        let header = ModuleHeader { parity_units: 0, ..header(CARD, slot, 5) };
        write_both(&mut flash, slot.into(), &header);
    }
    assert_eq!(states(&mut flash), [Trusted; 3]);
    flash.pull(1);
    assert!(matches!(assemble(&mut flash, None), Err(AssembleError::TooFew { spared: 0, .. })));
}

#[test]
fn a_blank_module_in_another_slot_takes_the_free_place() {
    let mut flash = card(5);
    let [first, second] = [0, 1].map(|slot| flash.pull(slot).unwrap());
    drop(second);
    flash.insert(1, first);
    flash.insert(0, Flash::new(SHAPE, Physics::IDEAL, 2).pull(0).unwrap());
    let assembly = assemble(&mut flash, None).unwrap();
    let places: Vec<_> = assembly.members.iter().map(|member| (member.slot, member.state)).collect();
    assert_eq!(places, [(Some(1), Trusted), (Some(0), Blank), (Some(2), Trusted)]);
}

#[test]
fn one_module_may_fail_after_the_card_was_put_together_and_two_may_not() {
    let assembly = assemble(&mut card(5), None).unwrap();
    assert!(assembly.enough_without(&[]).is_ok());
    assert!((0..3).all(|lost| assembly.enough_without(&[lost]).is_ok()));
    let error = assembly.enough_without(&[0, 2]).unwrap_err();
    assert!(matches!(&error, AssembleError::TooFew { missing, spared: 1 } if missing.len() == 2));
}

#[test]
fn headers_that_leave_no_numbers_above_them_are_refused() {
    let most = u64::MAX / 2;
    for (generation, sequence, refused) in
        [(most, most, None), (most + 1, 7, Some("generation")), (7, u64::MAX, Some("sequence"))]
    {
        let mut flash = card(5);
        (0..3).for_each(|slot| {
            write_both(&mut flash, slot, &ModuleHeader { generation, sequence, ..header(CARD, slot as u16, 5) })
        });
        match (assemble(&mut flash, None), refused) {
            (Ok(_), None) => {}
            (Err(AssembleError::NumbersExhausted { field, .. }), Some(refused)) => assert_eq!(field, refused),
            (found, _) => panic!("{generation} {sequence}: {found:?}"),
        }
    }
}

#[test]
fn a_header_says_how_addresses_relate() {
    for made in [crate::recover::writer::SMALL, crate::recover::writer::GROUPS] {
        let mut header = header(CARD, 0, 1);
        header.shape.dies_per_module = made.dies_per_module;
        header.shape.rows_per_block = made.rows;
        header.shape.unit_sectors = made.unit_sectors;
        (header.stripe_width, header.parity_units) = (made.width, made.parity);
        assert_eq!(ftl::recover::layout_of(&header), made.layout());
    }
}

#[test]
fn a_module_that_is_put_in_joins_in_its_place_or_is_refused_by_name() {
    // Four slots, three places.
    let shape = Shape { modules: 4, ..SHAPE };
    let mut flash = Flash::new(shape, Physics::IDEAL, 1);
    let of_card = header(CARD, 0, 5);
    let joins = |flash: &mut Flash, slot, there: [bool; 3]| {
        join(flash, slot, &of_card, |place| there.get(place as usize).copied().unwrap_or(false))
    };
    // One that is new takes the place of its slot's number, or else the first that is free.
    assert_eq!(joins(&mut flash, 2, [true, false, false]), Ok(Joins::New { place: 2 }));
    assert_eq!(joins(&mut flash, 0, [true, false, false]), Ok(Joins::New { place: 1 }));
    assert_eq!(joins(&mut flash, 3, [true, true, false]), Ok(Joins::New { place: 2 }));
    for slot in 0..4 {
        assert_eq!(joins(&mut flash, slot, [true; 3]), Err(JoinError::NoPlace { slot }));
    }
    // One that was there before has its own place, whatever the slot.
    let mut flash = Flash::new(SHAPE, Physics::IDEAL, 1);
    write_both(&mut flash, 0, &header(CARD, 1, 4));
    let again = Joins::Again { place: 1, generation: Some(4) };
    assert_eq!(joins(&mut flash, 0, [true, false, true]), Ok(again));
    let cloned = JoinError::Cloned { slot: 0, module: module(1), place: 1 };
    assert_eq!(joins(&mut flash, 0, [true; 3]), Err(cloned));
    let mut replaced = header(CARD, 1, 4);
    replaced.module = ModuleId([99; 16]);
    write_both(&mut flash, 0, &replaced);
    let by = JoinError::Replaced { slot: 0, module: ModuleId([99; 16]), place: 1, by: module(1) };
    assert_eq!(joins(&mut flash, 0, [true, false, true]), Err(by));
    write_both(&mut flash, 0, &header(OTHER, 1, 4));
    let found = joins(&mut flash, 0, [true, false, true]);
    assert!(matches!(found, Err(JoinError::Foreign { slot: 0, found: OTHER, card: CARD, .. })));
}

/// Six modules, whose stripes lie on the first three and on the last three.
fn on_three_shelves() -> Flash {
    let shape = Shape { modules: 6, ..SHAPE };
    let mut flash = Flash::new(shape, Physics::IDEAL, 1);
    for slot in 0..6 {
        let slots = (0..6).map(|number| Slot::new(module(number), SlotState::Active)).collect();
        write_both(&mut flash, slot.into(), &ModuleHeader { shape, slots, ..header(CARD, slot, 5) });
    }
    flash
}

#[test]
fn two_modules_may_be_missing_where_no_stripe_and_no_record_of_the_log_lies_on_both() {
    for first in 0..6u32 {
        for second in first + 1..6 {
            let mut flash = on_three_shelves();
            flash.pull(first);
            flash.pull(second);
            // One of each half, and no neighbours: 2 and 3 are, and 5 and 0.
            let may = first < 3 && second >= 3 && (first, second) != (2, 3) && (first, second) != (0, 5);
            match assemble(&mut flash, None) {
                Ok(assembly) => {
                    assert!(may, "{first} and {second}");
                    let gone = |logical: usize| assembly.members[logical].state == Missing;
                    assert!(
                        (0..6).all(|logical| gone(logical) == [first as usize, second as usize].contains(&logical))
                    );
                    let third = (0..6)
                        .filter(|logical| !gone(*logical))
                        .find(|third| assembly.enough_without(&[*third]).is_ok());
                    assert_eq!(third, None, "{first}, {second} and {third:?}");
                }
                Err(AssembleError::TooFew { missing, spared: 1 }) => {
                    assert!(!may, "{first} and {second}");
                    assert_eq!(missing, [(first, Missing), (second, Missing)]);
                }
                Err(error) => panic!("{first} and {second}: {error}"),
            }
        }
    }
}
