//! Causes of slow requests.

use device::{Cause, Parts};
use results::{TailBand, TailReport};
use std::collections::BTreeMap;

/// Slowest requests that are listed one by one.
const SLOWEST: usize = 10;
/// Requests of each class that are kept for the percentile bands. Beyond it every second one is dropped and from then
/// on only every second (fourth …) is taken, which keeps an even sample.
const SAMPLE: usize = 1 << 16;

/// Borders of the bands, in percent.
const BANDS: [(f64, f64, &str); 6] = [
    (0.0, 50.0, "p0-p50"),
    (50.0, 90.0, "p50-p90"),
    (90.0, 99.0, "p90-p99"),
    (99.0, 99.9, "p99-p99.9"),
    (99.9, 99.99, "p99.9-p99.99"),
    (99.99, 100.0, "p99.99-max"),
];

#[derive(Clone, Copy, Debug)]
struct Sample {
    lat_ns: u64,
    t_s: f64,
    parts: Parts,
}

/// Requests of one class.
#[derive(Clone, Debug, Default)]
struct Class {
    sample: Vec<Sample>,
    every: u64,
    seen: u64,
    slowest: Vec<Sample>,
}

impl Class {
    fn record(&mut self, sample: Sample) {
        assert_eq!(sample.parts.total_ns(), sample.lat_ns, "the parts of a request do not add up");
        self.every = self.every.max(1);
        if self.seen.is_multiple_of(self.every) {
            if self.sample.len() == SAMPLE {
                let mut keep = false;
                self.sample.retain(|_| {
                    keep = !keep;
                    keep
                });
                self.every *= 2;
            }
            if self.seen.is_multiple_of(self.every) {
                self.sample.push(sample);
            }
        }
        self.seen += 1;
        let place = self.slowest.partition_point(|s| s.lat_ns >= sample.lat_ns);
        if place < SLOWEST {
            self.slowest.insert(place, sample);
            self.slowest.truncate(SLOWEST);
        }
    }
}

/// Collects explained requests.
#[derive(Clone, Debug, Default)]
pub struct Tail {
    classes: BTreeMap<&'static str, Class>,
}

impl Tail {
    /// A finished request of class `read`, `write` or `sync`, submitted `t_s` seconds into the measurement.
    pub fn record(&mut self, class: &'static str, t_s: f64, lat_ns: u64, parts: Parts) {
        self.classes.entry(class).or_default().record(Sample { lat_ns, t_s, parts });
    }

    /// Reports the causes by percentile.
    pub fn report(&self) -> TailReport {
        let mut report = TailReport::default();
        for (class, data) in &self.classes {
            let mut sorted = data.sample.clone();
            sorted.sort_by_key(|s| s.lat_ns);
            let at = |percent: f64| (sorted.len() as f64 * percent / 100.0).round() as usize;
            for (from, to, label) in BANDS {
                let group = &sorted[at(from)..at(to)];
                if !group.is_empty() {
                    report.bands.push(band(class, label, group, None));
                }
            }
            for (i, sample) in data.slowest.iter().enumerate() {
                let label = format!("#{}", i + 1);
                report.slowest.push(band(class, &label, std::slice::from_ref(sample), Some(sample.t_s)));
            }
        }
        report
    }
}

fn band(class: &str, label: &str, group: &[Sample], t_s: Option<f64>) -> TailBand {
    let n = group.len() as f64;
    let mean = |f: &dyn Fn(&Sample) -> u64| group.iter().map(|s| u128::from(f(s))).sum::<u128>() as f64 / n;
    let parts = Cause::ALL
        .iter()
        .map(|&cause| (cause.key().to_string(), mean(&|s| s.parts.get(cause))))
        .filter(|(_, ns)| *ns > 0.0);
    TailBand {
        class: class.to_string(),
        label: label.to_string(),
        requests: group.len() as u64,
        t_s,
        lat_ns: mean(&|s| s.lat_ns),
        parts_ns: parts.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_cover_the_sample_and_parts_add_up() {
        let mut tail = Tail::default();
        for ns in 1..=200_000u64 {
            let mut parts = Parts::default();
            parts.add(Cause::FlashRead, ns / 3);
            parts.add(Cause::Bus, ns - ns / 3);
            tail.record("read", 0.0, ns, parts);
        }
        let report = tail.report();
        assert_eq!(report.bands.len(), 6);
        let requests: u64 = report.bands.iter().map(|b| b.requests).sum();
        assert_eq!(requests, 50_000, "every fourth of 200,000 fits the sample");
        for group in report.bands.iter().chain(&report.slowest) {
            let sum: f64 = group.parts_ns.values().sum();
            assert!((sum - group.lat_ns).abs() < 1e-6 * group.lat_ns);
        }
        let slowest: Vec<f64> = report.slowest.iter().map(|s| s.lat_ns).collect();
        assert_eq!(slowest, (199_991..=200_000).rev().map(f64::from).collect::<Vec<_>>());
    }
}
