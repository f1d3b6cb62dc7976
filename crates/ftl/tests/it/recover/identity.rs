//! The identity of a band from its first rows: its opening, and the members of its stripes.

use crate::recover::writer::{GROUPS, Made, SMALL, Writer, last};
use ftl::recover::BandIdentity;
use media::{Media, Unit, UnitAt};

/// A band of two groups of dies with two rows of data.
fn two_rows(made: Made, band: u32) -> Writer {
    let mut writer = Writer::new(made);
    let mut open = writer.open(band);
    for first in 0..4 {
        let lbas: Vec<u32> = (first * 10..).take(writer.room(&open)).collect();
        writer.write(&mut open, &lbas);
    }
    writer
}

fn spoil(writer: &mut Writer, band: u32, dies: impl Iterator<Item = u32>, row: u32) {
    dies.for_each(|die| writer.spoil(writer.at(band, die, row)));
}

fn members(identity: BandIdentity) -> Vec<u64> {
    match identity {
        BandIdentity::Opened { members, .. } => members,
        other => panic!("{other:?}"),
    }
}

#[test]
fn where_the_first_row_can_not_be_read_the_next_one_is_asked_and_nobody_twice() {
    let mut writer = two_rows(GROUPS, 3);
    // The first die that is asked tells, in each group.
    let (identity, reads) = writer.identify(3);
    assert_eq!((members(identity), reads), (vec![0b111, 0b111], 2));
    spoil(&mut writer, 3, 3..6, 0);
    let (identity, reads) = writer.identify(3);
    assert_eq!((members(identity), reads), (vec![0b111, 0b111], 1 + 3 + 1));
    spoil(&mut writer, 3, 0..3, 0);
    let (identity, reads) = writer.identify(3);
    assert_eq!((members(identity), reads), (vec![0b111, 0b111], 2 * (3 + 1)));
    spoil(&mut writer, 3, 0..6, 1);
    // The third row is erased: that is where it ends.
    assert_eq!(writer.identify(3), (BandIdentity::Unknown, 3 * 6));
}

#[test]
fn where_a_group_tells_nothing_all_of_it_that_is_not_bad_may_be_a_member() {
    let mut writer = two_rows(GROUPS, 3);
    for die in 3..6 {
        let block = writer.at(3, die, 0).block;
        writer.flash.erase(block).unwrap();
    }
    spoil(&mut writer, 3, 0..3, 0);
    let (identity, reads) = writer.identify(3);
    assert_eq!((members(identity), reads), (vec![0b111, 0b111], 6 + 1));
    writer.flash.mark_bad(writer.at(3, 4, 0).block).unwrap();
    let (identity, reads) = writer.identify(3);
    assert_eq!((members(identity), reads), (vec![0b111, 0b101], 5 + 1));
    // Nobody knows of the blocks of a module that is missing.
    writer.modules[1] = None;
    assert_eq!(members(writer.identify(3).0), [0b111, 0b111]);
}

#[test]
fn the_latest_opening_that_any_group_tells_of_counts() {
    for stale in 0..6 {
        let old = two_rows(GROUPS, 3);
        let mut writer = Writer::new(GROUPS);
        (writer.sequence, writer.version) = (old.sequence, old.version);
        let written = writer.full_band(3, 50);
        // This die was away when the band was erased and opened again.
        let block = writer.at(3, stale, 0).block;
        writer.flash.erase(block).unwrap();
        let mut old = old;
        for row in 0..2 {
            let (at, mut unit) = (UnitAt { block, row }, Unit::new(&GROUPS.shape()));
            old.flash.read(at, &mut unit).unwrap();
            writer.flash.program(at, &unit).unwrap();
        }
        let BandIdentity::Opened { opening, members } = writer.identify(3).0 else { panic!("it is open") };
        assert_eq!((opening.sequence, members), (2, vec![0b111, 0b111]), "die {stale}");
        let found = writer.scan().unwrap();
        assert_eq!(writer.versions(&found), last(&GROUPS, &written), "die {stale}");
    }
}

#[test]
fn a_band_that_nobody_wrote_is_free_after_its_first_row() {
    assert_eq!(Writer::new(SMALL).identify(3), (BandIdentity::Free, 3));
    assert_eq!(Writer::new(GROUPS).identify(3), (BandIdentity::Free, 6));
}
