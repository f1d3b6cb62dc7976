//! State that the processes of a replica share: the log, the database and what is counted of them.

use super::ReplicaConfig;
use super::log::{MasterLog, Transaction};
use crate::instance::Instance;
use device::Time;
use results::{LatencyRecorder, ReplicaLag};

/// The parts of an applier's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Cpu,
    /// Waiting for a core, and what a busy one takes longer.
    Cores,
    PageRead,
    FreeBuffer,
    /// Nothing to apply has arrived.
    Idle,
}

impl Part {
    pub const ALL: [Part; 5] = [Part::Cpu, Part::Cores, Part::PageRead, Part::FreeBuffer, Part::Idle];

    pub fn name(self) -> &'static str {
        match self {
            Part::Cpu => "cpu",
            Part::Cores => "cores",
            Part::PageRead => "page_read",
            Part::FreeBuffer => "free_buffer",
            Part::Idle => "idle",
        }
    }
}

/// State that the processes share.
#[derive(Clone, Debug)]
pub(super) struct Replica {
    pub config: ReplicaConfig,
    pub log: MasterLog,
    pub instance: Instance,
    pub counts: Counts,
    /// The master's transactions up to the last that was applied, and up to the one applied last before measurement.
    pub applied_to: u64,
    pub measured_from: Time,
    pub applied_before: u64,
}

/// Counts of the appliers' work since measurement began.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    pub parts: [u64; Part::ALL.len()],
    pub pages_visited: u64,
    pub pages_missed: u64,
    /// Number of transactions applied.
    pub applied: u64,
    pub lags: LatencyRecorder,
    pub rows: Vec<ReplicaLag>,
}

impl Counts {
    pub fn add(&mut self, part: Part, ns: u64, computing_ns: u64) {
        if part == Part::Cpu {
            self.parts[Part::Cpu as usize] += computing_ns;
            self.parts[Part::Cores as usize] += ns - computing_ns;
        } else {
            self.parts[part as usize] += ns;
        }
    }
}

impl Replica {
    pub fn applied(&mut self, transaction: &Transaction, now: Time) {
        let lag_ns = now.since_ns(transaction.committed);
        self.applied_to = self.applied_to.max(transaction.number);
        self.counts.applied += 1;
        self.counts.lags.record(lag_ns);
        let t_s = now.since_ns(self.measured_from) as f64 / 1e9;
        // A row for the first transaction of each second.
        if self.counts.rows.last().is_none_or(|row| row.t_s.floor() < t_s.floor()) {
            self.counts.rows.push(ReplicaLag { t_s, lag_s: lag_ns as f64 / 1e9 });
        }
    }
}
