//! Each fault has its effect, and no other.

use crate::common::*;
use media::{BlockAt, Fault, Flash, HEADER_BYTES, Media, MediaError, Part, Physics, Unit};

const DIE: u32 = 0;

/// Row 0 of blocks 0 and 1 of each module holds mark 1.
fn written() -> Flash {
    let mut flash = flash(Physics::IDEAL);
    for module in 0..3 {
        program(&mut flash, at(module, 0, 0), 1).unwrap();
        program(&mut flash, at(module, 1, 0), 1).unwrap();
        flash.write_header(module, 0, &[7; HEADER_BYTES]).unwrap();
    }
    flash
}

fn read(flash: &mut Flash, at: media::UnitAt) -> Result<media::ReadReport, MediaError> {
    let mut unit = Unit::new(flash.shape());
    flash.read(at, &mut unit)
}

#[test]
fn a_dead_die_answers_nothing_and_the_others_do() {
    let mut flash = written();
    assert!(flash.inject(Fault::DieDead { module: 1, die: DIE }));
    assert_eq!(read(&mut flash, at(1, 0, 0)), Err(MediaError::NoAnswer));
    assert_eq!(program(&mut flash, at(1, 0, 1), 1), Err(MediaError::NoAnswer));
    assert_eq!(flash.erase(at(1, 0, 0).block), Err(MediaError::NoAnswer));
    flash.erase(BlockAt { module: 1, die: 1, block: 0 }).unwrap();
    assert!(flash.read_header(1, 0).is_ok());
    assert_eq!(look(&mut flash, at(0, 0, 0), 1), "GGGG");
}

#[test]
fn a_dead_module_stays_dead_and_a_stuck_one_comes_back() {
    let mut flash = written();
    flash.inject(Fault::ModuleDead { module: 0 });
    flash.inject(Fault::ModuleStuck { module: 1 });
    flash.inject(Fault::ModuleSlow { module: 2, percent: 400 });
    assert_eq!([flash.is_stuck(0), flash.is_stuck(1)], [false, true]);
    assert_eq!([flash.slow_percent(1), flash.slow_percent(2)], [100, 400]);
    for module in 0..2 {
        assert_eq!(read(&mut flash, at(module, 0, 0)), Err(MediaError::NoAnswer));
        assert_eq!(flash.read_header(module, 0), Err(MediaError::NoAnswer));
        assert_eq!(flash.write_header(module, 0, &[0; HEADER_BYTES]), Err(MediaError::NoAnswer));
        assert_eq!(flash.sync(module), Err(MediaError::NoAnswer));
    }
    flash.power_cut(&[], &mut |_, _| unreachable!());
    flash.power_on();
    assert_eq!(read(&mut flash, at(0, 0, 0)), Err(MediaError::NoAnswer));
    assert_eq!(look(&mut flash, at(1, 0, 0), 1), "GGGG");
}

#[test]
fn as_many_programs_and_erases_fail_as_were_asked_for() {
    let mut flash = written();
    flash.inject(Fault::FailPrograms { module: 0, die: DIE, block: Some(1), count: 2 });
    flash.inject(Fault::FailErases { module: 0, die: DIE, block: None, count: 1 });
    program(&mut flash, at(0, 0, 1), 2).unwrap();
    assert_eq!(program(&mut flash, at(0, 1, 1), 2), Err(MediaError::Failed));
    assert_eq!(program(&mut flash, at(0, 1, 2), 2), Err(MediaError::Failed));
    program(&mut flash, at(0, 1, 3), 2).unwrap();
    assert_eq!(look(&mut flash, at(0, 1, 1), 2), "UUUU");
    assert_eq!(look(&mut flash, at(0, 1, 0), 1), "GGGG");
    flash.erase(at(1, 0, 0).block).unwrap();
    assert_eq!(flash.erase(at(0, 0, 0).block), Err(MediaError::Failed));
    assert_eq!(look(&mut flash, at(0, 0, 0), 1), "UUUU");
    flash.erase(at(0, 0, 0).block).unwrap();
    assert!(!flash.inject(Fault::FailPrograms { module: 0, die: DIE, block: None, count: 0 }));
}

#[test]
fn flipped_bits_add_up_to_the_limit_and_beyond() {
    let mut flash = written();
    let place = at(0, 0, 0);
    let flip = |bits| Fault::FlipBits { at: place, sector: 2, bits };
    flash.inject(flip(29));
    let report = read(&mut flash, place).unwrap();
    assert_eq!((report.corrected_bits, report.refresh_advised), (29, false));
    flash.inject(flip(11));
    let report = read(&mut flash, place).unwrap();
    assert_eq!((report.corrected_bits, report.refresh_advised), (40, true));
    assert_eq!(look(&mut flash, place, 1), "GGGG");
    flash.inject(flip(1));
    assert_eq!(look(&mut flash, place, 1), "GGUG");
    flash.erase(place.block).unwrap();
    program(&mut flash, place, 3).unwrap();
    assert_eq!(look(&mut flash, place, 3), "GGGG");
    // An erased sector, too, shows them only beyond the limit.
    let erased = at(0, 5, 1);
    flash.inject(Fault::FlipBits { at: erased, sector: 0, bits: 40 });
    assert_eq!(look(&mut flash, erased, 1), "EEEE");
    flash.inject(Fault::FlipBits { at: erased, sector: 0, bits: 1 });
    assert_eq!(look(&mut flash, erased, 1), "UEEE");
}

