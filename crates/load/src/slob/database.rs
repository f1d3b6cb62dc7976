//! State that the sessions of a SLOB load share: the database and what they count of it.

use super::SlobConfig;
use crate::BlockSampler;
use crate::instance::Instance;
use device::Time;
use results::{DbTime, DbTimeEvent};

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
    /// CPU time spent, and the time that waiting for a core took besides.
    pub spent_ns: u64,
    pub core: Wait,
    /// Time of all sessions from step to step.
    pub db_time_ns: u64,
    /// Writes of the log writer.
    pub log_parallel_write: Wait,
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

    /// The line of DB time, of which there are `total_ns`.
    fn event(&self, event: &str, total_ns: u64) -> DbTimeEvent {
        DbTimeEvent {
            event: event.to_owned(),
            waits: self.waits,
            total_s: self.total_ns as f64 / 1e9,
            mean_ns: self.mean_ns(),
            share: if total_ns == 0 { 0.0 } else { self.total_ns as f64 / total_ns as f64 },
        }
    }

    pub fn mean_ns(&self) -> f64 {
        if self.waits == 0 { 0.0 } else { self.total_ns as f64 / self.waits as f64 }
    }
}

impl Counts {
    /// A session's CPU step is over: what it took beyond the CPU time was waiting for a core.
    pub fn computed(&mut self, cpu_ns: u64, since: Time, now: Time) {
        self.spent_ns += cpu_ns;
        let waited_ns = now.since_ns(since) - cpu_ns;
        self.core.waits += u64::from(waited_ns > 0);
        self.core.total_ns += waited_ns;
    }

    /// DB time and its parts, which must add up to it.
    pub fn db_time(&self) -> DbTime {
        let total_ns = self.db_time_ns;
        let waits = [
            ("db file sequential read", &self.single_block_read),
            ("log file sync", &self.log_file_sync),
            ("free buffer waits", &self.free_buffer),
            ("log buffer space", &self.log_buffer_space),
            ("waiting for CPU", &self.core),
        ];
        let parts_ns = self.spent_ns + waits.iter().map(|(_, wait)| wait.total_ns).sum::<u64>();
        assert_eq!(parts_ns, total_ns, "CPU time and waits add up to DB time");
        let cpu = Wait { waits: 0, total_ns: self.spent_ns };
        let mut events = vec![cpu.event("DB CPU", total_ns)];
        events.extend(waits.iter().filter(|(_, w)| w.total_ns > 0).map(|(name, wait)| wait.event(name, total_ns)));
        events.sort_by(|a, b| b.total_s.total_cmp(&a.total_s));
        let written = self.log_parallel_write.waits > 0;
        let background = written.then(|| self.log_parallel_write.event("log file parallel write", total_ns));
        DbTime { total_s: total_ns as f64 / 1e9, events, background: background.into_iter().collect() }
    }

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
