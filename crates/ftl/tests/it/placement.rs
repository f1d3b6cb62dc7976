//! Writes that the host places by handles cost what separate cards would.

use crate::common::{Card, PLAIN};
use crate::oracle::{HotCold, greedy, separated};
use device::Rng;
use ftl::{Ftl, Isolation, Lba, PlacementConfig};

const SKEW: HotCold = HotCold { hot_share: 0.1, hot_rate: 0.9 };

fn placed(handles: u32, isolation: Isolation, u: f64) -> Card {
    Card { bands: 1024, u, placement: Some(PlacementConfig { handles, isolation }), ..PLAIN }
}

fn without(u: f64) -> Card {
    Card { bands: 1024, u, ..PLAIN }
}

/// Data of different handles lie in different bands, except for what has been moved where that may mix.
fn waf(ftl: &mut Ftl, writes: u64, mut next: impl FnMut() -> u64) -> f64 {
    let before = (ftl.counters(), ftl.handle_counters());
    (0..writes).for_each(|_| ftl.write_now(Lba(next() as u32)).unwrap());
    ftl.check().unwrap();
    let done = ftl.counters().since(&before.0);
    let sum = |of: fn(&ftl::HandleCounters) -> u64| {
        let sum = |all: &ftl::AllHandles| all.iter().map(of).sum::<u64>();
        sum(&ftl.handle_counters()) - sum(&before.1)
    };
    if ftl.handles() > 1 {
        assert_eq!(sum(|handle| handle.host_sectors), done.host_sectors);
        assert_eq!(sum(|handle| handle.relocated_sectors), done.relocated_sectors);
    }
    done.waf()
}

/// WAF of hot and cold overwrites in balance.
fn hot_cold(card: &Card) -> (Ftl, f64) {
    let mut ftl = card.empty();
    let sectors = ftl.user_sectors();
    let hot = (sectors as f64 * SKEW.hot_share) as u64;
    if ftl.handles() > 1 {
        ftl.place(&[hot]);
    }
    (0..sectors).for_each(|lba| ftl.write_now(Lba(lba as u32)).unwrap());
    let mut rng = Rng::stream(7, "overwrites");
    let mut draw = move || if rng.unit() < SKEW.hot_rate { rng.below(hot) } else { hot + rng.below(sectors - hot) };
    // Twice until the cold sectors were written over once: the parts were apart from the beginning.
    waf(&mut ftl, 18 * sectors, &mut draw);
    let waf = waf(&mut ftl, 9 * sectors, &mut draw);
    (ftl, waf)
}

/// Victims with the fewest valid sectors are taken from both parts at the same level, so each part gets the spare that makes it
/// cost the same: that of its share of the sectors. Levels are sectors of a band: with few of them parts that fall fast from
/// one to the next differ from those that fall slowly.
fn check_apart(u: f64) {
    let card = Card { bands: 4096, pages_per_block: 128, ..placed(2, Isolation::Persistent, u) };
    let (ftl, waf) = hot_cold(&card);
    let used = 1.0 - ftl.effective_spare_factor();
    let expected = separated(used, SKEW, SKEW.hot_share, |u| greedy(u, card.band_sectors()));
    println!("u {u}: {waf:.3}, expected {expected:.3}, {:+.2} %", 100.0 * (waf / expected - 1.0));
    assert!((waf / expected - 1.0).abs() < 0.02, "u {u}: {waf}, expected {expected}");
}

#[test]
fn hot_and_cold_sectors_apart_for_good_cost_what_two_cards_of_equal_spare_do() {
    check_apart(0.7);
    check_apart(0.8);
}

#[test]
fn hot_and_cold_sectors_apart_for_good_on_a_full_card_do_too() {
    check_apart(0.9);
}

/// Without handles relocation alone tells hot from cold, and initially isolated it mixes them again.
#[test]
fn isolation_for_good_saves_most() {
    let skewed = |card: &Card| hot_cold(card).1;
    let mixed = skewed(&without(0.9));
    let initial = skewed(&placed(2, Isolation::Initial, 0.9));
    let persistent = skewed(&placed(2, Isolation::Persistent, 0.9));
    println!("u 0.9: {mixed:.3} without handles, {initial:.3} initially, {persistent:.3} persistently isolated");
    assert!(persistent < 0.9 * initial && initial < 0.99 * mixed, "{mixed} {initial} {persistent}");
}

