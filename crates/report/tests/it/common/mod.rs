//! Reviews as they come: whole, in part, imported, and from somebody who means harm.

pub mod browser;

mod chromium;
mod database;

use results::{
    Action, Answer, Axis, Burst, BurstReport, BurstRow, Claim, Cliff, Comparison, ComparisonPoint, Fact, Ground,
    HostInfo, IoClass, KeyFigure, LatencyRecorder, PhaseReport, PhaseStatus, Point, Preconditioning, Price, Published,
    Purge, ReviewOptions, ReviewResult, SeriesRow, Stall, SteadyState, Sweep, SyncJudgement, SyncVerdict, TargetInfo,
    TargetKind, Timeline, Tone, Twin,
};
use serde_json::json;

/// Threads of the sweeps over threads.
pub const THREADS: [u32; 11] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

/// A class of requests with a long tail: latencies are what 20,000 requests with this mean may have.
pub fn class(iops: f64, bytes: f64, mean_us: f64, seed: u64) -> IoClass {
    let mut recorder = LatencyRecorder::new();
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    for _ in 0..20_000 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let u = (state >> 11) as f64 / (1u64 << 53) as f64;
        // Log-logistic: most requests near the median, a few far away.
        let factor = ((u + 1e-6) / (1.0 - u + 1e-5)).powf(0.28);
        recorder.record((mean_us * 1e3 * factor) as u64 + 3_000);
    }
    IoClass {
        total_ios: 20_000,
        io_bytes: (20_000.0 * bytes) as u64,
        iops,
        bw_bytes: iops * bytes,
        lat_ns: recorder.summary(),
        histogram: Some(recorder.histogram()),
    }
}

fn steady(attained: bool, base: f64) -> SteadyState {
    let rounds = [1.9, 1.5, 1.2, 1.07, 1.0, 1.02, 0.99, 1.01, 1.0].map(|share| share * base).to_vec();
    SteadyState { rounds, range: 0.031, slope: if attained { 0.012 } else { 0.134 }, attained, overwriting: None }
}

fn rows(seconds: usize, bw: f64, stalls: bool) -> Vec<SeriesRow> {
    let row = |i: usize| {
        let stalled = stalls && (i == 71 || i == 72 || i == 140);
        let wave = 1.0 + 0.04 * (i as f64 * 0.7).sin() + 0.02 * (i as f64 * 2.3).cos();
        SeriesRow {
            t_s: (i + 1) as f64,
            read_bw_bytes: 0.0,
            write_bw_bytes: if stalled { bw * 0.12 } else { bw * wave },
            iops: bw / 16_384.0 * wave,
            lat_max_ns: if stalled { 1_240_000_000 } else { 2_600_000 + (i as u64 * 7919) % 900_000 },
        }
    };
    (0..seconds).map(row).collect()
}

/// Bytes that the cache of the device takes, and bytes a second before and after it is full.
pub const CACHE: (u64, f64, f64) = (42_000_000_000, 1.9e9, 2.4e8);

/// Into an emptied device with a cache, and again after two pauses: the first brings back little, the second more.
fn bursts(speed: f64) -> BurstReport {
    let (cache_bytes, fast, slow) = (CACHE.0, CACHE.1 * speed, CACHE.2 * speed);
    let burst = |idle_s: f64, row_bytes: u64, fast_bytes: u64| {
        let (mut rows, mut seconds) = (Vec::new(), 0.0);
        for i in 1..=256 {
            let wave = 1.0 + 0.03 * (i as f64 * 0.9).sin();
            let quick = fast_bytes.clamp((i - 1) * row_bytes, i * row_bytes) - (i - 1) * row_bytes;
            let took = (quick as f64 / fast + (row_bytes - quick) as f64 / slow) * wave;
            rows.push(BurstRow { bytes: i * row_bytes, bw_bytes: row_bytes as f64 / took });
            seconds += took;
        }
        // Fewer than four fast rows are not told from chance.
        let cliff = (fast_bytes >= 4 * row_bytes).then_some(Cliff {
            bytes: fast_bytes,
            before_bw_bytes: fast,
            after_bw_bytes: slow,
        });
        Burst { idle_s, bytes: 256 * row_bytes, seconds, rows, cliff }
    };
    BurstReport {
        title: "128 KiB sequential writes, 16 threads at one position, into an emptied device and after pauses".into(),
        load: json!({"kind": "bursts", "block_bytes": 131_072, "threads": 16, "fill": 1.0}),
        bursts: vec![
            burst(0.0, 781_250_000, cache_bytes),
            burst(10.0, 390_625_000, 781_250_000),
            burst(60.0, 390_625_000, 8_100_000_000),
        ],
    }
}

