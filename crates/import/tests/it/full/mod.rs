//! A review in which everything that may be absent is there.

mod database;

use results::*;
use serde_json::json;

fn class() -> IoClass {
    let mut recorder = LatencyRecorder::new();
    (1..=1_000).for_each(|us| recorder.record(us * 1_000));
    IoClass {
        total_ios: 1_000,
        io_bytes: 16_384_000,
        iops: 1_000.0,
        bw_bytes: 16_384_000.0,
        lat_ns: recorder.summary(),
        histogram: Some(recorder.histogram()),
    }
}

fn steady() -> SteadyState {
    let overwriting = Some(Overwriting { times: 27.0, coldest_times: 1.0, change: 0.004, attained: true });
    SteadyState { rounds: vec![1.0, 1.1], range: 0.1, slope: 0.05, attained: true, overwriting }
}

fn answer() -> Answer {
    let figure = KeyFigure {
        name: "transactions_s".into(),
        label: "transactions a second".into(),
        value: 12_000.0,
        text: "12,000".into(),
        detail: "16 threads".into(),
        chart: "threads-rndrd".into(),
    };
    Answer {
        sentence: "Fit for a database.".into(),
        limit: "Random-write throughput drops 62 % when full.".into(),
        action: Action {
            text: "Leave 30 % unpartitioned.".into(),
            gain: Some(1.9),
            chart: "fill-rndwr".into(),
            ground: results::Ground::Twin,
            twin: Some(results::Twin { fitted_points: Some(14), computed_points: 9, error: 0.04, took_s: Some(3.2) }),
        },
        figures: vec![figure],
    }
}

fn point(x: f64) -> Point {
    Point {
        x,
        load: json!({ "kind": "fileio" }),
        fill: 0.8,
        seconds: 1.0,
        read: class(),
        write: class(),
        sync: class(),
        series: vec![SeriesRow { t_s: 1.0, read_bw_bytes: 1.0, write_bw_bytes: 2.0, iops: 3.0, lat_max_ns: 4 }],
        steady: Some(steady()),
        waf: Some(2.0),
        generator: Some(GeneratorLoad { os_threads: 1, limit: "none".into(), ..GeneratorLoad::default() }),
        limited_by_host: false,
        published_bw_bytes: Some(4e8),
        thermal: Some(ThermalReport { series: vec![30.0], ..ThermalReport::default() }),
    }
}

fn fact() -> Fact {
    Fact { key: "model".into(), label: "Model".into(), value: "a model".into() }
}

