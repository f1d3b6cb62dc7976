//! The figures of a scan, counted by hand.

use crate::recover::writer::{Content, GROUPS, Made, SMALL, Writer, last};
use ftl::BandId;
use ftl::recover::FoundState;
use media::Media;

/// Copies of what was written, with the versions that it has.
fn copy(writer: &mut Writer, band: u32, written: &[(u32, u64)]) {
    let mut open = writer.open_as(band, 1, false);
    for copied in written.chunks(writer.room(&open)) {
        let copies: Vec<Content> = copied.iter().map(|(lba, version)| Content::Data(*lba, *version)).collect();
        writer.stripe(&mut open, &copies);
    }
}

#[test]
fn a_band_that_a_checkpoint_knew_and_that_is_read_all_the_same_counts_once() {
    for made in [SMALL, GROUPS] {
        let mut writer = Writer::new(made);
        let moved = writer.full_band(1, 0);
        let kept = writer.full_band(2, 30);
        let found = writer.scan().unwrap();
        writer.checkpoint(4, &found, &[]);
        let counts = |writer: &mut Writer| {
            let report = writer.scan().unwrap().report;
            let known = (report.bands_by_checkpoint, report.bands_by_summary, report.bands_scanned);
            (known, report.bands_free, report.bands_dirty)
        };
        // There are the known bands, the checkpoint itself, and five free bands.
        assert_eq!(counts(&mut writer), ((2, 0, 1), 5, 0));
        // A copy of something in it lies elsewhere: band 1 is read. Its summary is whole.
        copy(&mut writer, 5, &moved[..1]);
        assert_eq!(counts(&mut writer), ((1, 1, 2), 4, 0));
        copy(&mut writer, 6, &kept[..1]);
        assert_eq!(counts(&mut writer), ((0, 2, 3), 3, 0));
    }
}

#[test]
fn bands_that_a_checkpoint_knows_are_what_they_would_be_without_it() {
    for made in [SMALL, GROUPS] {
        let mut writer = Writer::new(made);
        writer.full_band(1, 0);
        writer.full_band(2, 30);
        let before = writer.scan().unwrap();
        writer.checkpoint(4, &before, &[]);
        let found = writer.scan().unwrap();
        assert_eq!(found.report.bands_by_checkpoint, 2);
        for band in [1, 2] {
            assert_eq!(found.bands[band as usize], before.bands[band as usize]);
            assert_eq!(found.units(BandId(band)), before.units(BandId(band)));
            assert_eq!(found.written_rows(BandId(band)), before.written_rows(BandId(band)));
        }
    }
}

#[test]
fn nobody_is_asked_twice_what_a_checkpoint_knows() {
    let mut writer = Writer::new(GROUPS);
    writer.full_band(1, 0);
    let found = writer.scan().unwrap();
    let checkpoint = writer.checkpoint_of(&found, &[]);
    writer.write_checkpoint(4, &checkpoint);
    let parts = checkpoint.encode().len().div_ceil(crate::recover::writer::PAYLOAD) as u64;
    // Free bands: the first row. Open bands: one unit of each group. The checkpoint: its stripes of four
    // sectors of data in two units, an erased one behind them, and the first row once more.
    let of_checkpoint = (parts.div_ceil(4) + 1) * 3 + 6;
    assert_eq!(writer.scan().unwrap().report.reads, 6 * 6 + 2 * 2 + of_checkpoint);
}

