//! Hit rates against what theory says of them.
//!
//! Exact under independent references: W. F. King, "Analysis of demand paging algorithms", IFIP 1971. For large caches:
//! the characteristic time of H. Che, Y. Tung and Z. Wang, "Hierarchical web caching systems", IEEE JSAC 20(7), 2002.

use super::config;
use crate::cached::Directory;
use device::Rng;
use load::{Access, BlockSampler};
use profile::{CacheConfig, CacheMode, CachePolicy, Promotion};

fn map(policy: CachePolicy, blocks: u32) -> Directory {
    Directory::new(&config(CacheMode::Writethrough, policy, blocks))
}

/// Asks for a block; returns whether it was there.
fn ask(map: &mut Directory, block: u64) -> bool {
    match map.slot_of(block) {
        Some(slot) => {
            map.hit(slot);
            true
        }
        None => {
            map.admit(block);
            false
        }
    }
}

/// The hit rate of so many draws by weights, after as many that warm it.
fn rate(map: &mut Directory, draws: u32, mut draw: impl FnMut() -> u64) -> f64 {
    for _ in 0..draws {
        ask(map, draw());
    }
    let hits = (0..draws).filter(|_| ask(map, draw())).count();
    map.check();
    hits as f64 / f64::from(draws)
}

const WEIGHTS: [f64; 6] = [0.35, 0.25, 0.17, 0.12, 0.08, 0.03];

fn draw_weighted(rng: &mut Rng) -> u64 {
    let mut left = rng.unit();
    let at = WEIGHTS.iter().position(|weight| {
        left -= weight;
        left < 0.0
    });
    at.unwrap_or(WEIGHTS.len() - 1) as u64
}

/// All sets of `size` of the weighted blocks, as bits.
fn sets(size: u32) -> impl Iterator<Item = u32> {
    (0..1_u32 << WEIGHTS.len()).filter(move |set| set.count_ones() == size)
}

fn members(set: u32) -> impl Iterator<Item = f64> {
    WEIGHTS.iter().enumerate().filter(move |(i, _)| set >> i & 1 == 1).map(|(_, weight)| *weight)
}

/// FIFO holds a set with a probability that is in proportion to the product of its weights, as RANDOM does.
fn exact_fifo(size: u32) -> f64 {
    let product = |set| members(set).product::<f64>();
    let all: f64 = sets(size).map(product).sum();
    sets(size).map(|set| product(set) / all * members(set).sum::<f64>()).sum()
}

/// LRU holds the blocks of the last different references: each is drawn by its weight among those not drawn yet.
fn exact_lru(size: u32, drawn: f64, set: u32) -> f64 {
    if set.count_ones() == size {
        return members(set).sum();
    }
    let left = WEIGHTS.iter().enumerate().filter(|(i, _)| set >> i & 1 == 0);
    left.map(|(i, weight)| weight / (1.0 - drawn) * exact_lru(size, drawn + weight, set | 1 << i)).sum()
}

#[test]
fn small_caches_hit_exactly_as_often_as_theory_says() {
    for size in [1, 2, 3, 4] {
        let mut rng = Rng::stream(1, "references");
        for (policy, exact) in [(CachePolicy::Lru, exact_lru(size, 0.0, 0)), (CachePolicy::Fifo, exact_fifo(size))] {
            let found = rate(&mut map(policy, size), 400_000, || draw_weighted(&mut rng));
            assert!((found / exact - 1.0).abs() < 0.01, "{policy:?} of {size}: {found}, exactly {exact}");
        }
    }
    // The difference is larger than the bound: LRU and FIFO are not mistaken for each other.
    assert!(exact_lru(3, 0.0, 0) / exact_fifo(3) > 1.02);
}

/// Hit rate of LRU by its characteristic time: a block is there if it was asked for within it.
fn che(weights: &[f64], size: f64) -> f64 {
    let there = |weight: &f64, time: f64| 1.0 - (-weight * time).exp();
    let held = |time: f64| weights.iter().map(|weight| there(weight, time)).sum::<f64>();
    let (mut low, mut high) = (0.0, 1.0);
    while held(high) < size {
        high *= 2.0;
    }
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if held(middle) < size { low = middle } else { high = middle }
    }
    weights.iter().map(|weight| weight * there(weight, high)).sum()
}

#[test]
fn large_caches_hit_as_often_as_the_characteristic_time_says() {
    let blocks = 20_000_u32;
    for (theta, size) in [(0.7, 1_000), (0.99, 200), (0.99, 5_000), (1.2, 1_000)] {
        let weights: Vec<f64> = (1..=blocks).map(|k| f64::from(k).powf(-theta)).collect();
        let all: f64 = weights.iter().sum();
        let expected = che(&weights.iter().map(|weight| weight / all).collect::<Vec<_>>(), f64::from(size));
        let sampler = BlockSampler::new(Access::Zipf { theta }, blocks.into(), 1).unwrap();
        let mut rng = Rng::stream(2, "references");
        let found = rate(&mut map(CachePolicy::Lru, size), 600_000, || sampler.draw(&mut rng));
        assert!((found / expected - 1.0).abs() < 0.01, "theta {theta}, {size}: {found}, by theory {expected}");
    }
}

