//! A review in the terminal: the answer, the verdict, and a table for each sweep where tables are asked for.

use super::{comparison, printable};
use crate::review_output::Files;
use crate::table::{Align, COLUMNS, Table, wrap};
use crate::units::{capacity, counted, duration, io_size, mb_per_s, percent, three_digits};
use results::{
    Answer, Axis, HostLimit, IoClass, PhaseStatus, Point, Preconditioning, ReviewResult, Sweep, TargetKind, Timeline,
    Tone,
};
use review::Plan;

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Widest bar of a table's row.
const BAR: usize = 12;

/// The review: its answer and its verdict, and all figures where tables are asked for. Without `files` it could not be
/// written.
pub fn review(result: &ReviewResult, files: Option<&Files>, with_tables: bool) -> String {
    let mut blocks = vec![heading(result)];
    blocks.extend(result.answer.as_ref().map(answer));
    let verdict = verdict(result);
    blocks.extend((!verdict.is_empty()).then_some(verdict));
    if with_tables {
        blocks.extend(tables(result));
    }
    let points = result.sweeps.iter().map(|sweep| sweep.points.len()).sum::<usize>()
        + usize::from(result.timeline.is_some())
        + usize::from(result.burst.is_some())
        + result.database.as_ref().map_or(0, super::database::points);
    let mut end = format!("speed:  {} in {}\n", counted(points as u64, "point"), seconds(result.wall_seconds));
    if let Some(files) = files {
        let tables = if with_tables { "" } else { "; --tables prints them" };
        let words = format!("{} (figures: {}{tables})", files.html.display(), files.json.display());
        end.push_str(&wrap("page:   ", 8, &words));
    }
    blocks.push(end);
    // A review that was gone on with has text of a file in it, and a drive chose its own name.
    printable(&blocks.join("\n"))
}

/// Every figure: how the device was prepared, and a table for each sweep.
fn tables(result: &ReviewResult) -> Vec<String> {
    let mut blocks: Vec<String> = preparation(result).into_iter().collect();
    let mut said = "";
    for one in result.sweeps.iter().filter(|sweep| !sweep.points.is_empty()) {
        let mut text = sweep(one);
        // Sweeps of a kind have the same note: once is enough.
        if !one.note.is_empty() && one.note != said {
            text.push_str(&wrap("", 0, &one.note));
        }
        said = &one.note;
        blocks.push(text);
    }
    blocks.extend(marks(result));
    blocks.extend(result.timeline.as_ref().map(timeline));
    blocks.extend(result.burst.as_ref().map(super::burst::block));
    blocks.extend(result.database.iter().flat_map(super::database::blocks));
    blocks.extend(result.comparisons.iter().map(comparison::table));
    blocks
}

/// The plan of the review.
pub fn plan(title: &str, plan: &Plan, files: &Files) -> String {
    let mut out = wrap("", 2, title);
    let mut table = Table::new([Align::Left, Align::Right, Align::Right, Align::Left]);
    table.row(["phase", "points", "time", ""]);
    for phase in plan.phases() {
        let (points, time) = match phase.status {
            PhaseStatus::Skipped => (String::new(), phase.note.clone()),
            _ if phase.points == 0 && phase.expected_s == 0.0 => (String::new(), String::new()),
            _ if phase.points == 0 => (String::new(), seconds(phase.expected_s)),
            _ => (phase.points.to_string(), seconds(phase.expected_s)),
        };
        table.row([phase.name, points, time, phase.title]);
    }
    out.push_str(&table.render());
    out.push_str(&format!("{} in about {}\n", counted(plan.points() as u64, "point"), seconds(plan.expected_s())));
    if let Some(fitting) = plan.fitting() {
        out.push_str(&wrap("", 2, &fitting));
    }
    out.push_str(&wrap("", 2, &format!("writes {} and {}", files.html.display(), files.json.display())));
    printable(&out)
}

fn heading(result: &ReviewResult) -> String {
    let target = &result.target;
    let kind = match target.kind {
        TargetKind::Model => "modelled",
        TargetKind::File => "file",
        TargetKind::BlockDevice => "block device",
        TargetKind::Served => "served",
        TargetKind::Directory => "directory",
        TargetKind::Imported => "imported",
    };
    let mut out = wrap(
        "",
        2,
        &format!(
            "{} ({kind}), {}; host {}, {}",
            target.title,
            capacity(target.capacity_bytes),
            result.host.name,
            counted(result.host.cores.into(), "core")
        ),
    );
    if let Some(why) = &result.partial {
        let goes_on = if result.database.is_some() { "" } else { ", --resume goes on" };
        out.push_str(&wrap("PARTIAL: ", 2, &format!("{why}; points are missing{goes_on}")));
    }
    out
}

