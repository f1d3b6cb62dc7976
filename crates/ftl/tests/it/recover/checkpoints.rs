//! The reads that a checkpoint saves, and the cases in which it must not be believed.

use crate::recover::writer::{Content, GROUPS, Made, SMALL, Writer, last};
use ftl::recover::{SEQUENCE_EPOCH_BITS, ScanError, VERSION_GAP};
use media::Media;

/// 1,102 entries of the map and 24 bands: 39 parts, of 48 that a band has room for.
const LARGE: Made = Made { bands: 24, user_sectors: 1_100, ..GROUPS };

/// A filled band, and a checkpoint of it in band 4.
fn with_checkpoint(made: Made) -> (Writer, Vec<(u32, u64)>) {
    let mut writer = Writer::new(made);
    let written = writer.full_band(1, 0);
    let found = writer.scan().unwrap();
    writer.checkpoint(4, &found, &[]);
    (writer, written)
}

/// Erases a band on these dies.
fn erase(writer: &mut Writer, band: u32, dies: impl Iterator<Item = u32>) {
    for die in dies {
        let at = writer.at(band, die, 0).block;
        writer.flash.erase(at).unwrap();
    }
}

#[test]
fn bands_that_a_checkpoint_knows_are_not_read() {
    for made in [SMALL, GROUPS] {
        let (mut writer, mut written) = with_checkpoint(made);
        let mut open = writer.open(5);
        let lbas: Vec<u32> = (3..).take(writer.room(&open)).collect();
        written.extend(writer.write(&mut open, &lbas));
        let (short, long) = (writer.scan().unwrap(), writer.scan_with(|card| card.use_checkpoints = false).unwrap());
        assert_eq!(writer.versions(&short), last(&made, &written));
        assert_eq!(short.map, long.map);
        assert_eq!((short.report.bands_by_checkpoint, short.report.bands_by_summary), (1, 0));
        assert_eq!((long.report.bands_by_checkpoint, long.report.bands_by_summary), (0, 1));
    }
}

#[test]
fn bands_that_a_checkpoint_knows_are_looked_at_on_all_dies_alike() {
    let mut writer = Writer::new(Made { bands: 24, user_sectors: 300, ..SMALL });
    (1..22).for_each(|band| drop(writer.full_band(band, band * 13)));
    let found = writer.scan().unwrap();
    writer.checkpoint(22, &found, &[]);
    let report = writer.scan().unwrap().report;
    assert_eq!(report.bands_by_checkpoint, 21);
    let (most, least) = (report.reads_by_die.iter().max().unwrap(), report.reads_by_die.iter().min().unwrap());
    // Two of three units are read in each of these bands.
    assert!(most - least < 7, "{:?}", report.reads_by_die);
}

#[test]
fn a_die_that_comes_back_does_not_tell_what_a_checkpoint_knew_of_a_band_that_was_opened_again() {
    for made in [SMALL, GROUPS] {
        for die in 0..made.modules * made.dies_per_module {
            let (mut writer, mut written) = with_checkpoint(made);
            let dies = writer.layout.dies;
            written.extend(writer.full_band(2, 0));
            // The die is away: its block is neither erased nor opened again.
            erase(&mut writer, 1, (0..dies).filter(|of| *of != die));
            let mut open = writer.open(1);
            open.masks[(die / made.width) as usize] &= !(1 << (die % made.width));
            for first in [5, 20] {
                let lbas: Vec<u32> = (first..).take(writer.room(&open)).collect();
                written.extend(writer.write(&mut open, &lbas));
            }
            let found = writer.scan().unwrap();
            assert_eq!(writer.versions(&found), last(&made, &written), "die {die}");
        }
    }
}

#[test]
fn a_die_that_comes_back_is_no_reason_to_refuse_a_band_that_was_erased_without_it() {
    for (made, plp) in [(SMALL, false), (SMALL, true), (GROUPS, false), (GROUPS, true)] {
        let made = Made { plp, ..made };
        for die in 0..made.modules * made.dies_per_module {
            let (mut writer, mut written) = with_checkpoint(made);
            let dies = writer.layout.dies;
            written.extend(writer.full_band(2, 0));
            erase(&mut writer, 1, (0..dies).filter(|of| *of != die));
            let found = writer.scan().unwrap();
            assert_eq!(writer.versions(&found), last(&made, &written), "die {die}");
        }
    }
}

