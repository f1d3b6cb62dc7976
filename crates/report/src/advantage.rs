//! Each figure, each device, and what one has over the other: `B over A: +37 %`.
//!
//! For the page and for the terminal. A row never mixes points whose x differ, nor, where both say so, points of another
//! block size or another share in use.

pub use crate::row::{AdvantageRow, Better, RowUnit};

use crate::buffered::is_buffered;
use crate::database_rows;
use crate::devices::{Devices, positive};
use crate::figures::{FULL, THREADS, best_iops, kept, price_per_gb, worst_response_ns};
use crate::sections::x_axis;
use crate::unit::Unit;
use results::{Axis, IoClass, Pace, Point, ReviewResult};

/// All figures that at least one device has.
#[derive(Clone, Debug, PartialEq)]
pub struct AdvantageTable {
    /// Names, each once.
    pub devices: Vec<String>,
    /// Devices whose figures the page cache has part in: nothing is better than them or worse.
    pub buffered: Vec<bool>,
    /// In the order of the page.
    pub rows: Vec<AdvantageRow>,
}

impl AdvantageTable {
    /// Returns whether a figure is the device's own, and may be better than another or worse.
    pub fn counts(&self, row: &AdvantageRow, device: usize) -> bool {
        !self.buffered[device] && !row.limited[device]
    }

    /// Returns whether any figure that is there was limited by the machine that asked.
    pub fn is_limited(&self) -> bool {
        let limited = |row: &AdvantageRow| {
            row.limited.iter().zip(&row.values).any(|(limited, value)| *limited && value.is_some())
        };
        self.rows.iter().any(limited)
    }
}

const BY_FILL: &str = "Random writes by space in use";
const OVER_TIME: &str = "Random writes over time";
const PRICE: &str = "Price";

/// A figure of a point.
type Metric = (&'static str, Unit, Better, fn(&Point) -> Option<f64>);

const BANDWIDTH: Metric = ("throughput", Unit::BytesPerSecond, Better::Higher, |p| positive(p.bw_bytes()));
const REQUESTS: Metric = ("requests", Unit::Iops, Better::Higher, |p| positive(p.iops()));
const READ_P50: Metric = ("p50 of reads", Unit::Nanoseconds, Better::Lower, |p| percentile(&p.read, 50.0));
const READ_P99: Metric = ("p99 of reads", Unit::Nanoseconds, Better::Lower, |p| percentile(&p.read, 99.0));
const READ_P999: Metric = ("p99.9 of reads", Unit::Nanoseconds, Better::Lower, |p| percentile(&p.read, 99.9));
const WRITE_P99: Metric = ("p99 of writes", Unit::Nanoseconds, Better::Lower, |p| percentile(&p.write, 99.0));
const WRITE_P999: Metric = ("p99.9 of writes", Unit::Nanoseconds, Better::Lower, |p| percentile(&p.write, 99.9));
const SYNC_P99: Metric = ("p99 of syncs", Unit::Nanoseconds, Better::Lower, |p| percentile(&p.sync, 99.0));
const SYNCS: Metric = ("syncs", Unit::Iops, Better::Higher, |p| positive(p.sync.iops));
const READS: Metric = ("reads", Unit::Iops, Better::Higher, |p| positive(p.read.iops));
const LOG: Metric = ("log writes", Unit::BytesPerSecond, Better::Higher, |p| positive(p.write.bw_bytes));
const WAF: Metric = ("write amplification", Unit::Ratio, Better::Lower, |p| p.waf.and_then(positive));

fn percentile(class: &IoClass, percent: f64) -> Option<f64> {
    positive(class.lat_ns.at(percent) as f64)
}

/// Returns a sweep's title, and its figures that count.
fn metrics(sweep: &str) -> (Option<&'static str>, &'static [Metric]) {
    match sweep {
        "threads-rndrd" => (Some("Random reads"), &[REQUESTS, READ_P99]),
        "threads-rndwr" => (Some("Random writes"), &[REQUESTS, WRITE_P99]),
        "threads-rndrw" => (Some("Random reads and writes"), &[REQUESTS, READ_P99, WRITE_P99]),
        "threads-seqrd" => (Some("Sequential reads"), &[BANDWIDTH, READ_P99]),
        "threads-seqrewr" => (Some("Sequential overwrites"), &[BANDWIDTH, WRITE_P99]),
        "fill" => (Some(BY_FILL), &[BANDWIDTH, WRITE_P99, WAF]),
        "blocks-rndrd" => (Some("Random reads by block size"), &[BANDWIDTH, READ_P99]),
        "blocks-rndwr" => (Some("Random writes by block size"), &[BANDWIDTH, WRITE_P99]),
        "mix" => (Some("Mix of reads and writes"), &[REQUESTS, READ_P99, WRITE_P99]),
        "rate" => (Some("At a fixed rate, each of its own most"), &[READ_P50, READ_P999, WRITE_P999]),
        "sync" => (Some("Writes with syncs"), &[SYNCS, SYNC_P99]),
        "redo" => (Some("Redo log beside random reads"), &[LOG, SYNC_P99, READS, READ_P99]),
        _ => (None, &[BANDWIDTH, READ_P99, WRITE_P99]),
    }
}

/// State that tells points at the same x apart: bytes of a block, share in use. None: not known.
#[derive(Clone, Copy, PartialEq)]
struct State {
    block: Option<u64>,
    fill: Option<f64>,
}

impl State {
    fn of(point: &Point, axis: Axis) -> State {
        let block = point.load.get("block_bytes").and_then(|b| b.as_u64());
        State {
            block: block.filter(|_| axis != Axis::BlockBytes),
            fill: positive(point.fill).filter(|_| axis != Axis::FillPercent),
        }
    }

    /// Nothing that both say contradicts.
    fn agrees(self, other: State) -> bool {
        let blocks = self.block.zip(other.block).is_none_or(|(a, b)| a == b);
        blocks && self.fill.zip(other.fill).is_none_or(|(a, b)| (a - b).abs() <= 0.02)
    }

    fn words(self) -> String {
        let block = self.block.map(|b| format!(", {} blocks", Unit::BlockBytes.show(b as f64)));
        let fill = self.fill.map(|f| format!(", {} full", Unit::Percent.show(f * 100.0)));
        block.into_iter().chain(fill).collect()
    }
}

/// The points at one x in groups that may be compared, with what tells the groups apart.
pub(crate) fn groups<'a>(points: &[Option<&'a Point>], axis: Axis) -> Vec<(String, Vec<Option<&'a Point>>)> {
    let states: Vec<Option<State>> = points.iter().map(|p| p.map(|p| State::of(p, axis))).collect();
    let known = || states.iter().flatten();
    if known().all(|a| known().all(|b| a.agrees(*b))) {
        let all = |says: fn(&State) -> bool| known().all(says) || !known().any(says);
        let told = all(|s| s.block.is_some()) && all(|s| s.fill.is_some());
        let words = if told { "" } else { " (block size or fill not known of all)" };
        return vec![(words.into(), points.to_vec())];
    }
    // A result that does not say in which state it was measured is on its own: it agrees with everybody, and they do
    // not.
    let mut distinct: Vec<State> = Vec::new();
    for state in known() {
        if !distinct.iter().any(|d| {
            d.agrees(*state) && d.block.is_some() == state.block.is_some() && d.fill.is_some() == state.fill.is_some()
        }) {
            distinct.push(*state);
        }
    }
    let mut taken = vec![false; points.len()];
    let mut of = |state: &State| {
        let same = |s: &State| {
            s.agrees(*state) && s.block.is_some() == state.block.is_some() && s.fill.is_some() == state.fill.is_some()
        };
        let member = |i: usize| states[i].as_ref().is_some_and(same) && !std::mem::replace(&mut taken[i], true);
        let members: Vec<bool> = (0..points.len()).map(member).collect();
        (state.words(), points.iter().zip(members).map(|(p, m)| p.filter(|_| m)).collect())
    };
    distinct.iter().map(&mut of).collect()
}

