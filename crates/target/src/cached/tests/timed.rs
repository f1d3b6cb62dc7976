//! Where requests go, and when they are done.

use super::*;
use device::Rng;

const ALL_POLICIES: [CachePolicy; 4] = [CachePolicy::Lru, CachePolicy::Fifo, CachePolicy::Clock, CachePolicy::S3Fifo];
const ALL_MODES: [CacheMode; 4] =
    [CacheMode::Writeback, CacheMode::Writethrough, CacheMode::Writearound, CacheMode::Passthrough];

fn lru(mode: CacheMode) -> CacheConfig {
    config(mode, CachePolicy::Lru, 64)
}

#[test]
fn a_miss_takes_the_disks_time_and_a_hit_that_of_the_flash() {
    let (mut cache, mut now) = (cached(lru(CacheMode::Writeback), 1_000, 1), Time::ZERO);
    assert_eq!(ask(&mut cache, &mut now, read(5)), DISK_NS);
    assert_eq!(cache.front.asked(Operation::Write), [0], "what was fetched lies on the flash");
    assert_eq!(ask(&mut cache, &mut now, read(5)), FLASH_NS);
    // A write waits for the flash alone; a flush for both, and then for the map.
    assert_eq!(ask(&mut cache, &mut now, write(9)), FLASH_NS + 10);
    assert!(cache.back.asked(Operation::Write).is_empty());
    assert_eq!(ask(&mut cache, &mut now, Request::flush()), DISK_NS + 1_000);
    assert_eq!(cache.front.asked(Operation::Write), [0, 1, 64], "the map follows the data");
    assert_eq!((cache.counts.hits, cache.counts.misses), (1, 2));
    // Nothing has changed since, so the map need not follow.
    ask(&mut cache, &mut now, Request::flush());
    assert_eq!(cache.front.asked(Operation::Write).len(), 3);
}

#[test]
fn a_write_through_takes_the_longer_time_of_both_and_leaves_nothing_dirty() {
    let (mut cache, mut now) = (cached(lru(CacheMode::Writethrough), 1_000, 1), Time::ZERO);
    assert_eq!(ask(&mut cache, &mut now, write(9)), DISK_NS + 1_000);
    assert_eq!((cache.front.asked(Operation::Write).len(), cache.back.asked(Operation::Write)), (1, vec![9]));
    assert_eq!(ask(&mut cache, &mut now, read(9)), FLASH_NS);
    assert_eq!(cache.directory.dirty(), 0);
}

#[test]
fn a_write_around_leaves_the_flash_alone_and_takes_out_what_it_makes_stale() {
    let (mut cache, mut now) = (cached(lru(CacheMode::Writearound), 1_000, 1), Time::ZERO);
    ask(&mut cache, &mut now, read(9));
    assert_eq!(ask(&mut cache, &mut now, write(9)), DISK_NS + 1_000);
    assert_eq!(cache.front.asked(Operation::Write).len(), 1, "the fetch alone");
    assert_eq!(ask(&mut cache, &mut now, read(9)), DISK_NS);
}

#[test]
fn a_part_of_a_block_that_is_not_here_is_written_behind() {
    let (mut cache, mut now) = (cached(lru(CacheMode::Writeback), 1_000, 1), Time::ZERO);
    let part = Request::write(9 * u64::from(BLOCK) + 512, 1024);
    assert_eq!(ask(&mut cache, &mut now, part), DISK_NS + 1_000);
    ask(&mut cache, &mut now, read(9));
    assert_eq!(ask(&mut cache, &mut now, part), FLASH_NS + 10);
    let (_, written) = *cache.front.asked.last().unwrap();
    assert_eq!((written.range.offset_bytes, written.range.len_bytes), (512, 1024), "of the first slot");
}

#[test]
fn a_stream_passes_the_cache_by() {
    let config = CacheConfig { sequential_cutoff_bytes: 10 * u64::from(BLOCK), ..lru(CacheMode::Writeback) };
    let (mut cache, mut now) = (cached(config, 1_000, 1), Time::ZERO);
    for block in 0..40 {
        ask(&mut cache, &mut now, read(block));
    }
    assert_eq!((cache.directory.len(), cache.counts.passed_by), (9, 31));
    // A block that is here is found all the same.
    assert_eq!(ask(&mut cache, &mut now, read(3)), FLASH_NS);
}

#[test]
fn requests_for_a_block_that_is_fetched_share_the_fetch() {
    let mut cache = cached(lru(CacheMode::Writeback), 1_000, 3);
    let mut done = Vec::new();
    cache.submit(Time(0), RequestId(0), read(7), &mut done);
    cache.submit(Time(4_000), RequestId(1), read(7), &mut done);
    cache.submit(Time(5_000), RequestId(2), write(7), &mut done);
    cache.advance(Time(DISK_NS), &mut done);
    assert_eq!(done.iter().map(|done| done.id.0).collect::<Vec<_>>(), [0, 1], "both reads are done with it");
    while cache.next_event() != Time::NEVER {
        let now = cache.next_event();
        cache.advance(now, &mut done);
        if now == Time(DISK_NS + FLASH_NS + 10) {
            assert_eq!(done.len(), 3, "the write goes to the flash after it");
        }
    }
    assert_eq!(cache.back.asked(Operation::Read), [7]);
    assert_eq!((cache.counts.delayed, cache.counts.misses), (1, 3));
}

