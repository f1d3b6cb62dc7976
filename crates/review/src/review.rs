//! The review of a modelled device.

use crate::parallel;
use crate::point::{Bench, OnlyCancel, PointError};
use crate::published::Table;
use crate::validate::{Context, tables_of_card};
use load::FileioMode;
use profile::{Host, Profile};
use results::{Axis, ReviewResult, RunResult, Sweep, SweepPoint, Timeline};
use std::time::Instant;
use target::{Measure, Progress, RunError};

const SCHEMA: u32 = 1;
const BLOCK_BYTES: u32 = 16 << 10;
const FILL_PERCENTS: [u32; 9] = [20, 30, 40, 50, 60, 70, 80, 90, 100];
/// Threads of the fill sweep.
const FILL_THREADS: u32 = 16;
const THREADS: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];
const THREAD_LOADS: [(FileioMode, &str); 4] = [
    (FileioMode::RndRd, "random read"),
    (FileioMode::RndWr, "random write"),
    (FileioMode::RndRw, "random mix, 1.5 reads a write, latencies of the writes"),
    (FileioMode::SeqRewr, "sequential write"),
];
/// Virtual seconds of the timeline.
const TIMELINE_SECONDS: f64 = 30.0;
const TIMELINE_THREADS: u32 = 8;
const MIB: f64 = 1_048_576.0;

/// What may be chosen.
pub struct ReviewOptions {
    /// Share of the device's size that is modelled.
    pub scale: f64,
    /// Root seed.
    pub seed: u64,
    /// Share of the device in use in the thread sweeps and the timeline.
    pub fill: f64,
    /// Leave out every second point, and the comparisons.
    pub quick: bool,
}

#[derive(Clone, Copy)]
enum Item {
    Fill(u32),
    Threads(FileioMode, u32),
    Timeline,
}

/// Reviews a modelled device. When the person stops it, what was not begun is left out and the result says so.
pub fn review(
    profile: &Profile,
    host: &Host,
    options: &ReviewOptions,
    progress: &dyn Progress,
) -> Result<ReviewResult, PointError> {
    let began = Instant::now();
    let bench = Bench::new(profile, host, options.scale, options.seed)?;
    let items = plan(options);
    progress.begin("review", items.len() as u64);
    let count = std::sync::atomic::AtomicU64::new(0);
    let results = parallel::map(&items, |&item| {
        let result = match measure(&bench, item, options, progress) {
            // Stopped: this point is missing, the others stand.
            Err(PointError::Run(RunError::Cancelled)) => None,
            other => Some(other?),
        };
        let stopped = progress.cancelled();
        progress.at(count.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1);
        Ok::<_, PointError>(result.filter(|_| !stopped))
    })?;
    let mut partial = results.iter().any(Option::is_none);
    let mut comparisons = Vec::new();
    if !options.quick && !partial && profile.changed().is_empty() {
        let context = Context { seed: options.seed, scale: options.scale, progress };
        for table in tables_of_card(profile.name()) {
            match table.compare(&context) {
                Err(PointError::Run(RunError::Cancelled)) => partial = true,
                other => comparisons.extend(other?),
            }
        }
    }
    let points = || items.iter().zip(&results).filter_map(|(item, result)| Some((*item, result.as_ref()?)));
    let mut sweeps = vec![Sweep {
        name: "fill".into(),
        title: format!("16 KiB random writes, {FILL_THREADS} threads, against space in use"),
        axis: Axis::FillPercent,
        points: points()
            .filter_map(|(item, result)| match item {
                Item::Fill(percent) => Some(sweep_point(f64::from(percent), result)),
                _ => None,
            })
            .collect(),
    }];
    attach_measured(profile.name(), &mut sweeps[0]);
    for (mode, title) in THREAD_LOADS {
        sweeps.push(Sweep {
            name: mode.name().into(),
            title: format!("16 KiB {title}, {:.0} % of the device in use, against threads", options.fill * 100.0),
            axis: Axis::Threads,
            points: points()
                .filter_map(|(item, result)| match item {
                    Item::Threads(m, threads) if m == mode => Some(sweep_point(f64::from(threads), result)),
                    _ => None,
                })
                .collect(),
        });
    }
    let timeline =
        points().find(|(item, _)| matches!(item, Item::Timeline)).map(|(_, result)| timeline(result, options));
    Ok(ReviewResult {
        schema: SCHEMA,
        target: profile.to_json()?,
        host: host.to_json(),
        seed: options.seed,
        sweeps,
        timeline: timeline.unwrap_or_default(),
        comparisons,
        partial,
        wall_seconds: began.elapsed().as_secs_f64(),
    })
}

