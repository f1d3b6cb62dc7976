//! The pre-production tachIOn against threads, and what adaptive pacing made of it.

use super::context::Context;
use crate::parallel;
use crate::point::{Bench, PointError};
use crate::setups::Setup;
use import::Table;
use load::{FileioConfig, FileioMode, LoadConfig};
use results::{Comparison, ComparisonPoint, Published, RunResult};
use target::{Measure, OnlyCancel};

/// "about" in the text: within this share.
const ABOUT: f64 = 0.10;
/// Share of the published longest response that must be there: a card that never stalls does not reproduce it.
const STALL_SHARE: f64 = 0.8;
/// Share of the published 95th percentile that must be there, for the same reason.
const P95_SHARE: f64 = 0.8;
/// Least factor by which adaptive pacing shortens the longest response.
const PACING_GAIN: f64 = 20.0;
/// Virtual seconds of random writes: several collections of the pre-production card.
const WRITE_SECONDS: f64 = 12.0;
/// Threads of the random reads, and of the random writes.
const READ_THREADS: [u32; 5] = [1, 4, 16, 32, 64];
const WRITE_THREADS: [u32; 4] = [1, 8, 16, 64];

struct Cards {
    preproduction: Bench,
    production: Bench,
    iodrive: Bench,
    block: u32,
    /// Share of the card that the file takes.
    share: f64,
    /// Share of the card that holds data, the file's and older ones.
    fill: f64,
}

impl Cards {
    fn run(&self, bench: &Bench, mode: FileioMode, threads: u32, context: &Context) -> Result<RunResult, PointError> {
        let load = LoadConfig::Fileio(FileioConfig {
            mode,
            block_bytes: self.block,
            threads,
            file_bytes: bench.file_bytes(self.share),
            ..FileioConfig::default()
        });
        let measure = if mode.writes() { Measure::Seconds(WRITE_SECONDS) } else { Measure::Auto };
        Ok(bench.run(&load, self.fill, measure, &OnlyCancel(context.progress))?)
    }
}

/// Every bound that the text states.
pub fn compare(context: &Context) -> Result<Vec<Comparison>, PointError> {
    let setup = Setup::of("tachion-400-threads");
    let bench = |card: &str| Bench::builtin(card, &setup.host, context.scale, context.seed);
    let cards = Cards {
        preproduction: bench("tachion-400-preproduction")?,
        production: bench("tachion-400")?,
        iodrive: bench("iodrive-160-slc")?,
        block: setup.whole("block_bytes") as u32,
        share: setup.number("file_bytes") / 400e9,
        fill: setup.number("fill"),
    };
    let run = |card: &Bench, mode, threads: &[u32]| parallel::map(threads, |&n| cards.run(card, mode, n, context));
    let writes = run(&cards.preproduction, FileioMode::RndWr, &WRITE_THREADS)?;
    let paced = run(&cards.production, FileioMode::RndWr, &WRITE_THREADS)?;
    let reads = run(&cards.preproduction, FileioMode::RndRd, &READ_THREADS)?;
    let rivals = run(&cards.iodrive, FileioMode::RndRd, &READ_THREADS)?;
    let longest_ms = |runs: &[RunResult]| runs.iter().map(|r| r.write.lat_ns.max).max().unwrap_or(0) as f64 / 1e6;

    let table = Table::get("tachion-400-threads");
    let (loads, threads) = (table.texts("workload"), table.texts("threads"));
    let (figures, bounds, values) = (table.texts("figure"), table.texts("bound"), table.numbers("value"));
    let mut points = Vec::new();
    for i in 0..loads.len() {
        let label = format!("{}, {} threads: {}", loads[i], threads[i], figures[i]);
        let value = values[i];
        let swept: &[u32] = if loads[i] == "random read" { &READ_THREADS } else { &WRITE_THREADS };
        let n = threads[i].parse().ok().and_then(|n: u32| swept.iter().position(|&t| t == n));
        let point = match (loads[i].as_str(), figures[i].as_str(), n) {
            ("random read", "throughput", Some(n)) => {
                ComparisonPoint::new(label, "MB/s", Published::AtLeast { value }, reads[n].read.bw_bytes / 1e6)
            }
            ("random write", "throughput", Some(n)) => {
                let about = Published::Figure { value, bound: ABOUT };
                ComparisonPoint::new(label, "MB/s", about, writes[n].write.bw_bytes / 1e6)
            }
            ("random write", "p95 response", Some(n)) => {
                let p95_ms = writes[n].write.lat_ns.at(95.0) as f64 / 1e6;
                let reached = Published::Between { low: P95_SHARE * value, high: value };
                ComparisonPoint::new(label, "ms", reached, p95_ms)
            }
            ("random write", "longest response", None) => {
                let reached = Published::Between { low: STALL_SHARE * value, high: value };
                ComparisonPoint::new(label, "ms", reached, longest_ms(&writes))
            }
            ("random read", "against ioDrive 160 SLC", Some(n)) => {
                let ratio = reads[n].read.bw_bytes / rivals[n].read.bw_bytes;
                let published = match bounds[i].as_str() {
                    "slower" => Published::AtMost { value: 1.0 },
                    _ => Published::AtLeast { value: 1.0 },
                };
                ComparisonPoint::new(label, "ratio", published, ratio)
            }
            other => unreachable!("a row that no comparison knows: {other:?}"),
        };
        points.push(point);
    }
    let gain = longest_ms(&writes) / longest_ms(&paced);
    points.push(ComparisonPoint::new(
        "longest response, against adaptive pacing",
        "times",
        Published::AtLeast { value: PACING_GAIN },
        gain,
    ));
    Ok(vec![Comparison::new(
        "tachion-400-threads",
        "tachIOn 400 GB, pre-production driver: 16 KiB over a 100 GB file",
        "tachion-400-preproduction",
        points,
        None,
        "The last line compares the same load on the production profile, whose collection is paced.",
    )])
}
