//! More is lost than parity can stand for.

use crate::recover::writer::{Content, GROUPS, Made, SMALL, Writer, last};
use ftl::recover::{FoundState, ScanError, SectorError, VERSION_GAP};
use media::{Fault, Media};

/// The units of dies 0 and 1 in these rows are lost.
fn spoil_two(writer: &mut Writer, band: u32, row: u32) {
    (0..2).for_each(|die| writer.spoil(writer.at(band, die, row)));
}

fn is_beyond(error: &ScanError, of_band: u32, of_stripe: u32) -> bool {
    matches!(error, ScanError::BeyondRedundancy { band, stripe, .. } if (*band, *stripe) == (of_band, of_stripe))
}

#[test]
fn a_summary_tells_which_lbas_are_lost() {
    for plp in [false, true] {
        let made = Made { plp, ..SMALL };
        let mut writer = Writer::new(made);
        writer.full_band(1, 0);
        let new = writer.full_band(2, 0);
        spoil_two(&mut writer, 2, 3);
        for found in [writer.scan().unwrap(), writer.scan_all().unwrap()] {
            for (lba, version) in &new {
                match writer.read(&found, *lba).unwrap() {
                    Ok(read) => assert_eq!(read, *version),
                    Err(error) => assert!(matches!(error, SectorError::Lost { others: 1, .. }), "{error}"),
                }
            }
            let lost = new.iter().filter(|(lba, _)| writer.read(&found, *lba).unwrap().is_err()).count();
            assert!((1..=2).contains(&lost));
        }
        assert_eq!(writer.scan().unwrap().map, writer.scan_all().unwrap().map);
        let report = writer.scan_all().unwrap().report;
        assert!((1..=2).contains(&report.unreadable_sectors));
    }
}

#[test]
fn what_is_lost_and_superseded_is_no_loss() {
    let mut writer = Writer::new(SMALL);
    let mut written = writer.full_band(1, 0);
    written.extend(writer.full_band(2, 0));
    spoil_two(&mut writer, 1, 3);
    for found in [writer.scan().unwrap(), writer.scan_all().unwrap()] {
        assert_eq!(writer.versions(&found), last(&SMALL, &written));
        assert_eq!(found.report.unreadable_sectors, 0);
    }
}

#[test]
fn a_band_whose_summary_is_lost_too_is_refused() {
    let mut writer = Writer::new(SMALL);
    writer.full_band(2, 0);
    writer.full_band(3, 0);
    spoil_two(&mut writer, 2, 3);
    spoil_two(&mut writer, 2, 7);
    assert!(is_beyond(&writer.scan().unwrap_err(), 2, 3));
}

#[test]
fn a_lost_summary_alone_is_no_loss() {
    let mut writer = Writer::new(SMALL);
    let written = writer.full_band(2, 0);
    spoil_two(&mut writer, 2, 7);
    let found = writer.scan().unwrap();
    assert_eq!(writer.versions(&found), last(&SMALL, &written));
}

#[test]
fn two_losses_before_the_last_stripes_of_an_open_band_are_refused() {
    for plp in [false, true] {
        let mut writer = Writer::new(Made { plp, ..SMALL });
        let mut open = writer.open(3);
        (0..4).for_each(|first| drop(writer.write(&mut open, &[first * 2, first * 2 + 1])));
        for row in 0..3 {
            let mut writer = writer.clone();
            spoil_two(&mut writer, 3, row);
            assert!(is_beyond(&writer.scan().unwrap_err(), 3, row));
        }
        spoil_two(&mut writer, 3, 3);
        // Nobody can tell it from a torn stripe, but with protection there are none.
        assert_eq!(writer.scan().is_ok(), !plp);
    }
}

#[test]
fn the_last_stripe_of_a_band_is_no_exception_once_its_stream_went_on() {
    let mut writer = Writer::new(SMALL);
    let mut abandoned = writer.open(3);
    writer.write(&mut abandoned, &[1, 2]);
    writer.write(&mut abandoned, &[3, 4]);
    let mut next = writer.open(5);
    writer.write(&mut next, &[5, 6]);
    spoil_two(&mut writer, 3, 1);
    assert!(is_beyond(&writer.scan().unwrap_err(), 3, 1));
}

