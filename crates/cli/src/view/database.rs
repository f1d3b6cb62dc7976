//! The results of a database on the device, in tables.

use crate::review_output::Files;
use crate::table::{Align, Table, wrap};
use crate::units::{duration, three_digits};
use database::{Engine, Part, Plan, Request};
use results::{
    CommitPoint, DatabaseCrash, DatabaseMix, DatabaseOltp, DatabaseReport, DatabaseSlob, LatencySummary, SlobReport,
};

/// The plan of the review.
pub fn plan(plan: &Plan, request: &Request, files: &Files) -> String {
    let mib = |bytes: u64| format!("{} MiB", three_digits((bytes >> 20) as f64));
    let mut out = wrap("", 2, &format!("{} on {}", plan.engine, plan.title));
    let sizes = format!(
        "{} of data, {} of shared buffers, at most {} on the device",
        mib(plan.data_bytes),
        mib(plan.shared_buffers_bytes),
        mib(plan.needed_bytes)
    );
    out.push_str(&wrap("sizes:    ", 10, &sizes));
    let mix = if request.engine == Engine::MySql { "oltp_read_write" } else { "80/20 mix" };
    let names = [(Part::Mix, mix), (Part::Commit, "commit path"), (Part::Slob, "SLOB"), (Part::Crash, "crash")];
    let parts: Vec<&str> = names.into_iter().filter(|(p, _)| request.parts.contains(p)).map(|(_, name)| name).collect();
    let sessions: Vec<String> = request.sessions.iter().map(ToString::to_string).collect();
    let minutes = (plan.measured_s() / 60.0).ceil();
    let work = format!(
        "{}; sessions {}; {minutes} min of measuring, and loading before it",
        parts.join(", "),
        sessions.join(", ")
    );
    out.push_str(&wrap("parts:    ", 10, &work));
    let settings: Vec<String> = plan
        .settings
        .iter()
        .map(|(name, value)| format!("{name}={}", if value.is_empty() { "''" } else { value }))
        .collect();
    out.push_str(&wrap("settings: ", 10, &settings.join(", ")));
    let mut logs = files.json.with_extension("").into_os_string();
    logs.push("-logs/");
    let words = format!("{}, {}, logs in {}", files.html.display(), files.json.display(), logs.to_string_lossy());
    out.push_str(&wrap("writes:   ", 10, &words));
    super::printable(&out)
}

/// A block for each part.
pub fn blocks(report: &DatabaseReport) -> Vec<String> {
    let mut blocks = Vec::new();
    blocks.extend(report.mix.as_ref().filter(|mix| !mix.points.is_empty()).map(|mix| self::mix(report, mix)));
    blocks.extend(report.oltp.as_ref().filter(|oltp| !oltp.points.is_empty()).map(|oltp| self::oltp(report, oltp)));
    blocks.extend(report.commit.as_ref().map(|commit| {
        let mut out = wrap("", 2, &format!("Commit path: {}", commit_words(&commit.device_sync)));
        out.push_str(&commits(commit.beside.iter().chain(&commit.group)));
        out
    }));
    blocks.extend(report.slob.as_ref().filter(|slob| !slob.points.is_empty()).map(slob));
    blocks.extend(report.crash.as_ref().map(crash));
    let notes: String = report.notes.iter().map(|note| wrap("note: ", 6, note)).collect();
    if !notes.is_empty() {
        blocks.push(notes);
    }
    blocks
}

/// Points that were measured.
pub fn points(report: &DatabaseReport) -> usize {
    report.mix.as_ref().map_or(0, |mix| mix.points.len())
        + report.oltp.as_ref().map_or(0, |oltp| oltp.points.len())
        + report.commit.as_ref().map_or(0, |commit| commit.beside.len() + commit.group.len())
        + report.slob.as_ref().map_or(0, |slob| slob.points.len())
        + report.crash.as_ref().map_or(0, |crash| crash.cycles.len())
}

fn ns(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), duration)
}

fn at(latency: Option<&LatencySummary>, percent: f64) -> String {
    match latency {
        Some(latency) if latency.n > 0 => duration(latency.at(percent) as f64),
        _ => "-".to_owned(),
    }
}

