//! Power goes while stripes are being programmed or bands erased.

use crate::recover::writer::{Content, GROUPS, Made, SMALL, Units, Writer, last};
use ftl::recover::{FoundState, ScanError};
use media::{BlockAt, CutOutcome, Media, UnderWay};

const TORN: CutOutcome = CutOutcome::Garbage { spoil_earlier: false };
const SPOILED: CutOutcome = CutOutcome::Garbage { spoil_earlier: true };

/// Power goes with these units under way, each with its outcome.
fn cut(writer: &mut Writer, units: &Units, outcomes: &[CutOutcome]) {
    let under_way: Vec<UnderWay> =
        units.iter().map(|(at, unit)| UnderWay::Program { at: *at, unit: unit.clone() }).collect();
    writer.flash.power_cut(&under_way, &mut |index, _| outcomes[index]);
    writer.flash.power_on();
}

/// All ways to choose one of `kinds` for each of `count`.
fn ways(kinds: &[CutOutcome], count: usize) -> Vec<Vec<CutOutcome>> {
    let mut ways = vec![vec![]];
    for _ in 0..count {
        ways = ways
            .into_iter()
            .flat_map(|way: Vec<CutOutcome>| kinds.iter().map(move |kind| [&way[..], &[*kind]].concat()))
            .collect();
    }
    ways
}

/// Each LBA reads as its durable version or a later one.
fn check(writer: &mut Writer, durable: &[u64], issued: &[u64], what: &dyn std::fmt::Debug) {
    let found = writer.scan().unwrap_or_else(|error| panic!("{what:?}: {error}"));
    for (lba, version) in writer.versions(&found).into_iter().enumerate() {
        assert!((durable[lba]..=issued[lba]).contains(&version), "{what:?}: LBA {lba} reads as {version}");
    }
    // Recovery is idempotent, and needs no summaries. It may take another of equal copies then, because it knows more
    // of stripes.
    assert_eq!(writer.scan().unwrap(), found);
    let all = writer.scan_all().unwrap();
    assert_eq!(writer.versions(&all), writer.versions(&found), "{what:?}");
}

#[test]
fn a_torn_last_stripe_leaves_the_versions_before_it_or_its_own() {
    let kinds = [CutOutcome::NotBegun, CutOutcome::Done, TORN];
    for module_missing in [None, Some(0), Some(1), Some(2)] {
        for way in ways(&kinds, 3) {
            let mut writer = Writer::new(SMALL);
            let mut written = writer.full_band(1, 0);
            let mut open = writer.open(3);
            written.extend(writer.write(&mut open, &[1, 2]));
            let durable = last(&SMALL, &written);
            let version = writer.version();
            let units = writer.build(&mut open, &[Content::Data(2, version), Content::Data(50, version + 1)]);
            written.extend([(2, version), (50, version + 1)]);
            cut(&mut writer, &units, &way);
            if let Some(module) = module_missing {
                writer.modules[module] = None;
            }
            check(&mut writer, &durable, &last(&SMALL, &written), &(module_missing, &way));
        }
    }
}

#[test]
fn a_torn_first_stripe_leaves_no_trace_or_its_own_versions() {
    let kinds = [CutOutcome::NotBegun, CutOutcome::Done, TORN];
    for way in ways(&kinds, 3) {
        let mut writer = Writer::new(SMALL);
        let mut written = writer.full_band(1, 0);
        let durable = last(&SMALL, &written);
        let mut open = writer.open(3);
        let units = writer.build(&mut open, &[Content::Data(2, 100), Content::Data(50, 101)]);
        written.extend([(2, 100), (50, 101)]);
        cut(&mut writer, &units, &way);
        check(&mut writer, &durable, &last(&SMALL, &written), &way);
    }
}

