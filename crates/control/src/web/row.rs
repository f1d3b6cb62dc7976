//! A second of a card: its requests, and the work of its flash.

use crate::spread::{between, percentiles};
use device::{Cause, Parts, SECTOR_BYTES};
use live::{Explained, Explanation, Kind, Snapshot, Status};
use serde::Serialize;
use std::time::Duration;

/// Shares of requests whose latency is shown; the last one is the slowest.
const SHARES: [f64; 4] = [0.5, 0.99, 0.999, 1.0];
/// Requests of a second of which the slowest hundredth means something.
const ENOUGH: u64 = 100;

/// A second of a card. The names are short, because a page gets fifteen minutes of them.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    /// The end of the second, in milliseconds of the Unix epoch.
    pub t: u64,
    /// Requests by kind, in the order of [`Kind::ALL`].
    pub ops: [Op; Kind::ALL.len()],
    /// Bands that are erased.
    pub free: u32,
    /// Bytes programmed a second, by cause.
    pub wrote: Wrote,
    /// Share of the user capacity that holds something.
    pub fill: f64,
}

/// Requests of one kind.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Op {
    /// Answered a second.
    n: u64,
    /// Bytes a second.
    b: u64,
    /// Latencies in nanoseconds that half, 99 %, 99.9 % and all did not exceed.
    #[serde(skip_serializing_if = "Option::is_none")]
    p: Option<[u64; SHARES.len()]>,
    /// Where the time of a request went on average: the number of a cause and its nanoseconds, in turn.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    why: Vec<u64>,
    /// The same of the requests that were slower than 99 % of those of the second before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    slow: Vec<u64>,
}

/// Bytes programmed in a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Wrote {
    /// For the host.
    host: u64,
    /// By garbage collection.
    moved: u64,
    /// Parity, padding, summaries and checkpoints.
    other: u64,
}

impl Row {
    /// The second between two moments of a card; `t` is the end of it.
    pub fn of(before: &Snapshot, now: &Snapshot, took: Duration, t: u64) -> Row {
        let ops = std::array::from_fn(|kind| Op::of(before, now, kind, took));
        let wrote = Wrote::of(&before.status, &now.status, took);
        Row { t, ops, free: now.status.free_bands, wrote, fill: (now.status.fill * 1e4).round() / 1e4 }
    }

    /// The latency by kind above which a request of the next second is a slow one.
    pub fn slow_above(&self) -> [u64; Kind::ALL.len()] {
        self.ops.each_ref().map(|op| op.p.filter(|_| op.n >= ENOUGH).map_or(u64::MAX, |[_, p99, ..]| p99))
    }
}

impl Op {
    fn of(before: &Snapshot, now: &Snapshot, kind: usize, took: Duration) -> Op {
        let came = between(&before.recorded[kind], &now.recorded[kind]);
        let bytes = now.latencies[kind].bytes.saturating_sub(before.latencies[kind].bytes);
        let [was, is] = [before, now].map(|of| of.explanations[kind]);
        Op {
            n: per_second(came.iter().map(|(_, count)| count).sum(), took),
            b: per_second(bytes, took),
            p: percentiles(&came, SHARES),
            why: mean(&was, &is, |of| of.all),
            slow: mean(&was, &is, |of| of.slow),
        }
    }
}

fn per_second(count: u64, took: Duration) -> u64 {
    (count as f64 / took.as_secs_f64().max(1e-3)).round() as u64
}

/// Where the time of a request went on average, between two moments.
fn mean(before: &Explanation, now: &Explanation, of: fn(&Explanation) -> Explained) -> Vec<u64> {
    let (before, now) = (of(before), of(now));
    let requests = now.requests.saturating_sub(before.requests);
    let spent = |parts: &Parts, cause| parts.get(cause);
    let parts = Cause::ALL.into_iter().enumerate().filter_map(|(number, cause)| {
        let ns = spent(&now.parts, cause).saturating_sub(spent(&before.parts, cause));
        let each = ns.checked_div(requests)?;
        (each > 0).then_some([number as u64, each])
    });
    parts.flatten().collect()
}

impl Wrote {
    fn of(before: &Status, now: &Status, took: Duration) -> Wrote {
        // A card that was started anew counts from the beginning.
        let is_anew = now.host_sectors < before.host_sectors;
        let rate = |of: fn(&Status) -> u64| {
            let before = if is_anew { 0 } else { of(before) };
            per_second(of(now).saturating_sub(before) * SECTOR_BYTES, took)
        };
        Wrote {
            host: rate(|status| status.host_sectors),
            moved: rate(|status| status.relocated_sectors),
            other: rate(|status| status.parity_sectors + status.padding_sectors + status.metadata_sectors),
        }
    }
}
