//! The result of a review, and of a comparison with published measurements.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A review of one device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReviewResult {
    /// Version of this schema.
    pub schema: u32,
    /// What was reviewed.
    pub target: Value,
    /// Who asked.
    pub host: Value,
    /// Root seed.
    pub seed: u64,
    /// Throughput and latency against one thing that was varied.
    pub sweeps: Vec<Sweep>,
    /// Random writes second by second.
    pub timeline: Timeline,
    /// Against what others measured on the device, where anybody published.
    pub comparisons: Vec<Comparison>,
    /// The person stopped it before it was complete.
    pub partial: bool,
    /// Wall-clock seconds.
    pub wall_seconds: f64,
}

/// What varies in a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Axis {
    /// Share of the user capacity in use, percent.
    FillPercent,
    /// Threads with one request each.
    Threads,
}

/// One sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sweep {
    /// Key: `fill`, `rndrd` …
    pub name: String,
    /// For people.
    pub title: String,
    /// What varies.
    pub axis: Axis,
    /// Its points.
    pub points: Vec<SweepPoint>,
}

/// One point of a sweep.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SweepPoint {
    /// On the axis.
    pub x: f64,
    /// Bytes read a second.
    pub read_bw_bytes: f64,
    /// Bytes written a second.
    pub write_bw_bytes: f64,
    /// Requests a second.
    pub iops: f64,
    /// Latencies of the kind of request that the sweep is about (writes of a mix), nanoseconds.
    pub lat_mean_ns: f64,
    /// 95th percentile.
    pub lat_p95_ns: u64,
    /// 99th percentile.
    pub lat_p99_ns: u64,
    /// 99.9th percentile.
    pub lat_p999_ns: u64,
    /// Longest.
    pub lat_max_ns: u64,
    /// Write amplification; absent for disks, 0 where nothing was written.
    pub waf: Option<f64>,
    /// Steady by the rule.
    pub steady: bool,
    /// Measured on the real device at this point, bytes a second.
    pub measured_bw_bytes: Option<f64>,
}

/// Random writes over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// What was run.
    pub title: String,
    /// A row a second.
    pub rows: Vec<crate::SeriesRow>,
    /// Longest response of all, nanoseconds.
    pub lat_max_ns: u64,
    /// Slowest second over the mean of all.
    pub slowest_second: f64,
}

/// Model against a published table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Key, the published file's name without its ending, with the device where a file has several.
    pub name: String,
    /// For people.
    pub title: String,
    /// The card's name.
    pub card: String,
    /// Point by point.
    pub points: Vec<ComparisonPoint>,
    /// Mean of the absolute errors of the points that have one.
    pub mean_error: Option<f64>,
    /// Bound on that mean.
    pub mean_error_bound: Option<f64>,
    /// Every bound holds.
    pub holds: bool,
    /// What a reader should know.
    pub note: String,
}

/// One point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparisonPoint {
    /// What it is: `20 % in use`, `random read, 16 threads`.
    pub label: String,
    /// Unit of both figures.
    pub unit: String,
    /// As published.
    pub published: Published,
    /// By the model.
    pub model: f64,
    /// model / published - 1, where a figure was published.
    pub error: Option<f64>,
    /// The bound on the point holds.
    pub holds: bool,
}

/// What was published about a point.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Published {
    /// A figure; the model must come within `bound` of it.
    Figure {
        /// The figure.
        value: f64,
        /// Largest |error|.
        bound: f64,
    },
    /// At least this.
    AtLeast {
        /// The bound.
        value: f64,
    },
    /// At most this.
    AtMost {
        /// The bound.
        value: f64,
    },
    /// Between both.
    Between {
        /// Lower bound.
        low: f64,
        /// Upper bound.
        high: f64,
    },
}

impl Published {
    /// Whether the model's figure satisfies it, and the error where there is one.
    pub fn judge(&self, model: f64) -> (bool, Option<f64>) {
        match *self {
            Published::Figure { value, bound } => {
                let error = model / value - 1.0;
                (error.abs() <= bound, Some(error))
            }
            Published::AtLeast { value } => (model >= value, None),
            Published::AtMost { value } => (model <= value, None),
            Published::Between { low, high } => ((low..=high).contains(&model), None),
        }
    }
}

impl ComparisonPoint {
    /// Compares.
    pub fn new(label: impl Into<String>, unit: &str, published: Published, model: f64) -> ComparisonPoint {
        let (holds, error) = published.judge(model);
        ComparisonPoint { label: label.into(), unit: unit.into(), published, model, error, holds }
    }
}

impl Comparison {
    /// Judges all points, and their mean error where that is bounded too.
    pub fn new(
        name: &str,
        title: &str,
        card: &str,
        points: Vec<ComparisonPoint>,
        mean_error_bound: Option<f64>,
        note: &str,
    ) -> Comparison {
        let errors: Vec<f64> = points.iter().filter_map(|p| p.error).map(f64::abs).collect();
        let mean_error = (!errors.is_empty()).then(|| errors.iter().sum::<f64>() / errors.len() as f64);
        let mean_holds = match (mean_error, mean_error_bound) {
            (Some(mean), Some(bound)) => mean <= bound,
            _ => true,
        };
        Comparison {
            name: name.into(),
            title: title.into(),
            card: card.into(),
            holds: mean_holds && points.iter().all(|p| p.holds),
            points,
            mean_error,
            mean_error_bound,
            note: note.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comparison_holds_when_every_point_and_the_mean_do() {
        let figure = |model| ComparisonPoint::new("p", "MB/s", Published::Figure { value: 100.0, bound: 0.12 }, model);
        let compare = |points| Comparison::new("t", "t", "c", points, Some(0.07), "");
        assert!(compare(vec![figure(111.0), figure(98.0)]).holds);
        assert!(!compare(vec![figure(113.0), figure(100.0)]).holds, "a point is out");
        assert!(!compare(vec![figure(111.0), figure(91.0)]).holds, "the mean is out");
        assert!(!compare(vec![figure(f64::NAN)]).holds, "no figure is no success");
        let bound = ComparisonPoint::new("p", "ms", Published::AtMost { value: 3.1 }, 3.2);
        assert!(!bound.holds && bound.error.is_none());
    }
}