/// Compares devices, the first being what the others are held against.
pub fn table(results: &[&ReviewResult]) -> AdvantageTable {
    let devices = Devices::new(results.to_vec());
    let mut rows = Vec::new();
    for name in devices.sweep_names() {
        let Some(lines) = devices.lines(name) else { continue };
        let first = lines.first();
        let (group, metrics) = metrics(name);
        let group = group.map_or_else(
            || crate::devices::clip(if first.title.trim().is_empty() { name } else { &first.title }, 120),
            String::from,
        );
        let axis = x_axis(first.axis);
        for &x in &lines.xs {
            let mut points = vec![None; results.len()];
            for &(i, sweep) in &lines.sweeps {
                points[i] = crate::devices::at(sweep, x);
            }
            for (state, points) in groups(&points, first.axis) {
                for &(metric, unit, better, value) in metrics {
                    let values: Vec<Option<f64>> = points.iter().map(|p| p.and_then(value)).collect();
                    if values.iter().any(Option::is_some) {
                        rows.push(AdvantageRow {
                            group: group.clone(),
                            label: format!("{} {}{state}, {metric}", axis.unit.show(x), axis.suffix),
                            unit: RowUnit::Known(unit),
                            better,
                            key: is_key(name, x, metric),
                            values,
                            limited: points.iter().map(|p| p.is_some_and(|p| p.limited_by_host)).collect(),
                        });
                    }
                }
            }
        }
    }
    rows.extend(database_rows::rows(results));
    rows.extend(summary_rows(results));
    AdvantageTable {
        devices: devices.iter().map(|(_, name, _)| name.to_string()).collect(),
        buffered: results.iter().map(|result| is_buffered(result)).collect(),
        rows,
    }
}

