use super::*;
use crate::verdict::between::Nobody;
use crate::verdict::testing::nothing_measured;
use results::{Axis, GeneratorLoad, IoClass, LatencyRecorder, SyncVerdict, Timeline};

/// A class that is so many times as fast as another.
fn class(speed: f64, iops: f64, longest_ns: f64) -> IoClass {
    let mut latency = LatencyRecorder::new();
    (1..=1_000).for_each(|i| latency.record((longest_ns / speed * f64::from(i) / 1e3) as u64));
    let iops = iops * speed;
    IoClass { total_ios: 1_000, iops, bw_bytes: iops * 16_384.0, lat_ns: latency.summary(), ..IoClass::default() }
}

fn sweep(name: &str, axis: Axis, points: Vec<Point>) -> Sweep {
    let text = String::new;
    Sweep { name: name.into(), phase: text(), title: text(), note: text(), axis, points }
}

fn nothing() -> ReviewResult {
    nothing_measured("block_device")
}

/// Reviews of which each has another first action, all of a device of some speed.
fn reviews(speed: f64) -> Vec<(&'static str, ReviewResult)> {
    let read = |x: f64, iops: f64, ns: f64| Point { x, read: class(speed, iops, ns), ..Point::default() };
    let write = |x: f64, iops: f64, ns: f64| Point { x, write: class(speed, iops, ns), ..Point::default() };
    let committed = |x: f64, iops: f64| Point { sync: class(speed, iops, 1e6), ..write(x, iops, 1e6) };
    let with = |sweeps: Vec<Sweep>| ReviewResult { sweeps, ..nothing() };
    let threads =
        || sweep("threads-rndrd", Axis::Threads, vec![read(1.0, 1e3, 1e6), read(16.0, 9e3, 2e6), read(64.0, 9e3, 8e6)]);
    let fill =
        sweep("fill", Axis::FillPercent, vec![write(20.0, 9e3, 1e6), write(75.0, 6e3, 1e6), write(100.0, 3e3, 1e6)]);
    let mix = Point { read: class(speed, 1e3, 90e6), ..write(70.0, 1e3, 1e6) };
    let rate = vec![read(25.0, 1e3, 1e6), read(100.0, 4e3, 90e6)];
    let stalls = Timeline { point: write(0.0, 1e3, 900e6), ..Timeline::default() };
    let load = GeneratorLoad { cpu: 1.9, machine_busy: 1.0, limit: "busy".into(), ..GeneratorLoad::default() };
    let busy = Point { limited_by_host: true, generator: Some(load), ..read(1.0, 9e3, 1e6) };
    let too_fast = SyncVerdict { judgement: SyncJudgement::TooFast, text: String::new() };
    let synced = || sweep("sync", Axis::Threads, vec![committed(1.0, 1e3), committed(16.0, 9e3)]);
    let redo = sweep("redo", Axis::Threads, vec![Point { sync: class(speed, 1e3, 200e6), ..write(16.0, 1e3, 200e6) }]);
    vec![
        ("threads", with(vec![threads()])),
        ("full", with(vec![fill])),
        (
            "stall",
            ReviewResult { timeline: Some(stalls), ..with(vec![sweep("rate", Axis::RatePercent, rate.clone())]) },
        ),
        ("tails", with(vec![sweep("mix", Axis::ReadPercent, vec![mix]), sweep("rate", Axis::RatePercent, rate)])),
        ("host", with(vec![sweep("threads-rndrd", Axis::Threads, vec![busy])])),
        ("sync", ReviewResult { sync: Some(too_fast), ..with(vec![synced()]) }),
        ("redo", with(vec![synced(), redo])),
        ("", with(vec![sweep("mix", Axis::ReadPercent, vec![read(100.0, 1e3, 1e6)])])),
    ]
}

#[test]
fn devices_of_different_speed_are_never_told_the_same() {
    for ((topic, slow), (_, fast)) in reviews(1.0).into_iter().zip(reviews(1.7)) {
        let [slow, fast] = [slow, fast].map(|result| advice(&result, &Nobody).unwrap_or_else(|| panic!("{topic}")));
        assert_eq!((slow.topic, fast.topic), (topic, topic), "{}", slow.action.text);
        assert_ne!(slow.action.text, fast.action.text);
        assert_eq!((slow.action.ground, slow.action.twin), (Ground::Points, None));
    }
}

struct Somebody;

impl Between for Somebody {
    fn fill(&self, measured: &Sweep) -> Option<Computed> {
        let (_, full) = reviews(1.0).swap_remove(1);
        let mut sweep = full.sweep("fill").filter(|sweep| sweep.name == measured.name)?.clone();
        sweep.points[1].x = 85.0;
        Some(Computed { sweep, twin: results::Twin { error: 0.02, computed_points: 3, ..results::Twin::default() } })
    }
}

#[test]
fn a_gain_between_measured_points_says_by_what() {
    let (_, mut full) = reviews(1.0).swap_remove(1);
    let computed = advice(&full, &Somebody).unwrap().action;
    assert!(computed.text.starts_with("Leave 15 % unpartitioned: 2.0 times"), "{}", computed.text);
    assert_eq!((computed.ground, computed.gain), (Ground::Twin, Some(2.0)));
    assert!(computed.ground_words().unwrap().contains("2.0 % off"), "{computed:?}");
    // A quick review has no point near: without a twin nothing of it can be said.
    full.sweeps[0].points.remove(1);
    assert_eq!(advice(&full, &Somebody).unwrap().topic, "full");
    assert_ne!(advice(&full, &Nobody).unwrap().topic, "full");
}

#[test]
fn a_quota_is_one_on_a_busy_machine_too_where_this_program_had_nothing_to_do() {
    let with = |cpu: f64| {
        let load = GeneratorLoad { cpu, machine_busy: 1.0, limit: "busy".into(), ..GeneratorLoad::default() };
        let at = |threads: f64| Point {
            x: threads,
            load: serde_json::json!({ "block_bytes": 16_384 }),
            limited_by_host: true,
            generator: Some(load.clone()),
            read: class(1.0, 600.0, threads * 1.7e6),
            ..Point::default()
        };
        let points = [1.0, 4.0, 16.0, 64.0].map(at).to_vec();
        ReviewResult { sweeps: vec![sweep("threads-rndrd", Axis::Threads, points)], ..nothing() }
    };
    let waiting = advice(&with(0.03), &Nobody).unwrap();
    assert_eq!(waiting.topic, "quota", "{}", waiting.action.text);
    assert_eq!(advice(&with(1.9), &Nobody).unwrap().topic, "host");
}
