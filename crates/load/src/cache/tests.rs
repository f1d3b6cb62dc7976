//! The buffer cache's promises to sessions and writers.

use super::*;

const AREA: DataArea = DataArea { start_bytes: 0, block_bytes: 8192, blocks: 1_000 };
const WRITER: ProcessId = ProcessId(100);

fn config() -> CacheConfig {
    CacheConfig {
        bytes: 100 * 8192,
        dirty_start: 0.1,
        dirty_limit: 0.2,
        db_writers: 1,
        writes_in_flight: 2,
        ..CacheConfig::default()
    }
}

fn cache(config: &CacheConfig) -> BufferCache {
    let mut rng = Rng::stream(1, "warm");
    BufferCache::new(config, AREA, WRITER, 1, || rng.below(1_000) as u32)
}

#[test]
fn the_hit_share_is_the_cached_share_of_a_uniform_working_set() {
    for buffers in [100u64, 500, 900] {
        let mut cache = cache(&CacheConfig { bytes: buffers * 8192, ..config() });
        let mut rng = Rng::stream(2, "reads");
        let reads = 200_000;
        let hits = (0..reads).filter(|_| cache.read(rng.below(1_000) as u32, &mut Rng::stream(0, ""))).count();
        let share = hits as f64 / f64::from(reads);
        assert!((share - buffers as f64 / 1e3).abs() < 0.01, "{share} with {buffers} buffers");
    }
}

#[test]
fn a_working_set_that_fits_never_misses() {
    let mut cache = cache(&CacheConfig { bytes: 1_000 * 8192, ..config() });
    let mut rng = Rng::stream(2, "reads");
    assert!((0..1_000).all(|block| cache.read(block, &mut rng)));
}

#[test]
fn a_stated_hit_ratio_is_kept() {
    let mut cache = cache(&CacheConfig { hit_ratio: Some(0.9), ..config() });
    let mut rng = Rng::stream(2, "reads");
    let hits = (0..100_000).filter(|_| cache.read(1, &mut rng)).count();
    assert!((89_500..90_500).contains(&hits), "{hits}");
}

/// Changes blocks until there is no buffer; returns how many.
fn fill(cache: &mut BufferCache, blocks: impl Iterator<Item = u32>, wake: &mut Vec<ProcessId>) -> u32 {
    let mut rng = Rng::stream(3, "updates");
    let mut changed = 0;
    for block in blocks {
        match cache.update(block, &mut rng, wake) {
            Update::Done => {}
            Update::Miss => cache.finish_update(block, wake),
            Update::NoBuffer => break,
        }
        changed += 1;
    }
    changed
}

#[test]
fn writers_begin_at_the_start_and_sessions_wait_at_the_limit() {
    for hit_ratio in [None, Some(0.5)] {
        let mut cache = cache(&CacheConfig { hit_ratio, ..config() });
        let mut wake = Vec::new();
        assert_eq!(cache.step_writer(WRITER, &mut wake), Step::Park);
        assert_eq!(fill(&mut cache, 0..9, &mut wake), 9);
        assert!(wake.is_empty(), "below the start nothing is written");
        assert_eq!(fill(&mut cache, 9..1_000, &mut wake), 11, "20 of 100 buffers");
        assert_eq!(wake, [WRITER]);
        // A buffer that is unclean already takes further changes.
        if hit_ratio.is_none() {
            assert_eq!(fill(&mut cache, [3, 4, 5].into_iter(), &mut wake), 3);
        }
        cache.wait_for_buffer(ProcessId(7));
        wake.clear();
        let mut blocks = Vec::new();
        while let Step::Io { request, .. } = cache.step_writer(WRITER, &mut wake) {
            blocks.push(request.range.offset_bytes / 8192);
        }
        assert_eq!(blocks, (0..11).collect::<Vec<_>>(), "in the order of their first change, down to the start");
        assert_eq!(wake, [ProcessId(7)]);
        assert_eq!(cache.counts(), WriteCounts { requests: 11, blocks: 11 });
    }
}

#[test]
fn a_block_changed_while_it_is_written_is_written_again() {
    let mut cache = cache(&CacheConfig { dirty_start: 0.0, ..config() });
    let mut wake = Vec::new();
    fill(&mut cache, [5].into_iter(), &mut wake);
    assert!(matches!(cache.step_writer(WRITER, &mut wake), Step::Io { .. }));
    fill(&mut cache, [5].into_iter(), &mut wake);
    let other = ProcessId(WRITER.0 + 1);
    assert_eq!(cache.step_writer(other, &mut wake), Step::Park, "two writes of one block never race");
    assert!(matches!(cache.step_writer(WRITER, &mut wake), Step::Io { .. }));
    assert_eq!(cache.step_writer(WRITER, &mut wake), Step::Park);
    assert_eq!(cache.counts().blocks, 2);
}

#[test]
fn coalesced_writes_have_the_stated_mean_and_stay_in_the_area() {
    let coalescing = CacheConfig { write_coalescing_blocks: 2.25, dirty_limit: 0.9, ..config() };
    let mut cache = cache(&coalescing);
    let mut wake = Vec::new();
    let mut rng = Rng::stream(4, "blocks");
    let (mut requests, mut bytes) = (0u64, 0u64);
    for _ in 0..2_000 {
        fill(&mut cache, (0..1_000).map(|_| 900 + rng.below(100) as u32).take(300), &mut wake);
        while let Step::Io { request, .. } = cache.step_writer(WRITER, &mut wake) {
            assert!(request.range.offset_bytes + u64::from(request.range.len_bytes) <= 1_000 * 8192);
            requests += 1;
            bytes += u64::from(request.range.len_bytes);
        }
    }
    let mean = bytes as f64 / 8192.0 / requests as f64;
    assert!((mean - 2.25).abs() < 0.02, "{mean}");
}

#[test]
fn room_that_a_woken_process_leaves_goes_to_the_next() {
    let mut cache = cache(&config());
    let mut wake = Vec::new();
    assert_eq!(fill(&mut cache, 0..1_000, &mut wake), 20);
    (0..3).for_each(|p| cache.wait_for_buffer(ProcessId(p)));
    cache.step_writer(WRITER, &mut wake);
    wake.clear();
    cache.step_writer(WRITER, &mut wake);
    assert_eq!(wake, [ProcessId(0)], "one buffer came free");
    wake.clear();
    // Process 0 finds its block unclean already and needs no buffer.
    fill(&mut cache, [19].into_iter(), &mut wake);
    assert_eq!(wake, [ProcessId(1)]);
}

#[test]
fn a_wrong_cache_is_refused() {
    let good = CacheConfig::default();
    good.validate(8192).unwrap();
    for bad in [
        CacheConfig { bytes: 8192, ..good },
        CacheConfig { bytes: u64::MAX, ..good },
        CacheConfig { hit_ratio: Some(1.1), ..good },
        CacheConfig { dirty_limit: 0.95, ..good },
        CacheConfig { dirty_start: 0.5, ..good },
        CacheConfig { db_writers: 0, ..good },
        CacheConfig { db_writers: 256, writes_in_flight: 1024, ..good },
        CacheConfig { writes_in_flight: 0, ..good },
        CacheConfig { write_coalescing_blocks: 0.5, ..good },
        CacheConfig { write_coalescing_blocks: f64::NAN, ..good },
    ] {
        assert!(bad.validate(8192).unwrap_err().to_string().starts_with("cache."));
    }
}
