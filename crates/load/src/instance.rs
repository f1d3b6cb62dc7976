//! The background of a database's sessions: buffer cache and log, and the processes that write for them.
//!
//! Invariants:
//! - sessions are the first processes, then come the cache's background writers; the log writer is the last;
//! - the log's area begins where the data ends;
//! - everything is counted from the start of measurement on.

use crate::cache::{BufferCache, CacheConfig, DataArea};
use crate::commit::{GroupCommit, LogConfig};
use crate::{ProcessId, Step};
use device::Time;

/// A database without its sessions.
#[derive(Clone, Debug)]
pub(crate) struct Instance {
    pub cache: BufferCache,
    pub log: GroupCommit,
    log_writer: ProcessId,
    measured_from: Time,
}

impl Instance {
    /// An instance for so many sessions; its cache is warmed with blocks that `draw` draws.
    pub fn new(
        cache: &CacheConfig,
        log: LogConfig,
        area: DataArea,
        sessions: u32,
        seed: u64,
        draw: impl FnMut() -> u32,
    ) -> Instance {
        let log_writer = ProcessId(sessions + cache.writer_processes());
        Instance {
            cache: BufferCache::new(cache, area, ProcessId(sessions), seed, draw),
            log: GroupCommit::new(log, area.end_bytes(), log_writer),
            log_writer,
            measured_from: Time::ZERO,
        }
    }

    /// Sessions and writers.
    pub fn processes(&self) -> u32 {
        self.log_writer.0 + 1
    }

    /// The next step of a process that is no session.
    pub fn step_writer(&mut self, process: ProcessId, wake: &mut Vec<ProcessId>) -> Step {
        if process == self.log_writer { self.log.step_writer(wake) } else { self.cache.step_writer(process, wake) }
    }

    /// Counts from 0 again.
    pub fn start_measurement(&mut self, now: Time) {
        self.measured_from = now;
        self.cache.reset_counts();
        self.log.reset_counts();
    }

    /// Seconds measured until `now`.
    pub fn elapsed_s(&self, now: Time) -> f64 {
        now.since_ns(self.measured_from) as f64 / 1e9
    }
}

/// Returns a count's rate a second; 0 of no time.
pub(crate) fn per_second(count: u64, elapsed_s: f64) -> f64 {
    if elapsed_s > 0.0 { count as f64 / elapsed_s } else { 0.0 }
}
