//! The first thing to do about a device, and what is gained by it.
//!
//! Each action belongs to a limit, and its gain is one measured point over another, or one that a twin of the device did
//! over another of its own, where it does what was measured. The gravest limit comes first: figures that are not the
//! device's, flushes that can't be believed, a quota, stalls, then speed. Each says a figure of its device.

use super::between::{Between, Computed};
use super::bounds::{FAST_COMMIT_NS, IMPATIENT_NS, KEEPS_WHEN_FULL, NOTICED_NS, PATIENT_NS, TIMEOUT_NS};
use super::quota;
use super::scaling::{NEARLY_ALL, knee_of};
use results::words::{amount, duration, mb_s, three_digits, times};
use results::{Action, Ground, Point, ReviewResult, Sweep, SyncJudgement, TargetKind};

/// An action that gains less is not worth its words.
const WORTH: f64 = 1.2;
/// More of a device than this nobody leaves unused, percent.
const MOST_UNUSED: f64 = 30.0;
/// Share of the points that counts as most of them.
const MOST: f64 = 0.5;
/// Processors that a program uses which waits for something else.
const IDLE_CPU: f64 = 0.2;
/// A cache whose end makes writes so many times slower is a cliff.
const CLIFF: f64 = 2.0;

/// An action, and the topic of the claim that says why.
pub(super) struct Advice {
    pub topic: &'static str,
    pub action: Action,
}

/// The first thing to do.
pub(super) fn advice(result: &ReviewResult, between: &dyn Between) -> Option<Advice> {
    machine(result)
        .or_else(|| unproven(result))
        .or_else(|| more_quota(result))
        .or_else(|| credits(result))
        .or_else(|| slower(result, TIMEOUT_NS, IMPATIENT_NS))
        .or_else(|| unused(result, between))
        .or_else(|| slower(result, NOTICED_NS, PATIENT_NS))
        .or_else(|| paced(result))
        .or_else(|| together(result, between))
        .or_else(|| connections(result, between))
        .or_else(|| more_points(result))
}

fn advice_of(topic: &'static str, text: String, gain: Option<f64>, chart: &str) -> Advice {
    Advice { topic, action: Action { text, gain, chart: chart.into(), ..Action::default() } }
}

impl Advice {
    /// The same, by points that a twin did.
    fn by(mut self, computed: Option<Computed>) -> Advice {
        if let Some(computed) = computed {
            self.action.ground = Ground::Twin;
            self.action.twin = Some(computed.twin);
        }
        self
    }
}

/// Figures of a busy machine decide nothing.
fn machine(result: &ReviewResult) -> Option<Advice> {
    let points = || result.sweeps.iter().flat_map(|sweep| sweep.points.iter().map(move |point| (sweep, point)));
    let limited: Vec<_> = points().filter(|(_, point)| point.limited_by_host).collect();
    let (sweep, point) = limited.first()?;
    if (limited.len() as f64) < MOST * points().count() as f64 {
        return None;
    }
    // A program that waits for a quota has no use for processors, whoever else has them.
    let own = |(_, point): &(&Sweep, &Point)| point.generator.as_ref().map_or(1.0, |load| load.cpu);
    if quota::quota(result).is_some() && limited.iter().all(|point| own(point) < IDLE_CPU) {
        return None;
    }
    let cause = point.generator.as_ref().and_then(|load| load.host_limit(result.host.cores));
    let text = match cause {
        Some(results::HostLimit::Own) => "Ask from a faster machine, or with larger requests",
        _ => "Run it again when the machine is idle",
    };
    let most = points().map(|(_, point)| point.iops()).fold(0.0, f64::max);
    let text = format!("{text}: the device can do more than the {} requests a second of now.", three_digits(most));
    Some(advice_of("host", text, None, &sweep.name))
}