#[test]
fn another_stream_or_another_start_says_nothing_of_when_a_program_ended() {
    for (stream, start) in [(1, false), (0, true)] {
        let mut writer = Writer::new(SMALL);
        let mut cut = writer.open(3);
        let written = writer.write(&mut cut, &[1, 2]);
        writer.write(&mut cut, &[3, 4]);
        if start {
            writer.sequence = writer.scan().unwrap().last_band_sequence;
        }
        let mut next = writer.open_as(5, stream, false);
        writer.write(&mut next, &[5, 6]);
        spoil_two(&mut writer, 3, 1);
        let found = writer.scan().unwrap();
        assert_eq!(writer.versions(&found)[1..3], last(&SMALL, &written)[1..3]);
        assert_eq!(found.report.dropped_sectors, 2);
    }
}

#[test]
fn a_failed_program_and_a_missing_module_are_no_loss() {
    for plp in [false, true] {
        let made = Made { plp, ..SMALL };
        let mut writer = Writer::new(made);
        let mut failing = writer.open(3);
        let mut written = writer.write(&mut failing, &[1, 2]);
        writer.flash.inject(Fault::FailPrograms { module: 0, die: 0, block: Some(3), count: 1 });
        let version = writer.version();
        let contents = [Content::Data(3, version), Content::Data(4, version)];
        let units = writer.build(&mut failing, &contents);
        for (at, unit) in &units {
            let failed = writer.flash.program(*at, unit).is_err();
            assert_eq!(failed, at.block.module == 0);
        }
        writer.flash.mark_bad(writer.at(3, 0, 0).block).unwrap();
        // Its contents go elsewhere.
        let mut next = writer.open(5);
        writer.stripe(&mut next, &contents);
        written.extend([(3, version), (4, version)]);
        for missing in [None, Some(1), Some(2)] {
            let mut writer = writer.clone();
            if let Some(module) = missing {
                writer.modules[module] = None;
            }
            let found = writer.scan().unwrap();
            assert_eq!(writer.versions(&found), last(&made, &written), "{missing:?}");
        }
    }
}

#[test]
fn two_missing_modules_are_refused() {
    for made in [SMALL, GROUPS] {
        let mut writer = Writer::new(made);
        writer.full_band(2, 0);
        writer.modules[0] = None;
        writer.modules[2] = None;
        assert!(is_beyond(&writer.scan().unwrap_err(), 2, 0));
        writer.modules[1] = None;
        assert_eq!(writer.scan().unwrap_err(), ScanError::NoAnswer { band: 0 });
    }
}

#[test]
fn a_lost_list_of_holes_is_refused() {
    let mut writer = Writer::new(SMALL);
    let mut open = writer.open(2);
    writer.stripe(&mut open, &[Content::Data(7, 10), Content::Data(8, 11)]);
    writer.stripe(&mut open, &[Content::Holes(0, 21, 20, vec![7]), Content::Padding]);
    writer.version = 30;
    writer.fill(&mut open, 10);
    writer.close(&mut open);
    let found = writer.scan().unwrap();
    let at = writer.layout.locate(ftl::Ppa(found.map[64]));
    writer.spoil(writer.at(2, at.die, at.row));
    writer.spoil(writer.at(2, (at.die + 1) % 3, at.row));
    let error = writer.scan().unwrap_err();
    assert_eq!(error, ScanError::Holes { segment: 0, band: 2, stripe: 1 });
}

#[test]
fn a_card_that_its_media_contradict_is_refused() {
    let mut writer = Writer::new(SMALL);
    type Change = fn(&mut ftl::recover::Card);
    let fields: [(&str, Change); 4] = [
        ("bands", |card| card.bands = 9),
        ("payload bytes", |card| card.payload_bytes = 64),
        ("modules", |card| card.modules = &card.modules[1..]),
        ("entries of the map", |card| card.user_sectors = 192),
    ];
    for (field, change) in fields {
        let error = writer.scan_with(change).unwrap_err();
        assert!(matches!(error, ScanError::Geometry { field: found, .. } if found == field), "{error}");
    }
}

#[test]
fn numbers_that_leave_none_above_them_are_refused() {
    for version in [u64::MAX, u64::MAX - 10] {
        let mut writer = Writer::new(SMALL);
        let mut open = writer.open(2);
        writer.stripe(&mut open, &[Content::Data(7, version)]);
        let error = writer.scan().unwrap_err();
        assert_eq!(error, ScanError::NumbersExhausted { field: "version", found: version });
    }
    let mut writer = Writer::new(SMALL);
    writer.sequence = u64::MAX - 1;
    let mut open = writer.open(2);
    writer.write(&mut open, &[1, 2]);
    assert!(matches!(writer.scan(), Err(ScanError::NumbersExhausted { field: "band sequence", .. })));
}

