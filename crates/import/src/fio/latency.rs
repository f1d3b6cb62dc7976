//! Latencies of a job, and of several that ran together.
//!
//! fio has two distributions: `lat` from when a request was made to when it was done, `clat` from when it was handed to
//! the system to when it was done. Percentiles and bins belong to `clat`, or with `lat_percentiles=1` to `lat`. A
//! summary is of one of them, never of both: of the one with percentiles, `clat` by default. With a synchronous engine
//! they differ by fio's own overhead only.

use super::schema::Latency;
use crate::number;
use results::{Histogram, LatencySummary};
use std::collections::BTreeMap;

/// The kind of latency that a distribution measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    Total,
    Completion,
}

/// A distribution of latencies.
#[derive(Clone, Debug, Default)]
pub(crate) struct Latencies {
    n: f64,
    min_ns: f64,
    max_ns: f64,
    mean_ns: f64,
    stddev_ns: f64,
    percentile: BTreeMap<String, u64>,
    /// Count by nanoseconds; `None`: fio didn't write them.
    bins: Option<BTreeMap<u64, u64>>,
}

/// Has percentiles of something.
fn has_percentiles(latency: &Latency) -> bool {
    latency.bins.is_some() || latency.percentile.as_ref().is_some_and(|p| p.values().any(|&ns| ns > 0.0))
}

/// The distribution that is used of the two, and which it is.
pub(crate) fn choose<'a>(
    total: Option<&'a Latency>,
    completion: Option<&'a Latency>,
) -> Option<(Measure, &'a Latency)> {
    let measured = |latency: &&Latency| latency.n != Some(0.0) && latency.max > 0.0;
    let (total, completion) = (total.filter(measured), completion.filter(measured));
    match (total, completion) {
        (Some(total), _) if has_percentiles(total) => Some((Measure::Total, total)),
        (_, Some(completion)) => Some((Measure::Completion, completion)),
        (Some(total), None) => Some((Measure::Total, total)),
        (None, None) => None,
    }
}

impl Latencies {
    /// From fio's figures; `ns` are the nanoseconds of their unit, `requests` how many they are of where fio doesn't say.
    pub fn new(latency: &Latency, ns: f64, requests: f64) -> Latencies {
        let positive = |value: f64| value.max(0.0) * ns;
        let mut percentile = BTreeMap::new();
        for (percent, &value) in latency.percentile.iter().flatten() {
            // `100.000000` is the maximum, which is kept by itself.
            if let Some(percent) = percent.parse::<f64>().ok().filter(|percent| number::PERCENTS.contains(percent)) {
                percentile.insert(LatencySummary::key(percent), positive(value) as u64);
            }
        }
        // Bins of fio 2 are not in nanoseconds.
        let bins = latency.bins.as_ref().map(|bins| bins.0.clone()).filter(|bins| ns == 1.0 && !bins.is_empty());
        Latencies {
            n: latency.n.unwrap_or(requests).max(0.0),
            min_ns: positive(latency.min),
            max_ns: positive(latency.max),
            mean_ns: positive(latency.mean),
            stddev_ns: positive(latency.stddev),
            percentile,
            bins,
        }
    }

    /// Merges the distributions of jobs that ran together. Percentiles come from bins; where a job has none the sum has
    /// no percentiles, as those of parts say nothing about those of the whole.
    pub fn merged(parts: &[Latencies]) -> Latencies {
        let parts: Vec<&Latencies> = parts.iter().filter(|part| part.n > 0.0).collect();
        match parts[..] {
            [] => Latencies::default(),
            [only] => only.clone(),
            _ => Latencies::sum(&parts),
        }
    }

    fn sum(parts: &[&Latencies]) -> Latencies {
        let n: f64 = parts.iter().map(|part| part.n).sum();
        let mean_ns = parts.iter().map(|part| part.mean_ns * (part.n / n)).sum::<f64>();
        // The variance of the whole: that within the parts and that between them.
        let variance = parts.iter().map(|part| {
            let apart = part.mean_ns - mean_ns;
            (part.stddev_ns * part.stddev_ns + apart * apart) * (part.n / n)
        });
        let mut bins = parts.iter().all(|part| part.bins.is_some()).then(BTreeMap::new);
        if let Some(bins) = &mut bins {
            for (&ns, &count) in parts.iter().filter_map(|part| part.bins.as_ref()).flatten() {
                *bins.entry(ns).or_insert(0) += count;
            }
        }
        Latencies {
            n,
            min_ns: parts.iter().map(|part| part.min_ns).fold(f64::INFINITY, f64::min),
            max_ns: parts.iter().map(|part| part.max_ns).fold(0.0, f64::max),
            mean_ns,
            stddev_ns: variance.sum::<f64>().sqrt(),
            percentile: BTreeMap::new(),
            bins,
        }
    }