fn unproven(result: &ReviewResult) -> Option<Advice> {
    let too_fast = result.sync.as_ref().is_some_and(|sync| sync.judgement == SyncJudgement::TooFast);
    let one = result.sweep("sync").and_then(|sync| sync.points.first());
    let rate =
        one.map_or(String::new(), |one| format!(" {} flushes a second by 1 thread:", three_digits(one.sync.iops)));
    let text = format!("Cut its power under load before you trust it with commits;{rate} nothing else proves them.");
    too_fast.then(|| advice_of("sync", text, None, "sync"))
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
fn unused(result: &ReviewResult, between: &dyn Between) -> Option<Advice> {
    if result.target.kind == TargetKind::File {
        return None;
    }
    let measured = result.sweep("fill")?;
    let (first, last) = (measured.points.first()?, measured.points.last().filter(|p| p.x >= 99.0)?);
    if last.write.bw_bytes <= 0.0 || last.write.bw_bytes >= KEEPS_WHEN_FULL * first.write.bw_bytes {
        return None;
    }
    let computed = between.fill(measured);
    let points = computed.as_ref().map_or(&measured.points, |computed| &computed.sweep.points);
    let full = points.last().filter(|p| p.x >= 99.0 && p.write.bw_bytes > 0.0)?.write.bw_bytes;
    // The most throughput for the space that is left.
    let worth = |p: &&Point| p.write.bw_bytes / full * p.x;
    let sold = points.iter().filter(|p| p.x >= 100.0 - MOST_UNUSED && p.x < 99.0);
    let best = sold.max_by(|a, b| worth(a).total_cmp(&worth(b)))?;
    let gain = best.write.bw_bytes / full;
    // A twin's gain, on what was measured.
    let measured_full = last.write.bw_bytes;
    let text = format!(
        "Leave {:.0} % unpartitioned: {} the random writes, {} in place of {}.",
        100.0 - best.x,
        times(gain),
        mb_s(measured_full * gain),
        mb_s(measured_full),
    );
    (gain >= WORTH).then(|| advice_of("full", text, Some(gain), "fill").by(computed))
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
fn together(result: &ReviewResult, between: &dyn Between) -> Option<Advice> {
    let beside = result.sweep("redo")?.points.last()?;
    let measured = result.sweep("sync")?;
    let gained = |sync: &Sweep| Some(sync.points.last()?.sync.iops / sync.points.first()?.sync.iops);
    let slow = beside.write.lat_ns.mean + beside.sync.lat_ns.mean >= FAST_COMMIT_NS;
    if !slow || gained(measured).is_none_or(|gain| !gain.is_finite() || gain < WORTH) {
        return None;
    }
    let computed = between.fill(measured);
    let points = computed.as_ref().map_or(&measured.points, |computed| &computed.sweep.points);
    let one = points.first().filter(|one| one.sync.iops > 0.0)?;
    let most = points.iter().map(|p| p.sync.iops).fold(0.0, f64::max);
    let many = points.iter().find(|p| p.sync.iops >= NEARLY_ALL * most)?;
    let gain = many.sync.iops / one.sync.iops;
    let text = format!(
        "Let {:.0} commit at once (commit_delay, or as many connections): {} the commits of one, {} a second.",
        many.x,
        times(gain),
        three_digits(many.sync.iops),
    );
    (gain >= WORTH).then(|| advice_of("redo", text, Some(gain), "sync").by(computed))
}

/// As many connections as get nearly all.
fn connections(result: &ReviewResult, between: &dyn Between) -> Option<Advice> {
    let sweep = if result.sweep("threads-rndrd").is_some() { "threads-rndrd" } else { "threads-rndwr" };
    let (kind, of): (_, fn(&Point) -> f64) = match sweep {
        "threads-rndrd" => ("reads", |p| p.read.lat_ns.mean),
        _ => ("writes", |p| p.write.lat_ns.mean),
    };
    let measured = result.sweep(sweep)?;
    knee_of(&measured.points)?;
    let computed = between.fill(measured);
    let points = computed.as_ref().map_or(&measured.points, |computed| &computed.sweep.points);
    let knee = knee_of(points)?.knee;
    let (one, most) = (points.first()?, points.last()?);
    let mut text = format!("Start at {}: {} {kind} a second", connections_of(knee.x), three_digits(knee.iops()));
    let (gain, waits) = (knee.iops() / one.iops(), of(most) / of(knee));
    let over = if knee.x > one.x {
        text.push_str(&format!(", {} those of {:.0}", times(gain), one.x));
        Some(gain)
    } else {
        None
    };
    if most.x > knee.x && waits.is_finite() && waits > 1.0 {
        let more = (most.iops() / knee.iops() - 1.0) * 100.0;
        let add = if more < 0.5 { "get no more".to_owned() } else { format!("add {more:.0} %") };
        text.push_str(&format!("; {:.0} {add}, and each waits {} as long", most.x, times(waits)));
    }
    text.push('.');
    let gain = over.or(Some(waits).filter(|w| w.is_finite() && most.x > knee.x));
    Some(advice_of("threads", text, gain, sweep).by(computed))
}

fn connections_of(threads: f64) -> String {
    if threads == 1.0 { "1 connection".into() } else { format!("{threads:.0} connections") }
}

/// A part of a review decides little.
fn more_points(result: &ReviewResult) -> Option<Advice> {
    let measured = !result.sweeps.is_empty() || result.timeline.is_some() || result.burst.is_some();
    let swept = result.sweeps.iter().flat_map(|sweep| &sweep.points);
    let points = swept.chain(result.timeline.as_ref().map(|line| &line.point));
    let most = points.map(Point::iops).fold(0.0, f64::max);
    let alone = if most > 0.0 { format!(" ({} requests a second)", three_digits(most)) } else { String::new() };
    let text = format!("Review all of it: the phases that were asked for{alone} say too little to advise anything.");
    measured.then(|| advice_of("", text, None, ""))
}

#[cfg(test)]
mod tests;