fn plan(options: &ReviewOptions) -> Vec<Item> {
    let step = if options.quick { 2 } else { 1 };
    let mut items = vec![Item::Timeline];
    // The longest first, so that cores finish together.
    items.extend(FILL_PERCENTS.iter().rev().step_by(step).map(|&p| Item::Fill(p)));
    for (mode, _) in THREAD_LOADS.iter().rev() {
        items.extend(THREADS.iter().step_by(step).map(|&n| Item::Threads(*mode, n)));
    }
    items.sort_by_key(|item| match item {
        Item::Timeline => (0, 0),
        Item::Fill(p) => (1, *p),
        Item::Threads(_, n) => (2, *n),
    });
    items
}

fn measure(
    bench: &Bench,
    item: Item,
    options: &ReviewOptions,
    progress: &dyn Progress,
) -> Result<RunResult, PointError> {
    let (mode, threads, fill, measure) = match item {
        Item::Fill(percent) => (FileioMode::RndWr, FILL_THREADS, f64::from(percent) / 100.0, Measure::Auto),
        Item::Threads(mode, threads) => (mode, threads, options.fill, Measure::Auto),
        Item::Timeline => (FileioMode::RndWr, TIMELINE_THREADS, options.fill, Measure::Seconds(TIMELINE_SECONDS)),
    };
    let load = bench.fileio(mode, BLOCK_BYTES, threads, fill);
    Ok(bench.run(&load, fill, measure, &OnlyCancel(progress))?)
}

fn sweep_point(x: f64, result: &RunResult) -> SweepPoint {
    let class = if result.write.total_ios > 0 { &result.write } else { &result.read };
    SweepPoint {
        x,
        read_bw_bytes: result.read.bw_bytes,
        write_bw_bytes: result.write.bw_bytes,
        iops: result.read.iops + result.write.iops,
        lat_mean_ns: class.lat_ns.mean,
        lat_p95_ns: class.lat_ns.at(95.0),
        lat_p99_ns: class.lat_ns.at(99.0),
        lat_p999_ns: class.lat_ns.at(99.9),
        lat_max_ns: class.lat_ns.max,
        waf: result.flash.map(|f| f.waf),
        steady: result.steady_state.as_ref().is_some_and(|s| s.attained),
        measured_bw_bytes: None,
    }
}

/// Puts published figures beside the model's where there are any.
fn attach_measured(card: &str, sweep: &mut Sweep) {
    let column = match card {
        "tachion-400" => "tachion_400_mib_per_s",
        "iodrive-duo-320-slc" => "duo_320_mib_per_s",
        _ => return,
    };
    let table = Table::get("fill-percent");
    for (percent, measured) in table.numbers("percent_in_use").into_iter().zip(table.numbers(column)) {
        if let Some(point) = sweep.points.iter_mut().find(|p| p.x == percent) {
            point.measured_bw_bytes = Some(measured * MIB);
        }
    }
}

fn timeline(result: &RunResult, options: &ReviewOptions) -> Timeline {
    let mean = result.write.bw_bytes;
    let slowest = result.series.iter().map(|r| r.write_bw_bytes).fold(f64::INFINITY, f64::min);
    Timeline {
        title: format!(
            "16 KiB random writes, {TIMELINE_THREADS} threads, {:.0} % of the device in use, second by second",
            options.fill * 100.0
        ),
        rows: result.series.clone(),
        lat_max_ns: result.write.lat_ns.max,
        slowest_second: if mean > 0.0 { slowest / mean } else { 0.0 },
    }
}
