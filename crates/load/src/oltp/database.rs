//! State that the sessions of an OLTP load share: the database and what they count of it.

use super::OltpConfig;
use crate::BlockSampler;
use crate::instance::Instance;
use results::LatencyRecorder;

/// State that the sessions share.
#[derive(Clone, Debug)]
pub(super) struct Database {
    pub config: OltpConfig,
    pub sampler: BlockSampler,
    pub instance: Instance,
    pub counts: Counts,
}

/// A transaction's kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Select,
    Insert,
    Update,
}

impl Kind {
    pub const ALL: [Kind; 3] = [Kind::Select, Kind::Insert, Kind::Update];

    pub fn name(self) -> &'static str {
        match self {
            Kind::Select => "select",
            Kind::Insert => "insert",
            Kind::Update => "update",
        }
    }
}

/// Counts of the sessions' work since measurement began.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    /// Latencies by kind.
    pub latencies: [LatencyRecorder; 3],
    pub pages_touched: u64,
    pub pages_missed: u64,
    pub physical_reads: u64,
}
