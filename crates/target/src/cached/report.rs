//! The figures of a cache for a result.

use super::device::Cached;
use super::warm::WarmUp;
use device::Device;
use profile::{CacheMode, CachePolicy};
use results::{CacheReport, CacheWarmUp};

impl<F: Device<Data = ()>, B: Device<Data = ()>> Cached<F, B> {
    /// Figures of so many seconds of measurement; what the flash itself did is left to those who know it.
    pub fn report(&self, seconds: f64, warmed: Option<WarmUp>) -> CacheReport {
        let (counts, config) = (&self.counts, &self.config);
        self.directory.check();
        let (moves, before) = (self.directory.moves(), counts.moves);
        let share = |part: u64, of: u64| if of > 0 { part as f64 / of as f64 } else { 0.0 };
        let written_back = moves.written_back - before.written_back;
        let latency = |kind: usize| {
            let recorder = &counts.latency[kind];
            (recorder.count() > 0).then(|| recorder.summary())
        };
        CacheReport {
            mode: match config.mode {
                CacheMode::Writeback => "writeback",
                CacheMode::Writethrough => "writethrough",
                CacheMode::Writearound => "writearound",
                CacheMode::Passthrough => "passthrough",
            }
            .to_owned(),
            policy: match config.policy {
                CachePolicy::Lru => "lru",
                CachePolicy::Fifo => "fifo",
                CachePolicy::Clock => "clock",
                CachePolicy::S3Fifo => "s3-fifo",
            }
            .to_owned(),
            block_bytes: config.block_bytes,
            blocks: config.blocks.into(),
            used_blocks: self.directory.len().into(),
            hits: counts.hits,
            misses: counts.misses,
            hit_rate: share(counts.hits, counts.hits + counts.misses),
            block_hit_rate: share(counts.block_hits, counts.blocks),
            passed_by: counts.passed_by,
            delayed: counts.delayed,
            promoted: moves.promoted - before.promoted,
            evicted: moves.evicted - before.evicted,
            dirty_share: share(self.directory.dirty().into(), config.blocks.into()),
            written_back,
            write_backs: counts.write_backs,
            write_back_bw_bytes: written_back as f64 * f64::from(config.block_bytes) / seconds,
            flash_bytes: counts.flash_bytes,
            read_hit_lat_ns: latency(0),
            read_miss_lat_ns: latency(1),
            write_hit_lat_ns: latency(2),
            write_miss_lat_ns: latency(3),
            warm_up: warmed.map(|warmed| CacheWarmUp {
                requests: warmed.requests,
                hit_rate: warmed.hit_rate,
                attained: warmed.attained,
            }),
            ..CacheReport::default()
        }
    }
}
