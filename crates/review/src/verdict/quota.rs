//! Is it the device that is measured, or a limit that somebody has put on it?
//!
//! Volumes of clouds are sold by requests a second. A limiter gives the same figure to any number of threads, and the
//! threads wait in turn; a device's own figure rises with them, and differs between reads and writes and between sizes.
//! Some volumes save up what they do not use and go faster until that is spent.

use super::claim::claim;
use results::words::{duration, mb_s, three_digits};
use results::{Claim, Point, ReviewResult, SeriesRow, Sweep, TargetKind, Tone};

/// Figures of a limiter are so close to each other.
const SAME: f64 = 0.03;
/// Limiters let requests through by slices of so many seconds at most (Linux, block/blk-throttle.c,
/// DFL_THROTL_SLICE_HD). A point may have one more at each end than another, on a machine that comes late.
const SLICES_S: f64 = 0.2;
/// Threads, and sizes of requests, go up at least by this.
const RANGE: f64 = 4.0;
/// Latency grows as the threads do, within this.
const PROPORTION: f64 = 0.2;
/// Larger requests move so many times the bytes: what limits is no link.
const MORE_BYTES: f64 = 1.5;
/// A second of a level is within this of its median, and so many seconds of it are.
const LEVEL: f64 = 0.05;
const LEVEL_SECONDS: f64 = 0.9;
/// A level lasts so long, in seconds, and the second one is at most this of the first.
const LEVEL_S: usize = 8;
const LOWER: f64 = 0.8;
/// Bytes of a review's random requests.
const BLOCK_BYTES: f64 = 16_384.0;

/// A limit that was put on a device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Quota {
    /// Requests a second that it lets through.
    pub iops: f64,
    /// Bytes a second at the size of request that found it.
    pub bw_bytes: f64,
}

/// Whether a limit may have been put on it: a model has none but its own, unless it is the model of a volume.
fn may_have_one(result: &ReviewResult) -> bool {
    result.target.kind != TargetKind::Model || sold_iops(result).is_some()
}

/// Requests a second for which the volume was sold that was modelled.
fn sold_iops(result: &ReviewResult) -> Option<f64> {
    let profile = result.target.profile.as_ref().filter(|profile| profile["kind"] == "volume")?;
    profile["settings"]["volume"]["iops"].as_f64()
}

/// Finds the limit.
pub(super) fn quota(result: &ReviewResult) -> Option<Quota> {
    found(result).map(|(quota, _, _)| quota)
}

/// Threads of a point, and how long their requests waited.
pub(super) struct Wait {
    pub threads: f64,
    pub mean_ns: f64,
}

/// Returns the limit, and the waits of the fewest threads that get all of it and of the most threads.
pub(super) fn waits(result: &ReviewResult) -> Option<(Quota, Wait, Wait)> {
    let (quota, sweep, from) = found(result)?;
    let (few, many) = (sweep.points.iter().find(|point| point.x == from)?, sweep.points.last()?);
    let wait = |point: &Point| Wait { threads: point.x, mean_ns: mean_ns(point) };
    Some((quota, wait(few), wait(many)))
}

