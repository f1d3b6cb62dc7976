//! Transactions of a database, computed from measured latencies.
//!
//! The mix is that of `load::OltpConfig`: four selects to one insert or update, on pages of which some lie in the buffer
//! cache. A session waits for its reads one after the other, and for its log where it has written; changed pages are
//! written behind it, and count as the share of writes beside which the reads were measured. The device has no other work.

use load::OltpConfig;
use results::{Point, ReviewResult, Sweep};

/// Requests of a transaction, on average.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Demand {
    /// Sessions at work.
    pub sessions: f64,
    /// Pages that are not in the buffer cache.
    pub reads: f64,
    /// Pages that are changed, and written some time.
    pub writes: f64,
    /// Writes of the log, each with its flush.
    pub commits: f64,
    /// CPU time, nanoseconds.
    pub cpu_ns: f64,
}

impl Demand {
    /// The demand of the usual mix.
    pub fn usual() -> Demand {
        let load = OltpConfig::default();
        let selects = load.select_percent / 100.0;
        let changes = 1.0 - selects;
        let misses = 1.0 - load.cache.bytes as f64 / load.db_bytes as f64;
        let sessions = f64::from(load.sessions);
        let mean = |of_select: f64, of_write: f64| selects * of_select + changes * of_write;
        Demand {
            sessions,
            reads: misses * mean(load.pages_per_select.into(), load.pages_per_write.into()),
            writes: changes * f64::from(load.changed_pages_per_write),
            commits: changes,
            cpu_ns: mean(load.cpu_per_select_ns as f64, load.cpu_per_write_ns as f64)
                + sessions * load.cpu_per_session_ns as f64,
        }
    }

    /// Share of reads among the requests for pages, percent.
    fn read_percent(&self) -> f64 {
        100.0 * self.reads / (self.reads + self.writes)
    }
}

/// Transactions a second of the usual mix, where reads beside writes and a log were measured.
pub(super) fn transactions_s(result: &ReviewResult) -> Option<f64> {
    let demand = Demand::usual();
    let mix = result.sweep("mix")?;
    let percent = demand.read_percent();
    let read_ns = between(mix, percent, |p| p.read.lat_ns.mean)?;
    // Time for a request adds up where the shares of its kinds do: the reciprocal is what lies on a line.
    let requests_s = 1.0 / between(mix, percent, |p| 1.0 / p.iops())?;
    let commit_ns = commit_ns(result)?;
    let transaction_ns = demand.reads * read_ns + demand.commits * commit_ns + demand.cpu_ns;
    let by_waiting = demand.sessions / transaction_ns * 1e9;
    let by_throughput = requests_s / (demand.reads + demand.writes);
    Some(by_waiting.min(by_throughput)).filter(|tps| tps.is_finite() && *tps > 0.0)
}

/// A log write with its flush: beside as many readers as there are sessions, or else alone.
fn commit_ns(result: &ReviewResult) -> Option<f64> {
    let sessions = Demand::usual().sessions;
    let beside = result.sweep("redo").and_then(|redo| redo.points.iter().rfind(|p| p.x <= sessions));
    let point = beside.or_else(|| result.sweep("sync")?.points.first())?;
    Some(point.write.lat_ns.mean + point.sync.lat_ns.mean).filter(|ns| *ns > 0.0)
}

/// A value on the line between the two points around `x` that have reads.
fn between(sweep: &Sweep, x: f64, value: impl Fn(&Point) -> f64) -> Option<f64> {
    let with_reads = || sweep.points.iter().filter(|p| p.read.total_ios > 0);
    let below = with_reads().rfind(|p| p.x <= x)?;
    let above = with_reads().find(|p| p.x >= x)?;
    let share = if above.x > below.x { (x - below.x) / (above.x - below.x) } else { 0.0 };
    Some(value(below) + share * (value(above) - value(below)))
}
