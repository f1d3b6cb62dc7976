//! Figures of a real database on the device.

use super::Section;
use crate::devices::{Devices, clip, positive};
use crate::plot::{Plot, Scale, Series, Table, View, XAxis, YAxis};
use crate::unit::Unit;
use results::{
    CommitPoint, DatabaseActivity, DatabaseCrash, DatabaseMixPoint, DatabaseOltpPoint, DatabaseReport,
    DatabaseSlobPoint, LatencySummary,
};
use std::borrow::Cow;

/// Points of a part that are drawn, whatever a file holds.
const MAX_POINTS: usize = 64;
/// Rows of a table of power cuts.
const MAX_CYCLES: usize = 50;
const KINDS: [(&str, &str); 3] = [("select", "Selects"), ("insert", "Inserts"), ("update", "Updates")];
const SESSIONS: XAxis =
    XAxis { label: Cow::Borrowed("Sessions"), suffix: "sessions", unit: Unit::Count, scale: Scale::Log };
const RESPONSE: YAxis = YAxis { label: "Response time", unit: Unit::Nanoseconds, scale: Scale::Log };

/// A part of each device's report, with the device.
type Of<'a, T> = Vec<(usize, &'a T)>;

/// The sections, in the order in which they are read.
pub fn sections(devices: &Devices) -> Vec<Option<Section>> {
    let reports: Of<DatabaseReport> = devices.iter().filter_map(|(i, _, r)| Some((i, r.database.as_ref()?))).collect();
    if reports.is_empty() {
        return Vec::new();
    }
    vec![
        mix(devices, &reports),
        oltp(devices, &reports),
        commit(devices, &reports),
        slob(devices, &reports),
        crash(devices, &reports),
    ]
}

/// A line for each device: a figure of each point, by sessions.
struct Curves<'a, P> {
    of: Vec<(usize, &'a [P])>,
    xs: Vec<f64>,
    sessions: fn(&P) -> u32,
}

/// A line's label, and its figure of a point.
type Labelled<'a, P> = (&'a str, &'a dyn Fn(&P) -> Option<f64>);