/// The sentence; below it what limits the device, and what to do.
fn answer(answer: &Answer) -> String {
    let mut out = wrap("", 0, &answer.sentence);
    if !answer.limit.is_empty() {
        out.push_str(&wrap("limit    ", 9, &answer.limit));
    }
    out.push_str(&wrap("do       ", 9, &answer.action.text));
    if let Some(ground) = answer.action.ground_words() {
        out.push_str(&wrap("by       ", 9, &ground));
    }
    out
}

/// The verdict, without the claim that the answer has made.
fn verdict(result: &ReviewResult) -> String {
    let mut out = String::new();
    let answered = result.answer.as_ref().map(|answer| answer.limit.as_str());
    for claim in result.verdict.iter().filter(|claim| Some(claim.text.as_str()) != answered) {
        let tone = match claim.tone {
            Tone::Good => "good   ",
            Tone::Neutral => "note   ",
            Tone::Warning => "warning",
            Tone::Bad => "BAD    ",
        };
        out.push_str(&wrap(&format!("{tone}  "), 9, &claim.text));
    }
    out
}

/// Says how the device was emptied and brought to its states; models say it only where it failed.
fn preparation(result: &ReviewResult) -> Option<String> {
    if result.target.kind == TargetKind::Model {
        return None;
    }
    let mut out = String::new();
    if let Some(purge) = &result.purge {
        out.push_str(&wrap("purge         ", 14, &format!("{}, {}", purge.what, seconds(purge.took_s))));
    }
    for p in &result.preconditioning {
        out.push_str(&wrap("precondition  ", 14, &preconditioned(p)));
    }
    (!out.is_empty()).then_some(out)
}

fn preconditioned(p: &Preconditioning) -> String {
    let fill = percent(p.fill);
    let mut out = format!("{fill} in use, {} front to back", capacity(p.sequential_bytes));
    if !p.steady.rounds.is_empty() {
        let reached = if p.steady.attained { "steady" } else { "NOT steady" };
        out.push_str(&format!(
            ", {} of {}: {reached} (range {}, slope {})",
            counted(p.steady.rounds.len() as u64, "round"),
            p.pattern,
            percent(p.steady.range),
            percent(p.steady.slope),
        ));
    }
    out
}

/// A class of requests in a table.
type ClassOf = (&'static str, fn(&Point) -> &IoClass);
const CLASSES: [ClassOf; 3] = [("read", |p| &p.read), ("write", |p| &p.write), ("sync", |p| &p.sync)];

fn sweep(sweep: &Sweep) -> String {
    let mut out = wrap("", 2, &sweep.title);
    let published = sweep.points.iter().any(|point| point.published_bw_bytes.is_some());
    let wrote = sweep.axis == Axis::FillPercent && sweep.points.iter().any(|p| p.waf.is_some_and(|waf| waf > 0.0));
    let classes: Vec<ClassOf> =
        CLASSES.into_iter().filter(|(_, of)| sweep.points.iter().any(|p| of(p).total_ios > 0)).collect();
    let mut heading = vec![String::new(), axis_name(sweep.axis).to_owned()];
    let three = classes.len() == CLASSES.len();
    if !three {
        heading.push("MB/s".to_owned());
    }
    heading.extend(published.then_some(["published", "error"]).into_iter().flatten().map(str::to_owned));
    if !published {
        heading.push("IOPS".to_owned());
    }
    match classes.as_slice() {
        [_] => heading.extend(["p50", "p99", "p99.9", "max"].map(str::to_owned)),
        all => heading.extend(all.iter().flat_map(|(name, _)| [format!("{name} p50"), "p99".to_owned()])),
    }
    heading.extend(wrote.then(|| "WAF".to_owned()));
    let mut rows = vec![heading];
    rows.extend(sweep.points.iter().map(|point| row(sweep, point, &classes, published, wrote)));
    out.push_str(&with_bars(&rows, sweep));
    out
}

/// The meaning of the marks in front of points, where there are any.
fn marks(result: &ReviewResult) -> Option<String> {
    let any = |marked: fn(&Point) -> bool| result.sweeps.iter().flat_map(|sweep| &sweep.points).any(marked);
    let mut out = String::new();
    if any(unsteady) {
        out.push_str("* not steady: range or slope of the last five rounds is above the bound\n");
    }
    if any(|point| point.limited_by_host) {
        let cores = result.host.cores;
        let points = || result.sweeps.iter().flat_map(|sweep| &sweep.points);
        let cause = points().find_map(|point| point.generator.as_ref()?.host_limit(cores));
        let cause = cause.map_or("the machine that asked was the limit, not the device", HostLimit::words);
        out.push_str(&wrap("h host-limited: ", 2, cause));
    }
    (!out.is_empty()).then_some(out)
}

fn unsteady(point: &Point) -> bool {
    point.steady.as_ref().is_some_and(|steady| !steady.attained)
}

fn axis_name(axis: Axis) -> &'static str {
    match axis {
        Axis::FillPercent => "in use",
        Axis::Threads => "threads",
        Axis::BlockBytes => "block",
        Axis::ReadPercent => "reads",
        Axis::RatePercent => "rate",
        Axis::QueueDepth => "depth",
    }
}

