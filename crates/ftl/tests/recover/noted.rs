//! What the headers say of what was durable when they were written.

use crate::writer::{Content, SMALL, Writer};
use format::Durable;
use ftl::recover::{FoundState, Noted, ScanError};
use media::{CutOutcome, UnderWay};

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

fn scan(writer: &mut Writer, durable: [Durable; 2], no_erases: bool) -> Result<ftl::recover::Found, ScanError> {
    writer.scan_with(|card| card.noted = Noted::new(durable, no_erases))
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

#[test]
fn a_member_that_is_not_there_of_a_stripe_that_was_durable_was_lost_unless_its_band_was_being_erased() {
    let mut writer = Writer::new(SMALL);
    let mut open = writer.open(3);
    let version = writer.version();
    let units = writer.build(&mut open, &[Content::Data(1, version), Content::Data(2, version + 1)]);
    let under_way: Vec<UnderWay> =
        units.iter().map(|(at, unit)| UnderWay::Program { at: *at, unit: unit.clone() }).collect();
    // The member that is left is parity's: nothing tells which LBAs were there.
    let data = units.iter().position(|(at, _)| at.block.module == 1).unwrap();
    writer.flash.power_cut(&under_way, &mut |index, _| {
        if index == data { CutOutcome::NotBegun } else { CutOutcome::Done }
    });
    writer.flash.power_on();
    let sequence = writer.scan().unwrap().bands[3].sequence;
    writer.modules[2] = None;
    let durable = [Durable { band_sequence: sequence, stripe: 1 }, Durable::default()];
    assert!(scan(&mut writer, durable, true).is_err());
    assert_eq!(scan(&mut writer, durable, false).unwrap().bands[3].state, FoundState::Dirty);
    assert!(scan(&mut writer, Default::default(), true).is_ok());
}