/// Streams that go around in regions of their own, at rates of 1, 2, 4 and so on.
fn streams(card: &Card, count: u64) -> f64 {
    let mut ftl = card.empty();
    let region = ftl.user_sectors() / count;
    if ftl.handles() > 1 {
        ftl.place(&(1..count).map(|i| i * region).collect::<Vec<_>>());
    }
    (0..ftl.user_sectors()).for_each(|lba| ftl.write_now(Lba(lba as u32)).unwrap());
    let mut rng = Rng::stream(3, "streams");
    let mut positions = vec![0; count as usize];
    let mut draw = move || {
        let stream = (rng.below((1 << count) - 1) + 1).ilog2() as usize;
        positions[stream] = (positions[stream] + 1) % region;
        stream as u64 * region + positions[stream]
    };
    waf(&mut ftl, 40 * region * count, &mut draw);
    waf(&mut ftl, 20 * region * count, &mut draw)
}

#[test]
fn sequential_streams_that_go_around_cost_nothing_with_a_handle_each() {
    for count in [2, 4, 8] {
        for isolation in [Isolation::Initial, Isolation::Persistent] {
            let waf = streams(&placed(count as u32, isolation, 0.9), count);
            assert!(waf < 1.005, "{count} streams, {isolation:?}: {waf}");
        }
        let mixed = streams(&without(0.9), count);
        println!("{count} streams without handles: {mixed:.3}");
        assert!(mixed > 1.2, "{count} streams without handles: {mixed}");
    }
}

/// A cache of small objects at random places beside a log of large ones, as CacheLib's: 4 % of the space gets half of the
/// writes.
fn cache(card: &Card) -> f64 {
    let mut ftl = card.empty();
    let sectors = ftl.user_sectors();
    let small = sectors / 25;
    if ftl.handles() > 1 {
        ftl.place(&[small]);
    }
    (0..sectors).for_each(|lba| ftl.write_now(Lba(lba as u32)).unwrap());
    let mut rng = Rng::stream(5, "cache");
    let mut position = 0;
    let mut draw = move || {
        if rng.below(2) == 0 {
            return rng.below(small);
        }
        position = (position + 1) % (sectors - small);
        small + position
    };
    waf(&mut ftl, 20 * sectors, &mut draw);
    waf(&mut ftl, 10 * sectors, &mut draw)
}

#[test]
fn a_cache_whose_small_objects_are_placed_apart_costs_next_to_nothing() {
    for u in [0.8, 0.9, 0.95] {
        let [mixed, initial, persistent] =
            [without(u), placed(2, Isolation::Initial, u), placed(2, Isolation::Persistent, u)]
                .map(|card| cache(&card));
        let most = if u < 0.85 { 1.005 } else { 1.1 };
        assert!(initial < most && persistent < most && mixed > 2.0, "u {u}: {mixed} {initial} {persistent}");
        println!(
            "cache at u {u}: {mixed:.3} without handles, {initial:.3} initially, {persistent:.3} persistently isolated"
        );
    }
}

#[test]
fn handles_in_any_number_keep_every_sector_whatever_is_asked() {
    for handles in 2..=ftl::MAX_HANDLES as u32 {
        for isolation in [Isolation::Initial, Isolation::Persistent] {
            let card = Card {
                bands: 128,
                dies: 4,
                width: 4,
                parity_units: 1,
                static_wear_spread_cycles: 10,
                ..placed(handles, isolation, 0.8)
            };
            let mut ftl = card.empty();
            let sectors = ftl.user_sectors();
            ftl.place(&(1..u64::from(handles)).map(|i| sectors * i / 20).collect::<Vec<_>>());
            let mut rng = Rng::stream(u64::from(handles), "any");
            for _ in 0..200_000 {
                // Skewed towards the first sectors, which have the most handles.
                let lba = Lba((rng.below(sectors) * rng.below(sectors) / sectors) as u32);
                if rng.below(10) == 0 { ftl.trim(lba) } else { ftl.write_now(lba).unwrap() }
            }
            ftl.settle_now();
            ftl.check().unwrap();
        }
    }
}
