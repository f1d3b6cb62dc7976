//! State that the sessions of a SLOB load share: the database and what they count of it.

use super::SlobConfig;
use crate::BlockSampler;
use crate::instance::Instance;
use device::Time;

/// State that the sessions share.
#[derive(Clone, Debug)]
pub(super) struct Database {
    pub config: SlobConfig,
    /// Draws a block of a session's range.
    pub sampler: BlockSampler,
    pub instance: Instance,
    pub counts: Counts,
}

/// Counts of the sessions' work since measurement began.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub executes: u64,
    pub logical_reads: u64,
    pub cpu_ns: u64,
    pub single_block_read: Wait,
    pub log_file_sync: Wait,
    pub free_buffer: Wait,
    pub log_buffer_space: Wait,
}

/// One wait event.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wait {
    pub waits: u64,
    pub total_ns: u64,
}

impl Wait {
    pub fn add(&mut self, since: Time, now: Time) {
        self.waits += 1;
        self.total_ns += now.since_ns(since);
    }

    pub fn mean_ns(&self) -> f64 {
        if self.waits == 0 { 0.0 } else { self.total_ns as f64 / self.waits as f64 }
    }
}

impl Counts {
    /// The event with the most time; the first of equals.
    pub fn top_wait(&self) -> &'static str {
        let events = [
            ("CPU", self.cpu_ns),
            ("db file sequential read", self.single_block_read.total_ns),
            ("log file sync", self.log_file_sync.total_ns),
            ("free buffer waits", self.free_buffer.total_ns),
            ("log buffer space", self.log_buffer_space.total_ns),
        ];
        events.into_iter().rev().max_by_key(|&(_, ns)| ns).map_or("CPU", |(name, _)| name)
    }
}
