//! The review in words, for somebody who has to decide.
//!
//! Every sentence has its figures in it and names the chart that shows them. A sentence that needs a point which was not
//! measured is left out. Bounds of "good" and "bad" are those of `bounds.rs`.

mod action;
mod answer;
mod between;
mod bounds;
mod burst;
mod claim;
mod database;
mod heat;
mod quota;
mod scaling;
mod sync;
#[cfg(test)]
mod testing;
mod transactions;

use crate::words::axis_value;
pub(crate) use answer::answer;
pub use answer::answer_between;
pub use between::{Between, Computed};
use bounds::*;
use claim::{claim, claim_at};
pub use database::database_answer;
use results::words::{duration, mb_s, three_digits};
use results::{Claim, Point, ReviewResult, Sweep, SyncJudgement, TargetKind, Tone};
pub use sync::judge_sync;
pub(crate) use sync::sync;

/// All claims, the most important first.
pub(crate) fn claims(result: &ReviewResult) -> Vec<Claim> {
    let mut claims: Vec<Claim> = quota::claims(result);
    let of_device = [
        steady(result),
        full(result),
        stall(result),
        tails(result),
        burst::burst(result),
        scaling::scaling(result),
        log(result),
        heat::heat(result),
    ];
    claims.extend(of_device.into_iter().flatten());
    claims.extend(result.sync.as_ref().map(|verdict| {
        let tone = match verdict.judgement {
            SyncJudgement::Plausible | SyncJudgement::NothingToFlush => Tone::Good,
            SyncJudgement::TooFast => Tone::Warning,
            SyncJudgement::Unknown => Tone::Neutral,
        };
        claim("sync", tone, verdict.text.clone(), "sync")
    }));
    claims.extend(price(result));
    claims.extend(host(result));
    claims.extend(scope(result));
    claims.extend(not_emptied(result));
    claims.extend(unsteady_points(result));
    claims
}

fn steady(result: &ReviewResult) -> Option<Claim> {
    let line = result.timeline.as_ref()?;
    let seconds = line.point.series.len();
    if seconds < 2 {
        return None;
    }
    let share = line.slowest_second;
    let (tone, word) = match share {
        s if s >= STEADY_SECOND => (Tone::Good, "Steady"),
        s if s >= UNSTEADY_SECOND => (Tone::Warning, "Uneven"),
        _ => (Tone::Bad, "Not steady"),
    };
    // A limiter is even; the device behind it need not be.
    let (tone, word) = match quota::quota(result) {
        Some(_) if tone == Tone::Good => (Tone::Neutral, "Steady, as a quota makes it"),
        _ => (tone, word),
    };
    let text = format!(
        "{word}: the slowest of {seconds} seconds did {:.0} % of the mean of {} (random writes, {:.0} % in use).",
        share * 100.0,
        mb_s(line.point.write.bw_bytes),
        line.point.fill * 100.0,
    );
    Some(claim_at("steady", tone, text, "timeline", &line.point))
}

fn full(result: &ReviewResult) -> Option<Claim> {
    let points = &result.sweep("fill")?.points;
    let (first, last) = (points.first()?, points.last()?);
    if last.x < 99.0 || first.x > 50.0 || first.write.bw_bytes <= 0.0 {
        return None;
    }
    let left = last.write.bw_bytes / first.write.bw_bytes;
    let tone = match left {
        l if l >= KEEPS_WHEN_FULL => Tone::Good,
        l if l >= LOSES_WHEN_FULL => Tone::Neutral,
        l if l >= COLLAPSES_WHEN_FULL => Tone::Warning,
        _ => Tone::Bad,
    };
    let change = if left < 0.995 {
        format!("Random-write throughput drops {:.0} % when full", (1.0 - left) * 100.0)
    } else {
        "Random-write throughput does not drop when full".to_owned()
    };
    let text = format!(
        "{change}: {} at {:.0} % in use, {} at 100 %.",
        mb_s(first.write.bw_bytes),
        first.x,
        mb_s(last.write.bw_bytes),
    );
    // The throughput of a full file says little about the device under it.
    let tone = if result.target.kind == TargetKind::File { Tone::Neutral } else { tone };
    Some(claim_at("full", tone, text, "fill", last))
}