fn row(sweep: &Sweep, point: &Point, classes: &[ClassOf], published: bool, wrote: bool) -> Vec<String> {
    let mark = format!("{}{}", if unsteady(point) { "*" } else { "" }, if point.limited_by_host { "h" } else { "" });
    let x = match sweep.axis {
        Axis::FillPercent | Axis::ReadPercent | Axis::RatePercent => format!("{:.0} %", point.x),
        Axis::BlockBytes => io_size(point.x as u64),
        Axis::Threads | Axis::QueueDepth => format!("{:.0}", point.x),
    };
    let bandwidth = point.bw_bytes();
    let mut cells = vec![mark, x];
    if published {
        let by_others = point.published_bw_bytes;
        cells.push(mb_per_s(bandwidth));
        cells.push(by_others.map_or(String::new(), mb_per_s));
        cells.push(by_others.map_or(String::new(), |p| format!("{:+.1} %", (bandwidth / p - 1.0) * 100.0)));
    } else {
        // Three classes fill the page.
        cells.extend((classes.len() < CLASSES.len()).then(|| mb_per_s(bandwidth)));
        cells.push(three_digits(point.iops()));
    }
    let percentiles: &[f64] = if classes.len() == 1 { &[50.0, 99.0, 99.9] } else { &[50.0, 99.0] };
    for (_, of) in classes {
        let class = of(point);
        let time = |ns: u64| if class.total_ios == 0 { "-".to_owned() } else { duration(ns as f64) };
        // Other tools keep fewer percentiles than we do.
        let known = |p: f64| if class.lat_ns.percentile.is_empty() { "-".to_owned() } else { time(class.lat_ns.at(p)) };
        cells.extend(percentiles.iter().map(|&p| known(p)));
        if classes.len() == 1 {
            cells.push(time(class.lat_ns.max));
        }
    }
    if wrote {
        cells.push(point.waf.filter(|waf| *waf > 0.0).map_or("-".to_owned(), |waf| format!("{waf:.2}")));
    }
    cells
}

/// The rows, each with a bar of its throughput, as long as the page is wide enough for one.
fn with_bars(rows: &[Vec<String>], sweep: &Sweep) -> String {
    let columns = rows[0].len();
    let width = |c: usize| rows.iter().filter_map(|row| row.get(c)).map(|cell| cell.chars().count()).max().unwrap_or(0);
    let used: usize = (0..columns).map(|c| width(c) + 2).sum();
    let room = COLUMNS.saturating_sub(used).min(BAR);
    let most = sweep.points.iter().map(Point::bw_bytes).fold(0.0, f64::max);
    let mut align = vec![Align::Right; columns + 1];
    (align[0], align[columns]) = (Align::Left, Align::Left);
    let mut table = Table::new(align);
    for (i, row) in rows.iter().enumerate() {
        let bandwidth = i.checked_sub(1).map_or(0.0, |i| sweep.points[i].bw_bytes());
        let bar = if room >= 3 && most > 0.0 { bar(bandwidth / most, room) } else { String::new() };
        table.row(row.iter().cloned().chain([bar]));
    }
    table.render()
}

/// Eighths of a character.
fn bar(share: f64, width: usize) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share.clamp(0.0, 1.0) * width as f64 * 8.0).round() as usize;
    format!("{}{}", "█".repeat(eighths / 8), PARTS[eighths % 8])
}

/// Bars from zero to the fastest second.
fn timeline(timeline: &Timeline) -> String {
    let bandwidths: Vec<f64> = timeline.point.series.iter().map(|row| row.read_bw_bytes + row.write_bw_bytes).collect();
    let fastest = bandwidths.iter().copied().fold(0.0, f64::max);
    // Long timelines show the slowest second of each bar: a stall must not vanish in a mean.
    let seconds_a_bar = bandwidths.len().div_ceil(COLUMNS).max(1);
    let slowest = bandwidths.chunks(seconds_a_bar).map(|chunk| chunk.iter().copied().fold(f64::INFINITY, f64::min));
    let bar = |bandwidth: f64| {
        let step = if fastest > 0.0 { (bandwidth / fastest * BARS.len() as f64).ceil() as usize } else { 1 };
        BARS[step.clamp(1, BARS.len()) - 1]
    };
    let bars: String = slowest.map(bar).collect();
    let each = if seconds_a_bar > 1 { format!(", the slowest of {seconds_a_bar} in each bar") } else { String::new() };
    let mut out = wrap("", 2, &format!("{}{each}", timeline.title));
    out.push_str(&wrap("", 0, &bars));
    out.push_str(&wrap(
        "",
        2,
        &format!(
            "fastest second {} MB/s; slowest second {} of the mean; longest response {}; {}",
            mb_per_s(fastest),
            percent(timeline.slowest_second),
            duration(timeline.point.write.lat_ns.max as f64),
            counted(timeline.stalls.len() as u64, "stall"),
        ),
    ));
    out
}

