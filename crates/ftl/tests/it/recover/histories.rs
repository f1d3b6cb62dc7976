//! Cards with any history.

use crate::recover::writer::{CARD, Content, GROUPS, Made, PAYLOAD, SMALL, Writer};
use format::{Role, Spare, payload_crc};
use media::{Media, Unit};
use proptest::prelude::*;

/// The kind of the next sector of a stripe.
#[derive(Clone, Copy, Debug)]
enum Step {
    Write(u32),
    /// The LBA's newest version is copied.
    Copy(u32),
    /// The LBA is trimmed, and the list of holes written.
    Trim(u32),
    /// The stripe is closed early.
    Seal,
}

fn step(user_sectors: u32) -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..user_sectors).prop_map(Step::Write),
        2 => (0..user_sectors).prop_map(Step::Copy),
        1 => (0..user_sectors).prop_map(Step::Trim),
        1 => Just(Step::Seal),
    ]
}

/// The loss that a history ends with.
#[derive(Clone, Copy, Debug)]
enum Loss {
    Nothing,
    Unit(u32, u32, u32),
    Module(usize),
}

fn loss(made: Made) -> impl Strategy<Value = Loss> {
    prop_oneof![
        Just(Loss::Nothing),
        (0..made.bands, 0..made.modules * made.dies_per_module, 0..made.rows).prop_map(|(b, d, r)| Loss::Unit(b, d, r)),
        (0..made.modules as usize).prop_map(Loss::Module),
    ]
}

/// Fills one band after the other, in scattered order; returns what each LBA should read as, 0 for nothing.
fn play(made: Made, steps: &[Step], bad: &[(u32, u32)]) -> (Writer, Vec<u64>) {
    let mut writer = Writer::new(made);
    for (band, die) in bad {
        writer.flash.mark_bad(writer.at(*band, *die, 0).block).unwrap();
    }
    let mut newest = vec![0u64; made.user_sectors as usize];
    // As of the last stripe that was written.
    let mut on_flash = newest.clone();
    let mut holes: Vec<u32> = Vec::new();
    let mut bands = (0..made.bands).map(|i| (i * 5 + 3) % made.bands);
    let mut open = writer.open(bands.next().expect("there are bands"));
    let mut contents: Vec<Content> = Vec::new();
    for step in steps {
        match *step {
            Step::Write(lba) => {
                let version = writer.version();
                newest[lba as usize] = version;
                holes.retain(|hole| *hole != lba);
                contents.push(Content::Data(lba, version));
            }
            Step::Copy(lba) if newest[lba as usize] != 0 => contents.push(Content::Data(lba, newest[lba as usize])),
            Step::Copy(_) => {}
            Step::Trim(lba) => {
                let as_of = writer.version();
                newest[lba as usize] = 0;
                holes.retain(|hole| *hole != lba);
                holes.push(lba);
                let version = writer.version();
                contents.push(Content::Holes(0, version, as_of, holes.clone()));
            }
            Step::Seal => {}
        }
        while writer.room(&open) == 0 && open.next < writer.data_stripes(&open) {
            open.next += 1;
        }
        let is_full = contents.len() == writer.room(&open) || matches!(step, Step::Seal);
        if open.next < writer.data_stripes(&open) && is_full && !contents.is_empty() {
            writer.stripe(&mut open, &contents);
            contents.clear();
            on_flash.clone_from(&newest);
        }
        if open.next == writer.data_stripes(&open) {
            writer.close(&mut open);
            // The waiting sectors have no place to go to.
            let Some(band) = bands.next() else { return (writer, on_flash) };
            open = writer.open(band);
        }
    }
    if contents.is_empty() {
        return (writer, newest);
    }
    while writer.room(&open) == 0 && open.next < writer.data_stripes(&open) {
        open.next += 1;
    }
    if open.next == writer.data_stripes(&open) {
        return (writer, on_flash);
    }
    writer.stripe(&mut open, &contents);
    (writer, newest)
}

