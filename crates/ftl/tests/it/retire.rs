//! Bad blocks narrow stripes and use up the spare; then the card is read-only, and nothing is lost.

use crate::common::{
    Card, PACED, PLAIN, STOP_THE_WORLD, assert_all_readable, data_sectors, is_read_only, steady_waf, sum_of_cycles,
};
use device::Rng;
use ftl::{BandId, BandState, Ftl, Lba, ReadOnly, StreamId, StripeId, VictimPolicy};
use media::nand::Endurance;

/// Most blocks last about 20 cycles.
const FRAIL: Endurance = Endurance { rated_cycles: 20, factory_bad_ppm: 0, erase_fail_ppm_at_rated: 50_000 };
/// Blocks last about 250 cycles, and few fail at once.
const SLOW: Endurance = Endurance { rated_cycles: 200, factory_bad_ppm: 0, erase_fail_ppm_at_rated: 2_000 };
const CARD: Card =
    Card { bands: 64, dies: 16, pages_per_block: 4, width: 4, parity_units: 1, u: 0.75, endurance: FRAIL, ..PLAIN };

/// Overwrites the card until it refuses.
fn wear_out(ftl: &mut Ftl, seed: u64) {
    let sectors = ftl.user_sectors();
    let mut rng = Rng::stream(seed, "overwrites");
    for _ in 0..1_000 * sectors {
        let lba = Lba(rng.below(sectors) as u32);
        let before = ftl.lookup(lba);
        if ftl.write_now(lba) == Err(ReadOnly) {
            assert_eq!(ftl.lookup(lba).is_some(), before.is_some());
            return;
        }
    }
    panic!("still writable");
}

/// Every card, worn or not, must have parity where data is, neither on bad blocks, and capacity to match.
fn assert_stripes_and_capacity(card: &Card, ftl: &Ftl) {
    let layout = *ftl.layout();
    let mut total = 0;
    for band in (0..card.bands).map(BandId) {
        for index in 0..layout.rows * layout.groups {
            let units = ftl.stripe_units(StripeId { band, index });
            let first = layout.group_of(index) * layout.width;
            let good = (0..layout.width).filter(|&unit| !ftl.blocks().is_bad(band.0, first + unit));
            let good: u64 = good.map(|unit| 1 << unit).sum();
            if good.count_ones() > card.parity_units {
                assert_eq!(units.parity.count_ones(), card.parity_units, "{band:?} stripe {index}");
                assert_eq!(
                    (units.data | units.parity, units.data & units.parity),
                    (good, 0),
                    "{band:?} stripe {index}"
                );
            } else {
                assert_eq!((units.data, units.parity), (0, 0), "{band:?} stripe {index}");
            }
        }
        let data = data_sectors(ftl, band);
        assert_eq!(data == 0, ftl.band_state(band) == BandState::Retired, "{band:?} holds {data} sectors");
        total += data;
    }
    let overhead = ftl.config().overhead_bands() * card.band_sectors();
    if let Some(usable) = total.checked_sub(overhead).filter(|&usable| usable > 0) {
        let resting = ftl.config().resting_sectors(card.band_sectors().into());
        let expected = 1.0 - resting / f64::from(usable);
        let got = ftl.effective_spare_factor();
        assert!((got - expected).abs() < 1e-9, "spare factor {got}, expected {expected}");
    }
}

/// Wears out ten cards of a kind, and looks at what is left of each.
fn ends_read_only(card: Card) {
    for gc in [PACED, STOP_THE_WORLD] {
        for victim in [VictimPolicy::Greedy, VictimPolicy::Fifo] {
            for separate_streams in [false, true] {
                for seed in 0..10 {
                    let card = Card { gc, victim, separate_streams, seed, ..card };
                    let mut ftl = card.filled();
                    assert!(!is_read_only(&ftl));
                    wear_out(&mut ftl, seed);
                    assert!(is_read_only(&ftl));
                    for lba in [0, 1, ftl.user_sectors() as u32 - 1] {
                        assert_eq!(ftl.write_now(Lba(lba)), Err(ReadOnly));
                    }
                    ftl.check().unwrap();
                    assert!((0..ftl.user_sectors() as u32).all(|lba| ftl.lookup(Lba(lba)).is_some()));
                    assert!(ftl.counters().retired_blocks > 0);
                    assert_eq!(ftl.counters().retired_blocks, ftl.blocks().bad_count());
                    assert_eq!(ftl.counters().erases, sum_of_cycles(&ftl, card.bands));
                    assert_stripes_and_capacity(&card, &ftl);
                    ftl.settle_now();
                    assert_all_readable(&ftl);
                }
            }
        }
    }
}

#[test]
fn a_worn_out_card_is_read_only_and_whole_with_stripes_of_4() {
    ends_read_only(Card { width: 4, parity_units: 0, ..CARD });
}

#[test]
fn a_worn_out_card_is_read_only_and_whole_with_stripes_of_4_with_parity() {
    ends_read_only(Card { width: 4, parity_units: 1, ..CARD });
}

#[test]
fn a_worn_out_card_is_read_only_and_whole_with_stripes_of_8() {
    ends_read_only(Card { width: 8, parity_units: 0, ..CARD });
}

#[test]
fn a_worn_out_card_is_read_only_and_whole_with_stripes_of_8_with_parity() {
    ends_read_only(Card { width: 8, parity_units: 1, ..CARD });
}

#[test]
fn a_worn_out_card_is_read_only_and_whole_with_stripes_of_16() {
    ends_read_only(Card { width: 16, parity_units: 0, ..CARD });
}

