//! Cards on which nothing is lost that parity can't stand for.

use crate::recover::writer::{Content, GROUPS, Made, SMALL, Writer, last};
use ftl::BandId;
use ftl::recover::{FoundState, SEQUENCE_EPOCH_BITS, VERSION_GAP};
use media::Media;

/// Two filled bands with overwrites, and an open one.
fn typical(made: Made) -> (Writer, Vec<(u32, u64)>) {
    let mut writer = Writer::new(made);
    let mut written = writer.full_band(2, 0);
    written.extend(writer.full_band(0, 5));
    let mut open = writer.open(5);
    for lba in [3, 20, 3] {
        let room = writer.room(&open) as u32;
        let lbas: Vec<u32> = (lba..lba + room).collect();
        written.extend(writer.write(&mut open, &lbas));
    }
    (writer, written)
}

#[test]
fn an_empty_card_has_nothing() {
    let found = Writer::new(SMALL).scan().unwrap();
    assert!(found.map.iter().all(|ppa| *ppa == u32::MAX));
    assert!(found.bands.iter().all(|band| band.state == FoundState::Free));
    assert_eq!((found.next_version, found.last_band_sequence), (1 + VERSION_GAP, 0));
    // More than any card has under way.
    assert_eq!(VERSION_GAP, 1 << 20);
}

#[test]
fn everything_that_was_written_is_found() {
    for made in [SMALL, GROUPS] {
        let (mut writer, written) = typical(made);
        let found = writer.scan().unwrap();
        assert_eq!(writer.versions(&found), last(&made, &written));
        assert_eq!(found.next_version, writer.version + 1 + VERSION_GAP);
        assert_eq!(found.last_band_sequence, 1 << SEQUENCE_EPOCH_BITS);
        assert_eq!(found.rescue, []);
        let report = &found.report;
        assert_eq!((report.bands_by_summary, report.bands_scanned, report.bands_free), (2, 1, 5));
        assert_eq!((report.torn_stripes, report.dropped_sectors, report.bands_dirty), (0, 0, 0));
        let (full, open) = (&found.bands[2], &found.bands[5]);
        assert!(full.is_complete && full.has_summary && full.sequence == 1);
        assert!(!open.is_complete && open.state == FoundState::Closed && open.sequence == 3);
        assert!(found.written_rows(BandId(2)).iter().all(|rows| *rows == made.rows));
        assert!(found.units(BandId(2)).iter().all(|units| *units == 0b111));
    }
}

#[test]
fn summaries_say_what_all_spare_areas_say() {
    for made in [SMALL, GROUPS] {
        let (mut writer, _) = typical(made);
        let (short, long) = (writer.scan().unwrap(), writer.scan_all().unwrap());
        assert_eq!(short.map, long.map);
        assert!(short.report.reads < long.report.reads);
        assert_eq!((long.report.bands_by_summary, long.report.bands_scanned), (0, 3));
        assert!(long.bands[2].is_complete);
    }
}

#[test]
fn a_scan_reads_only_what_it_needs() {
    let mut writer = Writer::new(SMALL);
    writer.full_band(2, 0);
    let before = writer.flash.reads();
    let found = writer.scan().unwrap();
    // Free bands: the first row. The band: one unit of its first row, and its last row, which is all of its summary.
    assert_eq!(found.report.reads, 7 * 3 + 1 + 3);
    assert_eq!(writer.flash.reads() - before, found.report.reads);
    assert_eq!(found.report.reads_by_die.iter().sum::<u64>(), found.report.reads);
}

#[test]
fn a_scan_reads_an_open_band_no_further_than_it_was_written() {
    let mut writer = Writer::new(GROUPS);
    let mut open = writer.open(2);
    for first in 0..3 {
        let lbas: Vec<u32> = (first * 10..).take(writer.room(&open)).collect();
        writer.write(&mut open, &lbas);
    }
    let found = writer.scan().unwrap();
    // Free bands: the first row. The band: one unit of each group, one of its last row, which is not there; of the
    // first group two rows and an erased one, of the second one and an erased one.
    assert_eq!(found.report.reads, 7 * 6 + 2 + 1 + (3 + 2) * 3);
}

