//! Threads that get nearly all of what a device gives.

use super::claim::claim;
use crate::words::axis_value;
use results::words::three_digits;
use results::{Axis, Claim, Point, ReviewResult, Tone};

/// Share of the most that counts as nearly all.
pub(super) const NEARLY_ALL: f64 = 0.9;

/// Where throughput no longer rises with the threads.
#[derive(Clone, Copy)]
pub(super) struct Knee<'a> {
    /// The fewest threads that get nearly all.
    pub knee: &'a Point,
    /// The most that was measured.
    pub best: &'a Point,
}

/// The knee of a sweep over threads that has more than one point.
pub(super) fn knee<'a>(result: &'a ReviewResult, sweep: &str) -> Option<Knee<'a>> {
    knee_of(&result.sweep(sweep)?.points)
}

/// The knee of points over threads, where there is more than one.
pub(super) fn knee_of(points: &[Point]) -> Option<Knee<'_>> {
    let best = points.iter().max_by(|a, b| a.iops().total_cmp(&b.iops())).filter(|best| best.iops() > 0.0)?;
    let knee = points.iter().find(|p| p.iops() >= NEARLY_ALL * best.iops())?;
    (points.len() > 1).then_some(Knee { knee, best })
}

/// Claims the number of threads that get nearly all of it.
pub(super) fn scaling(result: &ReviewResult) -> Option<Claim> {
    let words = |Knee { knee, best }: Knee, what: &str| {
        let from = axis_value(Axis::Threads, knee.x);
        format!("{what} {} a second, nine tenths of it from {from} on", three_digits(best.iops()))
    };
    let (reads, writes) = (knee(result, "threads-rndrd"), knee(result, "threads-rndwr"));
    let parts: Vec<String> =
        [reads.map(|k| words(k, "reads")), writes.map(|k| words(k, "writes"))].into_iter().flatten().collect();
    if parts.is_empty() {
        return None;
    }
    let chart = if reads.is_some() { "threads-rndrd" } else { "threads-rndwr" };
    Some(claim("threads", Tone::Neutral, format!("Random 16 KiB: {}.", parts.join("; ")), chart))
}