#[test]
fn a_worn_out_card_is_read_only_and_whole_with_stripes_of_16_with_parity() {
    ends_read_only(Card { width: 16, parity_units: 1, ..CARD });
}

#[test]
fn the_spare_is_used_up_before_a_card_becomes_read_only() {
    for (gc, victim) in [(PACED, VictimPolicy::Greedy), (STOP_THE_WORLD, VictimPolicy::Fifo)] {
        for seed in 0..10 {
            let card = Card { gc, victim, seed, endurance: SLOW, ..CARD };
            let mut ftl = card.filled();
            wear_out(&mut ftl, seed);
            let left: u32 = (0..card.bands).map(|b| data_sectors(&ftl, BandId(b))).sum();
            let beyond = (f64::from(left) - ftl.user_sectors() as f64) / f64::from(card.band_sectors());
            let overhead = ftl.config().overhead_bands();
            println!("{gc:?}, seed {seed}: {beyond:.2} bands of spare left, overhead {overhead}");
            assert!((0.0..=f64::from(overhead) + 1.0).contains(&beyond), "{beyond} bands of spare left");
        }
    }
}

#[test]
fn every_retired_block_takes_its_share_of_the_spare() {
    let card = Card { bands: 256, parity_units: 0, ..CARD };
    let mut ftl = card.filled();
    let sectors = ftl.user_sectors();
    let mut rng = Rng::stream(1, "overwrites");
    let resting = ftl.config().resting_sectors(card.band_sectors().into());
    let usable = resting / (1.0 - ftl.effective_spare_factor());
    let mut retired = ftl.counters().retired_blocks;
    while ftl.write_now(Lba(rng.below(sectors) as u32)).is_ok() && ftl.effective_spare_factor() > 0.05 {
        if ftl.counters().retired_blocks != retired {
            retired = ftl.counters().retired_blocks;
            let left = usable - (retired * u64::from(card.pages_per_block)) as f64;
            let (got, expected) = (ftl.effective_spare_factor(), 1.0 - resting / left);
            assert!((got - expected).abs() < 1e-9, "{retired} blocks retired: {got}, expected {expected}");
        }
    }
    assert!(retired > 300, "{retired}");
}

#[test]
fn parity_stays_while_stripes_narrow() {
    let card = Card { bands: 256, ..CARD };
    let mut ftl = card.filled();
    let sectors = ftl.user_sectors();
    let mut rng = Rng::stream(1, "overwrites");
    let mut looks = 0;
    let mut writable = true;
    while writable && ftl.effective_spare_factor() > 0.05 {
        let before = (ftl.counters().retired_blocks, ftl.effective_spare_factor());
        writable = (0..500).all(|_| ftl.write_now(Lba(rng.below(sectors) as u32)).is_ok());
        assert!(ftl.effective_spare_factor() <= before.1);
        if ftl.counters().retired_blocks > before.0 {
            assert_stripes_and_capacity(&card, &ftl);
            ftl.check().unwrap();
            looks += 1;
        }
    }
    assert!(looks > 20, "{looks}");
}

#[test]
fn trimming_a_read_only_card_makes_it_writable() {
    for gc in [PACED, STOP_THE_WORLD] {
        let mut ftl = Card { gc, endurance: SLOW, ..CARD }.filled();
        wear_out(&mut ftl, 1);
        (0..ftl.user_sectors() as u32 / 2).for_each(|lba| ftl.trim(Lba(lba)));
        assert!(!is_read_only(&ftl));
        ftl.write_now(Lba(0)).unwrap();
        ftl.check().unwrap();
    }
}

#[test]
fn factory_bad_blocks_cost_the_spare_that_they_take() {
    for factory_bad_ppm in [5_000, 20_000, 50_000] {
        for (victim, parity_units) in [(VictimPolicy::Greedy, 0), (VictimPolicy::Greedy, 1), (VictimPolicy::Fifo, 1)] {
            let endurance = Endurance { factory_bad_ppm, ..PLAIN.endurance };
            let card =
                Card { bands: 1024, width: 16, pages_per_block: 32, u: 0.8, endurance, victim, parity_units, ..CARD };
            let mut ftl = card.filled();
            assert_stripes_and_capacity(&card, &ftl);
            let u = 1.0 - ftl.effective_spare_factor();
            assert!(u > 0.8 + 0.7e-6 * f64::from(factory_bad_ppm), "{u}");
            let all: Vec<u32> = (0..ftl.user_sectors() as u32).collect();
            let waf = steady_waf(&mut ftl, &all);
            let theory = if victim == VictimPolicy::Fifo {
                crate::oracle::fifo(u)
            } else {
                crate::oracle::greedy(u, card.band_sectors())
            };
            println!(
                "{factory_bad_ppm} ppm, {victim:?}, parity {parity_units}, u {u:.4}: {waf:.4}, theory {theory:.4}"
            );
            assert!((waf / theory - 1.0).abs() < 0.03, "{factory_bad_ppm} ppm, {victim:?}: {waf}, theory {theory}");
        }
    }
}

#[test]
fn a_band_abandoned_with_nothing_under_way_can_be_emptied_at_once() {
    let mut ftl = Card { endurance: PLAIN.endurance, ..CARD }.filled();
    ftl.write_now(Lba(0)).unwrap();
    ftl.settle_now();
    let band = ftl.open_band_of(StreamId::Host).expect("the band is not full");
    ftl.abandon_band(StreamId::Host);
    assert!(ftl.is_settled(band));
    ftl.evacuate(band);
    assert!(ftl.prepare_relocation(false), "nobody will ever empty it");
}