    /// It has values, but nobody can say their percentiles.
    pub fn lost_percentiles(&self) -> bool {
        self.n > 0.0 && self.percentile.is_empty() && self.bins.is_none()
    }

    /// As a review has it.
    pub fn finish(self) -> (LatencySummary, Option<Histogram>) {
        let mut percentile = self.percentile;
        let histogram = self.bins.map(|bins| {
            for (percent, ns) in LatencySummary::PERCENTILES.into_iter().zip(percentiles(&bins)) {
                percentile.entry(LatencySummary::key(percent)).or_insert(ns.min(self.max_ns as u64));
            }
            Histogram::from_counts(bins)
        });
        let summary = LatencySummary {
            min: self.min_ns as u64,
            max: self.max_ns as u64,
            mean: finite(self.mean_ns),
            stddev: finite(self.stddev_ns),
            n: self.n as u64,
            percentile,
        };
        (summary, histogram)
    }
}

/// Figures of broken files may be as large as numbers go; JSON has no infinity.
fn finite(value: f64) -> f64 {
    if value.is_finite() { value } else { 0.0 }
}

/// [`LatencySummary::PERCENTILES`], as fio finds its own.
fn percentiles(bins: &BTreeMap<u64, u64>) -> Vec<u64> {
    let total: u64 = bins.values().sum();
    let mut bins = bins.iter();
    let (mut at, mut seen) = (0, 0);
    let mut found = Vec::new();
    // Percents rise, so one walk over the bins finds all.
    for percent in LatencySummary::PERCENTILES {
        let wanted = (total as f64 * percent / 100.0).ceil().max(1.0) as u64;
        while seen < wanted {
            let Some((&ns, &count)) = bins.next() else { break };
            (at, seen) = (ns, seen + count);
        }
        found.push(at);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[u64]) -> Latencies {
        let mean = values.iter().sum::<u64>() as f64 / values.len() as f64;
        let variance = values.iter().map(|&v| (v as f64 - mean).powi(2)).sum::<f64>() / values.len() as f64;
        let mut bins = BTreeMap::new();
        values.iter().for_each(|&v| *bins.entry(v).or_insert(0) += 1);
        Latencies {
            n: values.len() as f64,
            min_ns: *values.iter().min().unwrap() as f64,
            max_ns: *values.iter().max().unwrap() as f64,
            mean_ns: mean,
            stddev_ns: variance.sqrt(),
            percentile: BTreeMap::new(),
            bins: Some(bins),
        }
    }

    #[test]
    fn merged_jobs_have_the_figures_of_all_their_requests() {
        let (a, b): (Vec<u64>, Vec<u64>) = ((1..=1_000).collect(), (5_000..5_100).collect());
        let merged = Latencies::merged(&[of(&a), of(&b)]).finish();
        let whole = of(&[a, b].concat()).finish();
        assert!((merged.0.stddev - whole.0.stddev).abs() < 1e-6 && (merged.0.mean - whole.0.mean).abs() < 1e-9);
        assert_eq!(merged.0.percentile, whole.0.percentile);
        assert_eq!(merged.1, whole.1);
        assert_eq!((merged.0.min, merged.0.max, merged.0.n), (1, 5_099, 1_100));
    }

    #[test]
    fn without_bins_merged_jobs_have_no_percentiles() {
        let part = || Latencies { bins: None, percentile: [("50.000000".into(), 7)].into(), ..of(&[1, 2, 3]) };
        let merged = Latencies::merged(&[part(), of(&[4])]);
        assert!(merged.lost_percentiles());
        assert!(merged.finish().0.percentile.is_empty());
        assert!(!Latencies::merged(&[part(), Latencies::default()]).lost_percentiles());
    }
}