#[test]
fn a_miscorrected_sector_reads_as_good_with_wrong_bytes_in_its_part() {
    for (part, spare_differs) in [(Part::Payload, false), (Part::Spare, true)] {
        let mut flash = written();
        let place = at(0, 0, 0);
        assert!(flash.inject(Fault::Miscorrect { at: place, sector: 1, part }));
        assert_eq!(look(&mut flash, place, 1), "GWGG");
        let mut out = Unit::new(&SHAPE);
        flash.read(place, &mut out).unwrap();
        let expected = unit(&SHAPE, 1);
        assert_eq!(out.spare(1) != expected.spare(1), spare_differs);
        assert_eq!(out.payload(1) == expected.payload(1), spare_differs);
        assert!(!flash.inject(Fault::Miscorrect { at: at(0, 3, 0), sector: 1, part }));
    }
}

#[test]
fn a_damaged_byte_is_the_only_wrong_one() {
    let mut flash = written();
    let place = at(0, 0, 0);
    assert!(flash.inject(Fault::DamageByte { at: place, sector: 3, byte: 70, xor: 0x80 }));
    assert!(!flash.inject(Fault::DamageByte { at: at(0, 0, 1), sector: 3, byte: 70, xor: 0x80 }));
    let mut out = Unit::new(&SHAPE);
    flash.read(place, &mut out).unwrap();
    let mut expected = unit(&SHAPE, 1);
    expected.payload_mut(3)[70 - media::SPARE_BYTES] ^= 0x80;
    assert_eq!((out.spare(3), out.payload(3)), (expected.spare(3), expected.payload(3)));
    assert_eq!(look(&mut flash, place, 1), "GGGW");
    flash.erase(place.block).unwrap();
    program(&mut flash, place, 1).unwrap();
    assert_eq!(look(&mut flash, place, 1), "GGGG");
}

#[test]
fn a_damaged_header_is_returned_and_a_lost_one_is_not() {
    let mut flash = written();
    flash.inject(Fault::DamageHeader { module: 0, copy: 0, byte: 9, xor: 1 });
    let header = flash.read_header(0, 0).unwrap().unwrap();
    assert_eq!((header[8], header[9], header[10]), (7, 6, 7));
    assert!(!flash.inject(Fault::DamageHeader { module: 0, copy: 1, byte: 9, xor: 1 }));
    flash.inject(Fault::LoseHeader { module: 1, copy: 0 });
    assert_eq!(flash.read_header(1, 0), Ok(None));
    flash.write_header(1, 0, &[8; HEADER_BYTES]).unwrap();
    assert_eq!(flash.read_header(1, 0).unwrap().unwrap(), [8; HEADER_BYTES]);
}

#[test]
fn a_lost_program_leaves_its_row_erased_and_free() {
    let mut flash = written();
    flash.inject(Fault::LoseProgram { module: 0, die: DIE });
    program(&mut flash, at(1, 0, 1), 2).unwrap();
    program(&mut flash, at(0, 0, 1), 2).unwrap();
    assert_eq!(look(&mut flash, at(0, 0, 1), 2), "EEEE");
    assert_eq!(look(&mut flash, at(1, 0, 1), 2), "GGGG");
    program(&mut flash, at(0, 0, 1), 3).unwrap();
    assert_eq!(look(&mut flash, at(0, 0, 1), 3), "GGGG");
}

#[test]
fn a_misdirected_program_lands_elsewhere_and_the_layer_above_is_not_blamed() {
    let mut flash = written();
    flash.inject(Fault::MisdirectProgram { module: 0, die: DIE, to_block: 4, to_row: 2 });
    program(&mut flash, at(0, 0, 1), 2).unwrap();
    assert_eq!(look(&mut flash, at(0, 0, 1), 2), "EEEE");
    assert_eq!(look(&mut flash, at(0, 4, 2), 2), "GGGG");
    for row in 0..4 {
        program(&mut flash, at(0, 4, row), 5).unwrap();
        assert_eq!(look(&mut flash, at(0, 4, row), 5), "GGGG");
    }
    // Over something that is there.
    flash.inject(Fault::MisdirectProgram { module: 0, die: DIE, to_block: 1, to_row: 0 });
    program(&mut flash, at(0, 0, 2), 6).unwrap();
    assert_eq!(look(&mut flash, at(0, 1, 0), 6), "GGGG");
}