/// A review with every key and every list filled.
pub fn review() -> ReviewResult {
    let figure = ComparisonPoint::new("p", "MiB/s", Published::Figure { value: 100.0, bound: 0.1 }, 101.0);
    let at_least = ComparisonPoint::new("p", "MiB/s", Published::AtLeast { value: 100.0 }, 101.0);
    let at_most = ComparisonPoint::new("p", "MiB/s", Published::AtMost { value: 100.0 }, 101.0);
    let between = ComparisonPoint::new("p", "MiB/s", Published::Between { low: 1.0, high: 2.0 }, 1.5);
    // Bounds have no error; here everything is there.
    let with_error = |point| ComparisonPoint { error: Some(0.01), ..point };
    let points = [figure, at_least, at_most, between].map(with_error).to_vec();
    let axes =
        [Axis::FillPercent, Axis::Threads, Axis::BlockBytes, Axis::ReadPercent, Axis::RatePercent, Axis::QueueDepth];
    let statuses = [PhaseStatus::Done, PhaseStatus::Partial, PhaseStatus::NotBegun, PhaseStatus::Skipped];
    let tones = [Tone::Good, Tone::Neutral, Tone::Warning, Tone::Bad];
    ReviewResult {
        kind: ReviewResult::KIND.into(),
        schema: ReviewResult::SCHEMA,
        generator: "flashrig 0.1.0".into(),
        name: "a card".into(),
        target: TargetInfo {
            kind: TargetKind::Model,
            name: "tachion-400".into(),
            title: "A card".into(),
            capacity_bytes: 1,
            sold_bytes: Some(2),
            facts: vec![fact()],
            power_loss_protection: Some(true),
            volatile_write_cache: Some(false),
            profile: Some(json!({ "settings": {} })),
        },
        host: HostInfo { name: "a host".into(), cores: 8, facts: vec![fact()] },
        options: ReviewOptions {
            seed: 1,
            scale: 0.5,
            fill: 0.8,
            quick: false,
            budget_s: Some(60.0),
            only: vec!["fill".into()],
            point_s: Some(2.0),
        },
        started: Some("2026-11-21T11:06:45Z".into()),
        price: Some(Price { amount: 13_600.0, currency: "USD".into(), source: "a page".into() }),
        phases: statuses
            .map(|status| PhaseReport {
                name: "fill".into(),
                title: "Fill".into(),
                status,
                points: 6,
                expected_s: 1.0,
                took_s: 1.0,
                note: String::new(),
            })
            .to_vec(),
        purge: Some(Purge { what: "discarded".into(), discarded_bytes: 1, took_s: 1.0 }),
        preconditioning: vec![Preconditioning {
            fill: 0.8,
            pattern: "random 16 KiB".into(),
            sequential_bytes: 1,
            overwritten_bytes: 2,
            metric: "bytes a second".into(),
            steady: steady(),
            took_s: 1.0,
        }],
        sweeps: axes
            .map(|axis| Sweep {
                name: "fill".into(),
                phase: "fill".into(),
                title: "Fill".into(),
                note: String::new(),
                axis,
                points: vec![point(1.0), point(2.0)],
            })
            .to_vec(),
        health: Some(results::HealthReport {
            before: Some(results::DriveSmart {
                passed: Some(true),
                temperature_c: Some(40),
                used_percent: Some(3),
                spare_percent: Some(100),
                media_errors: Some(0),
                power_on_hours: Some(9),
                written_bytes: Some(1),
                warm_minutes: Some(0),
                hot_minutes: Some(0),
            }),
            after: Some(results::DriveSmart {
                passed: Some(true),
                temperature_c: Some(40),
                used_percent: Some(3),
                spare_percent: Some(100),
                media_errors: Some(0),
                power_on_hours: Some(9),
                written_bytes: Some(1),
                warm_minutes: Some(0),
                hot_minutes: Some(0),
            }),
            temperatures: vec![results::Temperature { t_s: 5.0, celsius: 41 }],
            warning_c: Some(70),
        }),
        burst: Some(BurstReport {
            title: "Bursts".into(),
            load: json!({ "kind": "bursts" }),
            bursts: vec![Burst {
                idle_s: 10.0,
                bytes: 200,
                seconds: 150.0,
                rows: vec![BurstRow { bytes: 100, bw_bytes: 2.0 }, BurstRow { bytes: 200, bw_bytes: 1.0 }],
                cliff: Some(Cliff { bytes: 100, before_bw_bytes: 2.0, after_bw_bytes: 1.0 }),
            }],
        }),
        timeline: Some(Timeline {
            title: "Timeline".into(),
            point: point(0.0),
            slowest_second: 0.9,
            stalls: vec![Stall { t_s: 1.0, share_of_mean: 0.4, lat_max_ns: 9 }],
        }),
        sync: Some(SyncVerdict { judgement: SyncJudgement::Plausible, text: "plausible".into() }),
        database: Some(database::report()),
        comparisons: vec![Comparison::new("t", "t", "c", points, Some(0.1), "")],
        answer: Some(answer()),
        verdict: tones
            .map(|tone| Claim { topic: "steady".into(), tone, text: "Steady.".into(), chart: "fill".into() })
            .to_vec(),
        partial: Some("stopped by Ctrl-C".into()),
        wall_seconds: 1.0,
    }
}