#[test]
fn several_stripes_may_be_under_way_on_different_dies() {
    // One program of each die: die 0 is two stripes behind, die 1 one.
    let kinds = [CutOutcome::NotBegun, CutOutcome::Done, TORN, CutOutcome::prefix(1)];
    for made in [SMALL, GROUPS] {
        for way in ways(&kinds, 3) {
            let mut writer = Writer::new(made);
            let mut written = writer.full_band(1, 0);
            let mut open = writer.open(3);
            let groups = writer.layout.groups;
            for _ in 0..groups {
                let lbas: Vec<u32> = (0..writer.room(&open) as u32).collect();
                written.extend(writer.write(&mut open, &lbas));
            }
            let durable = last(&made, &written);
            let mut under_way = Units::new();
            for behind in 0..3 * groups {
                let room = writer.room(&open) as u32;
                let contents: Vec<Content> = (0..room)
                    .map(|i| {
                        let version = writer.version();
                        written.push((i + behind, version));
                        Content::Data(i + behind, version)
                    })
                    .collect();
                let units = writer.build(&mut open, &contents);
                for (at, unit) in units {
                    // Stripes of the second group are not begun.
                    let (die, stripe) = (at.block.die * 3 + at.block.module, behind / groups);
                    if behind % groups == 1 {
                        continue;
                    }
                    match die.cmp(&stripe) {
                        std::cmp::Ordering::Greater => writer.flash.program(at, &unit).unwrap(),
                        std::cmp::Ordering::Equal => under_way.push((at, unit)),
                        std::cmp::Ordering::Less => {}
                    }
                }
            }
            assert_eq!(under_way.len(), 3);
            cut(&mut writer, &under_way, &way);
            check(&mut writer, &durable, &last(&made, &written), &(groups, &way));
        }
    }
}

#[test]
fn a_cut_program_may_spoil_what_shares_its_cells() {
    let made = Made { cell_rows: 3, rows: 9, ..SMALL };
    for before in 0..4 {
        for way in ways(&[CutOutcome::NotBegun, CutOutcome::Done, TORN, SPOILED], 3) {
            let mut writer = Writer::new(made);
            let mut written = writer.full_band(1, 0);
            let mut open = writer.open(3);
            let mut durable = last(&made, &written);
            for row in 0..before {
                written.extend(writer.write(&mut open, &[row, 40 + row]));
                // Whole groups of rows are durable.
                if row % 3 == 2 {
                    durable = last(&made, &written);
                }
            }
            let version = writer.version();
            let units = writer.build(&mut open, &[Content::Data(1, version), Content::Padding]);
            written.push((1, version));
            cut(&mut writer, &units, &way);
            check(&mut writer, &durable, &last(&made, &written), &(before, &way));
        }
    }
}

#[test]
fn a_band_cut_in_its_summary_is_scanned() {
    for way in ways(&[CutOutcome::NotBegun, CutOutcome::Done, TORN], 3) {
        for module_missing in [None, Some(1)] {
            let mut writer = Writer::new(SMALL);
            let mut open = writer.open(3);
            let written = writer.fill(&mut open, 0);
            let summary = writer.summary(&mut open);
            assert_eq!(summary.len(), 1);
            cut(&mut writer, &summary[0], &way);
            if let Some(module) = module_missing {
                writer.modules[module] = None;
            }
            let durable = last(&SMALL, &written);
            check(&mut writer, &durable, &durable, &(module_missing, &way));
        }
    }
}

#[test]
fn a_torn_stripe_stays_harmless_through_later_starts() {
    for way in ways(&[CutOutcome::NotBegun, CutOutcome::Done, TORN], 3) {
        let mut writer = Writer::new(SMALL);
        let mut written = writer.full_band(1, 0);
        let mut open = writer.open(3);
        written.extend(writer.write(&mut open, &[1, 2]));
        let durable = last(&SMALL, &written);
        let units = writer.build(&mut open, &[Content::Data(2, 200), Content::Data(50, 201)]);
        written.extend([(2, 200), (50, 201)]);
        cut(&mut writer, &units, &way);
        // The card goes on in the next epoch, and fills further bands of the same stream.
        writer.sequence = writer.scan().unwrap().last_band_sequence;
        writer.version = 300;
        let mut later = durable.clone();
        let new = writer.full_band(4, 10);
        new.iter().for_each(|(lba, version)| later[*lba as usize] = *version);
        written.extend(new);
        check(&mut writer, &later, &last(&SMALL, &written), &way);
    }
}