/// `8.1 s`, `12 min`, `2 h 5 min`.
fn seconds(seconds: f64) -> String {
    match seconds {
        s if s < 100.0 => duration(s * 1e9),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.0} h {:.0} min", (s / 3600.0).floor(), (s % 3600.0) / 60.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use results::{LatencyRecorder, SeriesRow, SteadyState};

    fn class() -> IoClass {
        let mut latency = LatencyRecorder::new();
        latency.record(99_900_000);
        IoClass {
            total_ios: 1,
            io_bytes: 16_384,
            iops: 168_997.3,
            bw_bytes: 1e9,
            lat_ns: latency.summary(),
            histogram: None,
        }
    }

    fn point(x: f64) -> Point {
        let steady =
            SteadyState { rounds: vec![1.0; 5], range: 0.0, slope: 0.0, attained: x < 50.0, overwriting: None };
        Point {
            x,
            write: class(),
            waf: Some(12.34),
            steady: Some(steady),
            limited_by_host: x > 50.0,
            ..Point::default()
        }
    }

    fn empty() -> ReviewResult {
        serde_json::from_value(serde_json::json!({
            "kind": ReviewResult::KIND, "schema": ReviewResult::SCHEMA, "generator": "flashrig", "name": "x",
            "target": { "kind": "model", "name": "x", "title": "X", "capacity_bytes": 1, "facts": [] },
            "host": { "name": "h", "cores": 1, "facts": [] },
            "options": { "seed": 1, "scale": 1.0, "fill": 1.0, "quick": false, "only": [] },
            "phases": [], "preconditioning": [], "sweeps": [], "comparisons": [], "verdict": [], "wall_seconds": 1.0
        }))
        .expect("a result without points")
    }

    fn sweeps() -> Vec<Sweep> {
        let axes = [Axis::FillPercent, Axis::Threads, Axis::BlockBytes, Axis::ReadPercent, Axis::RatePercent];
        let mut sweeps: Vec<Sweep> = axes
            .into_iter()
            .map(|axis| Sweep {
                name: "s".to_owned(),
                phase: "p".to_owned(),
                title: "16 KiB random writes, against something".to_owned(),
                note: "a note ".repeat(30),
                axis,
                points: vec![point(8.0), point(100.0)],
            })
            .collect();
        sweeps[0].points[1].published_bw_bytes = Some(990.0 * 1_048_576.0);
        for p in &mut sweeps[1].points {
            (p.read, p.sync) = (class(), class());
        }
        sweeps
    }

    #[test]
    fn no_line_is_wider_than_the_page() {
        for text in sweeps().iter().map(sweep) {
            for line in text.lines() {
                assert!(line.chars().count() <= COLUMNS, "{line}");
            }
        }
    }

    #[test]
    fn what_is_not_steady_or_the_hosts_is_marked() {
        let text = sweep(&sweeps()[0]);
        assert!(text.lines().any(|line| line.starts_with("*h ") && line.contains(" 100 % ")), "{text}");
        let mut result = ReviewResult { sweeps: sweeps(), ..empty() };
        assert_eq!(marks(&result).unwrap().lines().count(), 2);
        result.sweeps.clear();
        assert_eq!(marks(&result), None);
    }

    #[test]
    fn seconds_become_bars_and_no_stall_is_lost_in_a_long_line() {
        let row = |i: usize, bw: f64| SeriesRow { t_s: i as f64, write_bw_bytes: bw, ..SeriesRow::default() };
        let line = |bws: Vec<f64>| Timeline {
            point: Point {
                series: bws.into_iter().enumerate().map(|(i, bw)| row(i, bw)).collect(),
                ..Point::default()
            },
            ..Timeline::default()
        };
        assert!(timeline(&line((1..=8).map(|i| f64::from(i) * 1e8).collect())).contains("▁▂▃▄▅▆▇█\n"));
        let mut long = vec![1e9; 800];
        long[444] = 1e6;
        let text = timeline(&line(long));
        assert!(text.contains("the slowest of 10 in each bar"), "{text}");
        assert_eq!(text.matches('▁').count(), 1, "{text}");
    }

    #[test]
    fn bars_are_as_long_as_their_share() {
        assert_eq!(bar(1.0, 4), "████");
        assert_eq!(bar(0.5, 4), "██");
        assert_eq!(bar(0.53, 4), "██▏");
        assert_eq!(bar(0.0, 4), "");
    }
}
