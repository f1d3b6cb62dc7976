//! Wear spreads over all bands: by itself under uniform traffic, by static levelling where data are cold.

use crate::common::{Card, PACED, PLAIN, STOP_THE_WORLD, sum_of_cycles};
use device::Rng;
use ftl::{Ftl, Lba, VictimPolicy};

fn spread(ftl: &Ftl) -> u32 {
    let (least, most) = ftl.blocks().wear_range();
    most - least
}

/// A tenth of the sectors takes 9 in 10 writes, four tenths take the rest, half are never written again.
fn hot_cold(rng: &mut Rng, sectors: u64) -> u64 {
    let hot = sectors / 10;
    if rng.unit() < 0.9 { rng.below(hot) } else { hot + rng.below(sectors / 2 - hot) }
}

fn uniform(rng: &mut Rng, sectors: u64) -> u64 {
    rng.below(sectors)
}

/// Overwrites the card until its blocks have `cycles` on average; gives the largest spread seen on the way.
fn wear_out(ftl: &mut Ftl, cycles: f64, draw: fn(&mut Rng, u64) -> u64) -> u32 {
    let sectors = ftl.user_sectors();
    let mut rng = Rng::stream(3, "overwrites");
    let mut worst = 0;
    while ftl.blocks().wear_mean() < cycles {
        (0..500).for_each(|_| ftl.write_now(Lba(draw(&mut rng, sectors) as u32)).unwrap());
        worst = worst.max(spread(ftl));
    }
    ftl.check().unwrap();
    worst
}

#[test]
fn static_levelling_bounds_the_spread_when_half_of_the_data_is_never_rewritten() {
    for threshold in [30, 50, 100] {
        let mut ftl = Card { static_wear_spread_cycles: threshold, ..PLAIN }.filled();
        let worst = wear_out(&mut ftl, 300.0, hot_cold);
        println!("threshold {threshold}: {worst}");
        // Wear is looked at once in 16 erases here, and one band is moved then: below 30 that is too slow to keep up.
        assert!(worst > threshold && worst <= threshold + 8, "threshold {threshold}: {worst}");
    }
}

#[test]
fn without_static_levelling_cold_bands_stay_unworn() {
    let mut ftl = PLAIN.filled();
    wear_out(&mut ftl, 300.0, hot_cold);
    let (least, most) = ftl.blocks().wear_range();
    println!("{least} to {most}");
    assert!(least <= 2 && most > 400, "{least} to {most}");
}

#[test]
fn static_levelling_bounds_the_spread_for_every_policy_and_way_to_collect() {
    for victim in [VictimPolicy::Greedy, VictimPolicy::CostBenefit, VictimPolicy::Fifo, VictimPolicy::RandomD(4)] {
        for gc in [PACED, STOP_THE_WORLD] {
            for separate_streams in [false, true] {
                let card = Card { victim, gc, separate_streams, static_wear_spread_cycles: 20, bands: 128, ..PLAIN };
                let worst = wear_out(&mut card.filled(), 100.0, hot_cold);
                println!("{victim:?}, {gc:?}, separate: {separate_streams}: {worst}");
                assert!(worst <= 28, "{card:?}: {worst}");
            }
        }
    }
}

#[test]
fn uniform_traffic_wears_evenly_without_static_levelling() {
    let mut ftl = PLAIN.filled();
    let worst = wear_out(&mut ftl, 300.0, uniform);
    println!("{worst}");
    assert!(worst <= 30, "{worst}");
}

#[test]
fn static_levelling_costs_uniform_traffic_nothing() {
    let [without, with] = [0, 50].map(|threshold| {
        let mut ftl = Card { static_wear_spread_cycles: threshold, ..PLAIN }.filled();
        wear_out(&mut ftl, 50.0, uniform);
        ftl.counters()
    });
    assert_eq!(without, with);
}

#[test]
fn static_levelling_costs_hot_and_cold_traffic_next_to_nothing() {
    let [without, with] = [0, 50].map(|threshold| {
        let mut ftl = Card { static_wear_spread_cycles: threshold, ..PLAIN }.empty();
        // Filled in random order: otherwise cold data start out apart from hot data, and levelling mixes them.
        let mut order: Vec<u32> = (0..ftl.user_sectors() as u32).collect();
        let mut rng = Rng::stream(9, "order");
        (1..order.len()).rev().for_each(|i| order.swap(i, rng.below(i as u64 + 1) as usize));
        order.iter().for_each(|&lba| ftl.write_now(Lba(lba)).unwrap());
        wear_out(&mut ftl, 100.0, hot_cold);
        let before = ftl.counters();
        let worst = wear_out(&mut ftl, 300.0, hot_cold);
        (ftl.counters().since(&before).waf(), worst)
    });
    println!("{without:?}, with levelling {with:?}");
    assert!(with.0 < without.0 * 1.03 && with.1 * 4 < without.1, "{without:?}, with levelling {with:?}");
}

#[test]
fn every_erase_counts_as_a_cycle_of_one_block() {
    let card = Card { dies: 8, width: 4, parity_units: 1, pages_per_block: 8, static_wear_spread_cycles: 10, ..PLAIN };
    let mut ftl = card.filled();
    wear_out(&mut ftl, 30.0, hot_cold);
    assert_eq!(ftl.counters().erases, sum_of_cycles(&ftl, card.bands));
    assert_eq!(ftl.counters().retired_blocks, 0);
}