#[test]
fn the_same_media_give_the_same_result() {
    let (mut writer, _) = typical(GROUPS);
    assert_eq!(writer.scan().unwrap(), writer.scan().unwrap());
}

#[test]
fn versions_decide_whatever_the_order_of_bands() {
    let mut writer = Writer::new(SMALL);
    let (mut a, mut b) = (writer.open(6), writer.open_as(1, 1, false));
    writer.stripe(&mut b, &[Content::Data(7, 9), Content::Data(8, 3)]);
    writer.stripe(&mut a, &[Content::Data(7, 8), Content::Data(8, 4)]);
    let found = writer.scan().unwrap();
    assert_eq!((writer.versions(&found)[7], writer.versions(&found)[8]), (9, 4));
}

#[test]
fn of_equal_copies_the_one_in_the_band_opened_last_is_taken() {
    for bands in [[1, 6], [6, 1]] {
        let mut writer = Writer::new(SMALL);
        let (mut first, mut second) = (writer.open(bands[0]), writer.open_as(bands[1], 1, false));
        writer.stripe(&mut first, &[Content::Data(7, 8)]);
        writer.stripe(&mut second, &[Content::Data(7, 8)]);
        let found = writer.scan().unwrap();
        assert_eq!(writer.layout.band_of(ftl::Ppa(found.map[7])), BandId(bands[1]));
    }
}

#[test]
fn of_equal_copies_the_one_in_the_stripe_that_has_lost_less_is_taken() {
    // Dies of whose units the one stripe and the other are without. In their row parity lies on die 1, the copy on die
    // 0.
    let cases: [(&[u32], &[u32]); 2] = [(&[], &[2]), (&[2], &[1, 2])];
    for (better, worse, (less, more)) in cases.into_iter().flat_map(|lost| [(6, 1, lost), (1, 6, lost)]) {
        let mut writer = Writer::new(SMALL);
        let (mut first, mut second) = (writer.open(1), writer.open_as(6, 1, false));
        for open in [&mut first, &mut second] {
            writer.write(open, &[30, 31]);
        }
        for open in [&mut first, &mut second] {
            writer.stripe(open, &[Content::Data(7, 80), Content::Padding]);
        }
        for (band, die) in less.iter().map(|die| (better, *die)).chain(more.iter().map(|die| (worse, *die))) {
            writer.spoil(writer.at(band, die, 1));
        }
        let found = writer.scan().unwrap();
        assert_eq!(writer.layout.band_of(ftl::Ppa(found.map[7])), BandId(better));
    }
}

#[test]
fn a_lost_sector_is_an_error_until_it_is_overwritten() {
    let mut writer = Writer::new(SMALL);
    let mut open = writer.open(1);
    writer.stripe(&mut open, &[Content::Data(7, 1), Content::Data(8, 2)]);
    writer.stripe(&mut open, &[Content::Lost(7, 3), Content::Lost(8, 4)]);
    writer.stripe(&mut open, &[Content::Data(8, 5)]);
    let found = writer.scan().unwrap();
    assert_eq!(writer.layout.locate(ftl::Ppa(found.map[7])).row, 1);
    assert_eq!(writer.layout.locate(ftl::Ppa(found.map[8])).row, 2);
}

#[test]
fn holes_hide_what_is_older_and_nothing_else() {
    for (as_of, hidden) in [(9, false), (10, true), (11, true)] {
        let mut writer = Writer::new(SMALL);
        let mut open = writer.open(1);
        writer.stripe(&mut open, &[Content::Data(7, 10), Content::Data(8, 10)]);
        writer.stripe(&mut open, &[Content::Holes(0, 20, as_of, vec![7, 9]), Content::Padding]);
        let found = writer.scan().unwrap();
        assert_eq!(found.map[7] == u32::MAX, hidden, "as of {as_of}");
        assert_ne!(found.map[8], u32::MAX);
        assert_ne!(found.map[SMALL.user_sectors as usize], u32::MAX);
        assert_eq!(found.next_version, 21 + VERSION_GAP);
    }
}

