//! Random reads of drives at depths 1 and 16: means and percentiles.

use super::context::Context;
use crate::parallel;
use crate::point::Bench;
use crate::point::PointError;
use crate::setups::Setup;
use import::Table;
use load::FileioMode;
use results::{Comparison, ComparisonPoint, Published};
use target::{Measure, OnlyCancel};

const NAME: &str = "drives-2017-depths";
/// Means, medians and rates; of the first, that at depth 1 is what the array's time is derived from.
const BOUND: f64 = 0.15;
/// The slowest hundredth: what else a drive does meanwhile is not published.
const TAIL: f64 = 0.35;
const REQUESTS: u64 = 200_000;
const BLOCK_BYTES: u32 = 4_096;

/// A row: a card, its depth, and what was measured.
struct Row {
    card: String,
    title: String,
    depth: u32,
    iops: f64,
    mean_us: f64,
    median_us: f64,
    p99_us: f64,
}

fn rows() -> Vec<Row> {
    let table = Table::get(NAME);
    let (cards, titles) = (table.texts("card"), table.texts("device"));
    let [depths, iops, means, medians, p99s] =
        ["depth", "iops", "mean_us", "median_us", "p99_us"].map(|column| table.numbers(column));
    (0..cards.len())
        .map(|i| Row {
            card: cards[i].clone(),
            title: titles[i].clone(),
            depth: depths[i] as u32,
            iops: iops[i],
            mean_us: means[i],
            median_us: medians[i],
            p99_us: p99s[i],
        })
        .collect()
}

/// Each drive, at both depths.
pub fn compare(context: &Context) -> Result<Vec<Comparison>, PointError> {
    let setup = Setup::of(NAME);
    let rows = rows();
    let measured = parallel::map(&rows, |row| {
        let bench = Bench::builtin(&row.card, &setup.host, context.scale, context.seed)?;
        let fill = setup.number("fill");
        let load = bench.fileio(FileioMode::RndRd, BLOCK_BYTES, row.depth, fill);
        let result = bench.run(&load, fill, Measure::Requests(REQUESTS), &OnlyCancel(context.progress))?;
        let read = &result.read;
        let at = |percent| read.lat_ns.at(percent) as f64 / 1e3;
        let point = |what: &str, unit: &str, value: f64, bound: f64, model: f64| {
            let label = format!("depth {}: {what}", row.depth);
            ComparisonPoint::new(label, unit, Published::Figure { value, bound }, model)
        };
        Ok::<_, PointError>([
            point("rate", "IOPS", row.iops, BOUND, read.iops),
            point("mean", "us", row.mean_us, BOUND, read.lat_ns.mean / 1e3),
            point("median", "us", row.median_us, BOUND, at(50.0)),
            point("99th percentile", "us", row.p99_us, TAIL, at(99.0)),
        ])
    })?;
    let mut comparisons: Vec<Comparison> = Vec::new();
    let mut points: Vec<ComparisonPoint> = Vec::new();
    for (i, (row, of_row)) in rows.iter().zip(measured).enumerate() {
        points.extend(of_row);
        if rows.get(i + 1).is_none_or(|next| next.card != row.card) {
            comparisons.push(Comparison::new(
                &format!("{NAME}-{}", row.card),
                &format!("{}: random reads of 4 KiB", row.title),
                &row.card,
                std::mem::take(&mut points),
                None,
                "Times of the array are derived from the mean at depth 1, or from a data sheet; the rest is predicted.",
            ));
        }
    }
    Ok(comparisons)
}