#[test]
fn uniform_references_hit_by_the_share_that_fits_whatever_the_policy() {
    for policy in [CachePolicy::Lru, CachePolicy::Fifo, CachePolicy::Clock, CachePolicy::S3Fifo] {
        let mut rng = Rng::stream(3, "references");
        let found = rate(&mut map(policy, 2_500), 400_000, || rng.below(10_000));
        assert!((found / 0.25 - 1.0).abs() < 0.01, "{policy:?}: {found}");
    }
}

#[test]
fn a_loop_that_is_larger_than_the_cache_never_hits_in_the_order_of_use() {
    for (policy, most) in [(CachePolicy::Lru, 0.0), (CachePolicy::Fifo, 0.0), (CachePolicy::Clock, 0.0)] {
        let mut at = 0;
        let found = rate(&mut map(policy, 1_000), 100_000, || {
            at = (at + 1) % 1_001;
            at
        });
        assert_eq!(found, most, "{policy:?}");
    }
    // One that fits always does.
    let mut at = 0;
    let fits = rate(&mut map(CachePolicy::Lru, 1_001), 100_000, || {
        at = (at + 1) % 1_001;
        at
    });
    assert_eq!(fits, 1.0);
}

/// The hit rate of Zipf's references between which a scan goes on, one for each of them; of the references alone.
fn beside_a_scan(policy: CachePolicy, scans: bool) -> f64 {
    let mut map = map(policy, 1_000);
    let sampler = BlockSampler::new(Access::Zipf { theta: 0.99 }, 20_000, 1).unwrap();
    let mut rng = Rng::stream(4, "references");
    let (mut hits, mut scanned) = (0, 1 << 40);
    for i in 0..400_000 {
        let hit = ask(&mut map, sampler.draw(&mut rng));
        hits += u32::from(hit && i >= 200_000);
        if scans {
            scanned += 1;
            ask(&mut map, scanned);
        }
    }
    f64::from(hits) / 200_000.0
}

#[test]
fn s3_fifo_resists_a_scan_that_washes_lru_out() {
    let loss = |policy| 1.0 - beside_a_scan(policy, true) / beside_a_scan(policy, false);
    let (lru, s3) = (loss(CachePolicy::Lru), loss(CachePolicy::S3Fifo));
    assert!(s3 < 0.02 && lru > 0.15, "S3-FIFO loses {s3}, LRU {lru}");
    assert!(beside_a_scan(CachePolicy::S3Fifo, true) > beside_a_scan(CachePolicy::Lru, true));
}

#[test]
fn a_block_that_must_miss_twice_comes_in_at_the_second_miss() {
    let second = CacheConfig { promotion: Promotion::Second, ..config(CacheMode::Writethrough, CachePolicy::Lru, 16) };
    let mut map = Directory::new(&second);
    assert_eq!((0..3).map(|_| ask(&mut map, 7)).collect::<Vec<_>>(), [false, false, true]);
    // As many misses as the cache holds blocks are remembered, and no more.
    ask(&mut map, 8);
    for block in 100..117 {
        ask(&mut map, block);
    }
    assert_eq!((0..3).map(|_| ask(&mut map, 8)).collect::<Vec<_>>(), [false, false, true]);
}

#[test]
fn a_dirty_block_leaves_only_when_it_is_written_back() {
    let mut map = map(CachePolicy::Lru, 4);
    let slots: Vec<u32> = (0..4).map(|block| map.admit(block).unwrap()).collect();
    map.dirty_now(slots[0]);
    map.dirty_now(slots[1]);
    // Its turn, but it is dirty: the oldest clean block leaves in its place, and it is the first to be written back.
    map.dirty_now(slots[3]);
    assert!(map.admit(10).is_some());
    assert!(map.slot_of(2).is_none() && map.slot_of(0).is_some() && map.slot_of(1).is_some());
    let run = map.take_dirty(8);
    assert_eq!(run.iter().map(|(block, _)| *block).collect::<Vec<_>>(), [0, 1]);
    // Written again meanwhile: it stays dirty, and stays.
    map.hit(slots[0]);
    map.dirty_now(slots[0]);
    run.iter().for_each(|&(_, slot)| map.written_back(slot));
    map.check();
    assert!(map.slot_of(0).is_some() && map.slot_of(1).is_none());
    assert_eq!((map.dirty(), map.len()), (2, 3));
    // The slot of the one that left is free.
    assert_eq!(map.admit(11), Some(slots[1]));
}