#[test]
fn what_was_kept_by_a_cache_in_any_subset_is_enough() {
    let made = Made { volatile: true, ..SMALL };
    for seed in 0..300u64 {
        let mut writer = Writer::new(made);
        let mut written = writer.full_band(1, 0);
        let mut open = writer.open(3);
        written.extend(writer.write(&mut open, &[1, 2]));
        (0..3).for_each(|module| writer.flash.sync(module).unwrap());
        let durable = last(&made, &written);
        written.extend(writer.fill(&mut open, 10));
        writer.close(&mut open);
        let mut bits = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        writer.flash.power_cut_keeping(&[], &mut |_, _| CutOutcome::Done, &mut |_| {
            bits = bits.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            bits >> 33 & 1 == 1
        });
        writer.flash.power_on();
        check(&mut writer, &durable, &last(&made, &written), &seed);
    }
}

/// Band 2 was filled and moved to bands 4 and 5, so that it is being erased when power goes.
fn erase_cut(made: Made, way: &[CutOutcome]) -> (Writer, Vec<u64>) {
    let mut writer = Writer::new(made);
    let mut written = writer.full_band(2, 0);
    let mut moved = writer.open_as(4, 1, false);
    for pair in written.clone().chunks(2) {
        let contents: Vec<Content> = pair.iter().map(|(lba, version)| Content::Data(*lba, *version)).collect();
        writer.stripe(&mut moved, &contents);
    }
    writer.close(&mut moved);
    written.extend(writer.full_band(5, 9));
    let under_way: Vec<UnderWay> =
        (0..3).map(|module| UnderWay::Erase { at: BlockAt { module, die: 0, block: 2 } }).collect();
    writer.flash.power_cut(&under_way, &mut |index, _| way[index]);
    writer.flash.power_on();
    (writer, last(&made, &written))
}

#[test]
fn a_cut_erase_is_no_loss() {
    let kinds = [CutOutcome::NotBegun, CutOutcome::Done, CutOutcome::PartlyErased, CutOutcome::Weak];
    for plp in [false, true] {
        let made = Made { plp, ..SMALL };
        for way in ways(&kinds, 3) {
            for module_missing in [None, Some(0), Some(1), Some(2)] {
                let (mut writer, durable) = erase_cut(made, &way);
                if let Some(module) = module_missing {
                    writer.modules[module] = None;
                }
                check(&mut writer, &durable, &durable, &(plp, module_missing, &way));
            }
        }
    }
}

#[test]
fn a_cut_erase_and_a_decayed_unit_are_no_loss() {
    let kinds = [CutOutcome::NotBegun, CutOutcome::Done, CutOutcome::PartlyErased];
    for way in ways(&kinds, 3) {
        for die in 0..3 {
            for (band, row) in [(2, 0), (2, 3), (2, 7), (4, 0), (4, 2), (5, 7)] {
                let (mut writer, durable) = erase_cut(SMALL, &way);
                writer.spoil(writer.at(band, die, row));
                check(&mut writer, &durable, &durable, &(&way, band, die, row));
            }
        }
    }
}

#[test]
fn a_cut_erase_and_a_decayed_unit_beside_a_missing_module_are_no_loss() {
    let kinds = [CutOutcome::NotBegun, CutOutcome::Done, CutOutcome::PartlyErased];
    for way in ways(&kinds, 3) {
        for (missing, die, row) in [(0, 1, 3), (0, 2, 0), (1, 0, 0), (1, 2, 5), (2, 0, 5), (2, 1, 3)] {
            let (mut writer, durable) = erase_cut(SMALL, &way);
            writer.spoil(writer.at(2, die, row));
            writer.modules[missing] = None;
            check(&mut writer, &durable, &durable, &(&way, missing, die, row));
        }
    }
}

#[test]
fn a_missing_module_and_decayed_units_alone_are_no_erase() {
    // The last row has the summary: nothing tells what is lost.
    let mut writer = Writer::new(SMALL);
    writer.full_band(2, 0);
    writer.full_band(5, 0);
    for row in 0..SMALL.rows {
        assert_eq!(writer.scan().is_ok(), row == 0, "row {row}");
        writer.modules[1] = None;
        writer.spoil(writer.at(2, 0, SMALL.rows - 1 - row));
    }
}

