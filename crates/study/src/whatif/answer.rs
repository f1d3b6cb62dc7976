//! The parts of a run's result that answer a question.

use results::{Histogram, IoClass, LatencySummary, RunResult, WhatifAnswer, WhatifLatency};
use std::collections::BTreeMap;

/// The answer that a run gives; the run kept its histograms.
pub(crate) fn answer(run: &RunResult) -> WhatifAnswer {
    let (read, write) = (&run.read, &run.write);
    let of = |class: &IoClass| (class.total_ios > 0).then(|| latency(&class.lat_ns));
    let flash = run.flash.as_ref();
    WhatifAnswer {
        bw_bytes: read.bw_bytes + write.bw_bytes,
        iops: read.iops + write.iops,
        lat_ns: both(read, write),
        read_lat_ns: of(read),
        write_lat_ns: of(write),
        waf: flash.filter(|flash| flash.host_pages > 0).map(|flash| flash.waf),
        hit_rate: run.cache.as_ref().map(|cache| cache.hit_rate),
        years_at_rating: run.cache.as_ref().and_then(|cache| cache.years_at_rating),
        effective_spare_factor: flash.map(|flash| flash.effective_spare_factor),
        steady: run.steady_state.as_ref().is_some_and(|steady| steady.attained),
        virtual_seconds: run.sim.map_or(0.0, |sim| sim.virtual_seconds),
    }
}

fn latency(lat: &LatencySummary) -> WhatifLatency {
    WhatifLatency { mean: lat.mean, p50: lat.at(50.0), p99: lat.at(99.0), p99_9: lat.at(99.9) }
}

/// Merges all requests: exact where there is one kind of them, else from the merged histograms, whose percentiles are
/// at most 3.2 % too high.
fn both(read: &IoClass, write: &IoClass) -> WhatifLatency {
    if write.total_ios == 0 {
        return latency(&read.lat_ns);
    }
    if read.total_ios == 0 {
        return latency(&write.lat_ns);
    }
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    for histogram in [read, write].into_iter().filter_map(|class| class.histogram.as_ref()) {
        for (&upper, &count) in histogram.upper_ns.iter().zip(&histogram.counts) {
            *counts.entry(upper).or_default() += count;
        }
    }
    let merged = Histogram::from_counts(counts);
    let sum = |class: &IoClass| class.lat_ns.mean * class.total_ios as f64;
    WhatifLatency {
        mean: (sum(read) + sum(write)) / (read.total_ios + write.total_ios) as f64,
        p50: merged.percentile_ns(50.0),
        p99: merged.percentile_ns(99.0),
        p99_9: merged.percentile_ns(99.9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(latencies: impl Iterator<Item = u64> + Clone) -> IoClass {
        let mut recorder = results::LatencyRecorder::new();
        latencies.for_each(|ns| recorder.record(ns));
        IoClass {
            total_ios: recorder.count(),
            lat_ns: recorder.summary(),
            histogram: Some(recorder.histogram()),
            ..IoClass::default()
        }
    }

    #[test]
    fn latencies_of_a_mix_are_those_of_all_its_requests() {
        let (fast, slow) = (class(1..=60_000), class(100_001..=140_000));
        let both = both(&fast, &slow);
        // 100,000 requests: the middle one is the 50,000th, the 99 % one the 39,000th of the slow ones.
        for (found, exact) in [(both.p50, 50_000.0), (both.p99, 139_000.0), (both.p99_9, 139_900.0)] {
            assert!((1.0..1.033).contains(&(found as f64 / exact)), "{found} {exact}");
        }
        assert!((both.mean - (0.6 * 30_000.5 + 0.4 * 120_000.5)).abs() < 1e-6);
    }

    #[test]
    fn latencies_of_one_kind_are_its_own() {
        let (some, none) = (class(1..=1_000), IoClass::default());
        assert_eq!(both(&some, &none), latency(&some.lat_ns));
        assert_eq!(both(&none, &some), latency(&some.lat_ns));
    }
}
