//! Forecasts of a modelled card: a grid of questions, and searches for the value that still holds a bound.
//!
//! Nothing in it depends on the machine that computed it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Questions and answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WhatifResult {
    /// Kind of the file: always [`WhatifResult::KIND`].
    pub kind: String,
    /// Version of the format, [`WhatifResult::SCHEMA`].
    pub schema: u32,
    /// The program and its version.
    pub generator: String,
    /// The card: as a run's `target`, before any axis changes it.
    pub target: Value,
    /// The host that issues the requests.
    pub host: Value,
    /// The load, before any axis changes it.
    pub load: Value,
    /// Share of its size that the card was modelled at.
    pub scale: f64,
    /// Root seed of every point.
    pub seed: u64,
    /// Quantities that vary, and those that were fixed: an axis of one value.
    pub axes: Vec<WhatifAxis>,
    /// Their product, the last axis fastest; points that were not finished are left out.
    pub points: Vec<WhatifPoint>,
    /// Goal and outcome of the search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<WhatifSearch>,
    /// Reason why points are missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<String>,
}

impl WhatifResult {
    /// Kind that tells these results from others.
    pub const KIND: &'static str = "flashrig-whatif";
    /// Version of the schema.
    pub const SCHEMA: u32 = 1;
}

/// Unit of an axis's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum WhatifUnit {
    /// Percent, 0 to 100.
    Percent,
    /// A number of things, or a number whose key says its unit.
    Count,
    Bytes,
    Name,
}

/// A quantity and its values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WhatifAxis {
    /// `fill`, `reserve`, `threads`, `load`, `read_percent`, `block`, or a card's or host's key: `ftl.victim`.
    pub key: String,
    /// Label for people.
    pub label: String,
    /// Unit of its values.
    pub unit: WhatifUnit,
    /// Numbers or names, in the order in which they were asked. A search's axis has the smallest and the largest.
    pub values: Vec<Value>,
}

/// One question, and its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WhatifPoint {
    /// The value on each axis, by its key.
    pub at: Map<String, Value>,
    /// Bytes that the host can address, as modelled.
    pub user_bytes: u64,
    /// Bytes of them in use.
    pub used_bytes: u64,
    /// Measurement of the point; absent where the card could not do it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<WhatifAnswer>,
    /// Reason why the card could not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

/// Measurement of a point.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WhatifAnswer {
    /// Reads and writes together, bytes a second.
    pub bw_bytes: f64,
    /// Reads and writes together, a second.
    pub iops: f64,
    /// Latencies of reads and writes together.
    pub lat_ns: WhatifLatency,
    /// Latencies of reads alone; absent where there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_lat_ns: Option<WhatifLatency>,
    /// Latencies of writes alone; absent where there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_lat_ns: Option<WhatifLatency>,
    /// Pages programmed for data over pages that the host wrote; absent where nothing was written, and for disks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waf: Option<f64>,
    /// Reads and writes that found all of their blocks in the cache over all of them; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hit_rate: Option<f64>,
    /// Years until the flash of the cache has its rated cycles; absent without one, and where nothing was programmed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub years_at_rating: Option<f64>,
    /// Share of the data capacity that collection could use beyond the user's; absent for disks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective_spare_factor: Option<f64>,
    /// The rule for steady state was satisfied.
    pub steady: bool,
    /// Virtual seconds measured.
    pub virtual_seconds: f64,
}

/// Latencies of a point, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WhatifLatency {
    /// Mean of all latencies.
    pub mean: f64,
    /// Half took no longer.
    pub p50: u64,
    /// 99 of 100 took no longer.
    pub p99: u64,
    /// 999 of 1000 took no longer.
    #[serde(rename = "p99.9")]
    pub p99_9: u64,
}

/// Goal and outcome of a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WhatifSearch {
    /// Key of the axis.
    pub axis: String,
    /// `most` or `least`: which of the values that hold was wanted.
    pub wanted: WhatifWanted,
    /// 99 of 100 reads and writes take no longer, nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_p99_ns: Option<u64>,
    /// Reads and writes together move at least so much, bytes a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_bw_bytes: Option<f64>,
    /// For each combination of the other axes.
    pub found: Vec<WhatifFound>,
}

/// The value that is wanted of those that hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhatifWanted {
    /// The fullest, the most threads.
    Most,
    /// The smallest reserve, the fewest threads.
    Least,
}

/// Outcome of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhatifOutcome {
    /// A value holds the bound and the next one breaks it.
    Found,
    /// All values that were tried hold it.
    Every,
    /// None that was tried does.
    None,
    /// Values on both sides hold and break it: what holds does not go on holding towards the easy end.
    NotMonotone,
    /// It was stopped before it was found.
    Stopped,
}

/// Result of the search for one combination.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WhatifFound {
    /// The values on the other axes.
    pub at: Map<String, Value>,
    /// Outcome of the search.
    pub outcome: WhatifOutcome,
    /// The value that holds the bound, as far towards what was wanted as any that was tried on the way there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holds: Option<f64>,
    /// The first value beyond it, which breaks it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub breaks: Option<f64>,
    /// The figures there are in `points`; these values were tried, rising, and held or not.
    pub tried: Vec<WhatifTried>,
}

/// A value that was tried.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WhatifTried {
    /// On the axis.
    pub value: f64,
    /// The bound held.
    pub holds: bool,
}