#[test]
fn media_that_fail_are_told_from_media_that_forgot() {
    let mut writer = Writer::new(SMALL);
    writer.full_band(2, 0);
    writer.flash.power_cut(&[], &mut |_, _| media::CutOutcome::Done);
    assert!(matches!(writer.scan(), Err(ScanError::Media { .. })));
}

#[test]
fn a_program_that_never_happened_is_no_proof_that_its_stripe_was_torn() {
    let mut writer = Writer::new(SMALL);
    let mut open = writer.open(3);
    writer.flash.inject(Fault::LoseProgram { module: 0, die: 0 });
    writer.write(&mut open, &[1, 2]);
    writer.write(&mut open, &[3, 4]);
    writer.spoil(writer.at(3, 1, 0));
    assert!(is_beyond(&writer.scan().unwrap_err(), 3, 0));
}

#[test]
fn a_program_that_went_astray_is_no_proof_that_its_stripe_was_torn() {
    let astray = Fault::MisdirectProgram { module: 0, die: 0, to_block: 5, to_row: 2 };
    let never = Fault::LoseProgram { module: 0, die: 0 };
    for (fault, is_told) in [(astray, true), (never, false)] {
        for volatile in [false, true] {
            let mut writer = Writer::new(Made { volatile, ..SMALL });
            let mut open = writer.open(3);
            writer.write(&mut open, &[1, 2]);
            writer.flash.inject(fault);
            writer.write(&mut open, &[3, 4]);
            assert!(writer.scan().is_ok());
            // Another module is missing, or was: a rebuild has left a unit without spare areas, which says that
            // something pointed there.
            let mut given_up = writer.clone();
            writer.modules[1] = None;
            let at = given_up.at(3, 1, 1);
            given_up.flash.erase(at.block).unwrap();
            for row in 0..2 {
                let nothing = media::Unit::new(&given_up.made.shape());
                given_up.flash.program(media::UnitAt { row, ..at }, &nothing).unwrap();
            }
            for (mut writer, is_told) in [(writer, is_told), (given_up, true)] {
                match writer.scan() {
                    Err(error) => assert!(is_told && is_beyond(&error, 3, 1), "{error}"),
                    Ok(found) => assert!(!is_told && found.report.dropped_sectors == 2),
                }
            }
        }
    }
}

#[test]
fn two_lost_blocks_of_a_band_that_is_needed_are_refused() {
    for plp in [false, true] {
        let mut writer = Writer::new(Made { plp, ..SMALL });
        writer.full_band(1, 0);
        writer.full_band(2, 20);
        (0..8).for_each(|row| spoil_two(&mut writer, 1, row));
        assert!(is_beyond(&writer.scan().unwrap_err(), 1, 0));
        // The rest of the band is superseded, so it may have been erased just then.
        writer.full_band(3, 0);
        let found = writer.scan().unwrap();
        assert_eq!(found.bands[1].state, FoundState::Dirty);
    }
}

#[test]
fn a_lost_block_and_a_missing_module_are_refused() {
    let mut writer = Writer::new(SMALL);
    writer.full_band(1, 0);
    writer.full_band(2, 20);
    (0..8).for_each(|row| writer.spoil(writer.at(1, 0, row)));
    writer.modules[1] = None;
    assert!(is_beyond(&writer.scan().unwrap_err(), 1, 0));
}

#[test]
fn a_band_of_another_card_is_dirty() {
    let mut other = Writer::new(SMALL);
    other.full_band(1, 0);
    let found = other.scan_with(|card| card.card ^= 1).unwrap();
    assert_eq!(found.bands[1].state, FoundState::Dirty);
    assert!(found.map.iter().all(|ppa| *ppa == u32::MAX));
}

#[test]
fn a_block_that_failed_still_tells_of_its_band() {
    let mut writer = Writer::new(SMALL);
    writer.full_band(1, 0);
    writer.flash.mark_bad(writer.at(1, 0, 0).block).unwrap();
    (0..8).for_each(|row| writer.spoil(writer.at(1, 2, row)));
    writer.modules[1] = None;
    assert!(is_beyond(&writer.scan().unwrap_err(), 1, 0));
}