impl<'a, P> Curves<'a, P> {
    fn new(of: Vec<(usize, &'a [P])>, sessions: fn(&P) -> u32) -> Curves<'a, P> {
        let of: Vec<_> = of.into_iter().map(|(i, points)| (i, &points[..points.len().min(MAX_POINTS)])).collect();
        let mut xs: Vec<u32> = of.iter().flat_map(|(_, points)| points.iter().map(sessions)).collect();
        xs.sort_unstable();
        xs.dedup();
        Curves { of, xs: xs.into_iter().map(f64::from).collect(), sessions }
    }

    fn values(&self, points: &[P], value: &dyn Fn(&P) -> Option<f64>) -> Vec<Option<f64>> {
        let at = |x: f64| points.iter().find(|p| f64::from((self.sessions)(p)) == x);
        self.xs.iter().map(|&x| at(x).and_then(value).and_then(positive)).collect()
    }

    /// Returns a line for each label where there is one device; else one for each device and label.
    fn lines(&self, devices: &Devices, labelled: &[Labelled<P>]) -> Vec<Series> {
        let each = self.of.iter().enumerate().flat_map(|(n, &(i, points))| {
            labelled.iter().enumerate().map(move |(l, &(label, value))| {
                let name = match (devices.compared(), labelled.len()) {
                    (true, 1) => devices.name(i).to_owned(),
                    _ => devices.labelled(i, label),
                };
                Series::line(name, n * labelled.len() + l, self.values(points, value), Vec::new())
            })
        });
        each.collect()
    }

    fn plot(&self, id: &str, title: &str, views: Vec<View>) -> Option<Plot> {
        Plot::new(id, title, SESSIONS, self.xs.clone(), views)
    }
}

fn lat(latency: &LatencySummary, percent: f64) -> Option<f64> {
    (latency.n > 0).then(|| latency.at(percent) as f64)
}

fn per_s(count: u64, activity: &DatabaseActivity) -> Option<f64> {
    positive(activity.seconds).map(|seconds| count as f64 / seconds)
}

fn mix(devices: &Devices, reports: &Of<DatabaseReport>) -> Option<Section> {
    let mixes: Vec<_> = reports.iter().filter_map(|&(i, r)| Some((i, r, r.mix.as_ref()?))).collect();
    let curves = Curves::new(mixes.iter().map(|(i, _, m)| (*i, &m.points[..])).collect(), |p| p.sessions);
    if curves.xs.is_empty() {
        return None;
    }
    let mut section = Section::new("database-mix", "The 80/20 mix against sessions");
    for (i, report, mix) in &mixes {
        let mib = |bytes: u64| Unit::Count.show((bytes >> 20) as f64);
        let bends = match (mix.bend_sessions, mix.peak_tps, mix.peak_sessions) {
            (Some(bend), Some(tps), Some(at)) => format!(
                " Peak {} a second at {at} sessions; 98 % of it are reached at {}.",
                Unit::Count.show(tps.round()),
                Unit::Ratio.show(bend)
            ),
            (None, Some(tps), Some(at)) => {
                format!(" Fastest at the last point: {} a second at {at} sessions.", Unit::Count.show(tps.round()))
            }
            _ => String::new(),
        };
        let price = mix.tps_per_price.map_or(String::new(), |tps| {
            format!(" {} transactions a second for each unit of its price.", Unit::Ratio.show(tps))
        });
        let costs = [("watt", mix.tps_per_watt), ("rack unit", mix.tps_per_rack_unit)];
        let costs = costs.map(|(unit, tps)| tps.map(|tps| format!(" {} for each {unit}.", Unit::Ratio.show(tps))));
        let price = price + &costs.into_iter().flatten().collect::<String>();
        section.note(devices.labelled(
            *i,
            &format!(
                "{}: {} MiB behind {} MiB of shared buffers; {} % select {} × {} rows by index.{bends}{price}",
                clip(&report.engine, 60),
                mib(report.data_bytes),
                mib(report.shared_buffers_bytes),
                mix.select_percent,
                mix.scans_per_select,
                mix.rows_per_scan,
            ),
        ));
        if let Some(modelled) = &mix.modelled {
            section.note(devices.labelled(*i, &clip(modelled, 400)));
        }
        for note in report.notes.iter().take(6) {
            section.note(devices.labelled(*i, &clip(note, 400)));
        }
    }
    for difference in mixes.iter().flat_map(|(_, _, mix)| mix.differs.iter().take(8)).take(8) {
        section.note(format!("Against the modelled load: {}", clip(difference, 400)));
    }
    let tps = YAxis { label: "Transactions a second", unit: Unit::Count, scale: Scale::Linear };
    let live = |p: &DatabaseMixPoint| Some(p.tps.round());
    let modelled = |p: &DatabaseMixPoint| p.modelled_tps.map(f64::round);
    let lines = if mixes.iter().any(|(_, _, mix)| mix.points.iter().any(|p| p.modelled_tps.is_some())) {
        curves.lines(devices, &[("live", &live), ("model", &modelled)])
    } else {
        curves.lines(devices, &[("TPS", &live)])
    };
    let rate = View::new("TPS", tps, lines);
    section.plots.extend(curves.plot("plot-database-tps", "Transactions a second", vec![rate]));
    let views = KINDS.map(|(kind, name)| {
        let of = |percent: f64| move |p: &DatabaseMixPoint| lat(&p.transactions.get(kind)?.lat_ns, percent);
        let (p50, p95, p99, p999) = (of(50.0), of(95.0), of(99.0), of(99.9));
        let lines = if devices.compared() {
            curves.lines(devices, &[("p99", &p99)])
        } else {
            curves.lines(devices, &[("p50", &p50), ("p95", &p95), ("p99", &p99), ("p99.9", &p999)])
        };
        View::new(name, RESPONSE, lines)
    });
    let title =
        if devices.compared() { "Response times of transactions, p99" } else { "Response times of transactions" };
    section.plots.extend(curves.plot("plot-database-response", title, views.into()));
    let mut table = Table {
        caption: "What database and device did".into(),
        columns: heading(
            devices,
            &[
                "Sessions",
                "TPS",
                "Modelled TPS",
                "CPU each",
                "Buffer hits",
                "Block read",
                "WAL",
                "WAL sync",
                "Checkpoints",
                "Device reads",
                "Device writes",
                "Read at the device",
            ],
        ),
        rows: Vec::new(),
        text_columns: 0,
    };
    for &(i, points) in &curves.of {
        for point in points {
            let a = &point.activity;
            let cells = [
                point.sessions.to_string(),
                Unit::Count.show(point.tps.round()),
                or_dash(point.modelled_tps.map(f64::round), Unit::Count),
                or_dash(a.cpu_s.zip(positive(point.tps * a.seconds)).map(|(s, n)| s * 1e9 / n), Unit::Nanoseconds),
                Unit::Percent.show(a.buffer_hit_ratio * 100.0),
                or_dash(a.block_read_ns, Unit::Nanoseconds),
                or_dash(per_s(a.wal_bytes, a), Unit::BytesPerSecond),
                or_dash(a.wal_sync_ns, Unit::Nanoseconds),
                a.checkpoints.to_string(),
                or_dash(a.device.and_then(|d| per_s(d.reads, a)), Unit::Iops),
                or_dash(a.device.and_then(|d| per_s(d.writes, a)), Unit::Iops),
                or_dash(a.device_read_share.map(|share| share * 100.0), Unit::Percent),
            ];
            table.rows.push(row(devices, i, cells));
        }
    }
    section.tables.push(table);
    if let Some((_, report, _)) = mixes.first()
        && !devices.compared()
    {
        section.tables.push(Table {
            caption: "Settings of the server".into(),
            columns: vec!["Setting".into(), "Value".into()],
            rows: report.settings.iter().take(40).map(|f| vec![clip(&f.label, 60), clip(&f.value, 60)]).collect(),
            text_columns: 1,
        });
    }
    Some(section)
}

fn oltp(devices: &Devices, reports: &Of<DatabaseReport>) -> Option<Section> {
    let runs: Vec<_> = reports.iter().filter_map(|&(i, r)| Some((i, r, r.oltp.as_ref()?))).collect();
    let curves = Curves::new(runs.iter().map(|(i, _, o)| (*i, &o.points[..])).collect(), |p| p.sessions);
    if curves.xs.is_empty() {
        return None;
    }
    let mut section = Section::new("database-oltp", "sysbench's oltp_read_write against sessions");
    for (i, report, oltp) in &runs {
        let mib = |bytes: u64| Unit::Count.show((bytes >> 20) as f64);
        section.note(devices.labelled(
            *i,
            &format!(
                "{}: {} tables of {} rows, {} MiB behind {} MiB of buffer pool; every commit is durable.",
                clip(&report.engine, 60),
                oltp.tables,
                Unit::Count.show(oltp.rows_per_table as f64),
                mib(report.data_bytes),
                mib(report.shared_buffers_bytes),
            ),
        ));
        for note in report.notes.iter().take(6) {
            section.note(devices.labelled(*i, &clip(note, 400)));
        }
    }
    let tps = YAxis { label: "Transactions a second", unit: Unit::Count, scale: Scale::Linear };
    let views = vec![
        View::new("TPS", tps, curves.lines(devices, &[("TPS", &|p: &DatabaseOltpPoint| Some(p.tps.round()))])),
        View::new("p99", RESPONSE, curves.lines(devices, &[("p99", &|p: &DatabaseOltpPoint| Some(p.p99_ns as f64))])),
    ];
    section.plots.extend(curves.plot("plot-database-oltp", "Transactions against sessions", views));
    let mut table = Table {
        caption: "What database and device did".into(),
        columns: heading(
            devices,
            &["Sessions", "TPS", "Statements", "Mean", "p99", "Longest", "Retried", "Device reads", "Device writes"],
        ),
        rows: Vec::new(),
        text_columns: 0,
    };
    for &(i, points) in &curves.of {
        for point in points {
            let per_s = |of: fn(&results::DeviceActivity) -> u64| {
                let (device, seconds) = (point.device.as_ref()?, positive(point.seconds)?);
                Some(of(device) as f64 / seconds)
            };
            let cells = [
                point.sessions.to_string(),
                Unit::Count.show(point.tps.round()),
                Unit::Count.show(point.queries_s.round()),
                Unit::Nanoseconds.show(point.mean_ns as f64),
                Unit::Nanoseconds.show(point.p99_ns as f64),
                Unit::Nanoseconds.show(point.longest_ns as f64),
                point.retried.to_string(),
                or_dash(per_s(|d| d.reads), Unit::Iops),
                or_dash(per_s(|d| d.writes), Unit::Iops),
            ];
            table.rows.push(row(devices, i, cells));
        }
    }
    section.tables.push(table);
    Some(section)
}

fn commit(devices: &Devices, reports: &Of<DatabaseReport>) -> Option<Section> {
    let commits: Vec<_> = reports.iter().filter_map(|&(i, r)| Some((i, r.commit.as_ref()?))).collect();
    if commits.is_empty() {
        return None;
    }
    let mut section = Section::new("database-commit", "The commit path");
    let mut table = Table {
        caption: "Commits of one session, alone and beside others".into(),
        columns: heading(devices, &["Beside", "Commits a second", "p50", "p99", "p99.9", "WAL sync, mean"]),
        rows: Vec::new(),
        text_columns: 0,
    };
    for (i, commit) in &commits {
        section.note(devices.labelled(*i, &clip(&commit.verdict.text, 600)));
        let show = |percent| or_dash(lat(&commit.device_sync, percent), Unit::Nanoseconds);
        let without = [
            "write and sync without a database".to_owned(),
            "–".into(),
            show(50.0),
            show(99.0),
            show(99.9),
            "–".into(),
        ];
        table.rows.push(row(devices, *i, without));
        for point in commit.beside.iter().take(10) {
            let show = |percent| or_dash(lat(&point.commit_ns, percent), Unit::Nanoseconds);
            let cells = [
                clip(&point.beside, 40),
                or_dash(positive(point.commits_s), Unit::Iops),
                show(50.0),
                show(99.0),
                show(99.9),
                or_dash(point.activity.wal_sync_ns, Unit::Nanoseconds),
            ];
            table.rows.push(row(devices, *i, cells));
        }
    }
    section.tables.push(table);
    let curves = Curves::new(commits.iter().map(|(i, c)| (*i, &c.group[..])).collect(), |p| p.sessions);
    let axis = |label, scale| YAxis { label, unit: Unit::Ratio, scale };
    let commits_s = YAxis { label: "Commits a second", unit: Unit::Count, scale: Scale::Linear };
    let views = vec![
        View::new(
            "Commits a second",
            commits_s,
            curves.lines(devices, &[("commits", &|p: &CommitPoint| Some(p.commits_s.round()))]),
        ),
        View::new(
            "Commits a sync",
            axis("Commits for each sync of the log", Scale::Linear),
            curves.lines(devices, &[("commits a sync", &|p: &CommitPoint| p.commits_per_sync)]),
        ),
        View::new("p99", RESPONSE, curves.lines(devices, &[("p99", &|p: &CommitPoint| lat(&p.commit_ns, 99.0))])),
    ];
    section.plots.extend(curves.plot("plot-database-commit", "Commits against sessions that do nothing else", views));
    Some(section)
}

fn slob(devices: &Devices, reports: &Of<DatabaseReport>) -> Option<Section> {
    let slobs: Vec<_> = reports.iter().filter_map(|&(i, r)| Some((i, r.slob.as_ref()?))).collect();
    let curves = Curves::new(slobs.iter().map(|(i, s)| (*i, &s.points[..])).collect(), |p| p.sessions);
    if curves.xs.is_empty() {
        return None;
    }
    let mut section = Section::new("database-slob", "The SLOB method");
    for (i, slob) in &slobs {
        let parameters: Vec<String> =
            slob.parameters.iter().take(20).map(|(name, value)| format!("{}={value}", clip(name, 40))).collect();
        section.note(devices.labelled(*i, &parameters.join(" ")));
    }
    let reads = YAxis { label: "Blocks read a second", unit: Unit::Iops, scale: Scale::Linear };
    let views = vec![
        View::new(
            "Physical reads",
            reads,
            curves.lines(devices, &[("physical reads", &|p: &DatabaseSlobPoint| Some(p.awr.physical_reads_s))]),
        ),
        View::new(
            "Single-block read",
            RESPONSE,
            curves.lines(devices, &[("single-block read", &|p: &DatabaseSlobPoint| Some(p.awr.single_block_read_ns))]),
        ),
    ];
    section.plots.extend(curves.plot("plot-database-slob", "Single-block reads against sessions", views));
    let mut table = Table {
        caption: "As in an AWR summary".into(),
        columns: heading(
            devices,
            &[
                "Sessions",
                "Elapsed",
                "Executes",
                "Logical reads/s",
                "Physical reads/s",
                "Read",
                "Physical writes/s",
                "Redo",
                "Single-block read",
                "WAL sync",
                "Top wait",
            ],
        ),
        rows: Vec::new(),
        text_columns: 1,
    };
    for &(i, points) in &curves.of {
        for point in points {
            let awr = &point.awr;
            let cells = [
                point.sessions.to_string(),
                or_dash(positive(awr.elapsed_s), Unit::Seconds),
                awr.executes.to_string(),
                Unit::Count.show(awr.logical_reads_s.round()),
                Unit::Count.show(awr.physical_reads_s.round()),
                or_dash(positive(awr.read_bytes_s), Unit::BytesPerSecond),
                Unit::Count.show(awr.physical_writes_s.round()),
                or_dash(positive(awr.redo_bytes_s), Unit::BytesPerSecond),
                or_dash(positive(awr.single_block_read_ns), Unit::Nanoseconds),
                or_dash(positive(awr.log_file_sync_ns), Unit::Nanoseconds),
                clip(&awr.top_wait, 40),
            ];
            table.rows.push(row(devices, i, cells));
        }
    }
    section.tables.push(table);
    Some(section)
}

fn crash(devices: &Devices, reports: &Of<DatabaseReport>) -> Option<Section> {
    let crashes: Of<DatabaseCrash> = reports.iter().filter_map(|&(i, r)| Some((i, r.crash.as_ref()?))).collect();
    if crashes.is_empty() {
        return None;
    }
    let mut section = Section::new("database-crash", "Power cuts under committing sessions");
    let mut table = Table {
        caption: "What was found after each power cut".into(),
        columns: heading(
            devices,
            &[
                "Cut",
                "Acknowledged",
                "In flight",
                "of these kept",
                "Lost",
                "Torn",
                "Stale rows",
                "Recovery",
                "Fault",
                "Complaints",
            ],
        ),
        rows: Vec::new(),
        text_columns: 2,
    };
    for (i, crash) in &crashes {
        section.note(devices.labelled(*i, &clip(&crash.verdict, 800)));
        for (n, cycle) in crash.cycles.iter().take(MAX_CYCLES).enumerate() {
            let cells = [
                (n + 1).to_string(),
                cycle.acknowledged.to_string(),
                cycle.in_flight.to_string(),
                cycle.in_flight_kept.to_string(),
                cycle.lost.to_string(),
                cycle.torn.to_string(),
                cycle.stale_rows.to_string(),
                or_dash(cycle.recovery_s, Unit::Seconds),
                clip(&cycle.fault, 60),
                clip(&cycle.complaints.join("; "), 300),
            ];
            table.rows.push(row(devices, *i, cells));
        }
    }
    section.tables.push(table);
    Some(section)
}

fn or_dash(value: Option<f64>, unit: Unit) -> String {
    value.map_or_else(|| "–".into(), |value| unit.show(value))
}

/// With the device in front, where there are several.
fn heading(devices: &Devices, columns: &[&str]) -> Vec<String> {
    let device = devices.compared().then(|| "Device".to_owned());
    device.into_iter().chain(columns.iter().map(|&c| c.to_owned())).collect()
}

fn row<const N: usize>(devices: &Devices, device: usize, cells: [String; N]) -> Vec<String> {
    let name = devices.compared().then(|| devices.name(device).to_owned());
    name.into_iter().chain(cells).collect()
}
