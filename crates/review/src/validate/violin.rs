//! SLOB readers on the Violin 3205.

use super::context::Context;
use crate::parallel;
use crate::point::{Bench, PointError};
use crate::setups::Setup;
use import::Table;
use load::{CacheConfig, LoadConfig, SlobConfig};
use results::{Application, Comparison, ComparisonPoint, Published};
use target::{Measure, OnlyCancel};

/// Requests that are measured at each point.
const REQUESTS: u64 = 100_000;

/// IOPS and latency of 1 to 64 readers.
pub fn compare(context: &Context) -> Result<Vec<Comparison>, PointError> {
    let setup = Setup::of("violin-3205-slob");
    let bench = Bench::builtin("violin-3205", &setup.host, context.scale, context.seed)?;
    let table = Table::get("violin-3205-slob");
    let rows: Vec<(f64, f64, f64)> = table
        .numbers("readers")
        .into_iter()
        .zip(table.numbers("iops"))
        .zip(table.numbers("latency_us"))
        .map(|((readers, iops), latency_us)| (readers, iops, latency_us))
        .collect();
    let points = parallel::map(&rows, |&(readers, iops, latency_us)| {
        let load = LoadConfig::Slob(SlobConfig {
            readers: readers as u32,
            writers: 0,
            cpu_per_logical_read_ns: setup.whole("cpu_per_logical_read_ns"),
            cache: CacheConfig { hit_ratio: Some(0.0), ..CacheConfig::default() },
            ..SlobConfig::default()
        });
        let result = bench.run(&load, 0.0, Measure::Requests(REQUESTS), &OnlyCancel(context.progress))?;
        let Some(Application::Slob(slob)) = &result.application else { unreachable!("SLOB reports") };
        let figure = |value, bound| Published::Figure { value, bound };
        Ok::<_, PointError>([
            ComparisonPoint::new(format!("{readers:.0} readers"), "IOPS", figure(iops, 0.10), result.read.iops),
            ComparisonPoint::new(
                format!("{readers:.0} readers, mean latency"),
                "us",
                figure(latency_us, 0.15),
                slob.single_block_read_ns / 1e3,
            ),
        ])
    })?;
    Ok(vec![Comparison::new(
        "violin-3205-slob",
        "Violin 3205: SLOB readers, 8 KiB",
        "violin-3205",
        points.into_iter().flatten().collect(),
        None,
        "The host runs out of CPU before the array is at its limit.",
    )])
}
