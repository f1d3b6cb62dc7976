//! A card that holds a part of its map in memory: what lookups take, and that nothing is lost over them.

use crate::common::{Rig, assert_close, read, small, throughput, use_share, with_contents, write};
use card::CardConfig;
use device::{ByteRange, Cause, Operation, Request, Rng, SECTOR_BYTES};
use ftl::{GcMode, Lba, MapCacheConfig};

const BUS_NS: u64 = 100_000;
const READ_NS: u64 = 50_000;
/// A read of an idle card: command, latency, array, bus, link.
const IDLE_NS: u64 = 2_000 + 5_000 + READ_NS + BUS_NS + 10_000;
/// A page of the map on an idle die.
const MAP_READ_NS: u64 = READ_NS + BUS_NS;
const PAGE_SECTORS: u32 = 16;

/// A card whose memory holds this share of the map.
fn holding(config: CardConfig, share: f64) -> CardConfig {
    holding_pages_of(PAGE_SECTORS, config, 0.8, share)
}

fn holding_pages_of(page_sectors: u32, config: CardConfig, used: f64, share: f64) -> CardConfig {
    let mut config = CardConfig { bands: 1_024, ..config };
    config.nand.geometry.blocks_per_plane = config.bands;
    config.ftl.reserve_bands = 3;
    use_share(&mut config, used);
    let pages = config.ftl.user_sectors.div_ceil(page_sectors.into());
    let pages = (pages as f64 * share).round() as u32;
    config.ftl.map_cache = Some(MapCacheConfig { pages, page_sectors, updates: 32 });
    config
}

fn uniform(seed: u64, sectors: u64) -> impl FnMut() -> u64 {
    let mut rng = Rng::stream(seed, "sectors");
    move || rng.below(sectors)
}

fn assert_nothing_lost(rig: &Rig) {
    let map = rig.ftl().counters().map;
    let (held, dirty) = rig.ftl().map_pages_held();
    assert_eq!(map.dirtied, map.written + u64::from(dirty), "a page that changed was lost");
    assert!(held <= rig.ftl().config().map_cache.map_or(0, |cache| cache.pages));
    rig.ftl().check().unwrap();
}

#[test]
fn a_hit_takes_the_time_of_the_memory_and_a_miss_a_read_of_flash() {
    let mut config = holding(small(), 0.1);
    config.model.map_hit_ns = 3_000;
    let mut rig = Rig::new(&config, 2).filled();
    // Pages that leave memory are on flash before anything is timed; and those that were read last are there.
    let last = rig.ftl().user_sectors() - 1;
    (0..=last).step_by(16).for_each(|sector| {
        rig.ask(read(sector, 1));
    });
    rig.settle();
    for (sector, lookup_ns) in [(last, 3_000), (0, MAP_READ_NS), (1, 3_000), (7, 3_000), (40, MAP_READ_NS)] {
        let reads = rig.card.media().reads;
        let done = rig.ask(read(sector, 1));
        assert_eq!(done.parts.get(Cause::MapLookup), lookup_ns, "sector {sector}");
        assert_eq!(rig.card.media().reads - reads, 1 + u64::from(lookup_ns > 3_000));
        let known = done.latency_ns() - lookup_ns;
        // The die may have the page in its registers.
        assert!(known == IDLE_NS || known == IDLE_NS - READ_NS, "{known}");
    }
    let before = rig.ftl().counters().map;
    // Two pages at once, on different dies; and none for the other request, which waits for the same page.
    rig.submit(read(4_000, 1));
    rig.submit(read(4_001, 1));
    rig.drain();
    let map = rig.ftl().counters().map.since(&before);
    assert_eq!((map.hits, map.misses, map.reads), (1, 1, 1));
    assert!(rig.finished.iter().rev().take(2).all(|done| done.parts.get(Cause::MapLookup) >= MAP_READ_NS - READ_NS));
}

#[test]
fn one_at_a_time_reads_take_what_their_misses_add() {
    for (share, hit_ns) in [(0.1, 0), (0.5, 2_000), (0.9, 0)] {
        let mut config = holding(small(), share);
        config.model.map_hit_ns = hit_ns;
        let mut rig = Rig::new(&config, 1).filled();
        let mut sector = uniform(11, rig.ftl().user_sectors());
        rig.closed_loop(1, 30_000, || read(sector(), 1));
        let before = rig.ftl().counters().map;
        let done = rig.closed_loop(1, 60_000, || read(sector(), 1));
        let map = rig.ftl().counters().map.since(&before);
        let hits = map.hits as f64 / 60_000.0;
        assert!((hits - share).abs() < 0.005, "{share} of the map: {hits}");
        let mean_ns = done.iter().map(|done| done.latency_ns()).sum::<u64>() as f64 / 60_000.0;
        let expected = IDLE_NS as f64 + (1.0 - share) * MAP_READ_NS as f64 + share * hit_ns as f64;
        assert_close(&format!("{share}: latency"), mean_ns, expected, 0.01);
    }
}

/// Dies do nothing but read: a sector for each request, and a page of the map for each miss.
#[test]
fn saturated_reads_share_the_dies_with_pages_of_the_map() {
    let saturated = |config: &CardConfig| {
        let mut rig = Rig::with(config, 64, false).filled();
        let mut sector = uniform(11, rig.ftl().user_sectors());
        rig.closed_loop(64, 30_000, || read(sector(), 1));
        throughput(&rig.closed_loop(64, 60_000, || read(sector(), 1)))
    };
    let whole = saturated(&small());
    for share in [0.1, 0.5, 0.9] {
        let part = saturated(&holding(small(), share));
        assert_close(&format!("{share} of the map"), part, whole / (2.0 - share), 0.02);
    }
}