fn sweep(name: &str, phase: &str, axis: Axis, points: Vec<Point>) -> Sweep {
    let (title, note) = (format!("Sweep {name}"), String::new());
    Sweep { name: name.into(), phase: phase.into(), title, note, axis, points }
}

fn fact(label: &str, value: &str) -> Fact {
    Fact { key: label.to_lowercase(), label: label.into(), value: value.into() }
}

fn claim(topic: &str, tone: Tone, chart: &str, text: &str) -> Claim {
    Claim { topic: topic.into(), tone, text: text.into(), chart: chart.into() }
}

fn phase(name: &str, title: &str, status: PhaseStatus, points: u32, note: &str) -> PhaseReport {
    let took_s = if status == PhaseStatus::Done { 312.0 } else { 0.0 };
    let (name, title, note) = (name.into(), title.into(), note.into());
    PhaseReport { name, title, status, points, expected_s: 300.0, took_s, note }
}

/// All sweeps, timeline, sync, redo, price, published figures: about 90 points with distributions.
pub fn full(name: &str, speed: f64) -> ReviewResult {
    const K16: f64 = 16_384.0;
    let mut sweeps = Vec::new();
    for (i, load) in ["rndrd", "rndwr", "rndrw", "seqrd", "seqrewr"].into_iter().enumerate() {
        let points = THREADS.iter().map(|&threads| {
            let t = f64::from(threads);
            let most = speed * [85_000.0, 24_000.0, 42_000.0, 98_000.0, 41_000.0][i];
            let iops = most * t / (t + 7.0);
            let mean_us = t / iops * 1e6;
            let seed = u64::from(threads) * 10 + i as u64;
            let share = [1.0, 0.0, 0.66, 1.0, 0.0][i];
            let of = |share: f64, seed| {
                if share > 0.0 { class(iops * share, K16, mean_us, seed) } else { IoClass::default() }
            };
            Point {
                x: t,
                load: json!({"mode": load, "block_bytes": 16384, "threads": threads}),
                fill: 1.0,
                seconds: 60.0,
                read: of(share, seed),
                write: of(1.0 - share, seed + 1000),
                series: rows(60, iops * K16, false),
                steady: Some(steady(threads != 512, iops * K16)),
                limited_by_host: load == "rndrd" && threads >= 256,
                ..Point::default()
            }
        });
        sweeps.push(sweep(&format!("threads-{load}"), "threads", Axis::Threads, points.collect()));
    }
    let fill = [10.0, 20.0, 30.0, 40.0, 60.0, 70.0, 80.0, 90.0, 100.0].map(|x: f64| {
        let waf = 1.0 + (x / 100.0).powi(4) * 1.6;
        let iops = speed * 61_000.0 / waf;
        Point {
            x,
            load: json!({"mode": "rndwr", "block_bytes": 16384, "threads": 16}),
            fill: x / 100.0,
            write: class(iops, K16, 16.0 / iops * 1e6, x as u64),
            waf: Some(waf),
            published_bw_bytes: (x >= 20.0).then_some(iops * K16 * (1.0 + 0.05 * (x * 0.1).sin())),
            steady: Some(steady(true, iops)),
            ..Point::default()
        }
    });
    sweeps.push(sweep("fill", "fill", Axis::FillPercent, fill.to_vec()));
    for load in ["rndrd", "rndwr"] {
        let points = [512.0, 4096.0, 8192.0, 16384.0, 65536.0, 262144.0, 1048576.0].map(|bytes: f64| {
            let bw = speed * if load == "rndrd" { 1.4e9 } else { 4e8 } * bytes / (bytes + 9_000.0);
            let class = class(bw / bytes, bytes, 16.0 / (bw / bytes) * 1e6, bytes as u64);
            let mut point = Point { x: bytes, fill: 1.0, ..Point::default() };
            *(if load == "rndrd" { &mut point.read } else { &mut point.write }) = class;
            point
        });
        sweeps.push(sweep(&format!("blocks-{load}"), "blocks", Axis::BlockBytes, points.to_vec()));
    }
    let mixed = |x: f64, read: f64, total: f64| Point {
        x,
        fill: 1.0,
        read: if read > 0.0 { class(total * read, K16, 260.0 / speed, x as u64) } else { IoClass::default() },
        write: if read < 1.0 {
            class(total * (1.0 - read), K16, 410.0 / speed, x as u64 + 1)
        } else {
            IoClass::default()
        },
        ..Point::default()
    };
    let mix = [0.0, 25.0, 50.0, 70.0, 90.0, 100.0].map(|x| mixed(x, x / 100.0, speed * (24_000.0 + x * x * 6.0)));
    sweeps.push(sweep("mix", "mix", Axis::ReadPercent, mix.to_vec()));
    let rate = [10.0, 25.0, 50.0, 75.0, 90.0, 95.0].map(|x| {
        let mut point = mixed(x, 0.7, speed * 420.0 * x);
        let slow = 1.0 / (1.0 - x / 101.0);
        point.read = class(point.read.iops, K16, 95.0 * slow / speed, x as u64);
        point
    });
    sweeps.push(sweep("rate", "rate", Axis::RatePercent, rate.to_vec()));
    let sync = [1.0, 2.0, 4.0, 8.0, 16.0].map(|x: f64| Point {
        x,
        fill: 1.0,
        write: class(speed * 3_000.0 * x.sqrt(), 4096.0, 40.0, x as u64),
        sync: class(speed * 3_000.0 * x.sqrt(), 0.0, 290.0 * x.sqrt(), x as u64 + 5),
        ..Point::default()
    });
    sweeps.push(sweep("sync", "sync", Axis::Threads, sync.to_vec()));
    let redo = [0.0, 1.0, 4.0, 16.0, 64.0].map(|x: f64| Point {
        x,
        fill: 1.0,
        read: if x > 0.0 {
            class(speed * 9_000.0 * x.sqrt(), K16, 130.0 * (1.0 + x / 20.0), x as u64)
        } else {
            IoClass::default()
        },
        write: class(speed * 2_400.0 / (1.0 + x / 40.0), 32_768.0, 60.0, x as u64),
        sync: class(speed * 2_400.0 / (1.0 + x / 40.0), 0.0, 210.0 * (1.0 + x / 30.0), x as u64 + 9),
        ..Point::default()
    });
    sweeps.push(sweep("redo", "redo", Axis::Threads, redo.to_vec()));

    let timeline_bw = speed * 3.8e8;
    ReviewResult {
        kind: ReviewResult::KIND.into(),
        schema: ReviewResult::SCHEMA,
        generator: "flashrig 0.1.0".into(),
        name: name.into(),
        target: TargetInfo {
            kind: TargetKind::BlockDevice,
            name: "/dev/nvme0n1".into(),
            title: format!("Northwind {name} 400 GB"),
            capacity_bytes: 400_000_000_000,
            sold_bytes: Some(400_000_000_000),
            facts: vec![
                fact("Model", &format!("Northwind {name}")),
                fact("Serial", "NW-0042-0815"),
                fact("Firmware", "2.1.7"),
                fact("Link", "PCIe 2.0 ×8"),
                fact("Scheduler", "none"),
            ],
            power_loss_protection: Some(true),
            volatile_write_cache: Some(false),
            profile: None,
        },
        host: HostInfo {
            name: "dbhost-3".into(),
            cores: 24,
            facts: vec![fact("Processor", "2 × Xeon X5680"), fact("Memory", "96 GB"), fact("Kernel", "6.1.0-28-amd64")],
        },
        options: ReviewOptions {
            seed: 1,
            scale: 1.0,
            fill: 1.0,
            quick: false,
            budget_s: Some(14_400.0),
            only: Vec::new(),
            point_s: Some(60.0),
        },
        started: Some("2026-11-20T22:14:03Z".into()),
        price: Some(Price {
            amount: 13_600.0 * speed,
            currency: "USD".into(),
            source: "list price, December 2010".into(),
        }),
        phases: vec![
            phase("purge", "Empty the device", PhaseStatus::Done, 0, ""),
            phase("threads", "Throughput against threads", PhaseStatus::Done, 55, ""),
            phase("fill", "Random writes against space in use", PhaseStatus::Done, 9, ""),
            phase("timeline", "Random writes second by second", PhaseStatus::Done, 1, ""),
            phase("database", "A database", PhaseStatus::Skipped, 0, "no database on this machine"),
        ],
        purge: Some(Purge { what: "discarded the device".into(), discarded_bytes: 400_000_000_000, took_s: 41.0 }),
        preconditioning: [0.1, 0.5, 1.0].map(|fill| precondition(fill, fill < 1.0 || speed >= 1.0)).to_vec(),
        sweeps,
        burst: Some(bursts(speed)),
        health: None,
        timeline: Some(Timeline {
            title: "16 KiB random writes, 8 threads, 100 % in use, 200 s".into(),
            point: Point {
                x: 8.0,
                fill: 1.0,
                write: class(timeline_bw / K16, K16, 350.0, 77),
                series: rows(200, timeline_bw, speed >= 1.0),
                ..Point::default()
            },
            slowest_second: if speed >= 1.0 { 0.12 } else { 0.94 },
            stalls: if speed >= 1.0 {
                [72.0, 73.0, 141.0].map(|t_s| Stall { t_s, share_of_mean: 0.12, lat_max_ns: 1_240_000_000 }).to_vec()
            } else {
                Vec::new()
            },
        }),
        sync: Some(SyncVerdict {
            judgement: SyncJudgement::NothingToFlush,
            text: "Writes are durable when they are acknowledged: a sync after a write takes 14 µs longer than none."
                .into(),
        }),
        database: Some(database::report(speed)),
        comparisons: vec![Comparison::new(
            "tachion-fill",
            "16 KiB random writes against fill, December 2010",
            name,
            (2..=10)
                .map(|i| {
                    let published = Published::Figure { value: 1100.0 - f64::from(i) * 68.0, bound: 0.12 };
                    ComparisonPoint::new(
                        format!("{} % in use", i * 10),
                        "MiB/s",
                        published,
                        1090.0 - f64::from(i) * 66.0,
                    )
                })
                .collect(),
            Some(0.07),
            "Measured with sysbench on XFS.",
        )],
        answer: Some(answer(speed)),
        verdict: vec![
            claim(
                "steady",
                Tone::Good,
                "threads-rndwr",
                "Full and overwritten at random, it writes 274 MB/s from 16 threads, without a second below 90 % of that.",
            ),
            claim(
                "full",
                Tone::Warning,
                "fill",
                "Full it keeps 42 % of the throughput that it has at 10 % in use. Leave a third free and it keeps 86 %.",
            ),
            claim(
                "stall",
                Tone::Bad,
                "timeline",
                "Three seconds in 200 had a response of more than a second: 1.24 s at worst.",
            ),
            claim("sync", Tone::Neutral, "sync", "Syncs cost nothing: the card has capacitors, and says so."),
            claim(
                "host",
                Tone::Warning,
                "threads-rndrd",
                "From 256 threads on, the machine that asked was the limit of random reads, not the card.",
            ),
            claim("price", Tone::Neutral, "price", "34.0 USD per GB; 195 USD per thousand random reads a second."),
            claim(
                "use",
                Tone::Good,
                "redo",
                "A redo log beside 16 random readers keeps 71 % of its throughput; its p99 stays below a millisecond.",
            ),
            claim("other", Tone::Neutral, "", "Power cuts were not tested."),
        ],
        partial: None,
        wall_seconds: 13_911.0,
    }
}