/// A file is a part of a device, and the rest of it is not under test.
fn scope(result: &ReviewResult) -> Option<Claim> {
    let target = &result.target;
    if target.kind != TargetKind::File {
        return None;
    }
    let text = format!(
        "A file of {:.2} GB was reviewed, not the device under it: \"in use\" is within the file, and how the device \
         behaves when it is full can't be seen from here.",
        target.capacity_bytes as f64 / 1e9,
    );
    Some(claim("scope", Tone::Neutral, text, ""))
}

/// A device that kept what it held was never empty, and its fill sweep is one of a full device.
fn not_emptied(result: &ReviewResult) -> Option<Claim> {
    let purge = result.purge.as_ref()?;
    if result.target.kind != TargetKind::BlockDevice || purge.discarded_bytes > 0 || result.sweep("fill").is_none() {
        return None;
    }
    let text = format!(
        "The device could not be emptied ({}): to its flash management it may have been full all the time, and so \
         its figures against space in use may be those of a full one.",
        purge.what
    );
    Some(claim("purge", Tone::Warning, text, "fill"))
}

fn stall(result: &ReviewResult) -> Option<Claim> {
    let line = result.timeline.as_ref()?;
    let worst_ns = line.point.write.lat_ns.max;
    if worst_ns == 0 {
        return None;
    }
    let tone = match worst_ns {
        n if n >= TIMEOUT_NS => Tone::Bad,
        n if n >= NOTICED_NS => Tone::Warning,
        _ => Tone::Good,
    };
    let median_ns = line.point.write.lat_ns.at(50.0);
    let stalls = match line.stalls.len() {
        0 => "no second stands out".to_owned(),
        1 => "1 second stands out".to_owned(),
        n => format!("{n} of {} seconds stand out", line.point.series.len()),
    };
    let text = format!(
        "Worst stall: {}, where the median write takes {}; {stalls}.",
        duration(worst_ns as f64),
        duration(median_ns as f64),
    );
    Some(claim_at("stall", tone, text, "timeline", &line.point))
}

/// Reads of the mix: what a query waits for while others write.
fn tails(result: &ReviewResult) -> Option<Claim> {
    let mix = result.sweep("mix")?;
    let point =
        mix.points.iter().filter(|p| p.read.total_ios > 0 && p.write.total_ios > 0).max_by_key(|p| p.x as u64)?;
    let p999_ns = point.read.lat_ns.at(99.9);
    let tone = match p999_ns {
        n if n >= IMPATIENT_NS => Tone::Bad,
        n if n >= PATIENT_NS => Tone::Warning,
        _ => Tone::Good,
    };
    let text = format!(
        "Reads beside writes: half take {}, one in a thousand {} or more ({}).",
        duration(point.read.lat_ns.at(50.0) as f64),
        duration(p999_ns as f64),
        axis_value(mix.axis, point.x),
    );
    Some(claim_at("tails", tone, text, "mix", point))
}

/// The log beside readers.
fn log(result: &ReviewResult) -> Option<Claim> {
    let redo = result.sweep("redo")?;
    let alone = redo.points.first().filter(|p| p.x == 0.0)?;
    let beside = redo.points.iter().rfind(|p| p.x >= 16.0)?;
    let commit = |p: &Point| p.write.lat_ns.mean + p.sync.lat_ns.mean;
    let (alone_ns, beside_ns) = (commit(alone), commit(beside));
    if alone_ns <= 0.0 {
        return None;
    }
    let tone = match beside_ns {
        n if n >= SLOW_COMMIT_NS => Tone::Bad,
        n if n >= FAST_COMMIT_NS => Tone::Neutral,
        _ => Tone::Good,
    };
    let text = format!(
        "Commits: a log write with its flush takes {} alone, {} beside {:.0} readers.",
        duration(alone_ns),
        duration(beside_ns),
        beside.x,
    );
    Some(claim_at("redo", tone, text, "redo", beside))
}