#[test]
fn the_newest_list_of_holes_counts() {
    let mut writer = Writer::new(SMALL);
    let mut open = writer.open(1);
    writer.stripe(&mut open, &[Content::Data(7, 10), Content::Data(8, 11)]);
    writer.stripe(&mut open, &[Content::Holes(0, 21, 20, vec![8]), Content::Holes(0, 20, 19, vec![7, 8])]);
    let found = writer.scan().unwrap();
    assert_ne!(found.map[7], u32::MAX);
    assert_eq!(found.map[8], u32::MAX);
}

#[test]
fn holes_of_all_segments_are_found_where_parity_has_to_stand_in() {
    let made = Made { user_sectors: 1000, bands: 64, ..SMALL };
    let mut writer = Writer::new(made);
    let mut open = writer.open(1);
    writer.stripe(&mut open, &[Content::Data(7, 10), Content::Data(990, 11)]);
    writer.stripe(&mut open, &[Content::Holes(0, 21, 20, vec![7]), Content::Holes(1, 22, 22, vec![990, 999])]);
    for die in 0..3 {
        let mut writer = writer.clone();
        writer.spoil(writer.at(1, die, 1));
        let found = writer.scan().unwrap();
        assert_eq!((found.map[7], found.map[990]), (u32::MAX, u32::MAX));
        assert_eq!(found.map.len(), 1002);
    }
}

#[test]
fn any_single_unit_can_be_lost() {
    for made in [SMALL, GROUPS] {
        let (writer, written) = typical(made);
        let dies = made.modules * made.dies_per_module;
        for band in [0, 2, 5] {
            for die in 0..dies {
                for row in 0..made.rows {
                    let mut writer = writer.clone();
                    writer.spoil(writer.at(band, die, row));
                    for found in [writer.scan().unwrap(), writer.scan_all().unwrap()] {
                        assert_eq!(writer.versions(&found), last(&made, &written), "{band} {die} {row}");
                    }
                }
            }
        }
    }
}

#[test]
fn any_single_module_can_be_missing_or_dead_or_blank_to_the_scan() {
    for made in [SMALL, GROUPS] {
        let (writer, written) = typical(made);
        for module in 0..made.modules {
            let mut missing = writer.clone();
            missing.modules[module as usize] = None;
            let found = missing.scan().unwrap();
            assert_eq!(missing.versions(&found), last(&made, &written));
            assert_eq!((found.rescue.len(), found.report.torn_stripes), (0, 0));
            let mut dead = writer.clone();
            dead.flash.inject(media::Fault::ModuleDead { module });
            let found = dead.scan().unwrap();
            assert_eq!(dead.versions(&found), last(&made, &written));
            assert_eq!(found.report.dead_dies.len(), made.dies_per_module as usize);
            let mut pulled = writer.clone();
            pulled.flash.pull(module);
            assert_eq!(pulled.scan().unwrap().map, found.map);
        }
    }
}

#[test]
fn modules_may_be_in_any_slot() {
    let (mut writer, written) = typical(GROUPS);
    let modules: Vec<_> = (0..3).map(|slot| writer.flash.pull(slot).unwrap()).collect();
    for (module, slot) in modules.into_iter().zip([2, 0, 1]) {
        writer.flash.insert(slot, module);
    }
    writer.modules = vec![Some(2), Some(0), Some(1)];
    let found = writer.scan().unwrap();
    assert_eq!(writer.versions(&found), last(&GROUPS, &written));
}