fn found(result: &ReviewResult) -> Option<(Quota, &Sweep, f64)> {
    if !may_have_one(result) {
        return None;
    }
    let of = |name: &str| {
        let sweep = result.sweep(name)?;
        flat(sweep).map(|(quota, from)| (quota, sweep, from))
    };
    // The limits of a volume's model are known, and need not be told from what looks like them.
    if let Some(iops) = sold_iops(result) {
        return ["threads-rndrd", "threads-rndwr"].into_iter().find_map(|name| {
            let sweep = result.sweep(name)?;
            let meets = |point: &&Point| (point.iops() / iops - 1.0).abs() <= SAME;
            let (first, last) = (sweep.points.iter().find(meets)?, sweep.points.last().filter(meets)?);
            Some((Quota { iops, bw_bytes: last.bw_bytes() }, sweep, first.x))
        });
    }
    let (reads, writes) = (of("threads-rndrd"), of("threads-rndwr"));
    let same = |a: f64, b: f64| (a / b - 1.0).abs() <= SAME;
    // No device reads as fast with one thread as with sixteen.
    if let Some(found) = reads.filter(|(_, _, from)| *from <= 1.0) {
        return Some(found);
    }
    // A link also stops reads and writes at the same figure, and all sizes at the same bytes.
    let is_link = |quota: &Quota| {
        let sizes = ["blocks-rndrd", "blocks-rndwr"].iter().filter_map(|name| result.sweep(name));
        !sizes.flat_map(|sweep| &sweep.points).any(|point| point.bw_bytes() >= MORE_BYTES * quota.bw_bytes)
    };
    if let (Some(reads), Some(writes)) = (reads, writes)
        && same(reads.0.iops, writes.0.iops)
        && !is_link(&reads.0)
    {
        return Some(reads);
    }
    [(reads, "blocks-rndrd"), (writes, "blocks-rndwr")].into_iter().find_map(|(found, blocks)| {
        let (quota, sweep, from) = found?;
        let sizes = result.sweep(blocks)?.points.iter().filter(|point| same(point.iops(), quota.iops)).map(|p| p.x);
        let (least, most) = sizes.fold((f64::INFINITY, 0.0), |(least, most), x| (x.min(least), x.max(most)));
        (most >= RANGE * least).then_some((quota, sweep, from))
    })
}

/// The throughput that all points have from some number of threads on, while each thread waits longer in proportion,
/// and that number of threads.
fn flat(sweep: &Sweep) -> Option<(Quota, f64)> {
    let last = sweep.points.last().filter(|point| point.iops() > 0.0)?;
    let slice =
        |point: &Point| if point.seconds > 2.0 * SLICES_S { SLICES_S / (point.seconds - SLICES_S) } else { 0.0 };
    let is_same = |point: &&Point| {
        let waits = mean_ns(point) / point.x / (mean_ns(last) / last.x);
        let near = SAME.max(slice(point)).max(slice(last));
        (point.iops() / last.iops() - 1.0).abs() <= near && (waits - 1.0).abs() <= PROPORTION
    };
    let same = sweep.points.iter().rev().take_while(is_same).count();
    let same = &sweep.points[sweep.points.len() - same..];
    // The middle one, lest the quota be told from the point that had a slice more.
    let mut by_iops: Vec<&Point> = same.iter().collect();
    by_iops.sort_by(|a, b| a.iops().total_cmp(&b.iops()));
    let middle = by_iops.get((by_iops.len() - 1) / 2)?;
    let quota = Quota { iops: middle.iops(), bw_bytes: middle.bw_bytes() };
    (last.x >= RANGE * same[0].x).then_some((quota, same[0].x))
}

fn mean_ns(point: &Point) -> f64 {
    if point.read.total_ios > point.write.total_ios { point.read.lat_ns.mean } else { point.write.lat_ns.mean }
}

/// Claims that a limit was measured in place of the device, and credits that were spent.
pub(super) fn claims(result: &ReviewResult) -> Vec<Claim> {
    let mut claims = Vec::new();
    if let Some((quota, sweep, from)) = found(result) {
        let threads = if from == 1.0 { "1 thread".to_owned() } else { format!("{from:.0} threads") };
        let (few, many) = (sweep.points.iter().find(|point| point.x == from), sweep.points.last());
        let waits = few.zip(many).filter(|(few, many)| few.x < many.x).map_or(String::new(), |(few, many)| {
            let (few_ns, many_ns) = (duration(mean_ns(few)), duration(mean_ns(many)));
            format!(", while the mean wait grows from {few_ns} to {many_ns} at {:.0}", many.x)
        });
        let text = format!(
            "A quota was measured, not the device: {} IOPS, {}, from {threads} on{waits}. More threads get no more.",
            three_digits(quota.iops),
            mb_s(quota.bw_bytes),
        );
        claims.push(claim("quota", Tone::Warning, text, &sweep.name));
    }
    claims.extend(credits(result));
    claims
}

