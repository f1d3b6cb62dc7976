//! SLOB on the FlashMAX N800: peaks of readers, a mix, and writers.

use super::context::Context;
use crate::parallel;
use crate::point::{Bench, PointError};
use crate::setups::Setup;
use import::Table;
use load::{CacheConfig, LoadConfig, SlobConfig};
use results::{Comparison, ComparisonPoint, Published, RunResult};
use target::{Measure, OnlyCancel};

const KIB: f64 = 1024.0;
const REQUESTS: u64 = 400_000;
const BOUND: f64 = 0.15;

/// The published rows and the load that stands for each.
pub fn compare(context: &Context) -> Result<Vec<Comparison>, PointError> {
    let setup = Setup::of("flashmax-n800-slob");
    let bench = Bench::builtin("flashmax-n800", &setup.host, context.scale, context.seed)?;
    let table = Table::get("flashmax-n800-slob");
    let runs = table.texts("run");
    let totals = table.numbers("total_iops");
    let reads = table.numbers("read_kib_s");
    let writes = table.numbers("written_kib_s");
    // Sessions at the peak; the sweep runs to 512, where nothing changes any more.
    let sessions = [("reader", 0), ("mixed", 1), ("writer", 2)].map(|(kind, _)| {
        (setup.whole(&format!("{kind}_readers")) as u32, setup.whole(&format!("{kind}_writers")) as u32, kind)
    });
    let results: Vec<RunResult> = parallel::map(&sessions, |&(readers, writers, kind)| {
        let load = LoadConfig::Slob(SlobConfig {
            readers,
            writers,
            cpu_per_logical_read_ns: setup.whole("cpu_per_logical_read_ns"),
            cpu_per_update_ns: setup.whole("cpu_per_update_ns"),
            redo_bytes_per_update: setup.whole("redo_bytes_per_update") as u32,
            commit_every: setup.whole("commit_every") as u32,
            cache: CacheConfig {
                hit_ratio: Some(setup.number(&format!("{kind}_hit_ratio"))),
                write_coalescing_blocks: setup.number(&format!("{kind}_write_coalescing_blocks")),
                db_writers: setup.whole("db_writers") as u32,
                writes_in_flight: setup.whole("writes_in_flight") as u32,
                ..CacheConfig::default()
            },
            ..SlobConfig::default()
        });
        let fill = setup.number("fill");
        Ok::<_, PointError>(bench.run(&load, fill, Measure::Requests(REQUESTS), &OnlyCancel(context.progress))?)
    })?;
    let mut points = Vec::new();
    for (i, result) in results.iter().enumerate() {
        let mut point = |what: &str, unit: &str, value: f64, model: f64| {
            if value.is_finite() {
                let published = Published::Figure { value, bound: BOUND };
                points.push(ComparisonPoint::new(format!("{}: {what}", runs[i]), unit, published, model));
            }
        };
        point("total", "IOPS", totals[i], result.read.iops + result.write.iops);
        point("read", "KiB/s", reads[i], result.read.bw_bytes / KIB);
        point("written", "KiB/s", writes[i], result.write.bw_bytes / KIB);
    }
    Ok(vec![Comparison::new(
        "flashmax-n800-slob",
        "FlashMAX N800: SLOB readers, mix, writers",
        "flashmax-n800",
        points,
        None,
        "Cache hits and coalescing of writes are derived from the table's own ratios.",
    )])
}
