//! A card that holds a part of its map in memory: lookups, pages that are written, and what both cost.

use crate::common::{Card, PLAIN, STOP_THE_WORLD};
use device::Rng;
use ftl::{Counters, Ftl, Lba, MapCacheConfig, MapLookup};

const PAGE_SECTORS: u32 = 256;
const CARD: Card = Card { bands: 2048, pages_per_block: 128, u: 0.8, ..PLAIN };

/// A card whose memory holds this share of the map, filled.
fn holding(card: Card, share: f64) -> Ftl {
    let with = |pages| {
        let map_cache = MapCacheConfig { pages, page_sectors: PAGE_SECTORS, updates: u32::MAX };
        Card { map_cache: Some(map_cache), ..card }
    };
    let of_all = |pages| ((f64::from(with(pages).empty().map_pages()) * share).round() as u32).max(1);
    // The space that the map takes of the card depends on it a little.
    with(of_all(of_all(u32::MAX))).filled()
}

/// The work of so many times the card's sectors of writes, after `before` times as many.
fn overwritten(ftl: &mut Ftl, before: u64, times: u64) -> Counters {
    let sectors = ftl.user_sectors();
    let mut rng = Rng::stream(7, "overwrites");
    let mut overwrite = |ftl: &mut Ftl, times: u64| {
        (0..times * sectors).for_each(|_| ftl.write_now(Lba(rng.below(sectors) as u32)).unwrap());
    };
    overwrite(ftl, before);
    let start = ftl.counters();
    overwrite(ftl, times);
    ftl.check().unwrap();
    assert_nothing_lost(ftl);
    ftl.counters().since(&start)
}

fn assert_nothing_lost(ftl: &Ftl) {
    let map = ftl.counters().map;
    let (held, dirty) = ftl.map_pages_held();
    let room = ftl.config().map_cache.map_or(0, |cache| cache.pages);
    assert_eq!(map.dirtied, map.written + u64::from(dirty), "a page that changed was lost");
    assert!(held <= room, "nothing is being read, so nothing holds a page");
}

/// Reads sectors that `draw` chooses; what that took.
fn read(ftl: &mut Ftl, reads: u64, mut draw: impl FnMut(u64) -> u64) -> ftl::MapCounters {
    let start = ftl.counters().map;
    for i in 0..reads {
        let page = ftl.map_page_of(Lba(draw(i) as u32));
        let lookup = ftl.look_up_map(page);
        let wanted = ftl.next_map_read();
        assert_eq!(wanted.map(|(page, _)| page), (lookup == MapLookup::Coming).then_some(page));
        // Pages that left are programmed.
        ftl.settle_now();
        if let Some((page, ppa)) = wanted {
            assert!(ftl.is_current(ppa) && ftl.is_programmed(ftl.layout().locate(ppa)));
            ftl.map_page_came(page);
        }
    }
    assert_nothing_lost(ftl);
    let done = ftl.counters().map.since(&start);
    assert_eq!(done.hits + done.misses, reads);
    done
}

/// How far a run may be from a model; and how far the sectors that are moved may be, which depend on the space that the pages
/// of the map take until their bands are collected.
const EXACT: f64 = 0.01;
const MOVED: f64 = 0.02;

#[track_caller]
fn assert_close(what: &str, got: f64, expected: f64, bound: f64) {
    println!("{what}: {got:.4}, expected {expected:.4}, {:+.2} %", 100.0 * (got / expected - 1.0));
    assert!((got / expected - 1.0).abs() <= bound, "{what}: {got}, expected {expected}");
}