/// Claims that it fell from one even level to a lower one, as a volume does whose burst credits are spent.
fn credits(result: &ReviewResult) -> Option<Claim> {
    let (chart, fall) = fall_of(result)?;
    let text = format!(
        "Burst credits: {} IOPS, {}, for {} s, then {} IOPS, {}, evenly: plan with the lower figure.",
        three_digits(fall.before.iops),
        mb_s(fall.before.bw_bytes),
        three_digits(fall.at_s.round()),
        three_digits(fall.after.iops),
        mb_s(fall.after.bw_bytes),
    );
    Some(claim("credits", Tone::Warning, text, chart))
}

/// The fall of a timeline or a point to a lower level, and the chart that shows it.
pub(super) fn fall_of(result: &ReviewResult) -> Option<(&str, Fall)> {
    if !may_have_one(result) {
        return None;
    }
    if let Some(fall) = sold_fall(result) {
        return Some(("timeline", fall));
    }
    let line = result.timeline.as_ref().map(|line| ("timeline", &line.point));
    let points = result.sweeps.iter().flat_map(|s| s.points.iter().map(move |point| (s.name.as_str(), point)));
    line.into_iter().chain(points).find_map(|(chart, point)| Some((chart, fall(&point.series)?)))
}

/// The end of the burst of a volume whose model has all its credits in the beginning: it may come after the review's.
fn sold_fall(result: &ReviewResult) -> Option<Fall> {
    let lasting = sold_iops(result)?;
    let volume = &result.target.profile.as_ref()?["settings"]["volume"];
    let number = |key: &str| volume[key].as_f64();
    let level = |iops: f64, key| Some(Quota { iops, bw_bytes: (iops * BLOCK_BYTES).min(number(key)?) });
    volume["full_at_start"].as_bool().filter(|full| *full)?;
    let (before, after) = (level(number("burst_iops")?, "burst_bytes_per_s")?, level(lasting, "bytes_per_s")?);
    (after.iops <= LOWER * before.iops).then_some(Fall { at_s: number("burst_s")?, before, after })
}

/// A fall from one even level to a lower one.
pub(super) struct Fall {
    /// The second at which it falls.
    pub at_s: f64,
    /// The level before.
    pub before: Quota,
    /// The level from then on.
    pub after: Quota,
}

/// The second at which an even level ends and a lower one begins.
fn fall(series: &[SeriesRow]) -> Option<Fall> {
    if series.len() < 2 * LEVEL_S {
        return None;
    }
    let middle = |at: &usize| {
        let around = |rows: &[SeriesRow]| rows.iter().map(|row| row.iops).sum::<f64>() / rows.len() as f64;
        around(&series[..*at]) - around(&series[*at..])
    };
    // Where the means of both sides differ most, the fall is.
    let at = (LEVEL_S..=series.len() - LEVEL_S).max_by(|a, b| middle(a).total_cmp(&middle(b)))?;
    let (before, after) = (level(&series[..at])?, level(&series[at..])?);
    (after.iops <= LOWER * before.iops).then_some(Fall { at_s: series[at - 1].t_s, before, after })
}

