//! Units that a rebuild has given up: they have no spare areas, in place of units that it could not restore.

use crate::recover::writer::{GROUPS, SMALL, Writer, last};
use ftl::recover::{FoundState, ScanError};
use media::{Fault, Media, Unit, UnitAt};

/// Writes the block of a die again: the unit in `given_up` as a rebuild leaves what it can't make, and nothing from row
/// `end` on.
fn write_again(writer: &mut Writer, band: u32, die: u32, given_up: Option<u32>, end: u32) {
    let at = |writer: &Writer, row: u32| writer.at(band, die, row);
    let shape = writer.made.shape();
    let mut kept: Vec<(UnitAt, Unit)> = Vec::new();
    for row in 0..end {
        let mut unit = Unit::new(&shape);
        if given_up != Some(row) {
            writer.flash.read(at(writer, row), &mut unit).unwrap();
        }
        kept.push((at(writer, row), unit));
    }
    let block = at(writer, 0).block;
    writer.flash.erase(block).unwrap();
    writer.program(&kept);
}

#[test]
fn what_is_gone_from_a_block_that_holds_something_beside_a_unit_given_up_was_lost() {
    let mut writer = Writer::new(SMALL);
    writer.full_band(1, 0);
    let new = writer.full_band(2, 0);
    // In row 5 parity lies on die 2; the summary in row 7 can still be read.
    write_again(&mut writer, 2, 1, None, 5);
    write_again(&mut writer, 2, 0, Some(5), 8);
    let found = writer.scan().unwrap();
    assert_eq!(found.errors, [new[10].0, new[11].0]);
    assert_eq!(found.report.dropped_sectors, 0);
    for (number, (lba, version)) in new.iter().enumerate() {
        let read = writer.read(&found, *lba).unwrap();
        assert_eq!(read.is_err(), [10, 11].contains(&number), "LBA {lba}");
        assert!(read.is_err() || read.unwrap() == *version, "LBA {lba}");
    }
}

#[test]
fn a_whole_block_that_is_gone_beside_a_unit_given_up_was_erased_where_the_band_was_full() {
    let mut writer = Writer::new(SMALL);
    writer.full_band(2, 0);
    let new = writer.full_band(3, 0);
    write_again(&mut writer, 2, 0, Some(5), 8);
    write_again(&mut writer, 2, 1, None, 0);
    let found = writer.scan().unwrap();
    assert_eq!(writer.versions(&found), last(&SMALL, &new));
    assert_eq!(found.report.dropped_sectors, 2);
}

#[test]
fn a_whole_block_that_is_gone_beside_a_unit_given_up_was_lost_where_the_band_was_not_full() {
    let mut writer = Writer::new(SMALL);
    let mut open = writer.open(3);
    writer.flash.inject(Fault::LoseProgram { module: 1, die: 0 });
    writer.write(&mut open, &[1, 2]);
    write_again(&mut writer, 3, 0, Some(0), 1);
    let error = writer.scan().unwrap_err();
    assert!(matches!(error, ScanError::BeyondRedundancy { band: 3, stripe: 0, lost: 0b011, .. }), "{error}");
}

#[test]
fn an_erase_that_was_cut_is_seen_in_any_group_of_dies() {
    for dies in [[0, 1], [3, 4], [4, 5]] {
        let mut writer = Writer::new(GROUPS);
        writer.full_band(2, 0);
        let new = writer.full_band(4, 0);
        for (die, row) in dies.into_iter().flat_map(|die| (0..GROUPS.rows).map(move |row| (die, row))) {
            writer.spoil(writer.at(2, die, row));
        }
        let found = writer.scan().unwrap();
        assert_eq!(found.bands[2].state, FoundState::Dirty, "{dies:?}");
        assert_eq!(writer.versions(&found), last(&GROUPS, &new), "{dies:?}");
    }
}
