//! The answer: what the device is good for, what limits it, what to do first.

use super::action::advice;
use super::between::{Between, Nobody};
use super::bounds::{FAST_COMMIT_NS, NOTICED_NS, PATIENT_NS, STEADY_SECOND};
use super::quota::{fall_of, quota};
use super::scaling::knee;
use super::transactions::{Demand, transactions_s};
use crate::words::axis_value;
use results::words::{about, duration, mb_s, three_digits};
use results::{Answer, Axis, KeyFigure, Point, ReviewResult, SyncJudgement};

/// Figures to plan with.
const FIGURES: usize = 4;

/// The answer, from what was measured and from the verdict; none where nothing was.
pub(crate) fn answer(result: &ReviewResult) -> Option<Answer> {
    answered(result, &Nobody)
}

/// Answers a review anew, with actions that somebody computes between its points.
pub fn answer_between(result: &mut ReviewResult, between: &dyn Between) {
    result.answer = answered(result, between);
}

fn answered(result: &ReviewResult, between: &dyn Between) -> Option<Answer> {
    let figures = figures(result);
    let sentence = sentence(result, &figures)?;
    let advice = advice(result, between)?;
    let claim = |topic: &str| result.verdict.iter().find(|claim| claim.topic == topic);
    // Where nothing is to be gained but by as many connections as are enough, the limit is what a better use is denied for.
    let limit = match denied(result).and_then(claim) {
        Some(reason) if advice.topic == "threads" => Some(reason),
        _ => claim(advice.topic),
    };
    Some(Answer {
        sentence,
        limit: limit.map_or(String::new(), |claim| claim.text.clone()),
        action: advice.action,
        figures: figures.into_iter().take(FIGURES).collect(),
    })
}

fn sentence(result: &ReviewResult, figures: &[KeyFigure]) -> Option<String> {
    let of = |name: &str| figures.iter().find(|figure| figure.name == name).map(|figure| figure.text.as_str());
    let mut parts = Vec::new();
    parts.extend(of("transactions_s").map(|tps| format!("about {tps} transactions a second like PostgreSQL's")));
    parts.extend(of("commits_s").map(|commits| format!("{commits} commits a second")));
    if parts.is_empty() {
        parts.extend(of("reads_s").map(|reads| format!("{reads} random reads a second")));
        parts.extend(of("writes_s").map(|writes| format!("{writes} random writes a second")));
    }
    if parts.is_empty() {
        parts.extend(of("full_write_bytes_s").map(|bw| format!("{bw} of random writes when full")));
        parts.extend(of("write_bytes_s").map(|bw| format!("{bw} of random writes")));
        parts.extend(of("burst_bytes_s").map(|bw| format!("{bw} into an emptied device")));
        parts.truncate(1);
    }
    if parts.is_empty() {
        let fastest = result.sweeps.iter().flat_map(|sweep| sweep.points.iter().map(move |point| (sweep, point)));
        let (sweep, point) = fastest.max_by(|a, b| a.1.iops().total_cmp(&b.1.iops()))?;
        parts.push(format!("{} requests a second at {}", three_digits(point.iops()), axis_value(sweep.axis, point.x)));
    }
    let figures = parts.join(" and ");
    let threads = knee(result, "threads-rndrd").map_or(String::new(), |knee| {
        let threads = axis_value(Axis::Threads, knee.knee.x);
        let get = if knee.knee.x == 1.0 { "gets" } else { "get" };
        format!("; {threads} {get} nearly all the reads there are")
    });
    Some(match use_of(result) {
        Some(use_of) => format!("{use_of}: {figures}{threads}."),
        None => format!("{}{}{threads}.", figures[..1].to_uppercase(), &figures[1..]),
    })
}

/// The use that latencies allow; none where too little was measured, or where something else than the device was.
fn use_of(result: &ReviewResult) -> Option<&'static str> {
    if quota(result).is_some() {
        return Some("Behind a quota");
    }
    if fall_of(result).is_some() {
        return Some("While its burst credits last");
    }
    let Virtues { reads, commits, steady, on_this_machine } = virtues(result)?;
    let believed = result.sync.as_ref().is_none_or(|sync| sync.judgement != SyncJudgement::TooFast);
    Some(match (reads, commits, steady) {
        (true, true, true) if !believed => "Fast enough for a busy OLTP database, if its flushes can be believed",
        (true, true, true) => "Fit for a busy OLTP database, data and log",
        // The device may be better than what could be asked of it.
        _ if on_this_machine => "At least, on a machine that was the limit itself",
        (true, false, true) => "Fit for the data of a database that reads more than it writes",
        (true, false, false) => "Fit for the data of a database that mostly reads",
        (_, true, false) => "Fit for commits and bulk work, not for queries that must answer at once",
        (false, true, true) => "Fit for logs and steady writing; queries wait behind writes",
        (false, false, _) => "Fit for backups, archives and scans, not for a database that people wait for",
    })
}