/// The median second, where nearly all seconds are like it.
fn level(rows: &[SeriesRow]) -> Option<Quota> {
    let mut iops: Vec<f64> = rows.iter().map(|row| row.iops).collect();
    iops.sort_by(f64::total_cmp);
    let median = iops[iops.len() / 2];
    let near = |row: &&SeriesRow| (row.iops - median).abs() <= LEVEL * median;
    let (mut bytes, mut count) = (0.0, 0.0);
    for row in rows.iter().filter(near) {
        bytes += row.read_bw_bytes + row.write_bw_bytes;
        count += 1.0;
    }
    (median > 0.0 && count >= LEVEL_SECONDS * rows.len() as f64)
        .then(|| Quota { iops: median, bw_bytes: bytes / count })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::testing::nothing_measured;
    use results::{Axis, IoClass, LatencyRecorder, Timeline};
    use serde_json::json;

    fn result(kind: &str) -> ReviewResult {
        let mut result = nothing_measured(kind);
        (result.target.capacity_bytes, result.host.cores) = (500_000_000_000, 1);
        result
    }

    fn class(iops: f64, bytes: f64, threads: f64) -> IoClass {
        let mut latency = LatencyRecorder::new();
        (0..100).for_each(|_| latency.record((threads / iops * 1e9) as u64));
        IoClass { iops, bw_bytes: iops * bytes, total_ios: 1000, lat_ns: latency.summary(), ..IoClass::default() }
    }

    /// IOPS by threads, or by bytes of a request with 16 threads.
    fn sweep(name: &str, points: &[(f64, f64)]) -> Sweep {
        let axis = if name.starts_with("threads") { Axis::Threads } else { Axis::BlockBytes };
        let point = |&(x, iops): &(f64, f64)| {
            let class = if axis == Axis::Threads { class(iops, 16_384.0, x) } else { class(iops, x, 16.0) };
            let (read, write) =
                if name.ends_with("rd") { (class, Default::default()) } else { (Default::default(), class) };
            Point { x, read, write, ..Point::default() }
        };
        let text = String::new;
        let points = points.iter().map(point).collect();
        Sweep { name: name.into(), phase: text(), title: text(), note: text(), axis, points }
    }

    fn said(kind: &str, sweeps: Vec<Sweep>) -> Option<String> {
        let claims = claims(&ReviewResult { sweeps, ..result(kind) });
        assert!(claims.iter().all(|claim| claim.topic == "quota" && claim.tone == Tone::Warning));
        claims.into_iter().next().map(|claim| claim.text)
    }

    #[test]
    fn a_volume_that_gives_one_thread_as_much_as_sixteen_has_a_quota() {
        let reads = || vec![sweep("threads-rndrd", &[(1.0, 299.0), (4.0, 299.0), (16.0, 299.2)])];
        let text = "A quota was measured, not the device: 299 IOPS, 4.90 MB/s, from 1 thread on, while the mean wait grows \
                    from 3.34 ms to 53.5 ms at 16. More threads get no more.";
        assert_eq!(said("file", reads()).as_deref(), Some(text));
        assert_eq!(said("model", reads()), None);
    }

    #[test]
    fn a_short_point_may_have_slices_of_the_limiter_more_and_the_quota_stays_that_of_the_others() {
        let mut reads = sweep("threads-rndrd", &[(1.0, 592.0), (4.0, 592.0), (16.0, 592.0), (64.0, 626.9)]);
        assert_eq!(said("file", vec![reads.clone()]), None);
        for point in &mut reads.points {
            point.seconds = 1.72;
        }
        assert!(said("file", vec![reads.clone()]).unwrap().contains(" 592 IOPS, 9.70 MB/s, from 1 thread on"));
        // Or one less.
        reads.points[3].read.iops = 592.0;
        reads.points[1].read.iops = 626.9;
        assert!(said("file", vec![reads.clone()]).unwrap().contains(" 592 IOPS, 9.70 MB/s, from 1 thread on"));
        // Three slices more are no chance.
        reads.points[3].read.iops = 696.5;
        assert_eq!(said("file", vec![reads]), None);
    }

    #[test]
    fn the_same_figure_for_reads_writes_or_all_sizes_is_a_quota_and_a_full_link_is_none() {
        let threads = |name: &str, most: f64| sweep(name, &[(1.0, 1_900.0), (4.0, most), (16.0, most), (64.0, most)]);
        let blocks = |name: &str, most: f64| {
            let at = |bytes: f64| (bytes, most.min(128e6 / bytes));
            sweep(name, &[at(4_096.0), at(16_384.0), at(65_536.0), at(262_144.0)])
        };
        let both =
            vec![threads("threads-rndrd", 3_000.0), threads("threads-rndwr", 3_010.0), blocks("blocks-rndrd", 3_000.0)];
        assert!(said("block_device", both).unwrap().contains("3,000 IOPS, 49.2 MB/s, from 4 threads on"));
        let sizes = vec![threads("threads-rndwr", 3_000.0), blocks("blocks-rndwr", 3_000.0)];
        assert!(said("block_device", sizes).is_some());
        // 128 MB/s are the link's.
        let full = 128e6 / 16_384.0;
        let link = vec![threads("threads-rndrd", full), threads("threads-rndwr", full), blocks("blocks-rndrd", 1e9)];
        assert_eq!(said("block_device", link), None);
    }

    #[test]
    fn the_model_of_a_volume_has_the_quota_that_it_is_made_of() {
        let reads = sweep("threads-rndrd", &[(1.0, 1_500.0), (4.0, 6_000.0), (16.0, 16_800.0), (64.0, 20_990.0)]);
        let mut volume = ReviewResult { sweeps: vec![reads], ..result("model") };
        let profile = |kind: &str, iops: u32| Some(json!({ "kind": kind, "settings": { "volume": { "iops": iops } } }));
        volume.target.profile = profile("flash", 21_000);
        assert_eq!(quota(&volume), None);
        // Where nothing meets it, it is no limit.
        volume.target.profile = profile("volume", 80_000);
        assert_eq!(quota(&volume), None);
        volume.target.profile = profile("volume", 21_000);
        let claims = claims(&volume);
        let text = "A quota was measured, not the device: 21,000 IOPS, 344 MB/s, from 64 threads on. More threads get no more.";
        assert_eq!(claims[0].text, text);
    }

    #[test]
    fn a_device_that_is_full_of_work_has_no_quota() {
        let disk = sweep("threads-rndrd", &[(1.0, 170.0), (4.0, 250.0), (16.0, 330.0), (64.0, 360.0)]);
        let flash = sweep("threads-rndrd", &[(1.0, 9_000.0), (4.0, 34_000.0), (16.0, 90_000.0), (64.0, 91_000.0)]);
        // Collection is the limit, whoever writes.
        let writes = sweep("threads-rndwr", &[(1.0, 20_000.0), (4.0, 20_100.0), (16.0, 20_050.0)]);
        assert_eq!(said("block_device", vec![disk, writes.clone()]), None);
        assert_eq!(said("block_device", vec![flash, writes]), None);
    }

    #[test]
    fn a_volume_that_begins_with_credits_says_how_long_they_last() {
        let mut volume = result("model");
        let settings = json!({ "iops": 2300, "bytes_per_s": 150_000_000, "burst_iops": 3500, "burst_bytes_per_s": 170_000_000,
            "burst_s": 1800, "full_at_start": true });
        volume.target.profile = Some(json!({ "kind": "volume", "settings": { "volume": settings } }));
        let text = "Burst credits: 3,500 IOPS, 57.3 MB/s, for 1,800 s, then 2,300 IOPS, 37.7 MB/s, evenly: plan with the lower \
                    figure.";
        assert_eq!(claims(&volume)[0].text, text);
        volume.target.profile.as_mut().unwrap()["settings"]["volume"]["full_at_start"] = json!(false);
        assert!(claims(&volume).is_empty());
    }

    fn timeline(iops: impl Fn(usize) -> f64) -> Option<String> {
        let row = |second| SeriesRow {
            t_s: second as f64 + 1.0,
            iops: iops(second),
            write_bw_bytes: 16_384.0 * iops(second),
            ..SeriesRow::default()
        };
        let point = Point { series: (0..300).map(row).collect(), ..Point::default() };
        let timeline = Some(Timeline { point, ..Timeline::default() });
        claims(&ReviewResult { timeline, ..result("block_device") }).into_iter().next().map(|claim| claim.text)
    }

    #[test]
    fn a_fall_from_one_even_level_to_another_is_that_of_spent_credits() {
        let text = "Burst credits: 3,000 IOPS, 49.2 MB/s, for 180 s, then 300 IOPS, 4.92 MB/s, evenly: plan with the lower \
                    figure.";
        assert_eq!(timeline(|second| if second < 180 { 3_000.0 } else { 300.0 }).as_deref(), Some(text));
        assert_eq!(timeline(|_| 3_000.0), None);
        // A device that collects from then on is uneven.
        let uneven = |second: usize| if second < 180 { 3_000.0 } else { 600.0 + 300.0 * (second % 5) as f64 };
        assert_eq!(timeline(uneven), None);
        assert_eq!(timeline(|second| if second < 180 { 3_000.0 } else { 2_900.0 }), None);
    }
}