#[test]
fn a_band_of_nothing_but_ruins_is_dirty() {
    let (mut writer, _) = erase_cut(SMALL, &[CutOutcome::PartlyErased; 3]);
    let found = writer.scan().unwrap();
    assert_eq!(found.bands[2].state, FoundState::Dirty);
    assert_eq!((found.report.bands_dirty, found.report.bands_free), (1, 5));
    let (mut writer, _) = erase_cut(SMALL, &[CutOutcome::PartlyErased, CutOutcome::PartlyErased, CutOutcome::NotBegun]);
    assert_eq!(writer.scan().unwrap().bands[2].state, FoundState::Dirty);
}

#[test]
fn with_protection_a_stripe_of_the_host_that_is_not_all_there_is_refused() {
    let made = Made { plp: true, ..SMALL };
    for kind in [CutOutcome::NotBegun, TORN] {
        let mut writer = Writer::new(made);
        let mut open = writer.open(3);
        writer.write(&mut open, &[1, 2]);
        let units = writer.build(&mut open, &[Content::Data(2, 100), Content::Data(50, 101)]);
        cut(&mut writer, &units, &[kind, kind, CutOutcome::Done]);
        let error = writer.scan().unwrap_err();
        assert!(matches!(error, ScanError::BeyondRedundancy { band: 3, stripe: 1, sector: 0, .. }), "{error}");
        assert!(error.to_string().contains("band 3 stripe 1 sector 0"), "{error}");
    }
}

#[test]
fn with_protection_a_stripe_of_relocated_sectors_may_be_cut() {
    let made = Made { plp: true, ..SMALL };
    for way in ways(&[CutOutcome::NotBegun, CutOutcome::Done], 3) {
        let mut writer = Writer::new(made);
        let written = writer.full_band(1, 0);
        let mut open = writer.open_as(3, 1, false);
        let (lba, version) = written[0];
        let first = writer.build(&mut open, &[Content::Data(lba, version), Content::Padding]);
        writer.program(&first);
        let units = writer.build(&mut open, &[Content::Data(lba + 1, version + 1), Content::Padding]);
        cut(&mut writer, &units, &way);
        let durable = last(&made, &written);
        check(&mut writer, &durable, &durable, &way);
    }
}

#[test]
fn a_cut_erase_of_a_band_that_was_never_filled_is_no_loss() {
    for plp in [false, true] {
        for way in ways(&[CutOutcome::NotBegun, CutOutcome::Done, CutOutcome::PartlyErased], 3) {
            let made = Made { plp, ..SMALL };
            let mut writer = Writer::new(made);
            let mut short = writer.open(2);
            let mut written = writer.write(&mut short, &[1, 2]);
            written.extend(writer.full_band(4, 0));
            let under_way: Vec<UnderWay> =
                (0..3).map(|module| UnderWay::Erase { at: BlockAt { module, die: 0, block: 2 } }).collect();
            writer.flash.power_cut(&under_way, &mut |index, _| way[index]);
            writer.flash.power_on();
            let durable = last(&made, &written);
            check(&mut writer, &durable, &durable, &(plp, &way));
        }
    }
}

#[test]
fn what_a_cut_erase_left_is_no_sign_that_a_die_went_on_to_a_later_band() {
    let mut writer = Writer::new(SMALL);
    let mut open = writer.open(3);
    let written = writer.write(&mut open, &[1, 2]);
    let torn = writer.build(&mut open, &[Content::Data(3, 90), Content::Data(4, 91)]);
    let mut later = writer.open(4);
    let begun = writer.build(&mut later, &[Content::Data(5, 92), Content::Padding]);
    // Die 2 has gone on; the others are still at the stripe before.
    writer.program(&torn[2..].to_vec());
    writer.program(&begun[2..].to_vec());
    cut(&mut writer, &torn[..2].to_vec(), &[TORN, TORN]);
    let erases = [0, 1].map(|die| UnderWay::Erase { at: writer.at(4, die, 0).block });
    writer.flash.power_cut(&erases, &mut |_, _| CutOutcome::PartlyErased);
    writer.flash.power_on();
    let found = writer.scan().unwrap();
    for (lba, version) in written {
        assert_eq!(writer.read(&found, lba).unwrap().unwrap(), version);
    }
}
