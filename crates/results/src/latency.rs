//! Latency histograms, recorded in nanoseconds.

use crate::Histogram;
use hdrhistogram::Histogram as Hdr;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Records latencies; three significant digits, exact minimum, maximum, mean and standard deviation.
#[derive(Clone, Debug)]
pub struct LatencyRecorder {
    histogram: Hdr<u64>,
    min_ns: u64,
    max_ns: u64,
    sum_ns: u128,
    sum_squares: f64,
}

impl Default for LatencyRecorder {
    fn default() -> Self {
        LatencyRecorder::new()
    }
}

impl LatencyRecorder {
    /// An empty recorder.
    pub fn new() -> LatencyRecorder {
        let histogram = Hdr::new(3).expect("3 significant digits are valid");
        LatencyRecorder { histogram, min_ns: u64::MAX, max_ns: 0, sum_ns: 0, sum_squares: 0.0 }
    }

    /// Records one latency.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        // An auto-resizing histogram takes any value.
        self.histogram.record(ns).expect("histogram resizes");
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
        self.sum_ns += u128::from(ns);
        self.sum_squares += ns as f64 * ns as f64;
    }

    /// Adds another recorder's values.
    pub fn merge(&mut self, other: &LatencyRecorder) {
        self.histogram.add(&other.histogram).expect("histogram resizes");
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        self.sum_ns += other.sum_ns;
        self.sum_squares += other.sum_squares;
    }

    /// Returns the number of recorded values.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// The longest; 0 when nothing was recorded.
    pub fn max_ns(&self) -> u64 {
        self.max_ns
    }

    /// Mean; 0 when nothing was recorded.
    pub fn mean_ns(&self) -> f64 {
        if self.count() == 0 { 0.0 } else { self.sum_ns as f64 / self.count() as f64 }
    }

    /// Latency below which `percent` of the values lie.
    pub fn percentile_ns(&self, percent: f64) -> u64 {
        if self.count() == 0 { 0 } else { self.histogram.value_at_percentile(percent).min(self.max_ns) }
    }

    /// All latencies, in coarser buckets than those recorded.
    pub fn histogram(&self) -> Histogram {
        Histogram::from_counts(
            self.histogram.iter_recorded().map(|v| (v.value_iterated_to().min(self.max_ns), v.count_at_value())),
        )
    }

    /// fio's `lat_ns` object.
    pub fn summary(&self) -> LatencySummary {
        let n = self.count();
        let mean = self.mean_ns();
        let variance = if n == 0 { 0.0 } else { (self.sum_squares / n as f64 - mean * mean).max(0.0) };
        let percentile = if n == 0 {
            BTreeMap::new()
        } else {
            LatencySummary::PERCENTILES.iter().map(|&p| (LatencySummary::key(p), self.percentile_ns(p))).collect()
        };
        LatencySummary {
            min: if n == 0 { 0 } else { self.min_ns },
            max: self.max_ns,
            mean,
            stddev: variance.sqrt(),
            n,
            percentile,
        }
    }
}

/// Latencies in nanoseconds with fio's keys.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LatencySummary {
    /// The shortest latency.
    pub min: u64,
    /// The longest latency.
    pub max: u64,
    /// Mean of all latencies.
    pub mean: f64,
    /// Standard deviation of all latencies.
    pub stddev: f64,
    /// Number of latencies.
    #[serde(rename = "N")]
    pub n: u64,
    /// By percent, six decimals (`"95.000000"`); empty when there are no values.
    pub percentile: BTreeMap<String, u64>,
}

impl LatencySummary {
    /// The percentiles that are reported, in percent.
    pub const PERCENTILES: [f64; 10] = [1.0, 5.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99];

    /// The JSON key of a percentile.
    pub fn key(percent: f64) -> String {
        format!("{percent:09.6}")
    }

    /// A reported percentile; 0 when there are no values.
    pub fn at(&self, percent: f64) -> u64 {
        self.percentile.get(&LatencySummary::key(percent)).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_holds_exact_extremes_and_percentiles_within_a_thousandth() {
        let mut recorder = LatencyRecorder::new();
        (1..=100_000u64).for_each(|ns| recorder.record(ns));
        let summary = recorder.summary();
        assert_eq!((summary.min, summary.max, summary.n), (1, 100_000, 100_000));
        assert!((summary.mean - 50_000.5).abs() < 1e-6);
        assert!((summary.stddev - 28_867.5).abs() < 1.0);
        assert!((summary.at(95.0) as f64 / 95_000.0 - 1.0).abs() < 2e-3);
        assert!(summary.percentile.contains_key("95.000000") && summary.percentile.contains_key("01.000000"));
    }
}