/// As long as answers are.
fn answer(speed: f64) -> Answer {
    let figure = |name: &str, label: &str, value: f64, text: &str, detail: &str, chart: &str| KeyFigure {
        name: name.into(),
        label: label.into(),
        value: value * speed,
        text: text.into(),
        detail: detail.into(),
        chart: chart.into(),
    };
    Answer {
        sentence:
            "Fit for commits and bulk work, not for queries that must answer at once: about 8,790 transactions a \
                   second like PostgreSQL's and 12,000 commits a second; 64 threads get nearly all the reads there are."
                .into(),
        limit: "Random-write throughput drops 61 % when full: 999 MB/s at 10 % in use, 384 MB/s at 100 %, 71 % at two \
                thirds."
            .into(),
        action: Action {
            text: "Leave 30 % unpartitioned: 1.9 times the random writes, 722 MB/s in place of 384 MB/s.".into(),
            gain: Some(1.9),
            chart: "fill".into(),
            ground: Ground::Twin,
            twin: Some(Twin { fitted_points: Some(6), computed_points: 7, error: 0.043, took_s: Some(4.2) }),
        },
        figures: vec![
            figure("transactions_s", "Transactions a second, like PostgreSQL's", 8790.0, "8,790", "16 sessions", "mix"),
            figure("commits_s", "Commits a second", 12e3, "12,000", "4 KiB, each with a flush, 16 threads", "sync"),
            figure(
                "full_write_bytes_s",
                "Random writes when full",
                384e6,
                "384 MB/s",
                "999 MB/s at 10 % in use",
                "fill",
            ),
            figure(
                "read_p999_ns",
                "One read in a thousand",
                1.6e6,
                "1.62 ms",
                "at 90 % reads; the median 260 µs",
                "mix",
            ),
        ],
    }
}