#[test]
fn a_duplicated_program_lands_at_both_places() {
    let mut flash = written();
    flash.inject(Fault::DuplicateProgram { module: 0, die: DIE, to_block: 4, to_row: 2 });
    program(&mut flash, at(0, 0, 1), 2).unwrap();
    assert_eq!(look(&mut flash, at(0, 0, 1), 2), "GGGG");
    assert_eq!(look(&mut flash, at(0, 4, 2), 2), "GGGG");
    program(&mut flash, at(0, 0, 2), 3).unwrap();
    assert_eq!(look(&mut flash, at(0, 4, 2), 2), "GGGG");
}

#[test]
fn the_host_fails_at_the_operation_that_was_named() {
    let mut flash = written();
    flash.inject(Fault::HostError { module: None, after: 1, for_ever: false });
    assert!(read(&mut flash, at(0, 0, 0)).is_ok());
    assert_eq!(program(&mut flash, at(0, 0, 1), 2), Err(MediaError::Host));
    program(&mut flash, at(0, 0, 1), 2).unwrap();
    flash.inject(Fault::HostError { module: None, after: 0, for_ever: true });
    for _ in 0..3 {
        assert_eq!(flash.erase(at(0, 0, 0).block), Err(MediaError::Host));
        assert_eq!(read(&mut flash, at(0, 0, 0)), Err(MediaError::Host));
        assert_eq!(flash.read_header(0, 0), Err(MediaError::Host));
    }
    flash.disarm();
    assert_eq!(look(&mut flash, at(0, 0, 1), 2), "GGGG");
}

#[test]
fn a_full_host_still_reads() {
    let mut flash = written();
    flash.inject(Fault::NoSpace { module: None, after: 0, for_ever: true });
    assert!(read(&mut flash, at(0, 0, 0)).is_ok());
    assert_eq!(program(&mut flash, at(0, 0, 1), 2), Err(MediaError::NoSpace));
    assert_eq!(flash.write_header(0, 0, &[0; HEADER_BYTES]), Err(MediaError::NoSpace));
    assert_eq!(look(&mut flash, at(0, 0, 1), 2), "EEEE");
}

#[test]
fn a_short_operation_is_torn_and_reported() {
    let mut flash = written();
    flash.inject(Fault::ShortIo { module: None, after: 0, for_ever: false });
    assert_eq!(program(&mut flash, at(0, 0, 1), 2), Err(MediaError::Host));
    assert_eq!(look(&mut flash, at(0, 0, 1), 2), "GGUU");
    flash.inject(Fault::ShortIo { module: None, after: 0, for_ever: false });
    assert_eq!(flash.erase(at(0, 0, 0).block), Err(MediaError::Host));
    assert_eq!(look(&mut flash, at(0, 0, 0), 1), "UUUU");
    flash.inject(Fault::ShortIo { module: None, after: 0, for_ever: false });
    assert_eq!(flash.write_header(0, 0, &[0; HEADER_BYTES]), Err(MediaError::Host));
    assert_eq!(flash.read_header(0, 0), Ok(None));
}

#[test]
fn a_failed_sync_leaves_the_cache_as_it_was_or_drops_it() {
    for (drops, expected) in [(false, "GGGG"), (true, "EEEE")] {
        let mut flash = flash(Physics { volatile_cache: true, ..Physics::IDEAL });
        flash.set_cache_loss(media::CacheLoss::All);
        program(&mut flash, at(0, 0, 0), 1).unwrap();
        flash.inject(Fault::FailSync { module: 0, drops, for_ever: false });
        flash.sync(1).unwrap();
        assert_eq!(flash.sync(0), Err(MediaError::Host));
        program(&mut flash, at(0, 0, 1), 2).unwrap();
        flash.sync(0).unwrap();
        assert_eq!(look(&mut flash, at(0, 0, 0), 1), "GGGG");
        flash.power_cut(&[], &mut |_, _| unreachable!());
        flash.power_on();
        assert_eq!(look(&mut flash, at(0, 0, 0), 1), expected);
        assert_eq!(look(&mut flash, at(0, 0, 1), 2), "GGGG");
    }
}

#[test]
fn faults_of_a_module_travel_with_it() {
    let mut flash = written();
    flash.inject(Fault::LoseProgram { module: 0, die: DIE });
    let (first, second) = (flash.pull(0).unwrap(), flash.pull(1).unwrap());
    flash.insert(0, second);
    flash.insert(1, first);
    program(&mut flash, at(0, 0, 1), 2).unwrap();
    program(&mut flash, at(1, 0, 1), 2).unwrap();
    assert_eq!(look(&mut flash, at(0, 0, 1), 2), "GGGG");
    assert_eq!(look(&mut flash, at(1, 0, 1), 2), "EEEE");
}

#[test]
fn kinds_have_names_and_modules() {
    let fault = Fault::Miscorrect { at: at(2, 0, 0), sector: 0, part: Part::Spare };
    assert_eq!((fault.kind(), fault.module()), ("miscorrect-spare", Some(2)));
    assert_eq!(Fault::ShortIo { module: None, after: 0, for_ever: false }.module(), None);
    let mut flash = written();
    flash.pull(2);
    assert!(!flash.inject(fault));
}