#[test]
fn what_is_in_stripes_that_are_not_whole_is_named() {
    let (mut writer, _) = typical(SMALL);
    writer.spoil(writer.at(5, 1, 1));
    let found = writer.scan().unwrap();
    // The second stripe of the open band: LBAs 20 and 21.
    assert_eq!(found.rescue.iter().map(|(lba, _)| *lba).collect::<Vec<_>>(), [20, 21]);
    assert!(found.rescue.iter().all(|(lba, ppa)| found.map[*lba as usize] == ppa.0));
    assert_eq!(found.report.torn_stripes, 1);
}

#[test]
fn stripes_without_bad_blocks_are_narrower() {
    for made in [SMALL, GROUPS] {
        let mut writer = Writer::new(made);
        for band in [1, 4] {
            writer.flash.mark_bad(writer.at(band, 1, 0).block).unwrap();
        }
        let mut written = writer.full_band(1, 0);
        let mut open = writer.open(4);
        let room = writer.room(&open) as u32;
        written.extend(writer.write(&mut open, &(9..9 + room).collect::<Vec<_>>()));
        for found in [writer.scan().unwrap(), writer.scan_all().unwrap()] {
            assert_eq!(writer.versions(&found), last(&made, &written));
            assert_eq!(found.units(BandId(1))[0], 0b101);
            assert_eq!(found.written_rows(BandId(1))[1], 0);
            assert!(found.bands[1].is_complete);
        }
        writer.modules[0] = None;
        let found = writer.scan().unwrap();
        assert_eq!(writer.versions(&found), last(&made, &written));
    }
}

#[test]
fn bands_with_one_bit_a_cell_are_shorter() {
    let made = Made { slc_bits: 2, cell_rows: 2, ..GROUPS };
    let mut writer = Writer::new(made);
    let mut open = writer.open_as(3, 0, true);
    let written = writer.fill(&mut open, 0);
    writer.close(&mut open);
    for found in [writer.scan().unwrap(), writer.scan_all().unwrap()] {
        assert_eq!(writer.versions(&found), last(&made, &written));
        assert!(found.bands[3].slc && found.bands[3].is_complete);
        assert_eq!(found.written_rows(BandId(3))[0], 3);
    }
}

#[test]
fn a_card_without_parity_is_found() {
    let made = Made { parity: 0, ..GROUPS };
    let (mut writer, written) = typical(made);
    for found in [writer.scan().unwrap(), writer.scan_all().unwrap()] {
        assert_eq!(writer.versions(&found), last(&made, &written));
    }
}

#[test]
fn a_die_left_behind_at_an_earlier_opening_is_as_if_lost() {
    let mut writer = Writer::new(SMALL);
    let stale = {
        let mut old = writer.clone();
        old.full_band(1, 30);
        old.flash.pull(0).unwrap()
    };
    writer.sequence += 1;
    writer.version += 100;
    let written = writer.full_band(1, 0);
    writer.flash.pull(0);
    writer.flash.insert(0, stale);
    for found in [writer.scan().unwrap(), writer.scan_all().unwrap()] {
        assert_eq!(writer.versions(&found), last(&SMALL, &written));
        assert_eq!(found.bands[1].sequence, 2);
    }
}

#[test]
fn a_unit_at_the_wrong_place_is_as_if_lost() {
    for (to_band, to_row) in [(1, 3), (4, 0), (6, 1)] {
        let mut writer = Writer::new(SMALL);
        let mut written = writer.full_band(4, 0);
        let mut open = writer.open(1);
        written.extend(writer.write(&mut open, &[40, 41]));
        writer.flash.inject(media::Fault::MisdirectProgram { module: 1, die: 0, to_block: to_band, to_row });
        written.extend(writer.write(&mut open, &[1, 2]));
        written.extend(writer.write(&mut open, &[3, 41]));
        let found = writer.scan().unwrap();
        assert_eq!(writer.versions(&found), last(&SMALL, &written), "{to_band} {to_row}");
    }
}

