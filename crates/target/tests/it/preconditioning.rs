//! Preconditioning fills what it was asked to fill, and says how steady it got.

use crate::common::device;
use device::SECTOR_BYTES;
use ftl::Lba;
use load::Access;
use target::{Modelled, Pattern, Silent, SteadyRule, precondition, steady_state};

const SCALE: f64 = 1.0 / 256.0;

fn build(name: &str) -> Modelled {
    Modelled::new(&device(name, SCALE), 16, false, 1).unwrap()
}

fn random(footprint_bytes: u64) -> Pattern {
    Pattern::Random { block_bytes: 4096, access: Access::Uniform, footprint_bytes }
}

/// Sectors of each card that hold data, which must be its first ones.
fn filled(modelled: &Modelled) -> Vec<u64> {
    let of = |card: &card::ModelCard| {
        let ftl = card.ftl();
        let is_filled = |sector: u64| ftl.lookup(Lba(sector as u32)).is_some();
        let first = (0..ftl.user_sectors()).take_while(|&s| is_filled(s)).count() as u64;
        let all = (0..ftl.user_sectors()).filter(|&s| is_filled(s)).count() as u64;
        assert_eq!(first, all, "data beyond the fill");
        all
    };
    modelled.cards().iter().map(of).collect()
}

#[test]
fn exactly_the_sectors_asked_for_hold_data() {
    for sectors in [0, 1, 777, 12_345] {
        for pattern in [Pattern::None, Pattern::Sequential, random(sectors / 2 * SECTOR_BYTES)] {
            let mut modelled = build("iodrive-160-slc");
            precondition(&mut modelled, sectors * SECTOR_BYTES, pattern, 1, &Silent).unwrap();
            assert_eq!(filled(&modelled), [sectors], "{pattern:?}");
        }
    }
}

#[test]
fn striped_cards_share_the_fill() {
    let sectors = 20_001;
    let mut modelled = build("iodrive-duo-320-slc");
    precondition(&mut modelled, sectors * SECTOR_BYTES, random(sectors * SECTOR_BYTES), 1, &Silent).unwrap();
    let filled = filled(&modelled);
    assert_eq!(filled.len(), 2);
    assert_eq!(filled.iter().sum::<u64>(), sectors);
    let Modelled::Striped(striped) = &modelled else { panic!("two cards are striped") };
    for (i, &sectors_of_card) in filled.iter().enumerate() {
        assert_eq!(sectors_of_card, striped.card_offset(i as u64, sectors * SECTOR_BYTES) / SECTOR_BYTES);
    }
}

#[test]
fn filling_alone_writes_everything_once() {
    let mut modelled = build("iodrive-160-slc");
    let rounds = precondition(&mut modelled, 10_000 * SECTOR_BYTES, Pattern::None, 1, &Silent).unwrap().rounds;
    assert!(rounds.is_empty());
    assert_eq!(modelled.counters().host_sectors, 10_000);
}

#[test]
fn rounds_of_overwriting_end_steady_and_grow_with_the_fill() {
    let last_round = |share: f64, sequential: bool| {
        let mut modelled = build("iodrive-160-slc");
        let bytes = crate::common::share_of(&device("iodrive-160-slc", SCALE), share);
        let pattern = if sequential { Pattern::Sequential } else { random(bytes) };
        let rounds = precondition(&mut modelled, bytes, pattern, 1, &Silent).unwrap().rounds;
        assert!(steady_state(&rounds, &SteadyRule::SNIA).attained, "{rounds:?}");
        assert!(rounds.iter().all(|&waf| waf >= 1.0), "{rounds:?}");
        *rounds.last().unwrap()
    };
    let (half, full, sequential) = (last_round(0.5, false), last_round(1.0, false), last_round(1.0, true));
    assert!(full > 1.3 * half, "half full {half}, full {full}");
    assert!(sequential < 1.2, "front to back {sequential}");
}

#[test]
fn disks_need_none() {
    let mut modelled = build("sas-raid10-6");
    let rounds = precondition(&mut modelled, 1 << 30, random(1 << 30), 1, &Silent).unwrap().rounds;
    assert!(rounds.is_empty() && modelled.cards().is_empty());
}