fn mix(report: &DatabaseReport, mix: &DatabaseMix) -> String {
    let mut out = wrap(
        "",
        2,
        &format!(
            "{}, {}/{} mix on {} MiB behind {} MiB of shared buffers, against sessions",
            report.engine,
            mix.select_percent,
            100 - mix.select_percent,
            three_digits((report.data_bytes >> 20) as f64),
            three_digits((report.shared_buffers_bytes >> 20) as f64)
        ),
    );
    let mut table = Table::new([Align::Right; 9]);
    table.row(["sessions", "TPS", "model", "hits", "read", "WAL", "sync", "reads/s", "writes/s"]);
    for point in &mix.points {
        let a = &point.activity;
        let per_s = |count: u64| three_digits(count as f64 / a.seconds.max(1e-9));
        let device = |of: fn(&results::DeviceActivity) -> u64| a.device.as_ref().map_or("-".into(), |d| per_s(of(d)));
        table.row([
            point.sessions.to_string(),
            three_digits(point.tps),
            point.modelled_tps.map_or("-".to_owned(), three_digits),
            format!("{:.0} %", a.buffer_hit_ratio * 100.0),
            ns(a.block_read_ns),
            three_digits(a.wal_bytes as f64 / 1e6 / a.seconds.max(1e-9)),
            ns(a.wal_sync_ns),
            device(|d| d.reads),
            device(|d| d.writes),
        ]);
    }
    out.push_str(&table.render());
    let words =
        "in shared buffers; read, sync: mean of a block, of the log; WAL: MB/s; reads/s, writes/s: the device's";
    out.push_str(&wrap("hits: ", 6, words));
    if let Some(modelled) = &mix.modelled {
        out.push_str(&wrap("model: ", 6, modelled));
    }
    out.push('\n');
    let mut table =
        Table::new([Align::Right, Align::Left, Align::Right, Align::Right, Align::Right, Align::Right, Align::Right]);
    table.row(["sessions", "kind", "TPS", "p50", "p95", "p99", "p99.9"]);
    for point in &mix.points {
        for kind in ["select", "insert", "update"] {
            let Some(report) = point.transactions.get(kind) else { continue };
            let lat = |percent| at(Some(&report.lat_ns), percent);
            table.row([
                if kind == "select" { point.sessions.to_string() } else { String::new() },
                kind.to_owned(),
                three_digits(report.tps),
                lat(50.0),
                lat(95.0),
                lat(99.0),
                lat(99.9),
            ]);
        }
    }
    out.push_str(&table.render());
    if let Some((tps, sessions)) = mix.peak_tps.zip(mix.peak_sessions) {
        let bends = match mix.bend_sessions {
            Some(at) => format!("bends at {} sessions (98 % of the peak)", three_digits(at)),
            None => "does not bend up to the last point".to_owned(),
        };
        let price =
            mix.tps_per_price.map_or(String::new(), |tps| format!("; {} for each unit of price", three_digits(tps)));
        let watts = mix.tps_per_watt.map_or(String::new(), |tps| format!("; {} for each watt", three_digits(tps)));
        let units =
            mix.tps_per_rack_unit.map_or(String::new(), |tps| format!("; {} for each rack unit", three_digits(tps)));
        let peak = format!("peak {} at {sessions} sessions; {bends}{price}{watts}{units}", three_digits(tps));
        out.push_str(&wrap("", 2, &peak));
    }
    out
}

fn oltp(report: &DatabaseReport, oltp: &DatabaseOltp) -> String {
    let mib = |bytes: u64| three_digits((bytes >> 20) as f64);
    let mut out = wrap(
        "",
        2,
        &format!(
            "{}, {} on {} MiB behind {} MiB of buffer pool, against sessions",
            report.engine,
            oltp.program,
            mib(report.data_bytes),
            mib(report.shared_buffers_bytes)
        ),
    );
    let mut table = Table::new([Align::Right; 8]);
    table.row(["sessions", "TPS", "statements", "mean", "p99", "longest", "reads/s", "writes/s"]);
    for point in &oltp.points {
        let device = |of: fn(&results::DeviceActivity) -> u64| {
            let per_s = |d: &results::DeviceActivity| three_digits(of(d) as f64 / point.seconds.max(1e-9));
            point.device.as_ref().map_or("-".to_owned(), per_s)
        };
        table.row([
            point.sessions.to_string(),
            three_digits(point.tps),
            three_digits(point.queries_s),
            duration(point.mean_ns as f64),
            duration(point.p99_ns as f64),
            duration(point.longest_ns as f64),
            device(|d| d.reads),
            device(|d| d.writes),
        ]);
    }
    out.push_str(&table.render());
    if let Some((tps, sessions)) = oltp.peak_tps.zip(oltp.peak_sessions) {
        out.push_str(&wrap("", 2, &format!("peak {} at {sessions} sessions", three_digits(tps))));
    }
    out
}

fn commit_words(sync: &LatencySummary) -> String {
    format!(
        "8 KiB written and synced without a database take {} in the median, {} at p99",
        duration(sync.at(50.0) as f64),
        duration(sync.at(99.0) as f64)
    )
}

fn commits<'a>(points: impl Iterator<Item = &'a CommitPoint>) -> String {
    let mut table = Table::new([
        Align::Right,
        Align::Left,
        Align::Right,
        Align::Right,
        Align::Right,
        Align::Right,
        Align::Right,
        Align::Right,
    ]);
    table.row(["sessions", "beside", "commits/s", "p50", "p99", "p99.9", "WAL sync", "a sync"]);
    for point in points {
        table.row([
            point.sessions.to_string(),
            if point.beside == "alone" { "-".to_owned() } else { point.beside.clone() },
            three_digits(point.commits_s),
            at(Some(&point.commit_ns), 50.0),
            at(Some(&point.commit_ns), 99.0),
            at(Some(&point.commit_ns), 99.9),
            ns(point.activity.wal_sync_ns),
            point.commits_per_sync.map_or("-".to_owned(), |n| format!("{n:.1}")),
        ]);
    }
    table.render()
}