fn precondition(fill: f64, attained: bool) -> Preconditioning {
    Preconditioning {
        fill,
        pattern: "random 16 KiB".into(),
        sequential_bytes: (fill * 4e11) as u64,
        overwritten_bytes: (fill * 9e11) as u64,
        metric: "bytes a second".into(),
        steady: steady(attained, 3.7e8),
        took_s: 3_100.0,
    }
}

/// Stopped after the first sweep.
pub fn partial() -> ReviewResult {
    let mut result = full("NW-400", 1.0);
    result.sweeps.truncate(1);
    result.sweeps[0].points.truncate(3);
    result.timeline = None;
    result.burst = None;
    result.sync = None;
    result.answer = None;
    result.price = None;
    result.comparisons.clear();
    result.preconditioning.truncate(1);
    result.partial = Some("stopped by Ctrl-C after 12 min".into());
    result.phases[2].status = PhaseStatus::NotBegun;
    result
}

/// Returns another tool's result: throughput, some percentiles, no distribution, a sweep of its own over queue depths.
pub fn imported() -> ReviewResult {
    let mut result = full("imported", 1.0);
    let point = |x: f64| {
        let mut read = class(40_000.0 * x / (x + 9.0), 4096.0, 80.0 + x, x as u64);
        read.histogram = None;
        read.lat_ns.percentile.retain(|key, _| key.starts_with("99") || key.starts_with("50"));
        Point { x, read, ..Point::default() }
    };
    let points = [1.0, 4.0, 16.0, 32.0].map(point).to_vec();
    let mut own = sweep("qd 4k randread (fio)", "import", Axis::QueueDepth, points);
    own.title = "4 KiB random reads against queue depth".into();
    let mut threads = sweep("threads-rndrd", "import", Axis::Threads, [2.0, 16.0].map(point).to_vec());
    threads.note = "read from read.json".into();
    result.sweeps = vec![own, threads];
    result.target.kind = TargetKind::Imported;
    result.target.capacity_bytes = 0;
    result.target.sold_bytes = None;
    result.target.facts.clear();
    result.target.power_loss_protection = None;
    result.target.volatile_write_cache = None;
    result.generator = "fio 3.33".into();
    result.host = HostInfo::default();
    result.options.fill = 0.0;
    result.options.point_s = None;
    result.options.budget_s = None;
    result.timeline = None;
    result.burst = None;
    result.sync = None;
    result.answer = None;
    result.price = None;
    result.purge = None;
    result.comparisons.clear();
    result.preconditioning.clear();
    result.phases.clear();
    result.answer = None;
    result.verdict = vec![claim("import", Tone::Neutral, "threads-rndrd", "Only what fio wrote down is known.")];
    result
}