/// Every sector that is written or moved changes a page drawn at random, which is in memory with the chance of its share. One
/// that is not is read, and another one leaves for it, which has changed since it came, for each use is a change. Pages that
/// are overwritten take no part in collection but for the space of a band or two: sectors move as often as greedy collection
/// moves them.
#[test]
fn random_writes_write_as_many_pages_of_the_map_as_they_miss() {
    let few = Card { bands: 72, pages_per_block: 1024, ..CARD };
    let cards = [(0.7, 0.25, CARD), (0.8, 0.5, CARD), (0.8, 0.1, CARD), (0.85, 0.25, CARD), (0.8, 0.25, few)];
    for (u, share, card) in cards {
        let mut ftl = holding(Card { u, ..card }, share);
        let done = overwritten(&mut ftl, 4, 2);
        let moved = done.relocated_sectors as f64 / done.host_sectors as f64;
        let written = done.map.written as f64 / done.host_sectors as f64;
        let lookups = done.map.hits + done.map.misses;
        let what = format!("{u} in use, {share} of the map");
        let used = 1.0 - ftl.effective_spare_factor();
        assert_close(&format!("{what}: moved"), 1.0 + moved, crate::oracle::greedy(used, card.pages_per_block), MOVED);
        // Two changes of one page in a row are one lookup.
        let [held, all] = [ftl.map_pages_held().0, ftl.map_pages()].map(f64::from);
        let hits = (held - 1.0) / (all - 1.0);
        assert_close(&format!("{what}: hits"), done.map.hits as f64 / lookups as f64, hits, EXACT);
        assert_close(&format!("{what}: pages"), written, (1.0 + moved) * (1.0 - share), EXACT);
        let programmed = done.map.programmed() as f64 / done.host_sectors as f64;
        assert!((done.waf() - 1.0 - moved - programmed).abs() < 1e-9);
        assert!(done.map.moved * 30 < done.map.written, "{what}: {} pages were moved", done.map.moved);
        // Each page that missed was read, but for those whose stripe was not programmed.
        assert!(done.map.reads <= done.map.misses && done.map.reads * 100 > done.map.misses * 99);
    }
}

#[test]
fn random_reads_hit_as_often_as_memory_holds_the_map() {
    for share in [0.05, 0.25, 0.7] {
        let mut ftl = holding(CARD, share);
        let sectors = ftl.user_sectors();
        let mut rng = Rng::stream(3, "reads");
        read(&mut ftl, 20_000, |_| rng.below(sectors));
        let done = read(&mut ftl, 200_000, |_| rng.below(sectors));
        assert_close(&format!("{share} of the map"), done.hits as f64 / 200_000.0, share, EXACT);
        assert_eq!(done.reads, done.misses);
        assert_eq!(done.dirtied, 0);
    }
}

#[test]
fn reads_in_order_miss_once_a_page() {
    let mut ftl = holding(CARD, 0.1);
    let sectors = ftl.user_sectors();
    let done = read(&mut ftl, 2 * sectors, |i| i % sectors);
    assert_eq!(done.misses, 2 * u64::from(ftl.map_pages()));
    assert_eq!(done.reads, done.misses);
}

/// Sectors in order change page by page: each page is written once for all of its changes.
#[test]
fn writes_in_order_write_each_page_once() {
    let mut ftl = holding(CARD, 0.1);
    let sectors = ftl.user_sectors() as u32;
    let before = ftl.counters();
    (0..sectors).for_each(|lba| ftl.write_now(Lba(lba)).unwrap());
    let done = ftl.counters().since(&before);
    let pages = u64::from(ftl.map_pages());
    assert_eq!(done.relocated_sectors, 0);
    assert!(done.map.moved <= pages / 64, "a band of pages is collected when a 64th of it is valid");
    assert_eq!((done.map.misses, done.map.dirtied, done.map.written), (pages, pages, pages));
    ftl.check().unwrap();
    assert_nothing_lost(&ftl);
}