#[test]
fn a_checkpoint_says_where_it_lies() {
    for made in [SMALL, GROUPS] {
        let (mut writer, _) = with_checkpoint(made);
        assert_eq!(writer.scan().unwrap().checkpoint_bands, [ftl::BandId(4)]);
        assert_eq!(writer.scan_with(|card| card.use_checkpoints = false).unwrap().checkpoint_bands, []);
    }
}

#[test]
fn a_die_that_comes_back_with_a_checkpoint_does_not_hide_what_was_written_over_it() {
    for made in [SMALL, GROUPS] {
        for die in 0..made.modules * made.dies_per_module {
            let (mut writer, mut written) = with_checkpoint(made);
            let dies = writer.layout.dies;
            erase(&mut writer, 4, (0..dies).filter(|of| *of != die));
            let mut open = writer.open(4);
            open.masks[(die / made.width) as usize] &= !(1 << (die % made.width));
            let lbas: Vec<u32> = (5..).take(writer.room(&open)).collect();
            written.extend(writer.write(&mut open, &lbas));
            for use_checkpoints in [true, false] {
                let found = writer.scan_with(|card| card.use_checkpoints = use_checkpoints).unwrap();
                assert_eq!(writer.versions(&found), last(&made, &written), "die {die}");
            }
        }
    }
}

#[test]
fn what_a_checkpoint_had_in_a_band_that_was_opened_again_may_have_been_trimmed() {
    let (mut writer, mut written) = with_checkpoint(SMALL);
    let (gone, _) = written.pop().unwrap();
    // All but one LBA are copied elsewhere, that one is trimmed, and the band is erased.
    let mut open = writer.open_as(5, 1, false);
    for pair in written.chunks(2) {
        let copies: Vec<Content> = pair.iter().map(|(lba, version)| Content::Data(*lba, *version)).collect();
        writer.stripe(&mut open, &copies);
    }
    let mut lists = writer.open(6);
    let version = writer.version();
    writer.stripe(&mut lists, &[Content::Holes(0, version, version, vec![gone])]);
    erase(&mut writer, 1, 0..3);
    let found = writer.scan().unwrap();
    assert_eq!(found.checkpoint_bands, [ftl::BandId(4)]);
    assert_eq!(writer.versions(&found), last(&SMALL, &written));
}

#[test]
fn a_band_that_a_checkpoint_knows_may_be_half_erased_once_it_was_copied() {
    let (mut writer, written) = with_checkpoint(GROUPS);
    let mut open = writer.open_as(5, 1, false);
    for copied in written.chunks(writer.room(&open)) {
        let copies: Vec<Content> = copied.iter().map(|(lba, version)| Content::Data(*lba, *version)).collect();
        writer.stripe(&mut open, &copies);
    }
    // Two dies still tell of the opening, one of each group.
    erase(&mut writer, 1, [1, 2].into_iter());
    let found = writer.scan().unwrap();
    assert_eq!(writer.versions(&found), last(&GROUPS, &written));
}

#[test]
fn a_checkpoint_that_had_what_is_found_nowhere_is_not_used() {
    let mut writer = Writer::new(SMALL);
    let written = writer.full_band(1, 0);
    let mut found = writer.scan().unwrap();
    // As if the map had told of a stripe that was never programmed.
    let start = writer.layout.band_start(ftl::BandId(6));
    found.map[written[0].0 as usize] = start;
    writer.checkpoint(4, &found, &[]);
    let found = writer.scan().unwrap();
    assert_eq!(found.checkpoint_bands, []);
    assert_eq!(writer.versions(&found), last(&SMALL, &written));
}