/// Text that must never leave its place in the page.
pub const HOSTILE: &str = "\",</script><script>window.hacked=1</script><img src=http://evil.example/x onerror=\"window.hacked=1\">'\"`&amp;\u{2028}=1+1,\r\n";

/// Hostile text wherever a file has text.
pub fn hostile() -> ReviewResult {
    let mut result = full("h", 1.0);
    let text = || HOSTILE.to_string();
    result.name = text();
    result.generator = text();
    result.started = Some(text());
    result.partial = Some(text());
    result.target.title = text();
    result.target.name = text();
    result.target.profile = Some(json!({ HOSTILE: HOSTILE }));
    result.target.facts = vec![Fact { key: text(), label: text(), value: text() }];
    result.host.name = text();
    result.host.facts = vec![Fact { key: text(), label: text(), value: text() }];
    result.options.only = vec![text()];
    result.price = Some(Price { amount: 10.0, currency: text(), source: text() });
    result.purge = Some(Purge { what: text(), discarded_bytes: 1, took_s: 1.0 });
    result.sync = Some(SyncVerdict { judgement: SyncJudgement::Unknown, text: text() });
    result.timeline.as_mut().unwrap().title = text();
    result.burst.as_mut().unwrap().title = text();
    database::hostile(result.database.as_mut().unwrap(), HOSTILE);
    for phase in &mut result.phases {
        (phase.name, phase.title, phase.note) = (text(), text(), text());
    }
    for done in &mut result.preconditioning {
        (done.pattern, done.metric) = (text(), text());
    }
    for claim in &mut result.verdict {
        (claim.topic, claim.text, claim.chart) = (text(), text(), text());
    }
    result.sweeps.truncate(3);
    for sweep in &mut result.sweeps[1..] {
        (sweep.name, sweep.title, sweep.note, sweep.phase) = (text(), text(), text(), text());
    }
    // The same slug from another name.
    result.sweeps[2].name = format!("{HOSTILE}!");
    let comparison = &mut result.comparisons[0];
    (comparison.name, comparison.title, comparison.note) = (text(), text(), text());
    (comparison.points[0].label, comparison.points[0].unit) = (text(), text());
    result
}