#[test]
fn a_program_that_never_happened_does_not_hide_what_comes_after() {
    let mut writer = Writer::new(SMALL);
    let mut open = writer.open(1);
    let mut written = writer.write(&mut open, &[1, 2]);
    writer.flash.inject(media::Fault::LoseProgram { module: 1, die: 0 });
    written.extend(writer.write(&mut open, &[3, 4]));
    written.extend(writer.write(&mut open, &[5, 6]));
    writer.spoil(writer.at(1, 0, 2));
    let found = writer.scan().unwrap();
    assert_eq!(writer.versions(&found), last(&SMALL, &written));
}

#[test]
fn bytes_that_are_wrong_and_read_as_good_are_noticed() {
    for part in [media::Part::Payload, media::Part::Spare] {
        for die in 0..3 {
            for row in [0, 3, 7] {
                let mut writer = Writer::new(SMALL);
                let written = writer.full_band(1, 0);
                writer.flash.inject(media::Fault::Miscorrect { at: writer.at(1, die, row), sector: 0, part });
                for found in [writer.scan().unwrap(), writer.scan_all().unwrap()] {
                    assert_eq!(writer.versions(&found), last(&SMALL, &written), "{part:?} {die} {row}");
                }
                assert_eq!(writer.scan_all().unwrap().report.torn_stripes, 1);
            }
        }
    }
}

#[test]
fn what_does_not_name_itself_a_member_of_its_stripe_tells_nothing_of_it() {
    let mut writer = Writer::new(SMALL);
    let mut open = writer.open(1);
    let written: Vec<(u32, u64)> = [(1, writer.version()), (2, writer.version())].into();
    let contents: Vec<_> = written.iter().map(|(lba, version)| Content::Data(*lba, *version)).collect();
    let mut units = writer.build(&mut open, &contents);
    // The die that is asked first, of the stripe's first one of data.
    let (_, unit) = units.iter_mut().find(|(at, _)| at.block.module == 1).unwrap();
    let mut spare = format::Spare::decode(unit.spare(0)).unwrap();
    spare.members = 0b101;
    spare.encode(unit.spare_mut(0));
    writer.program(&units);
    let found = writer.scan().unwrap();
    assert_eq!(writer.versions(&found), last(&SMALL, &written));
    assert_eq!((found.report.torn_stripes, found.report.reconstructed_sectors), (1, 1));
}

#[test]
fn a_band_with_padding_is_known_from_its_summary() {
    let mut writer = Writer::new(SMALL);
    let mut open = writer.open(1);
    writer.stripe(&mut open, &[Content::Data(1, 1), Content::Padding]);
    writer.version = 1;
    let mut written = vec![(1, 1)];
    written.extend(writer.fill(&mut open, 10));
    writer.close(&mut open);
    let found = writer.scan().unwrap();
    assert_eq!((found.report.bands_by_summary, found.report.bands_scanned), (1, 0));
    assert_eq!(writer.versions(&found), last(&SMALL, &written));
}

#[test]
fn what_was_rebuilt_is_counted() {
    let mut writer = Writer::new(SMALL);
    let mut open = writer.open(3);
    for row in 0..3 {
        writer.write(&mut open, &[row, 10 + row]);
    }
    // One of the three units of a die is parity.
    (0..3).for_each(|row| writer.spoil(writer.at(3, 0, row)));
    assert_eq!(writer.scan().unwrap().report.reconstructed_sectors, 2);
}

#[test]
fn a_die_that_does_not_answer_is_taken_to_have_written_as_much_as_its_group() {
    // Groups with a die of each module, and such without.
    for (made, written) in [(GROUPS, [2, 2, 2, 1, 1, 1]), (Made { width: 2, ..GROUPS }, [2, 2, 1, 1, 1, 1])] {
        let mut writer = Writer::new(made);
        let mut open = writer.open(3);
        for first in 0..=writer.layout.groups {
            let lbas: Vec<u32> = (first * 10..).take(writer.room(&open)).collect();
            writer.write(&mut open, &lbas);
        }
        for missing in [None, Some(0), Some(1), Some(2)] {
            let mut writer = writer.clone();
            if let Some(module) = missing {
                writer.modules[module] = None;
            }
            assert_eq!(writer.scan().unwrap().written_rows(BandId(3)), written, "{missing:?}");
        }
    }
}