#[test]
fn what_is_left_on_a_block_that_was_bad_before_is_forgotten() {
    let mut writer = Writer::new(SMALL);
    writer.full_band(1, 0);
    writer.flash.mark_bad(writer.at(1, 0, 0).block).unwrap();
    (1..3).for_each(|die| writer.flash.erase(writer.at(1, die, 0).block).unwrap());
    let found = writer.scan().unwrap();
    assert_eq!(found.bands[1].state, FoundState::Free);
    let mut open = writer.open(1);
    let mut written = writer.write(&mut open, &[9]);
    written.extend(writer.write(&mut open, &[9]));
    let found = writer.scan().unwrap();
    assert_eq!(writer.versions(&found), last(&SMALL, &written));
}

#[test]
fn a_stripe_with_other_members_than_its_band_is_not_read() {
    let mut writer = Writer::new(SMALL);
    let mut open = writer.open(1);
    let written = writer.write(&mut open, &[1, 2]);
    open.masks[0] = 0b011;
    writer.write(&mut open, &[1]);
    let found = writer.scan().unwrap();
    assert_eq!(writer.versions(&found), last(&SMALL, &written));
}

#[test]
fn a_last_program_that_is_good_has_spoiled_nothing_that_shares_its_cells() {
    for made in [Made { cell_rows: 2, ..SMALL }, Made { cell_rows: 2, unit_sectors: 2, ..SMALL }] {
        let mut writer = Writer::new(made);
        let mut open = writer.open(3);
        for row in 0..4 {
            let lbas: Vec<u32> = (row * 8..).take(writer.room(&open)).collect();
            writer.write(&mut open, &lbas);
        }
        writer.modules[0] = None;
        writer.spoil(writer.at(3, 1, 2));
        // Another die's last program says nothing of this one's.
        let at = writer.at(3, 2, 3);
        writer.flash.inject(Fault::FlipBits { at, sector: 0, bits: 10_000 });
        assert!(is_beyond(&writer.scan().unwrap_err(), 3, 2));
        // A cut program may have spoiled earlier rows.
        let at = writer.at(3, 1, 3);
        writer.flash.inject(Fault::FlipBits { at, sector: 0, bits: 10_000 });
        assert!(writer.scan().is_ok());
    }
}

#[test]
fn what_came_astray_to_a_place_that_is_not_written_yet_is_no_loss() {
    for plp in [false, true] {
        let made = Made { plp, ..SMALL };
        let mut writer = Writer::new(made);
        let mut open = writer.open(3);
        let mut written = writer.write(&mut open, &[1, 2]);
        let mut other = writer.open_as(5, 1, false);
        writer.flash.inject(Fault::MisdirectProgram { module: 0, die: 0, to_block: 3, to_row: 1 });
        written.extend(writer.write(&mut other, &[3, 4]));
        let found = writer.scan().unwrap();
        assert_eq!(writer.versions(&found), last(&made, &written), "{plp}");
    }
}

#[test]
fn a_refusal_names_the_units_that_are_lost() {
    let mut writer = Writer::new(SMALL);
    writer.full_band(2, 0);
    (writer.modules[0], writer.modules[2]) = (None, None);
    let error = writer.scan().unwrap_err().to_string();
    assert_eq!(error, "band 2 stripe 0 sector 0: units 0, 2 are lost, parity stands for 1");
}

#[test]
fn a_program_that_went_astray_on_its_own_block_is_found_on_any_die() {
    for die in 0..6 {
        let mut writer = Writer::new(GROUPS);
        let mut open = writer.open(3);
        let (module, die_of_module) = (die % 3, die / 3);
        writer.flash.inject(Fault::MisdirectProgram { module, die: die_of_module, to_block: 3, to_row: 1 });
        for first in 0..2 {
            let lbas: Vec<u32> = (first * 10..).take(writer.room(&open)).collect();
            writer.write(&mut open, &lbas);
        }
        assert!(writer.scan().is_ok(), "die {die}");
        // Without another module of its group nothing but the unit that went astray tells that the stripe was whole.
        writer.modules[((die + 1) % 3) as usize] = None;
        let ScanError::BeyondRedundancy { band, stripe, lost, .. } = writer.scan().unwrap_err() else { panic!() };
        let (unit, other) = (die % 3, (die + 1) % 3);
        assert_eq!((band, stripe, lost), (3, die / 3, 1 << unit | 1 << other), "die {die}");
    }
}