/// Che's approximation: a page is in memory when it was used within a time that is the same for all (H. Che, Y. Tung and
/// Z. Wang, IEEE JSAC 20, 2002).
#[test]
fn reads_of_hot_and_cold_sectors_hit_as_often_as_che_says() {
    for (hot_share, hot_rate, share) in [(0.2, 0.8, 0.25), (0.1, 0.9, 0.05)] {
        let mut ftl = holding(CARD, share);
        let sectors = ftl.user_sectors();
        let pages = ftl.map_pages();
        let hot = (sectors as f64 * hot_share) as u64;
        let mut rng = Rng::stream(5, "reads");
        let mut draw = |_| if rng.unit() < hot_rate { rng.below(hot) } else { hot + rng.below(sectors - hot) };
        read(&mut ftl, 50_000, &mut draw);
        let done = read(&mut ftl, 300_000, &mut draw);
        let classes = [(hot_share, hot_rate), (1.0 - hot_share, 1.0 - hot_rate)];
        let sum = |time: f64, weight: fn((f64, f64)) -> f64| {
            classes.iter().map(|&(of, rate)| weight((of, rate)) * (1.0 - (-rate / of * time).exp())).sum::<f64>()
        };
        // Times in uses of as many pages as there are.
        let (mut low, mut high) = (0.0, 1e3);
        for _ in 0..100 {
            let middle = (low + high) / 2.0;
            *(if sum(middle, |class| class.0) < share { &mut low } else { &mut high }) = middle;
        }
        let expected = sum(low, |class| class.1);
        assert_close(&format!("{hot_share}/{hot_rate}, {pages} pages"), done.hits as f64 / 300_000.0, expected, EXACT);
    }
}

#[test]
fn memory_for_all_of_the_map_changes_nothing() {
    let cache = MapCacheConfig { pages: u32::MAX, page_sectors: PAGE_SECTORS, updates: 1 };
    let all = overwritten(&mut Card { map_cache: Some(cache), ..CARD }.filled(), 1, 1);
    let whole = overwritten(&mut CARD.filled(), 1, 1);
    assert_eq!((all.map.written, all.map.reads, all.map.misses), (0, 0, 0));
    assert!(all.map.hits > 0 && whole.map.hits == 0);
    assert_eq!(Counters { map: whole.map, ..all }, whole);
}

#[test]
fn trims_change_pages_and_need_no_room_that_is_not_there() {
    let mut ftl = holding(CARD, 0.1);
    let sectors = ftl.user_sectors() as u32;
    let before = ftl.counters();
    (0..sectors).for_each(|lba| {
        ftl.trim(Lba(lba));
        while let Some((page, _)) = ftl.next_map_read() {
            ftl.map_page_came(page);
        }
        ftl.settle_now();
    });
    let done = ftl.counters().since(&before);
    assert_eq!(done.map.dirtied, u64::from(ftl.map_pages()));
    ftl.check().unwrap();
    assert_nothing_lost(&ftl);
    assert_eq!(ftl.valid_sectors(), u64::from(ftl.map_pages()), "only the map is left");
}

/// Next to no spare, next to no memory, all ways of collection: each write may write a page, and each move one more.
#[test]
fn a_card_with_little_room_goes_on() {
    let small = Card { bands: 40, ..CARD };
    for u in [0.6, 0.9, 0.97] {
        for share in [0.02, 0.3] {
            for card in [small, Card { gc: STOP_THE_WORLD, ..small }, Card { separate_streams: false, ..small }] {
                println!("{u} in use, {share} of the map, {:?}, {}", card.gc, card.separate_streams);
                let mut ftl = holding(Card { u, static_wear_spread_cycles: 20, ..card }, share);
                let done = overwritten(&mut ftl, 2, 3);
                assert!(done.map.written > done.host_sectors / 2);
            }
        }
    }
}

/// Bands of large units whose rows share cells, as drives have them: bands of the map's pages come and go, and no stripe has to be
/// closed early for them.
#[test]
fn a_drive_with_shared_cells_holds_its_free_space() {
    let card = Card {
        bands: 64,
        dies: 4,
        width: 1,
        pages_per_block: 48,
        page_bytes: 65_536,
        gc: ftl::GcMode::Paced { target_free_bands: 3 },
        persistence: Some(ftl::Persistence { payload_bytes: 4_096, cell_rows: 3, checkpoint_every_bands: 0 }),
        ..CARD
    };
    let mut ftl = holding(Card { u: 0.9, ..card }, 0.07);
    let done = overwritten(&mut ftl, 4, 2);
    assert_eq!(ftl.counters().padding_sectors, 0, "nothing had to be closed early");
    let moved = done.relocated_sectors as f64 / done.host_sectors as f64;
    let used = 1.0 - ftl.effective_spare_factor();
    assert_close("moved", 1.0 + moved, crate::oracle::greedy(used, 3_072), MOVED);
}
