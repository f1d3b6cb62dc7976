//! Sizes of units and their figures.

use results::LatencySummary;
use serde::Serialize;

/// A size of units that is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct UnitSize {
    /// The bytes of the host's data in a unit.
    pub payload_bytes: u32,
    /// The bytes that a unit takes on its medium, with its frame and its padding.
    pub medium_bytes: u32,
}

/// Two percentiles of a latency in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Percentiles {
    /// The latency that half of the requests exceed.
    pub p50_ns: u64,
    /// The latency that one request in a hundred exceeds.
    pub p99_ns: u64,
}

impl Percentiles {
    pub(super) fn of(latency: &LatencySummary) -> Percentiles {
        Percentiles { p50_ns: latency.at(50.0), p99_ns: latency.at(99.0) }
    }
}

/// The figures of one size of units.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Swept {
    /// The size of the units.
    #[serde(flatten)]
    pub unit: UnitSize,
    /// Bytes of payload that all drives together took in a second.
    pub write_bw_bytes: f64,
    /// Reads that all drives together answered in a second beside the writes.
    pub read_iops: f64,
    /// Latency of a write of a unit.
    pub write: Percentiles,
    /// Latency of a read of 4, 8 or 16 KiB.
    pub read: Percentiles,
    /// Latency of a sync.
    pub sync: Percentiles,
}
