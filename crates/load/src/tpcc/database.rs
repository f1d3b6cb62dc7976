//! State that the sessions of a TPC-C load share: the database and what they count of it.

use super::TpccConfig;
use super::locks::Locks;
use super::script::{Contents, Kind};
use crate::instance::Instance;
use results::LatencyRecorder;

/// The parts of a transaction's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Cpu,
    /// Waiting for a core, and what a busy one takes longer.
    Cores,
    PageRead,
    RowLock,
    FreeBuffer,
    LogRoom,
    Commit,
}

impl Part {
    pub const ALL: [Part; 7] =
        [Part::Cpu, Part::Cores, Part::PageRead, Part::RowLock, Part::FreeBuffer, Part::LogRoom, Part::Commit];

    pub fn name(self) -> &'static str {
        match self {
            Part::Cpu => "cpu",
            Part::Cores => "cores",
            Part::PageRead => "page_read",
            Part::RowLock => "row_lock",
            Part::FreeBuffer => "free_buffer",
            Part::LogRoom => "log_room",
            Part::Commit => "commit",
        }
    }
}

/// State that the sessions share.
#[derive(Clone, Debug)]
pub(super) struct Database {
    pub config: TpccConfig,
    pub contents: Contents,
    pub instance: Instance,
    pub locks: Locks,
    pub counts: Counts,
}

/// Counts of the sessions' work since measurement began.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    /// Response times by kind.
    pub latencies: [LatencyRecorder; 5],
    pub rolled_back: u64,
    pub pages_visited: u64,
    pub pages_missed: u64,
    /// Time of finished transactions by part.
    pub parts: [u64; Part::ALL.len()],
}

impl Counts {
    pub fn finish(&mut self, kind: Kind, rolled_back: bool, latency_ns: u64, parts: &[u64; Part::ALL.len()]) {
        debug_assert_eq!(parts.iter().sum::<u64>(), latency_ns, "parts of a transaction add up to its response time");
        self.latencies[kind as usize].record(latency_ns);
        self.rolled_back += u64::from(rolled_back);
        self.parts.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part);
    }

    pub fn transactions(&self) -> u64 {
        self.latencies.iter().map(LatencyRecorder::count).sum()
    }
}