fn is_found(made: Made, steps: &[Step], loss: Loss, bad: &[(u32, u32)]) -> Result<(), TestCaseError> {
    let (mut writer, newest) = play(made, steps, bad);
    match loss {
        Loss::Nothing => {
            let (short, long) = (writer.scan().unwrap(), writer.scan_all().unwrap());
            prop_assert_eq!(&short.map, &long.map);
            prop_assert_eq!(short.next_version, long.next_version);
            prop_assert_eq!(short.rescue, vec![]);
        }
        Loss::Unit(band, die, row) => writer.spoil(writer.at(band, die, row)),
        Loss::Module(module) => writer.modules[module] = None,
    }
    for use_summaries in [true, false] {
        let found = writer.scan_with(|card| card.use_summaries = use_summaries);
        let found = found.map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(writer.versions(&found), newest.clone());
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn every_history_is_found_on_a_small_card(
        steps in prop::collection::vec(step(40), 1..120),
        loss in loss(SMALL),
    ) {
        is_found(Made { user_sectors: 40, ..SMALL }, &steps, loss, &[])?;
    }

    #[test]
    fn every_history_is_found_on_a_card_with_groups_of_dies_and_bad_blocks(
        steps in prop::collection::vec(step(60), 1..300),
        loss in loss(GROUPS),
        bad in prop::collection::vec((0..GROUPS.bands, 0..6u32), 0..3),
    ) {
        // A stripe that a bad block has narrowed to one unit has no data.
        is_found(Made { user_sectors: 60, ..GROUPS }, &steps, loss, &bad)?;
    }

    #[test]
    fn nothing_that_lies_on_media_makes_a_scan_panic(
        steps in prop::collection::vec(step(40), 0..80),
        wild in prop::collection::vec(
            (0..8u32, 0..3u32, any::<[u64; 3]>(), any::<[u32; 4]>(), any::<[u8; 5]>(), any::<u16>()), 1..12),
        narrow in any::<bool>(),
        plp in any::<bool>(),
    ) {
        let made = Made { user_sectors: 40, plp, bands: 12, slc_bits: 3, ..SMALL };
        let (mut writer, _) = play(Made { bands: 6, ..made }, &steps, &[]);
        let mut old = Writer::new(made);
        // The same bands, and others beside them.
        for band in 0..6 {
            for die in 0..3 {
                for row in 0..8 {
                    let mut unit = Unit::new(&made.shape());
                    writer.flash.read(writer.at(band, die, row), &mut unit).unwrap();
                    if unit.state(0) == media::SectorState::Good {
                        old.flash.program(old.at(band, die, row), &unit).unwrap();
                    }
                }
            }
        }
        let mut rows = [[0u32; 3]; 6];
        for (band, die, longs, words, bytes, choice) in wild {
            let row = &mut rows[(band % 6) as usize][die as usize];
            if *row == made.rows {
                continue;
            }
            let band = 6 + band % 6;
            let mut unit = Unit::new(&made.shape());
            let payload = vec![bytes[0]; PAYLOAD];
            let near = |bit: u32, wild: u64, tame: u64| if narrow || choice >> bit & 1 == 1 { tame } else { wild };
            let spare = Spare {
                card: near(0, longs[0], CARD),
                role: Role::from_byte(1 + bytes[1] % 7).unwrap(),
                slc: bytes[2] & 1 == 1,
                stream: bytes[2] >> 6,
                lba: near(1, words[0].into(), u64::from(words[0] % 45)) as u32,
                version: near(2, longs[1], longs[1] % 100),
                band: near(3, words[1].into(), band.into()) as u32,
                band_sequence: near(4, longs[2], longs[2] % 5),
                stripe: near(5, words[2].into(), (*row).into()) as u32,
                unit: near(6, (bytes[3] % 64).into(), die.into()) as u8,
                sector: near(7, (bytes[4] % 64).into(), 0) as u8,
                members: near(8, longs[0], [7, 5, 6, 3][(longs[0] % 4) as usize]),
                payload_crc: if choice >> 9 & 1 == 1 { words[3] } else { payload_crc(&payload) },
                member_role: bytes[0],
                member_crc: words[3],
            };
            spare.encode(unit.spare_mut(0));
            unit.payload_mut(0).copy_from_slice(&payload);
            old.flash.program(old.at(band, die, *row), &unit).unwrap();
            *row += 1;
        }
        for use_summaries in [true, false] {
            if let Ok(found) = old.scan_with(|card| card.use_summaries = use_summaries) {
                for lba in 0..made.user_sectors {
                    let ppa = found.map[lba as usize];
                    prop_assert!(ppa == u32::MAX || ppa < old.layout.band_sectors * made.bands);
                }
            }
        }
    }
}
