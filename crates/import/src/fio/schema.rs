//! fio's JSON, as far as it is used. Everything else is skipped without being held.
//!
//! fio 3 has `lat_ns`, `clat_ns` and `io_bytes` in bytes. fio 2 has `lat` and `clat` in microseconds and `io_bytes` in
//! KiB; what tells them apart is `io_kbytes`, which came with the change.

use crate::scalar::Scalar;
use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;

/// Options as they were typed.
pub(crate) type Options = BTreeMap<String, Scalar>;

/// Output of one run of fio.
#[derive(Deserialize)]
pub(crate) struct File {
    #[serde(rename = "fio version")]
    pub version: Scalar,
    pub time: Option<Scalar>,
    #[serde(rename = "global options")]
    pub global: Option<Options>,
    pub jobs: Option<Vec<Job>>,
    pub disk_util: Option<Vec<Disk>>,
}

#[derive(Deserialize)]
pub(crate) struct Disk {
    pub name: Option<Scalar>,
}

/// A job, or with `group_reporting` all jobs of a group.
#[derive(Deserialize)]
pub(crate) struct Job {
    pub jobname: Option<Scalar>,
    #[serde(default)]
    pub groupid: u64,
    #[serde(default)]
    pub error: i64,
    #[serde(rename = "job options")]
    pub options: Option<Options>,
    pub read: Option<Direction>,
    pub write: Option<Direction>,
    pub trim: Option<Direction>,
    pub mixed: Option<IgnoredAny>,
    pub sync: Option<Sync>,
}

#[derive(Deserialize)]
pub(crate) struct Direction {
    #[serde(default)]
    pub io_bytes: f64,
    pub io_kbytes: Option<f64>,
    pub bw_bytes: Option<f64>,
    /// KiB a second.
    #[serde(default)]
    pub bw: f64,
    #[serde(default)]
    pub iops: f64,
    /// Run time in milliseconds.
    #[serde(default)]
    pub runtime: f64,
    pub total_ios: Option<f64>,
    pub lat_ns: Option<Latency>,
    pub clat_ns: Option<Latency>,
    /// Latency in microseconds.
    pub lat: Option<Latency>,
    /// Completion latency in microseconds.
    pub clat: Option<Latency>,
}

/// Latencies of flushes.
#[derive(Deserialize)]
pub(crate) struct Sync {
    #[serde(default)]
    pub total_ios: f64,
    pub lat_ns: Option<Latency>,
}

#[derive(Deserialize)]
pub(crate) struct Latency {
    #[serde(default)]
    pub min: f64,
    #[serde(default)]
    pub max: f64,
    #[serde(default)]
    pub mean: f64,
    #[serde(default)]
    pub stddev: f64,
    /// fio 2 didn't say.
    #[serde(rename = "N")]
    pub n: Option<f64>,
    pub percentile: Option<BTreeMap<String, f64>>,
    pub bins: Option<Bins>,
}

/// All latencies of `json+`: nanoseconds in the middle of a bucket, and how many.
pub(crate) struct Bins(pub BTreeMap<u64, u64>);

/// fio has some thousand.
const BINS_LIMIT: usize = 65_536;
/// Requests in all bins of a job: 35 years at 1,000 a second. Sums over all jobs that fit in a file stay within 64 bits.
const BINS_TOTAL_LIMIT: u64 = 1 << 40;

impl<'de> Deserialize<'de> for Bins {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Bins, D::Error> {
        deserializer.deserialize_map(BinsVisitor)
    }
}

struct BinsVisitor;

impl<'de> Visitor<'de> for BinsVisitor {
    type Value = Bins;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("counts by nanoseconds")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Bins, A::Error> {
        let mut bins = BTreeMap::new();
        let mut total: u64 = 0;
        while let Some((key, count)) = map.next_entry::<String, u64>()? {
            // fio 2 and 3.0 have numbers of buckets for keys, and say so beside them.
            let Ok(ns) = key.parse::<u64>() else {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                return Ok(Bins(BTreeMap::new()));
            };
            total = total.saturating_add(count);
            bins.insert(ns, count);
            if bins.len() > BINS_LIMIT || total > BINS_TOTAL_LIMIT {
                return Err(A::Error::custom("more latencies than fio can have counted"));
            }
        }
        Ok(Bins(bins))
    }
}
