//! The first thing to do about a device, and what is gained by it.
//!
//! Each action belongs to a limit, and its gain is one measured point over another. The gravest limit comes first:
//! figures that are not the device's, flushes that can't be believed, a quota, stalls, then speed.

use super::bounds::{FAST_COMMIT_NS, IMPATIENT_NS, KEEPS_WHEN_FULL, NOTICED_NS, PATIENT_NS, TIMEOUT_NS};
use super::quota;
use super::scaling::knee;
use results::words::{amount, duration, mb_s, three_digits, times};
use results::{Action, Point, ReviewResult, SyncJudgement, TargetKind};

/// An action that gains less is not worth its words.
const WORTH: f64 = 1.2;
/// More of a device than this nobody leaves unused, percent.
const MOST_UNUSED: f64 = 30.0;
/// Share of the points that counts as most of them.
const MOST: f64 = 0.5;
/// A cache whose end makes writes so many times slower is a cliff.
const CLIFF: f64 = 2.0;

/// An action, and the topic of the claim that says why.
pub(super) struct Advice {
    pub topic: &'static str,
    pub action: Action,
}

/// The first thing to do.
pub(super) fn advice(result: &ReviewResult) -> Option<Advice> {
    machine(result)
        .or_else(|| unproven(result))
        .or_else(|| more_quota(result))
        .or_else(|| credits(result))
        .or_else(|| slower(result, TIMEOUT_NS, IMPATIENT_NS))
        .or_else(|| unused(result))
        .or_else(|| slower(result, NOTICED_NS, PATIENT_NS))
        .or_else(|| paced(result))
        .or_else(|| together(result))
        .or_else(|| connections(result))
        .or_else(|| more_points(result))
}

fn advice_of(topic: &'static str, text: String, gain: Option<f64>, chart: &str) -> Advice {
    Advice { topic, action: Action { text, gain, chart: chart.into() } }
}

/// Figures of a busy machine decide nothing.
fn machine(result: &ReviewResult) -> Option<Advice> {
    let points = || result.sweeps.iter().flat_map(|sweep| sweep.points.iter().map(move |point| (sweep, point)));
    let limited: Vec<_> = points().filter(|(_, point)| point.limited_by_host).collect();
    let (sweep, point) = limited.first()?;
    if (limited.len() as f64) < MOST * points().count() as f64 {
        return None;
    }
    let cause = point.generator.as_ref().and_then(|load| load.host_limit(result.host.cores));
    let text = match cause {
        Some(results::HostLimit::Own) => "Ask from a faster machine, or with larger requests: the device can do more.",
        _ => "Run it again when the machine is idle: the device can do more.",
    };
    Some(advice_of("host", text.into(), None, &sweep.name))
}

fn unproven(result: &ReviewResult) -> Option<Advice> {
    let too_fast = result.sync.as_ref().is_some_and(|sync| sync.judgement == SyncJudgement::TooFast);
    let text = "Cut its power under load before you trust it with commits: nothing else proves such flushes.";
    too_fast.then(|| advice_of("sync", text.into(), None, "sync"))
}

fn more_quota(result: &ReviewResult) -> Option<Advice> {
    let (quota, few, many) = quota::waits(result)?;
    if few.threads >= many.threads {
        let text = format!(
            "Ask for a higher quota than {} IOPS before you ask from more than {}: they would only wait.",
            three_digits(quota.iops),
            connections_of(many.threads),
        );
        return Some(advice_of("quota", text, None, "threads-rndrd"));
    }
    let gain = many.mean_ns / few.mean_ns;
    let text = format!(
        "Ask for a higher quota than {} IOPS, and start at {} until then: at {:.0} a request waits {} as long for the \
         same throughput.",
        three_digits(quota.iops),
        connections_of(few.threads),
        many.threads,
        times(gain),
    );
    Some(advice_of("quota", text, Some(gain), "threads-rndrd"))
}

fn credits(result: &ReviewResult) -> Option<Advice> {
    let (chart, fall) = quota::fall_of(result)?;
    let gain = fall.before.iops / fall.after.iops;
    let text = format!(
        "Plan with {} IOPS: the {} as many of the first {} s are credits, and are spent.",
        three_digits(fall.after.iops),
        times(gain),
        three_digits(fall.at_s.round()),
    );
    Some(advice_of("credits", text, None, chart))
}

/// Load below what makes requests wait: for stalls and for reads behind writes that reach these bounds.
fn slower(result: &ReviewResult, stall_ns: u64, read_ns: u64) -> Option<Advice> {
    let stalls = result.timeline.as_ref().is_some_and(|line| line.point.write.lat_ns.max >= stall_ns);
    let both = |p: &&Point| p.read.total_ios > 0 && p.write.total_ios > 0;
    let mixed = result.sweep("mix").and_then(|mix| mix.points.iter().rfind(both));
    let waits = mixed.is_some_and(|point| point.read.lat_ns.at(99.9) >= read_ns);
    let topic = match (stalls, waits) {
        (true, _) => "stall",
        (_, true) => "tails",
        _ => return None,
    };
    let rate = result.sweep("rate")?;
    let p999 = |p: &Point| p.read.lat_ns.at(99.9) as f64;
    let paced: Vec<&Point> = rate.points.iter().filter(|p| p.x < 100.0 && p999(p) > 0.0).collect();
    let whole = rate.points.last().filter(|p| p.x >= 100.0)?;
    // The fastest pace at which nobody waits, or else the one at which the wait is shortest.
    let patient = paced.iter().rfind(|p| p999(p) < PATIENT_NS as f64);
    let shortest = || paced.iter().min_by(|a, b| p999(a).total_cmp(&p999(b)));
    let point = patient.or_else(shortest)?;
    let gain = p999(whole) / p999(point);
    let text = format!(
        "Keep the load below {} requests a second, {:.0} % of its most: one read in a thousand then takes {} in place of {}.",
        three_digits(point.iops()),
        point.x,
        duration(p999(point)),
        duration(p999(whole)),
    );
    (gain >= WORTH).then(|| advice_of(topic, text, Some(gain), "rate"))
}