#[test]
fn a_list_of_holes_says_nothing_of_what_lies_behind_the_last_lba() {
    let mut writer = Writer::new(SMALL);
    let mut open = writer.open(1);
    writer.stripe(&mut open, &[Content::Data(7, 1), Content::Data(63, 2)]);
    // Bit 64 is nobody's: the map's entry of that number is the list's own.
    writer.stripe(&mut open, &[Content::Holes(0, 4, 4, vec![63, 64]), Content::Padding]);
    let found = writer.scan().unwrap();
    let is_hole = [7, 63, 64].map(|entry: usize| found.map[entry] == u32::MAX);
    assert_eq!(is_hole, [false, true, false]);
}

#[test]
fn of_equal_copies_in_broken_stripes_the_one_that_can_be_read_is_taken() {
    // Bands with the same contents; of row 1, with the copy on die 0 and parity on die 1, two units are lost in each.
    for (readable, lost) in [(1, 6), (6, 1)] {
        let mut writer = Writer::new(SMALL);
        let first = writer.full_band(readable, 0);
        let mut open = writer.open_as(lost, 1, false);
        for pair in first.chunks(2) {
            let copies: Vec<Content> = pair.iter().map(|(lba, version)| Content::Data(*lba, *version)).collect();
            writer.stripe(&mut open, &copies);
        }
        writer.close(&mut open);
        for (band, die) in [(readable, 1), (readable, 2), (lost, 0), (lost, 1)] {
            writer.spoil(writer.at(band, die, 1));
        }
        let found = writer.scan_all().unwrap();
        // LBA 2 lies on die 0, LBA 3 on die 2.
        assert_eq!(writer.layout.band_of(ftl::Ppa(found.map[2])), BandId(readable));
        assert_eq!(writer.layout.band_of(ftl::Ppa(found.map[3])), BandId(lost));
        assert_eq!(writer.versions(&found), last(&SMALL, &first));
    }
}

#[test]
fn a_summary_that_says_it_is_another_part_or_another_openings_is_not_believed() {
    type Change = fn(&mut format::Spare);
    let changes: [(Change, u32); 5] = [
        (|_| {}, 1),
        (|spare| spare.lba += 1, 0),
        (|spare| spare.version += 1, 0),
        (|spare| spare.role = format::Role::Data, 0),
        (|spare| spare.role = format::Role::Padding, 0),
    ];
    for (number, (change, by_summary)) in changes.into_iter().enumerate() {
        let mut writer = Writer::new(SMALL);
        let mut open = writer.open(1);
        let written = writer.fill(&mut open, 0);
        for mut units in writer.summary(&mut open) {
            let (_, unit) = units.first_mut().unwrap();
            let mut spare = format::Spare::decode(unit.spare(0)).unwrap();
            change(&mut spare);
            spare.encode(unit.spare_mut(0));
            writer.program(&units);
        }
        let found = writer.scan().unwrap();
        assert_eq!(found.report.bands_by_summary, by_summary, "change {number}");
        let versions = writer.versions(&found);
        assert_eq!(versions[..14], last(&SMALL, &written)[..14], "change {number}");
    }
}

#[test]
fn without_modules_nothing_lies_anywhere() {
    let at = ftl::UnitAddress { band: BandId(0), die: 0, row: 0 };
    assert_eq!(ftl::recover::unit_at(&[], at), None);
    assert_eq!(ftl::recover::unit_at(&[None], at), None);
    assert!(ftl::recover::unit_at(&[Some(0)], at).is_some());
}