#[test]
fn a_band_that_turns_out_to_be_on_its_way_to_its_erase_counts_as_dirty_and_no_more_as_read() {
    for made in [SMALL, GROUPS] {
        let mut writer = Writer::new(made);
        writer.full_band(1, 0);
        writer.full_band(3, 0);
        // Something open, which is read as well, and a band of which nothing can be read.
        let mut open = writer.open(5);
        let lbas: Vec<u32> = (40..).take(writer.room(&open)).collect();
        writer.write(&mut open, &lbas);
        let mut lost = writer.open(6);
        writer.write(&mut lost, &lbas);
        (0..writer.layout.dies).for_each(|die| writer.spoil(writer.at(6, die, 0)));
        for (die, row) in (0..2).flat_map(|die| (0..made.rows).map(move |row| (die, row))) {
            writer.spoil(writer.at(1, die, row));
        }
        let found = writer.scan().unwrap();
        let report = &found.report;
        assert_eq!(
            (report.bands_by_summary, report.bands_scanned, report.bands_dirty, report.bands_free),
            (1, 1, 2, 4)
        );
        assert_eq!((found.bands[1].state, found.bands[6].state), (FoundState::Dirty, FoundState::Dirty));
        for band in 0..made.bands {
            let members = if [3, 5].contains(&band) { 0b111 } else { 0 };
            assert!(found.units(BandId(band)).iter().all(|units| *units == members), "band {band}");
        }
    }
}

#[test]
fn sectors_with_addresses_that_the_card_does_not_have_are_counted_and_left_out() {
    let mut writer = Writer::new(SMALL);
    let mut open = writer.open(2);
    // The last of the map's 65 entries is that of the list of the only segment.
    writer.stripe(&mut open, &[Content::Data(63, 1), Content::Data(64, 2)]);
    writer.stripe(&mut open, &[Content::Lost(64, 3), Content::Data(1_000, 4)]);
    writer.stripe(&mut open, &[Content::Holes(1, 5, 5, vec![]), Content::Padding]);
    let found = writer.scan().unwrap();
    assert_eq!(found.report.out_of_range_sectors, 4);
    assert_eq!((found.map[64], found.map.len(), found.errors.len()), (u32::MAX, 65, 0));
    assert_eq!(writer.versions(&found), last(&SMALL, &[(63, 1)]));
}

#[test]
fn programs_that_went_astray_are_looked_for_only_where_they_matter() {
    let mut writer = Writer::new(SMALL);
    let mut open = writer.open(3);
    writer.write(&mut open, &[1, 2]);
    let version = writer.version();
    let units = writer.build(&mut open, &[Content::Data(3, version), Content::Data(4, version)]);
    // Power goes when one unit of three is programmed.
    writer.program(&units[..1].to_vec());
    let found = writer.scan().unwrap();
    assert_eq!(found.report.dropped_sectors, 2);
    // Free bands: the first row. The band: one unit that tells, one of its last row, three rows, and what is rescued.
    assert_eq!(found.report.reads, 7 * 3 + 1 + 1 + 3 * 3 + 1);
    // With a module missing all that is left is read.
    writer.modules[1] = None;
    assert!(writer.scan().unwrap().report.reads > 2 * 8 * 8);
}

#[test]
fn one_die_is_enough_to_tell_of_a_band_on_a_card_that_has_no_other() {
    let made = Made { modules: 1, width: 1, parity: 0, rows: 16, bands: 12, ..SMALL };
    let mut writer = Writer::new(made);
    let written = writer.full_band(1, 0);
    let found = writer.scan().unwrap();
    writer.checkpoint(4, &found, &[]);
    let found = writer.scan().unwrap();
    assert_eq!(found.report.bands_by_checkpoint, 1);
    assert_eq!(writer.versions(&found), last(&made, &written));
}

#[test]
fn a_die_does_not_confirm_itself() {
    for band in [1, 2, 3] {
        for die in 0..3 {
            let mut writer = Writer::new(SMALL);
            writer.full_band(band, 0);
            let found = writer.scan().unwrap();
            writer.checkpoint(4, &found, &[]);
            assert_eq!(writer.scan().unwrap().report.bands_by_checkpoint, 1);
            for other in (0..3).filter(|other| *other != die) {
                let block = writer.at(band, other, 0).block;
                writer.flash.erase(block).unwrap();
            }
            // Its sectors are written elsewhere.
            writer.full_band(5, 0);
            assert_eq!(writer.scan().unwrap().report.bands_by_checkpoint, 0, "band {band} die {die}");
        }
    }
}