/// Space that is never written is the flash management's to work with.
fn unused(result: &ReviewResult) -> Option<Advice> {
    if result.target.kind == TargetKind::File {
        return None;
    }
    let points = &result.sweep("fill")?.points;
    let (first, last) = (points.first()?, points.last().filter(|p| p.x >= 99.0)?);
    let full = last.write.bw_bytes;
    if full <= 0.0 || full >= KEEPS_WHEN_FULL * first.write.bw_bytes {
        return None;
    }
    // The most throughput for the space that is left.
    let worth = |p: &&Point| p.write.bw_bytes / full * p.x;
    let sold = points.iter().filter(|p| p.x >= 100.0 - MOST_UNUSED && p.x < 99.0);
    let best = sold.max_by(|a, b| worth(a).total_cmp(&worth(b)))?;
    let gain = best.write.bw_bytes / full;
    let text = format!(
        "Leave {:.0} % unpartitioned: {} the random writes, {} in place of {}.",
        100.0 - best.x,
        times(gain),
        mb_s(best.write.bw_bytes),
        mb_s(full),
    );
    (gain >= WORTH).then(|| advice_of("full", text, Some(gain), "fill"))
}

/// Bulk writes at the pace that lasts.
fn paced(result: &ReviewResult) -> Option<Advice> {
    let report = result.burst.as_ref()?;
    let pace = report.pace(report.first()?);
    let (fast, slow) = (pace.fast_bw_bytes?, pace.slow_bw_bytes.filter(|slow| *slow > 0.0)?);
    let text = format!(
        "Plan backups and bulk loads of more than {} with {}: up to there they are {} as fast.",
        amount(pace.fast_bytes),
        mb_s(slow),
        times(fast / slow),
    );
    (fast >= CLIFF * slow).then(|| advice_of("burst", text, Some(fast / slow), "burst"))
}

/// Commits that wait for one flush together.
fn together(result: &ReviewResult) -> Option<Advice> {
    let beside = result.sweep("redo")?.points.last()?;
    let sync = result.sweep("sync")?;
    let (one, many) = (sync.points.first()?, sync.points.last()?);
    let slow = beside.write.lat_ns.mean + beside.sync.lat_ns.mean >= FAST_COMMIT_NS;
    let gain = many.sync.iops / one.sync.iops;
    let text = format!(
        "Let {:.0} commit at once (commit_delay, or as many connections): {} the commits of one, {} a second.",
        many.x,
        times(gain),
        three_digits(many.sync.iops),
    );
    (slow && gain.is_finite() && gain >= WORTH).then(|| advice_of("redo", text, Some(gain), "sync"))
}

/// As many connections as get nearly all.
fn connections(result: &ReviewResult) -> Option<Advice> {
    let sweep = if result.sweep("threads-rndrd").is_some() { "threads-rndrd" } else { "threads-rndwr" };
    let (kind, of): (_, fn(&Point) -> f64) = match sweep {
        "threads-rndrd" => ("reads", |p| p.read.lat_ns.mean),
        _ => ("writes", |p| p.write.lat_ns.mean),
    };
    let knee = knee(result, sweep)?.knee;
    let points = &result.sweep(sweep)?.points;
    let (one, most) = (points.first()?, points.last()?);
    let mut text = format!("Start at {}", connections_of(knee.x));
    let (gain, waits) = (knee.iops() / one.iops(), of(most) / of(knee));
    let over = if knee.x > one.x {
        text.push_str(&format!(": {} the {kind} of {:.0}", times(gain), one.x));
        Some(gain)
    } else {
        None
    };
    if most.x > knee.x && waits.is_finite() && waits > 1.0 {
        let more = (most.iops() / knee.iops() - 1.0) * 100.0;
        let joint = if over.is_some() { "; " } else { ": " };
        let add = if more < 0.5 { "get no more".to_owned() } else { format!("add {more:.0} %") };
        text.push_str(&format!("{joint}{:.0} {add}, and each waits {} as long", most.x, times(waits)));
    }
    text.push('.');
    Some(advice_of("threads", text, over.or(Some(waits).filter(|w| w.is_finite() && most.x > knee.x)), sweep))
}

fn connections_of(threads: f64) -> String {
    if threads == 1.0 { "1 connection".into() } else { format!("{threads:.0} connections") }
}

/// A part of a review decides little.
fn more_points(result: &ReviewResult) -> Option<Advice> {
    let measured = !result.sweeps.is_empty() || result.timeline.is_some() || result.burst.is_some();
    let text = "Review all of it: the phases that were asked for say too little to advise anything.";
    measured.then(|| advice_of("", text.into(), None, ""))
}