#[test]
fn reads_in_order_miss_once_a_page() {
    let mut rig = Rig::new(&holding(small(), 0.1), 4).filled();
    let (before, mut next) = (rig.ftl().counters().map, 0);
    let pages = u64::from(rig.ftl().map_pages()) - 1;
    rig.closed_loop(4, 4 * pages, || {
        next += 4;
        read(next - 4, 4)
    });
    let map = rig.ftl().counters().map.since(&before);
    assert_eq!((map.hits, map.misses), (3 * pages, pages));
}

/// The time that dies take for each write of the host is the sum of what was counted.
#[test]
fn random_writes_share_the_dies_with_pages_of_the_map() {
    for (share, updates) in [(0.25, 16), (0.5, 16), (0.5, 1)] {
        let mut config = small();
        config.ftl.stripe_width = 1;
        config.ftl.parity_units = 0;
        config.link.write_bytes_per_s *= 10;
        // Many more pages than are on their way at a time, which stay whatever memory there is.
        config = holding_pages_of(32, config, 0.7, share);
        config.ftl.map_cache = config.ftl.map_cache.map(|cache| MapCacheConfig { updates, ..cache });
        let mut rig = Rig::with(&config, 64, false).filled().overwritten(3);
        let mut sector = uniform(5, rig.ftl().user_sectors());
        rig.closed_loop(64, 5_000, || write(sector(), 1));
        let (before, media, from) = (rig.ftl().counters(), rig.card.media(), rig.now);
        rig.closed_loop(64, 30_000, || write(sector(), 1));
        let (done, elapsed_ns) = (rig.ftl().counters().since(&before), rig.now - from);
        let now = rig.card.media();
        let programs = done.host_sectors + done.relocated_sectors + done.map.programmed() + done.padding_sectors;
        assert_close("programs", (now.programs - media.programs) as f64, programs as f64, 0.001);
        // A relocation reads the sectors of one page, here one; some are overwritten before they are moved.
        let reads = done.relocated_sectors + done.map.moved + done.map.reads;
        assert_close("reads", (now.reads - media.reads) as f64, reads as f64, 0.01);
        let misses = done.map.misses as f64 / (done.host_sectors + done.relocated_sectors) as f64;
        assert_close(&format!("{share}: misses"), misses, 1.0 - share, 0.02);
        let die_ns = programs * (400_000 + BUS_NS) + reads * MAP_READ_NS + done.erases * 2_000_000;
        let busy = die_ns as f64 / 4.0 / elapsed_ns as f64;
        println!("{share}, {updates} updates: dies are busy for {:.1} % of the time", 100.0 * busy);
        // With one page under way at a time, dies wait for it.
        assert!(busy > if updates == 1 { 0.9 } else { 0.97 } && busy < 1.0, "{busy}");
        rig.settle();
        assert_nothing_lost(&rig);
    }
}

/// All that asks for pages at once, on cards that collect in all ways: each request ends, with its time accounted for, and no
/// page is lost.
#[test]
fn mixed_requests_end_and_lose_no_page() {
    let plain = holding(small(), 0.05);
    let mut planes = plain;
    planes.nand.geometry.planes_per_die = 2;
    planes.nand.geometry.multi_plane = true;
    planes.nand.timing.suspend_ns = Some(10_000);
    planes.nand.timing.max_suspends = 3;
    planes.model.independent_planes = true;
    planes.buffer_sectors *= 2;
    planes.relocation_sectors *= 2;
    let mut gone = plain;
    gone.model.missing_module = Some(1);
    let mut units = plain;
    units.ftl.mapping_sectors = 4;
    let mut stops = plain;
    stops.ftl.gc = GcMode::StopTheWorld { start_free_bands: 2, stop_free_bands: 6 };
    for (what, mut config) in [("plain", plain), ("planes", planes), ("gone", gone), ("units", units), ("stops", stops)]
    {
        use_share(&mut config, 0.7);
        config.power_loss_protection = false;
        let mut rig = Rig::new(&config, 32).filled().overwritten(1);
        let mut rng = Rng::stream(9, "mix");
        let sectors = rig.ftl().user_sectors();
        let before = rig.ftl().counters().map;
        rig.closed_loop(32, 20_000, || {
            let first = rng.below(sectors - 40);
            match rng.below(8) {
                0..3 => read(first, 1 + rng.below(40) as u32),
                3..6 => write(first, 1 + rng.below(20) as u32),
                // A part of a sector is read before it is written.
                6 => Request::write(first * SECTOR_BYTES + 512, 1_024),
                _ => match rng.below(10) {
                    0 => Request {
                        operation: Operation::Trim,
                        range: ByteRange { offset_bytes: first * SECTOR_BYTES, len_bytes: 40 * SECTOR_BYTES as u32 },
                        ..read(0, 1)
                    },
                    1 => Request { operation: Operation::Flush, ..read(0, 0) },
                    _ => write(first, 1),
                },
            }
        });
        rig.settle();
        assert_nothing_lost(&rig);
        let map = rig.ftl().counters().map.since(&before);
        assert!(map.hits > 1_000 && map.misses > 1_000 && map.written > 1_000, "{what}: {map:?}");
        assert!(rig.ftl().lookup(Lba(0)).is_some() || rig.ftl().lookup(Lba(1)).is_some());
    }
}

#[test]
fn a_card_with_contents_holds_its_whole_map() {
    let whole = with_contents(true);
    let mut part = whole;
    part.ftl.map_cache = Some(MapCacheConfig { pages: 2, page_sectors: 16, updates: 8 });
    part.ftl.reserve_bands += 1;
    part.model.map_hit_ns = 1_000;
    assert_eq!(part.with_contents(), whole.with_contents());
    assert_eq!(part.with_contents().with_contents(), whole.with_contents());
}