fn slob(slob: &DatabaseSlob) -> String {
    let parameters: Vec<String> = slob.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let mut out = wrap("", 2, &format!("SLOB method: {}", parameters.join(" ")));
    let reports: Vec<SlobReport> = slob.points.iter().map(|point| point.awr.clone()).collect();
    out.push_str(&load::format_slob_table(&reports));
    out
}

fn crash(crash: &DatabaseCrash) -> String {
    let mut out = wrap("", 2, &format!("Power cuts under {} committing sessions ({})", crash.sessions, crash.how));
    let mut table = Table::new([Align::Right; 8]);
    table.row(["cut", "committed", "in flight", "kept", "lost", "torn", "stale rows", "recovery"]);
    for (i, cycle) in crash.cycles.iter().enumerate() {
        table.row([
            (i + 1).to_string(),
            cycle.acknowledged.to_string(),
            cycle.in_flight.to_string(),
            cycle.in_flight_kept.to_string(),
            cycle.lost.to_string(),
            cycle.torn.to_string(),
            cycle.stale_rows.to_string(),
            cycle.recovery_s.map_or("none".to_owned(), |s| duration(s * 1e9)),
        ]);
    }
    out.push_str(&table.render());
    for complaint in crash.cycles.iter().flat_map(|cycle| &cycle.complaints) {
        out.push_str(&wrap("! ", 2, complaint));
    }
    out.push_str(&wrap(if crash.passed { "PASSED: " } else { "FAILED: " }, 2, &crash.verdict));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::COLUMNS;
    use results::{CrashCycle, DatabaseActivity, DatabaseMixPoint, DeviceActivity, LatencyRecorder, TransactionReport};

    fn activity() -> DatabaseActivity {
        let device = DeviceActivity { reads: 999_999, writes: 999_999, ..DeviceActivity::default() };
        DatabaseActivity {
            seconds: 1.0,
            buffer_hit_ratio: 1.0,
            block_read_ns: Some(999_000.0),
            wal_bytes: 9_999_000_000,
            wal_sync_ns: Some(99_900_000.0),
            device: Some(device),
            device_read_share: Some(0.0),
            ..DatabaseActivity::default()
        }
    }

    fn lat() -> LatencySummary {
        let mut recorder = LatencyRecorder::new();
        recorder.record(999_000_000);
        recorder.summary()
    }

    #[test]
    fn no_line_of_a_fast_devices_tables_is_wider_than_the_page() {
        let kind = TransactionReport { tps: 799_999.0, lat_ns: lat() };
        let point = DatabaseMixPoint {
            sessions: 1_000,
            tps: 999_999.0,
            modelled_tps: Some(999_999.0),
            transactions: ["select", "insert", "update"].map(|name| (name.to_owned(), kind.clone())).into(),
            activity: activity(),
            ..DatabaseMixPoint::default()
        };
        let commit = CommitPoint {
            beside: "random reads".into(),
            sessions: 1_000,
            commits_s: 999_999.0,
            commit_ns: lat(),
            commits_per_sync: Some(999.9),
            activity: activity(),
        };
        let cycle = CrashCycle {
            acknowledged: 99_999_999,
            in_flight: 128,
            lost: 99_999_999,
            complaints: vec!["a complaint ".repeat(20)],
            ..CrashCycle::default()
        };
        let found = DatabaseCrash {
            how: "the server of the card is told to drop power".into(),
            sessions: 128,
            cycles: vec![cycle],
            verdict: "words ".repeat(40),
            passed: false,
        };
        let mix = DatabaseMix {
            points: vec![point],
            peak_tps: Some(999_999.0),
            peak_sessions: Some(1_000),
            bend_sessions: Some(999.0),
            tps_per_price: Some(999.0),
            tps_per_watt: Some(999.0),
            tps_per_rack_unit: Some(999_999.0),
            ..DatabaseMix::default()
        };
        let report = DatabaseReport {
            engine: "PostgreSQL 15.14".into(),
            shared_buffers_bytes: 1 << 40,
            data_bytes: 1 << 44,
            notes: vec!["note ".repeat(40)],
            mix: Some(mix),
            crash: Some(found),
            ..DatabaseReport::default()
        };
        let mut text = blocks(&report).join("\n");
        text.push_str(&commits([&commit].into_iter()));
        for line in text.lines() {
            assert!(line.chars().count() <= COLUMNS, "{line}");
        }
        assert!(text.contains("FAILED: ") && text.contains("bends at 999 sessions"), "{text}");
    }
}
