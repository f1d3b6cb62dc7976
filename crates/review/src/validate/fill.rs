//! Throughput of random writes against space in use.

use super::context::Context;
use crate::parallel;
use crate::point::{Bench, PointError};
use crate::setups::Setup;
use import::Table;
use load::FileioMode;
use results::{Comparison, ComparisonPoint, Published};
use target::{Measure, OnlyCancel};

const MIB: f64 = 1_048_576.0;
const GIB: f64 = 1_073_741_824.0;
/// Capacity under which the tachIOn is sold: the second table states space in use in GiB.
const TACHION_USER_BYTES: f64 = 400e9;

struct Point {
    label: String,
    fill: f64,
    measured: f64,
}

fn percent_points(name: &str, column: &str) -> Vec<Point> {
    let table = Table::get(name);
    let percents = table.numbers("percent_in_use").into_iter();
    percents
        .zip(table.numbers(column))
        .map(|(percent, measured)| Point { label: format!("{percent:.0} % in use"), fill: percent / 100.0, measured })
        .collect()
}

fn compare(
    card: &str,
    setup: &str,
    points: &[Point],
    bound: f64,
    context: &Context,
) -> Result<Vec<ComparisonPoint>, PointError> {
    let setup = Setup::of(setup);
    let bench = Bench::builtin(card, &setup.host, context.scale, context.seed)?;
    let (block, threads) = (setup.whole("block_bytes") as u32, setup.whole("threads") as u32);
    parallel::map(points, |point| {
        let load = bench.fileio(FileioMode::RndWr, block, threads, point.fill);
        let result = bench.run(&load, point.fill, Measure::Auto, &OnlyCancel(context.progress))?;
        let published = Published::Figure { value: point.measured, bound };
        Ok(ComparisonPoint::new(point.label.clone(), "MiB/s", published, result.write.bw_bytes / MIB))
    })
}

/// tachIOn 400 GB, both tables with one profile.
pub fn tachion(context: &Context) -> Result<Vec<Comparison>, PointError> {
    let mut points = compare(
        "tachion-400",
        "fill-percent",
        &percent_points("fill-percent", "tachion_400_mib_per_s"),
        0.12,
        context,
    )?;
    let table = Table::get("tachion-400-fill");
    let gib: Vec<Point> = table
        .numbers("in_use_gib")
        .into_iter()
        .zip(table.numbers("mib_per_s"))
        .map(|(gib, measured)| Point {
            label: format!("{gib:.0} GiB in use"),
            fill: gib * GIB / TACHION_USER_BYTES,
            measured,
        })
        .collect();
    points.extend(compare("tachion-400", "tachion-400-fill", &gib, 0.12, context)?);
    Ok(vec![Comparison::new(
        "tachion-fill",
        "tachIOn 400 GB: 16 KiB random writes against space in use",
        "tachion-400",
        points,
        Some(0.07),
        "Both tables of December 2010, one profile.",
    )])
}

/// ioDrive Duo 320 GB.
pub fn duo(context: &Context) -> Result<Vec<Comparison>, PointError> {
    let card = "iodrive-duo-320-slc";
    let points = compare(card, "fill-percent", &percent_points("fill-percent", "duo_320_mib_per_s"), 0.40, context)?;
    Ok(vec![Comparison::new(
        "duo-fill",
        "ioDrive Duo 320 GB: 16 KiB random writes against space in use",
        card,
        points,
        Some(0.20),
        "Falls earlier and deeper than spare space alone explains; the profile says what is assumed.",
    )])
}

/// ioDrive 320 GB MLC.
pub fn mlc(context: &Context) -> Result<Vec<Comparison>, PointError> {
    let (card, table) = ("iodrive-320-mlc", "iodrive-320-mlc-fill");
    let points = compare(card, table, &percent_points(table, "mib_per_s"), 0.10, context)?;
    Ok(vec![Comparison::new(
        table,
        "ioDrive 320 GB MLC: 16 KiB random writes against space in use",
        card,
        points,
        Some(0.07),
        "Two figures that the text states: the peak, taken to be that of a tenth in use, and the middle of 110 to 120 MiB/s when \
         full.",
    )])
}