#[test]
fn a_spare_area_that_is_damaged_is_none_that_a_rebuild_has_left_out() {
    let mut writer = Writer::new(SMALL);
    let mut open = writer.open(3);
    let mut written = writer.write(&mut open, &[1, 2]);
    written.extend(writer.write(&mut open, &[3, 4]));
    // A cut may leave the last stripe with a unit that can't be read, and another one with some wrong bytes.
    writer.spoil(writer.at(3, 0, 1));
    writer.flash.inject(Fault::Miscorrect { at: writer.at(3, 2, 1), sector: 0, part: media::Part::Spare });
    let found = writer.scan().unwrap();
    assert_eq!(found.report.dropped_sectors, 2);
    assert_eq!(writer.versions(&found), last(&SMALL, &written[..2]));
}

#[test]
fn what_an_earlier_opening_has_left_is_lost_like_the_rest() {
    let mut old = Writer::new(SMALL);
    old.full_band(3, 0);
    let mut writer = Writer::new(SMALL);
    (writer.sequence, writer.version) = (old.sequence, old.version);
    let mut open = writer.open(3);
    (0..3).for_each(|first| drop(writer.write(&mut open, &[first * 2, first * 2 + 1])));
    let stale = old.flash.pull(0).unwrap();
    writer.flash.pull(0);
    writer.flash.insert(0, stale);
    assert!(writer.scan().is_ok());
    writer.modules[1] = None;
    let error = writer.scan().unwrap_err();
    let expected = ScanError::BeyondRedundancy { band: 3, stripe: 0, sector: 0, lost: 0b011, parity_units: 1 };
    assert_eq!(error, expected);
}

#[test]
fn beside_a_block_that_is_erased_already_units_may_never_have_been_programmed() {
    let made = Made { modules: 4, width: 4, plp: true, ..SMALL };
    let mut writer = Writer::new(made);
    let mut open = writer.open(3);
    let old = writer.write(&mut open, &[1, 2, 3]);
    let version = writer.version();
    let units = writer.build(&mut open, &[4, 5, 6].map(|lba| Content::Data(lba, version)));
    // A single unit of the second stripe was programmed, that of die 3.
    writer.program(&units.into_iter().filter(|(at, _)| at.block.module == 3).collect());
    assert!(is_beyond(&writer.scan().unwrap_err(), 3, 1));
    let mut next = writer.open(5);
    let copies: Vec<Content> = old.iter().map(|(lba, version)| Content::Data(*lba, *version)).collect();
    writer.stripe(&mut next, &copies);
    writer.write(&mut next, &[1, 2, 3]);
    writer.write(&mut next, &[4, 5, 6]);
    // Nothing says yet that the band is being erased.
    assert!(is_beyond(&writer.scan().unwrap_err(), 3, 1));
    let block = writer.at(3, 0, 0).block;
    writer.flash.erase(block).unwrap();
    let found = writer.scan().unwrap();
    assert_eq!(found.bands[3].state, FoundState::Dirty);
}

#[test]
fn without_parity_a_sector_that_can_not_be_read_is_lost_alone() {
    let made = Made { parity: 0, ..SMALL };
    let mut writer = Writer::new(made);
    writer.full_band(2, 0);
    let found = writer.scan().unwrap();
    let at = writer.layout.locate(ftl::Ppa(found.map[7]));
    writer.spoil(writer.at(2, at.die, at.row));
    for lba in 6..9 {
        let read = writer.read(&found, lba).unwrap();
        let is_lost = matches!(read, Err(SectorError::NoParity(ftl::recover::Rejection::Uncorrectable)));
        assert_eq!((is_lost, read.is_err()), (lba == 7, lba == 7));
    }
}

#[test]
fn versions_are_given_out_up_to_half_of_all_numbers() {
    // The next one is the number above the gap; the last one that is given out leaves as many again.
    let most = u64::MAX / 2 - 1 - 1 - VERSION_GAP;
    for (version, is_refused) in [(most, false), (most + 1, true)] {
        let mut writer = Writer::new(SMALL);
        let mut open = writer.open(2);
        writer.stripe(&mut open, &[Content::Data(7, version), Content::Padding]);
        match writer.scan() {
            Ok(found) => assert_eq!((found.next_version, is_refused), (u64::MAX / 2 - 1, false)),
            Err(error) => {
                assert_eq!(error, ScanError::NumbersExhausted { field: "version", found: version });
                assert!(is_refused);
            }
        }
    }
}