/// Numbers that no device has, and a timeline of a day.
pub fn absurd() -> ReviewResult {
    let mut result = full("absurd", 1.0);
    for (i, value) in [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e300].into_iter().enumerate() {
        result.sweeps[i].points[3].read.bw_bytes = value;
        result.sweeps[i].points[3].write.iops = value;
        result.sweeps[i].points[4].x = value;
        result.preconditioning[0].steady.rounds.push(value);
    }
    result.timeline.as_mut().unwrap().point.series = rows(86_400, 3e8, true);
    result.sweeps[5].points.clear();
    let report = result.burst.as_mut().unwrap();
    let rows = &mut report.bursts[1].rows;
    for (i, value) in [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e300].into_iter().enumerate() {
        rows[i * 7].bw_bytes = value;
        rows[i * 9].bytes = u64::MAX / (i as u64 + 1);
    }
    report.bursts[2].rows.clear();
    (report.bursts[2].idle_s, report.bursts[2].seconds) = (f64::NAN, -1.0);
    let long = (1..100_000).map(|i| BurstRow { bytes: i * 1_000_000, bw_bytes: 1e9 }).collect();
    report.bursts[0] = Burst { bytes: 99_999_000_000, rows: long, cliff: Some(Cliff::default()), ..Burst::default() };
    report.bursts.extend(vec![report.bursts[1].clone(); 200]);
    database::absurd(result.database.as_mut().unwrap());
    result
}