fn is_key(sweep: &str, x: f64, metric: &str) -> bool {
    match sweep {
        "threads-rndrd" | "threads-rndwr" | "threads-rndrw" => x == THREADS,
        "threads-seqrd" | "threads-seqrewr" => x == THREADS && metric == "throughput",
        "fill" => x >= FULL && metric != "write amplification",
        _ => false,
    }
}

/// Returns whether what a summary is made of was limited by the machine that asked.
fn limited_in(result: &ReviewResult, group: &str) -> bool {
    let sweeps: &[&str] = match group {
        BY_FILL => &["fill"],
        PRICE => &["threads-rndrd", "threads-rndwr"],
        OVER_TIME => return result.timeline.as_ref().is_some_and(|line| line.point.limited_by_host),
        _ => &[],
    };
    let points = sweeps.iter().filter_map(|name| result.sweep(name)).flat_map(|sweep| &sweep.points);
    points.into_iter().any(|point| point.limited_by_host)
}

/// Figures that belong to no point.
fn summary_rows(results: &[&ReviewResult]) -> Vec<AdvantageRow> {
    let mut rows = Vec::new();
    let mut push = |group: &str, label: String, unit, better, values: Vec<Option<f64>>| {
        if values.iter().any(Option::is_some) {
            let limited = results.iter().map(|r| limited_in(r, group)).collect();
            rows.push(AdvantageRow { group: group.into(), label, unit, better, key: true, values, limited });
        }
    };
    // The remaining figure is a ratio of two points: both must be the same for all.
    let mut ends: Vec<(f64, f64)> = results.iter().filter_map(|r| kept(r)).map(|(from, to, _)| (from, to)).collect();
    ends.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    ends.dedup();
    for (from, to) in ends {
        let of = |r: &&ReviewResult| kept(r).filter(|k| (k.0, k.1) == (from, to)).map(|k| k.2 * 100.0);
        let label = format!("kept at {} of what it does at {}", Unit::Percent.show(to), Unit::Percent.show(from));
        let values = results.iter().map(of).collect();
        push(BY_FILL, label, RowUnit::Known(Unit::Percent), Better::Higher, values);
    }
    let timelines: Vec<Option<&Point>> = results.iter().map(|r| r.timeline.as_ref().map(|t| &t.point)).collect();
    for (state, points) in groups(&timelines, Axis::Threads) {
        let values = points.iter().zip(results).map(|(point, r)| point.and_then(|_| worst_response_ns(r))).collect();
        let label = format!("longest response{state}");
        push(OVER_TIME, label, RowUnit::Known(Unit::Nanoseconds), Better::Lower, values);
    }
    let burst = |r: &&ReviewResult| {
        let report = r.burst.as_ref().filter(|report| report.first().is_some())?;
        Some(Point { load: report.load.clone(), fill: r.options.fill, ..Point::default() })
    };
    let bursts: Vec<Option<Point>> = results.iter().map(burst).collect();
    for (state, points) in groups(&bursts.iter().map(Option::as_ref).collect::<Vec<_>>(), Axis::Threads) {
        let paces: Vec<Option<Pace>> = points
            .iter()
            .zip(results)
            .map(|(point, r)| point.and(r.burst.as_ref()).and_then(|report| Some(report.pace(report.first()?))))
            .collect();
        let mut bandwidth = |label: &str, of: fn(&Pace) -> Option<f64>| {
            let values = paces.iter().map(|pace| pace.as_ref().and_then(of).and_then(positive)).collect();
            let (group, unit) = ("Burst into an emptied device", RowUnit::Known(Unit::BytesPerSecond));
            push(group, format!("{label}{state}"), unit, Better::Higher, values);
        };
        bandwidth("at first", |pace| pace.fast_bw_bytes);
        // A device whose throughput never falls is at its end as fast as at first.
        bandwidth("in the end", |pace| pace.slow_bw_bytes.or(pace.fast_bw_bytes));
    }
    let mut currencies: Vec<&str> = results.iter().filter_map(|r| Some(r.price.as_ref()?.currency.as_str())).collect();
    currencies.sort_unstable();
    currencies.dedup();
    for currency in currencies {
        let short = crate::devices::clip(currency, 12);
        let priced = |r: &ReviewResult| r.price.as_ref().filter(|p| p.currency == currency).map(|p| p.amount);
        let per_gb = results.iter().map(|r| priced(r).and_then(|_| price_per_gb(r))).collect();
        push(PRICE, "per GB".into(), RowUnit::Other(short.clone()), Better::Lower, per_gb);
        for (sweep, what) in [("threads-rndrd", "random reads"), ("threads-rndwr", "random writes")] {
            let per = |r: &&ReviewResult| positive(priced(r)? / best_iops(r, sweep)?.0 * 1e3);
            let label = format!("per 1,000 {what} a second, at the best number of threads");
            push(PRICE, label, RowUnit::Other(short.clone()), Better::Lower, results.iter().map(per).collect());
        }
    }
    rows
}
