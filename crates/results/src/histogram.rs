//! A latency distribution that can be written down, merged and drawn.

use serde::{Deserialize, Serialize};

/// Counts in buckets of latency. A bucket of at least 64 ns is no wider than 1/32 of its lower end, so a percentile read
/// from it is at most 3.2 % too high.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Histogram {
    /// Largest latency of each bucket that is not empty, rising, nanoseconds.
    pub upper_ns: Vec<u64>,
    /// Values in it.
    pub counts: Vec<u64>,
}

/// Buckets an octave.
const STEPS: u64 = 32;

impl Histogram {
    /// The largest latency of the bucket that `ns` falls into.
    pub fn bucket_upper_ns(ns: u64) -> u64 {
        if ns < 2 * STEPS {
            return ns;
        }
        let width = 1u64 << (ns.ilog2() - STEPS.ilog2());
        (ns | (width - 1)).max(ns)
    }

    /// From pairs of latency and count, by rising latency.
    pub fn from_counts(counts: impl IntoIterator<Item = (u64, u64)>) -> Histogram {
        let mut histogram = Histogram::default();
        for (ns, count) in counts {
            let upper = Histogram::bucket_upper_ns(ns);
            if histogram.upper_ns.last() == Some(&upper) {
                *histogram.counts.last_mut().expect("as long as upper_ns") += count;
            } else if count > 0 {
                assert!(histogram.upper_ns.last().is_none_or(|&last| last < upper), "latencies must rise");
                histogram.upper_ns.push(upper);
                histogram.counts.push(count);
            }
        }
        histogram
    }

    /// Values in all buckets.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Latency below or at which `percent` of the values lie; 0 when there are none.
    pub fn percentile_ns(&self, percent: f64) -> u64 {
        let wanted = (self.total() as f64 * percent / 100.0).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (&upper, &count) in self.upper_ns.iter().zip(&self.counts) {
            seen += count;
            if seen >= wanted {
                return upper;
            }
        }
        self.upper_ns.last().copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_hold_every_value_within_a_thirty_second() {
        let mut last = 0;
        for ns in (0..100_000).chain([1 << 40, (1 << 40) + 12_345, u64::MAX]) {
            let upper = Histogram::bucket_upper_ns(ns);
            assert!(upper >= ns && upper >= last);
            assert!(upper - ns <= ns / 32, "{ns} {upper}");
            last = upper;
        }
    }

    #[test]
    fn percentiles_are_those_of_the_values() {
        let histogram = Histogram::from_counts((1..=100_000).map(|ns| (ns, 1)));
        assert_eq!(histogram.total(), 100_000);
        for (percent, exact) in [(1.0, 1_000.0), (50.0, 50_000.0), (99.9, 99_900.0), (100.0, 100_000.0)] {
            let ratio = histogram.percentile_ns(percent) as f64 / exact;
            assert!((1.0..=1.033).contains(&ratio), "{percent} % {ratio}");
        }
        assert_eq!(Histogram::default().percentile_ns(99.0), 0);
    }
}