#[test]
fn any_single_unit_of_a_checkpoint_and_any_module_can_be_lost() {
    // The sum of three units of data without parity has a right role and checksum, and is none of the parts.
    for made in [SMALL, GROUPS, Made { modules: 4, width: 4, ..SMALL }] {
        let (writer, written) = with_checkpoint(made);
        let places = (0..made.modules * made.dies_per_module).flat_map(|die| (0..made.rows).map(move |row| (die, row)));
        for (die, row) in places {
            let mut writer = writer.clone();
            writer.spoil(writer.at(4, die, row));
            let found = writer.scan().unwrap();
            assert_eq!(found.checkpoint_bands, [ftl::BandId(4)], "die {die} row {row}");
            assert_eq!(writer.versions(&found), last(&made, &written));
        }
        for module in 0..made.modules as usize {
            let mut writer = writer.clone();
            writer.modules[module] = None;
            let found = writer.scan().unwrap();
            assert_eq!(found.checkpoint_bands, [ftl::BandId(4)], "module {module}");
            assert_eq!(writer.versions(&found), last(&made, &written));
        }
    }
}

#[test]
fn an_older_checkpoint_stands_in_for_one_that_is_not_all_there() {
    let (mut writer, mut written) = with_checkpoint(SMALL);
    written.extend(writer.full_band(2, 9));
    let found = writer.scan().unwrap();
    writer.checkpoint(5, &found, &[]);
    assert_eq!(writer.scan().unwrap().checkpoint_bands, [ftl::BandId(5)]);
    for row in 0..2 {
        let mut writer = writer.clone();
        (0..2).for_each(|die| writer.spoil(writer.at(5, die, row)));
        let found = writer.scan().unwrap();
        assert_eq!(found.checkpoint_bands, [ftl::BandId(4)]);
        assert_eq!(writer.versions(&found), last(&SMALL, &written));
    }
}

#[test]
fn a_checkpoint_that_does_not_fit_the_card_is_not_used() {
    type Change = fn(&mut format::Checkpoint);
    // 8 bands of 24 sectors, and one segment of holes.
    let changes: [(Change, bool); 8] = [
        (|_| {}, true),
        (|checkpoint| checkpoint.head.version_start = 0, false),
        (|checkpoint| checkpoint.map.truncate(64), false),
        (|checkpoint| checkpoint.map.push(u32::MAX), false),
        (|checkpoint| checkpoint.bands.truncate(7), false),
        (|checkpoint| checkpoint.map[63] = 8 * 24, false),
        (|checkpoint| checkpoint.owed_segments = vec![0], true),
        (|checkpoint| checkpoint.owed_segments = vec![1], false),
    ];
    for (number, (change, is_used)) in changes.into_iter().enumerate() {
        let mut writer = Writer::new(SMALL);
        let written = writer.full_band(1, 0);
        let found = writer.scan().unwrap();
        let mut checkpoint = writer.checkpoint_of(&found, &[]);
        change(&mut checkpoint);
        writer.write_checkpoint(4, &checkpoint);
        let found = writer.scan().unwrap();
        assert_eq!(!found.checkpoint_bands.is_empty(), is_used, "change {number}");
        assert_eq!(writer.versions(&found), last(&SMALL, &written), "change {number}");
    }
}

#[test]
fn numbers_that_a_checkpoint_knows_to_be_used_are_not_used_again() {
    let mut writer = Writer::new(SMALL);
    writer.full_band(1, 0);
    let found = writer.scan().unwrap();
    let mut checkpoint = writer.checkpoint_of(&found, &[]);
    (checkpoint.head.next_version, checkpoint.head.next_band_sequence) = (5_000, 7 << SEQUENCE_EPOCH_BITS);
    writer.write_checkpoint(4, &checkpoint);
    let found = writer.scan().unwrap();
    assert_eq!(found.next_version, 5_000 + 1 + VERSION_GAP);
    assert_eq!(found.last_band_sequence, 8 << SEQUENCE_EPOCH_BITS);
}

#[test]
fn holes_that_only_a_checkpoint_tells_of_are_owed_until_a_list_as_of_later_does() {
    for (as_of_before, is_owed) in [(None, true), (Some(1), true), (Some(0), false)] {
        let mut writer = Writer::new(SMALL);
        writer.full_band(1, 0);
        let mut found = writer.scan().unwrap();
        found.map[3] = u32::MAX;
        let start = writer.checkpoint(4, &found, &[0]);
        let mut open = writer.open(5);
        if let Some(before) = as_of_before {
            let version = writer.version();
            writer.stripe(&mut open, &[Content::Holes(0, version, start - before, vec![3, 4])]);
        }
        let found = writer.scan().unwrap();
        assert_eq!(found.owed_segments.is_empty(), !is_owed, "{as_of_before:?}");
        // The list says something new of LBA 4 only where it is as of the checkpoint or later.
        assert_eq!((found.map[3], found.map[4] == u32::MAX), (u32::MAX, !is_owed));
    }
}

