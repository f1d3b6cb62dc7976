//! The durable watermark in the headers.

use crate::recover::writer::{Content, GROUPS, SMALL, Writer};
use format::Durable;
use ftl::recover::{DurableWatermark, Found, FoundState, ScanError};
use media::{BlockAt, CutOutcome, Media, UnderWay};

/// A card of which the last stripe of band 3, which is open, has lost two members; the number of the band's opening.
fn two_lost(stream: u8) -> (Writer, u64) {
    let mut writer = Writer::new(SMALL);
    let mut open = writer.open_as(3, stream, false);
    (0..4).for_each(|first| drop(writer.write(&mut open, &[first * 2, first * 2 + 1])));
    let sequence = writer.scan().unwrap().bands[3].sequence;
    for die in [0, 1] {
        let at = writer.at(3, die, 3);
        writer.spoil(at);
    }
    (writer, sequence)
}

fn scan(writer: &mut Writer, durable: [Durable; 2], no_erases: bool) -> Result<Found, ScanError> {
    scan_held(writer, durable, &[], no_erases)
}

/// The headers say that these bands hold something.
fn scan_held(writer: &mut Writer, durable: [Durable; 2], bands: &[u32], no_erases: bool) -> Result<Found, ScanError> {
    writer.scan_with(|card| card.watermark = DurableWatermark::new(durable, bands.iter().copied().collect(), no_erases))
}

fn of_stream(stream: u8, durable: Durable) -> [Durable; 2] {
    let mut both = [Durable::default(); 2];
    both[usize::from(stream)] = durable;
    both
}

#[test]
fn a_stripe_that_was_durable_is_not_taken_for_one_that_a_cut_tore() {
    for stream in [0, 1] {
        let (mut writer, sequence) = two_lost(stream);
        for (band_sequence, stripe) in [(sequence, 4), (sequence + 1, 0), (sequence + 7, 2)] {
            let durable = of_stream(stream, Durable { band_sequence, stripe });
            let refused = scan(&mut writer, durable, false).unwrap_err();
            assert!(matches!(refused, ScanError::BeyondRedundancy { band: 3, stripe: 3, .. }), "{refused}");
        }
    }
}

#[test]
fn what_came_after_the_headers_were_written_may_be_torn() {
    for stream in [0, 1] {
        let (mut writer, sequence) = two_lost(stream);
        let after = Durable { band_sequence: sequence, stripe: 3 };
        let nothing = Durable { band_sequence: 0, stripe: 4 };
        let another_epoch = Durable { band_sequence: sequence + (1 << 32), stripe: 0 };
        let known = Durable { band_sequence: sequence, stripe: 4 };
        let others = of_stream(1 - stream, known);
        let said = [after, nothing, another_epoch].map(|durable| of_stream(stream, durable));
        for durable in said.into_iter().chain([others]) {
            assert_eq!(scan(&mut writer, durable, true).unwrap().report.dropped_sectors, 2, "{durable:?}");
        }
    }
}

/// A stripe of band 3 without one of its data members, on a card without the module of the other: nothing tells which
/// LBAs were there. The number of the band's opening.
fn without_data_members() -> (Writer, u64) {
    let mut writer = Writer::new(SMALL);
    let mut open = writer.open(3);
    let version = writer.version();
    let units = writer.build(&mut open, &[Content::Data(1, version), Content::Data(2, version + 1)]);
    let under_way: Vec<UnderWay> =
        units.iter().map(|(at, unit)| UnderWay::Program { at: *at, unit: unit.clone() }).collect();
    let data = units.iter().position(|(at, _)| at.block.module == 1).unwrap();
    writer.flash.power_cut(&under_way, &mut |index, _| {
        if index == data { CutOutcome::NotBegun } else { CutOutcome::Done }
    });
    writer.flash.power_on();
    let sequence = writer.scan().unwrap().bands[3].sequence;
    writer.modules[2] = None;
    (writer, sequence)
}

#[test]
fn a_member_that_is_not_there_of_a_stripe_that_was_durable_was_lost_unless_its_band_was_being_erased() {
    let (mut writer, band_sequence) = without_data_members();
    let durable = [Durable { band_sequence, stripe: 1 }, Durable::default()];
    assert!(scan(&mut writer, durable, true).is_err());
    assert_eq!(scan(&mut writer, durable, false).unwrap().bands[3].state, FoundState::Dirty);
    assert!(scan(&mut writer, Default::default(), true).is_ok());
}

#[test]
fn a_band_that_holds_something_is_not_taken_for_one_that_was_being_erased() {
    let (mut writer, band_sequence) = without_data_members();
    let durable = [Durable { band_sequence, stripe: 1 }, Durable::default()];
    assert_eq!(scan_held(&mut writer, durable, &[2], false), Err(ScanError::MissingBand { band: 2 }));
    let refused = scan_held(&mut writer, durable, &[3], false).unwrap_err();
    assert!(matches!(refused, ScanError::BeyondRedundancy { band: 3, stripe: 0, .. }), "{refused}");
}

#[test]
fn a_band_that_holds_something_must_be_found() {
    let mut writer = Writer::new(SMALL);
    let mut open = writer.open(3);
    writer.write(&mut open, &[1, 2]);
    assert!(scan_held(&mut writer, Default::default(), &[3], false).is_ok());
    assert_eq!(scan_held(&mut writer, Default::default(), &[3, 2], true), Err(ScanError::MissingBand { band: 2 }));
}

#[test]
fn stripes_that_were_durable_are_not_taken_for_some_that_were_never_written() {
    for stream in [0, 1] {
        let mut writer = Writer::new(SMALL);
        let mut open = writer.open_as(3, stream, false);
        (0..2).for_each(|first| drop(writer.write(&mut open, &[first * 2, first * 2 + 1])));
        let band_sequence = writer.scan().unwrap().bands[3].sequence;
        let said = |stripe| of_stream(stream, Durable { band_sequence, stripe });
        assert!(scan(&mut writer, said(2), false).is_ok());
        let refused = scan(&mut writer, said(3), false).unwrap_err();
        assert!(matches!(refused, ScanError::BeyondRedundancy { band: 3, stripe: 2, .. }), "{refused}");
        // The rest may lie elsewhere.
        for module in 0..3 {
            writer.flash.mark_bad(BlockAt { module, die: 0, block: 3 }).unwrap();
        }
        assert!(scan(&mut writer, said(3), false).is_ok());
    }
}

#[test]
fn the_last_stripe_that_was_durable_is_looked_for_on_the_dies_it_lies_on() {
    let mut writer = Writer::new(GROUPS);
    let mut open = writer.open(3);
    for stripe in 1..=4 {
        writer.write(&mut open, &[0, 1, 2, 3].map(|lba| lba + 4 * stripe));
        let band_sequence = writer.scan().unwrap().bands[3].sequence;
        let said = |stripe| [Durable { band_sequence, stripe }, Durable::default()];
        assert!(scan(&mut writer, said(stripe), false).is_ok());
        let refused = scan(&mut writer, said(stripe + 1), false).unwrap_err();
        assert!(
            matches!(refused, ScanError::BeyondRedundancy { band: 3, stripe: of, .. } if of == stripe),
            "{refused}"
        );
    }
}
