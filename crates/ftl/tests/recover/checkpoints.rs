//! What a checkpoint saves, and when it must not be believed.

use crate::writer::{GROUPS, Made, SMALL, Writer, last};
use media::Media;

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