#[test]
fn a_checkpoint_may_take_most_of_a_band() {
    let (mut writer, written) = with_checkpoint(LARGE);
    let found = writer.scan().unwrap();
    assert_eq!(found.checkpoint_bands, [ftl::BandId(4)]);
    assert_eq!(writer.versions(&found), last(&LARGE, &written));
}

#[test]
fn a_list_of_holes_that_is_not_where_the_map_has_it_is_missed() {
    // Two segments of holes. Where the first one's list should be, according to the checkpoint.
    let made = Made { user_sectors: 1_000, bands: 16, rows: 24, ..SMALL };
    let mut writer = Writer::new(made);
    let mut open = writer.open(1);
    let first = writer.layout.band_start(ftl::BandId(1));
    writer.stripe(&mut open, &[Content::Data(0, 1), Content::Data(7, 2)]);
    writer.stripe(&mut open, &[Content::Holes(0, 3, 3, vec![9]), Content::Holes(1, 4, 4, vec![990])]);
    writer.version = 10;
    writer.fill(&mut open, 20);
    writer.close(&mut open);
    let found = writer.scan().unwrap();
    let (of_first, of_second) = (found.map[1_000], found.map[1_001]);
    // Parity of the first stripe lies on die 0.
    let (of_lba_0, of_lba_7) = (first + 1, first + 2);
    assert_eq!([0, 7].map(|lba: usize| found.map[lba]), [of_lba_0, of_lba_7]);
    for (place, is_right) in [(of_first, true), (of_second, false), (of_lba_0, false), (of_lba_7, false)] {
        let mut writer = writer.clone();
        let mut checkpoint = writer.checkpoint_of(&found, &[]);
        checkpoint.map[1_000] = place;
        writer.write_checkpoint(4, &checkpoint);
        match writer.scan() {
            Ok(found) => assert!(is_right && found.checkpoint_bands == [ftl::BandId(4)]),
            Err(error) => {
                assert!(!is_right && matches!(error, ScanError::Holes { segment: 0, band: 1, .. }), "{error}");
            }
        }
    }
}

#[test]
fn writes_from_a_checkpoints_version_on_are_newer() {
    let (writer, written) = with_checkpoint(SMALL);
    let copied = written[0];
    // The number that the checkpoint has, and one before it.
    for (version, by_checkpoint) in [(writer.version, 1), (writer.version - 1, 0)] {
        let mut writer = writer.clone();
        let mut open = writer.open(5);
        writer.stripe(&mut open, &[Content::Data(copied.0, version), Content::Padding]);
        let found = writer.scan().unwrap();
        let is_new = writer.layout.band_of(ftl::Ppa(found.map[copied.0 as usize])) == ftl::BandId(5);
        assert!(is_new || by_checkpoint == 0);
        assert_eq!((found.checkpoint_bands.len(), found.report.bands_by_checkpoint), (1, by_checkpoint));
    }
}

#[test]
fn a_list_of_holes_that_a_checkpoint_knows_is_older_than_it() {
    for (later, is_refused) in [(1, false), (0, true)] {
        let mut writer = Writer::new(SMALL);
        let mut open = writer.open(1);
        writer.stripe(&mut open, &[Content::Holes(0, 50, 3, vec![9]), Content::Padding]);
        writer.fill(&mut open, 20);
        writer.close(&mut open);
        let found = writer.scan().unwrap();
        let mut checkpoint = writer.checkpoint_of(&found, &[]);
        checkpoint.head.version_start = 50 + later;
        writer.write_checkpoint(4, &checkpoint);
        assert_eq!(matches!(writer.scan(), Err(ScanError::Holes { .. })), is_refused);
    }
}