#[test]
fn dirty_blocks_go_back_in_the_order_of_the_disk_until_their_share_is_met() {
    // Six of 64 blocks may be dirty.
    let (mut cache, mut now) = (cached(lru(CacheMode::Writeback), 10_000, 64), Time::ZERO);
    let mut done = Vec::new();
    let mut rng = Rng::stream(1, "blocks");
    for id in 0..30 {
        cache.submit(now, RequestId(id), write(rng.below(5_000) * 2), &mut done);
    }
    while cache.next_event() != Time::NEVER {
        now = cache.next_event();
        cache.advance(now, &mut done);
    }
    assert_eq!((done.len(), cache.directory.dirty()), (30, 6));
    let order = cache.back.asked(Operation::Write);
    let turns = order.windows(2).filter(|pair| pair[1] < pair[0]).count();
    assert_eq!(order.len(), 24);
    assert!(turns <= 4, "an elevator turns seldom, {turns} times: {order:?}");
    // Neighbours go in one request.
    let (mut cache, mut now) = (cached(lru(CacheMode::Writeback), 10_000, 1), Time::ZERO);
    ask(&mut cache, &mut now, Request::write(0, 40 * BLOCK));
    assert_eq!(cache.back.asked(Operation::Write), [0]);
}

#[test]
fn a_cache_that_is_full_of_dirty_blocks_writes_through() {
    let config = CacheConfig { dirty_share: 0.5, dirty_limit: 0.5, ..lru(CacheMode::Writeback) };
    let mut cache = cached(config, 10_000, 64);
    let mut done = Vec::new();
    (0..40).for_each(|id| cache.submit(Time(0), RequestId(id), write(u64::from(id) * 2), &mut done));
    assert_eq!(cache.directory.dirty(), 32);
    assert_eq!(cache.back.asked(Operation::Write).len(), 8);
}

#[test]
fn without_a_mode_everything_is_the_disks_own() {
    let mut rng = Rng::stream(5, "requests");
    let (mut cache, mut now) = (cached(lru(CacheMode::Passthrough), 1_000, 1), Time::ZERO);
    for _ in 0..1_000 {
        let (block, writes) = (rng.below(900), rng.below(2) == 0);
        let (request, ns) = if writes { (write(block), DISK_NS + 1_000) } else { (read(block), DISK_NS) };
        assert_eq!(ask(&mut cache, &mut now, request), ns);
    }
    assert!(cache.front.asked.is_empty() && cache.directory.is_empty());
}

/// Requests at random moments, of random kinds and sizes, until all have ended.
fn storm(config: CacheConfig, seed: u64) -> Cached<Fixed, Fixed> {
    const REQUESTS: u32 = 16;
    let mut cache = cached(config, 300, REQUESTS);
    let mut rng = Rng::stream(seed, "storm");
    let (mut free, mut now, mut done): (Vec<u32>, Time, Vec<Completion>) = ((0..REQUESTS).collect(), Time(0), vec![]);
    let (mut asked, mut finished, mut moved) = (0, 0, 0);
    while asked < 6_000 || finished < asked {
        let next = cache.next_event();
        if asked < 6_000 && !free.is_empty() && (next == Time::NEVER || rng.below(3) == 0) {
            let sectors = rng.below(40) + 1;
            let at = rng.below(300 * 8 - sectors) * 512;
            let len_bytes = sectors as u32 * 512;
            let mut request = match rng.below(20) {
                0 => Request::flush(),
                1 => Request::trim(at, len_bytes),
                2..=10 => Request::read(at, len_bytes),
                _ => Request::write(at, len_bytes),
            };
            request.fua = rng.below(10) == 0;
            moved += u64::from(matches!(request.operation, Operation::Read | Operation::Write));
            cache.submit(now, RequestId(free.pop().unwrap()), request, &mut done);
            asked += 1;
        } else {
            assert_ne!(next, Time::NEVER, "a request was lost");
            now = next;
            cache.advance(now, &mut done);
        }
        finished += done.len();
        free.extend(done.drain(..).map(|done| done.id.0));
    }
    while cache.next_event() != Time::NEVER {
        now = cache.next_event();
        cache.advance(now, &mut done);
    }
    assert_eq!((done.len(), cache.in_flight()), (0, 0));
    assert_eq!(cache.counts.hits + cache.counts.misses, moved);
    cache.directory.check();
    cache
}

#[test]
fn every_request_ends_once_and_no_dirty_block_is_lost() {
    let promotions = [Promotion::First, Promotion::Second];
    for (i, (mode, policy)) in ALL_MODES.iter().flat_map(|mode| ALL_POLICIES.map(|policy| (*mode, policy))).enumerate()
    {
        for promotion in promotions {
            for (block_bytes, cutoff) in [(BLOCK, 0), (BLOCK, 30_000), (4 * BLOCK, 0)] {
                let config = CacheConfig {
                    promotion,
                    block_bytes,
                    sequential_cutoff_bytes: cutoff,
                    dirty_limit: 0.4,
                    blocks: 64 * BLOCK / block_bytes,
                    ..config(mode, policy, 0)
                };
                let cache = storm(config, i as u64);
                let moves = cache.directory.moves();
                // No more is left than may be dirty; the rest went back once, or was trimmed.
                let left = u64::from(cache.directory.dirty());
                assert_eq!(moves.dirtied, moves.written_back + moves.dropped + left);
                assert!(left <= u64::from(config.blocks) / 10);
                assert_eq!(moves.dirtied > 0, mode == CacheMode::Writeback);
                assert_eq!(moves.promoted > 0, mode != CacheMode::Passthrough);
            }
        }
    }
}

#[test]
fn the_same_requests_give_the_same_times() {
    let asked = || storm(lru(CacheMode::Writeback), 9).back.asked;
    assert_eq!(asked(), asked());
}
