//! A log with a line for each interval.
//!
//! It has no percentiles. Nor does it say how many clients there were; but without `-R` a client always has a
//! transaction under way, so clients are what latencies of an interval add up to over its length (Little's law).
//! pgbench begins somewhere inside its first interval, so that one is left out; its last line is of a whole one.

use super::line::Interval;
use super::sum::{RUN_LIMIT_S, Sum};
use crate::Problem;
use results::{IoClass, LatencySummary, SeriesRow};
use std::collections::BTreeMap;

/// The intervals read so far.
#[derive(Default)]
pub(crate) struct Intervals {
    /// Whole intervals of all files, by their start.
    whole: BTreeMap<u64, Interval>,
    /// The first of each file.
    begun: BTreeMap<u64, Interval>,
    /// Start of the line before, in this file.
    before_s: Option<u64>,
    /// The smallest step inside a file. Threads may begin in different seconds, so files are not compared.
    length_s: Option<u64>,
    files: u32,
}

impl Intervals {
    pub fn is_empty(&self) -> bool {
        self.begun.is_empty()
    }

    pub fn begin_file(&mut self) {
        self.before_s = None;
        self.files = self.files.saturating_add(1);
    }

    pub fn add(&mut self, line: Interval) -> Result<(), Problem> {
        let first = self.begun.first_key_value().map_or(line.start_s, |(&start, _)| start);
        let far = line.start_s.abs_diff(first);
        if far > RUN_LIMIT_S {
            return Err(Problem::FarAway { seconds: far, limit: RUN_LIMIT_S });
        }
        match self.before_s.replace(line.start_s) {
            None => merge(&mut self.begun, line),
            Some(before) => {
                let step = line.start_s.abs_diff(before).max(1);
                self.length_s = Some(self.length_s.map_or(step, |length| length.min(step)));
                merge(&mut self.whole, line);
            }
        }
        Ok(())
    }

    pub fn finish(self) -> Result<Sum, Problem> {
        // pgbench writes lines of intervals without transactions too, so the smallest step is the interval.
        let length_s = self.length_s.unwrap_or(1);
        let mut notes = vec!["a log by interval has no percentiles".to_string()];
        let intervals = if self.whole.is_empty() {
            notes.push("one interval, taken to be a whole second".into());
            self.begun
        } else {
            notes.push("without the first interval, of which pgbench ran a part".into());
            self.whole
        };
        let (first, last) = ends(&intervals);
        let seconds = (last - first + length_s) as f64;
        let lines = intervals.values();
        let total_ios: u64 = lines.clone().map(|line| line.transactions).fold(0, u64::saturating_add);
        if total_ios == 0 {
            return Err(Problem::NothingMeasured);
        }
        let n = total_ios as f64;
        let sum_us: f64 = lines.clone().map(|line| line.sum_us).sum();
        let mean_us = sum_us / n;
        let variance = lines.clone().map(|line| line.sum_squares_us).sum::<f64>() / n - mean_us * mean_us;
        let busy = || lines.clone().filter(|line| line.transactions > 0);
        let lat_ns = LatencySummary {
            min: busy().map(|line| line.min_us).min().unwrap_or(0).saturating_mul(1_000),
            max: busy().map(|line| line.max_us).max().unwrap_or(0).saturating_mul(1_000),
            mean: mean_us * 1e3,
            stddev: variance.max(0.0).sqrt() * 1e3,
            n: total_ios,
            percentile: BTreeMap::new(),
        };
        // Each of pgbench's threads has a log, and at least a client.
        let clients = ((sum_us / 1e6 / seconds).round() as u32).max(self.files);
        notes.push("clients are transactions under way, as the log doesn't say (with -R there may be more)".into());
        let series = (first..=last).step_by(length_s as usize).map(|start| {
            let inside = || intervals.range(start..start + length_s).map(|(_, line)| line);
            SeriesRow {
                t_s: (start - first + length_s) as f64,
                iops: inside().map(|line| line.transactions as f64).sum::<f64>() / length_s as f64,
                lat_max_ns: inside().map(|line| line.max_us).max().unwrap_or(0).saturating_mul(1_000),
                ..SeriesRow::default()
            }
        });
        Ok(Sum {
            clients,
            seconds,
            start_s: first,
            transactions: IoClass { total_ios, iops: n / seconds, lat_ns, ..IoClass::default() },
            series: series.collect(),
            notes,
        })
    }
}

/// Lines of several threads that begin together.
fn merge(intervals: &mut BTreeMap<u64, Interval>, line: Interval) {
    let sum = |sum: &mut Interval| {
        (sum.min_us, sum.max_us) = match (sum.transactions, line.transactions) {
            (_, 0) => (sum.min_us, sum.max_us),
            (0, _) => (line.min_us, line.max_us),
            _ => (sum.min_us.min(line.min_us), sum.max_us.max(line.max_us)),
        };
        sum.transactions = sum.transactions.saturating_add(line.transactions);
        sum.sum_us += line.sum_us;
        sum.sum_squares_us += line.sum_squares_us;
    };
    intervals.entry(line.start_s).and_modify(sum).or_insert(line);
}

/// The first and the last start.
fn ends(intervals: &BTreeMap<u64, Interval>) -> (u64, u64) {
    let end = |found: Option<(&u64, &Interval)>| found.map_or(0, |(&start, _)| start);
    (end(intervals.first_key_value()), end(intervals.last_key_value()))
}