/// The virtues of a device for databases, by its latencies.
struct Virtues {
    /// Reads answer at once beside writes.
    reads: bool,
    /// Commits do beside readers.
    commits: bool,
    /// No write stalls, and no second is slow.
    steady: bool,
    /// A point that says so was limited by this machine.
    on_this_machine: bool,
}

fn virtues(result: &ReviewResult) -> Option<Virtues> {
    let line = result.timeline.as_ref()?;
    let beside = result.sweep("redo")?.points.last()?;
    let mixed = mixed(result)?;
    Some(Virtues {
        reads: mixed.read.lat_ns.at(99.9) < PATIENT_NS,
        commits: beside.write.lat_ns.mean + beside.sync.lat_ns.mean < FAST_COMMIT_NS,
        steady: line.slowest_second >= STEADY_SECOND && line.point.write.lat_ns.max < NOTICED_NS,
        on_this_machine: [&line.point, beside, mixed].iter().any(|point| point.limited_by_host),
    })
}

/// The topic of the claim that says why the device is not fit for everything.
fn denied(result: &ReviewResult) -> Option<&'static str> {
    let virtues = virtues(result)?;
    let stalls = || result.timeline.as_ref().is_some_and(|line| line.point.write.lat_ns.max >= NOTICED_NS);
    match virtues {
        Virtues { steady: false, .. } if stalls() => Some("stall"),
        Virtues { steady: false, .. } => Some("steady"),
        Virtues { reads: false, .. } => Some("tails"),
        Virtues { commits: false, .. } => Some("redo"),
        _ => None,
    }
}

/// The point with the most reads that also writes.
fn mixed(result: &ReviewResult) -> Option<&Point> {
    let both = |p: &&Point| p.read.total_ios > 0 && p.write.total_ios > 0;
    result.sweep("mix")?.points.iter().rfind(both)
}

fn figures(result: &ReviewResult) -> Vec<KeyFigure> {
    let figure = |name: &str, label: String, value: f64, text: String, detail: String, chart: &str| KeyFigure {
        name: name.into(),
        label,
        value,
        text,
        detail,
        chart: chart.into(),
    };
    let mut figures = Vec::new();
    figures.extend(transactions_s(result).map(|tps| {
        let detail = format!("like PostgreSQL's, {} sessions; computed", Demand::usual().sessions);
        figure("transactions_s", "Transactions a second".into(), tps, about(tps), detail, "mix")
    }));
    figures.extend(knee(result, "sync").map(|knee| {
        let commits = knee.best.sync.iops;
        let detail = format!("4 KiB, each with a flush, {}", axis_value(Axis::Threads, knee.best.x));
        figure("commits_s", "Commits a second".into(), commits, three_digits(commits), detail, "sync")
    }));
    figures.extend(result.sweep("fill").and_then(|fill| {
        let (first, last) = (fill.points.first()?, fill.points.last().filter(|p| p.x >= 99.0)?);
        let bw = last.write.bw_bytes;
        let detail = format!("{} at {}", mb_s(first.write.bw_bytes), axis_value(fill.axis, first.x));
        Some(figure("full_write_bytes_s", "Random writes when full".into(), bw, mb_s(bw), detail, "fill"))
    }));
    figures.extend(mixed(result).map(|point| {
        let ns = point.read.lat_ns.at(99.9) as f64;
        let median = duration(point.read.lat_ns.at(50.0) as f64);
        let detail = format!("at {}; the median {median}", axis_value(Axis::ReadPercent, point.x));
        figure("read_p999_ns", "One read in a thousand".into(), ns, duration(ns), detail, "mix")
    }));
    for (name, label, sweep) in
        [("reads_s", "Random reads a second", "threads-rndrd"), ("writes_s", "Random writes a second", "threads-rndwr")]
    {
        figures.extend(knee(result, sweep).map(|knee| {
            let iops = knee.best.iops();
            let detail = format!("16 KiB, {}", axis_value(Axis::Threads, knee.best.x));
            figure(name, label.into(), iops, three_digits(iops), detail, sweep)
        }));
    }
    figures.extend(result.timeline.as_ref().map(|line| {
        let bw = line.point.write.bw_bytes;
        let detail = format!("over {} s", line.point.series.len());
        figure("write_bytes_s", "Random writes".into(), bw, mb_s(bw), detail, "timeline")
    }));
    figures.extend(result.burst.as_ref().and_then(|report| {
        let bw = report.pace(report.first()?).fast_bw_bytes?;
        Some(figure("burst_bytes_s", "Written into an emptied device".into(), bw, mb_s(bw), "at first".into(), "burst"))
    }));
    figures
}