fn price(result: &ReviewResult) -> Option<Claim> {
    let price = result.price.as_ref()?;
    let gb = result.target.sold_bytes? as f64 / 1e9;
    let mut text = format!("Price: {} {} a GB", three_digits(price.amount / gb), price.currency);
    let best = |name: &str| -> Option<f64> {
        let best = result.sweep(name)?.points.iter().map(Point::iops).fold(0.0, f64::max);
        (best > 0.0).then_some(best)
    };
    for (name, what) in [("threads-rndrd", "read"), ("threads-rndwr", "write")] {
        if let Some(iops) = best(name) {
            text.push_str(&format!(", {} for each random {what} a second", three_digits(price.amount / iops)));
        }
    }
    text.push('.');
    Some(claim("price", Tone::Neutral, text, "price"))
}

fn host(result: &ReviewResult) -> Option<Claim> {
    let all = || result.sweeps.iter().flat_map(|sweep| sweep.points.iter().map(move |point| (sweep, point)));
    let limited: Vec<(&Sweep, &Point)> = all().filter(|(_, point)| point.limited_by_host).collect();
    let (sweep, point) = limited.first()?;
    let load = point.generator.as_ref();
    let figures = load.map_or(String::new(), |load| format!(": {}", load.limit));
    let cause = load
        .and_then(|load| load.host_limit(result.host.cores))
        .map_or(String::new(), |limit| format!(". {}{}", limit.words()[..1].to_uppercase(), &limit.words()[1..]));
    let text = format!(
        "At {} of {} points the machine that asked was the limit, not the device; the first is {} at {}{figures}{cause}.",
        limited.len(),
        all().count(),
        sweep.name,
        axis_value(sweep.axis, point.x),
    );
    Some(claim("host", Tone::Warning, text, &sweep.name))
}

fn unsteady_points(result: &ReviewResult) -> Option<Claim> {
    let not_reached = result.preconditioning.iter().filter(|p| !p.steady.attained && !p.steady.rounds.is_empty());
    let fills: Vec<String> = not_reached.map(|p| format!("{:.0} %", p.fill * 100.0)).collect();
    if fills.is_empty() {
        return None;
    }
    let text = format!(
        "Steady state was not reached before measuring at {} in use (SNIA's rule: the last five rounds within 20 %, \
         their slope within 10 %): figures there may flatter the device.",
        fills.join(", ")
    );
    // A model's rounds are exact; a real device that does not settle is news.
    let tone = if result.target.kind == TargetKind::Model { Tone::Neutral } else { Tone::Warning };
    Some(claim("precondition", tone, text, "preconditioning"))
}

#[cfg(test)]
mod tests {
    use super::testing::nothing_measured;
    use super::*;
    use results::{Axis, GeneratorLoad};

    #[test]
    fn a_busy_machine_is_no_fault_of_the_device() {
        let point = |limited_by_host| Point { limited_by_host, ..Point::default() };
        let own = claim_at("stall", Tone::Bad, "Worst stall: 1 s.".into(), "timeline", &point(false));
        let hosts = claim_at("stall", Tone::Bad, "Worst stall: 1 s.".into(), "timeline", &point(true));
        assert_eq!((own.tone, hosts.tone), (Tone::Bad, Tone::Neutral));
        assert!(hosts.text.contains("the limit here, not the device"));
        // A good claim stays good in spite of it.
        assert_eq!(claim_at("stall", Tone::Good, String::new(), "timeline", &point(true)).tone, Tone::Good);
    }

    #[test]
    fn the_program_that_was_the_limit_is_named_with_the_figures() {
        let mut result = nothing_measured("file");
        let limit = "the machine's processors were 100 % busy, 16 % with this program".to_owned();
        let load = GeneratorLoad { cpu: 0.32, machine_busy: 1.0, limit, ..GeneratorLoad::default() };
        let point = Point { x: 4.0, generator: Some(load), limited_by_host: true, ..Point::default() };
        let text = String::new;
        let points = vec![point];
        let name = "threads-rndrd".to_owned();
        result.sweeps = vec![Sweep { name, phase: text(), title: text(), note: text(), axis: Axis::Threads, points }];
        let said = "At 1 of 1 points the machine that asked was the limit, not the device; the first is threads-rndrd at 4 \
                    threads: the machine's processors were 100 % busy, 16 % with this program. Other programs use the CPU; \
                    run again when the machine is idle.";
        assert_eq!(host(&result).unwrap().text, said);
    }
}
