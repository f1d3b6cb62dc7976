//! Writing front to back as fast as a device takes it, from empty on and again after pauses: where a cache of faster
//! cells shows, how much it holds, and how fast it comes free.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Bursts of sequential writes, the first into an emptied device. Amounts and times are those of a whole device: a smaller
/// model's are multiplied by what the device is larger.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BurstReport {
    /// What was run.
    pub title: String,
    /// What was asked, every parameter under its own name.
    pub load: Value,
    /// In the order in which they were written.
    pub bursts: Vec<Burst>,
}

impl BurstReport {
    /// The first one, into an emptied device.
    pub fn first(&self) -> Option<&Burst> {
        self.bursts.first()
    }
}

/// One burst.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Burst {
    /// Seconds before it in which nothing was asked; 0: the device had been emptied.
    pub idle_s: f64,
    /// Bytes written.
    pub bytes: u64,
    /// Seconds that it took.
    pub seconds: f64,
    /// Throughput against bytes written.
    pub rows: Vec<BurstRow>,
    /// Where throughput fell and stayed low; absent where it did not.
    pub cliff: Option<Cliff>,
}

impl Burst {
    /// Bytes a second over all of it.
    pub fn bw_bytes(&self) -> f64 {
        if self.seconds > 0.0 { self.bytes as f64 / self.seconds } else { 0.0 }
    }
}

/// A part of a burst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BurstRow {
    /// Bytes written since the burst began, at the row's end.
    pub bytes: u64,
    /// Bytes a second in the row.
    pub bw_bytes: f64,
}

/// Where throughput fell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cliff {
    /// Bytes written fast until then.
    pub bytes: u64,
    /// Bytes a second before.
    pub before_bw_bytes: f64,
    /// Bytes a second after.
    pub after_bw_bytes: f64,
}
