//! PostgreSQL 80/20 on the ioDrive 320 GB MLC and on six disks.

use super::Context;
use crate::parallel;
use crate::point::{Bench, OnlyCancel, PointError};
use crate::setups::Setup;
use load::{CacheConfig, LoadConfig, OltpConfig};
use results::{Application, Comparison, ComparisonPoint, Published};
use target::Measure;

/// Sessions of the sweep.
const SESSIONS: [u32; 15] = [1, 2, 4, 8, 12, 16, 20, 25, 32, 48, 64, 80, 100, 128, 192];
/// A machine bends at the fewest sessions that reach this share of its peak: more sessions bring next to nothing.
const PEAK_SHARE: f64 = 0.95;
/// "about 4 times" in the text.
const RATIO: (f64, f64) = (3.0, 5.0);
/// "about 25" and "about 100" backends: the sweep's steps around them are some 30 % apart.
const FLASH_BEND: (f64, f64) = (16.0, 36.0);
const DISK_BEND: (f64, f64) = (64.0, 144.0);

fn load(setup: &Setup, sessions: u32) -> LoadConfig {
    LoadConfig::Oltp(OltpConfig {
        sessions,
        db_bytes: setup.whole("db_bytes"),
        pages_per_select: setup.whole("pages_per_select") as u32,
        pages_per_write: setup.whole("pages_per_write") as u32,
        cpu_per_select_ns: setup.whole("cpu_per_select_ns"),
        cpu_per_write_ns: setup.whole("cpu_per_write_ns"),
        cpu_per_session_ns: setup.whole("cpu_per_session_ns"),
        think_ns: setup.whole("think_ns"),
        cache: CacheConfig { hit_ratio: Some(setup.number("hit_ratio")), ..OltpConfig::default().cache },
        ..OltpConfig::default()
    })
}

/// Transactions a second by sessions.
fn sweep(card: &str, setup: &Setup, context: &Context) -> Result<Vec<f64>, PointError> {
    // The database takes a fixed size: a scaled device must still hold it.
    let bench = Bench::builtin(card, &setup.host, context.scale.max(setup.number("least_scale")), context.seed)?;
    parallel::map(&SESSIONS, |&sessions| {
        let measure = Measure::Seconds(setup.number("seconds"));
        let result = bench.run(&load(setup, sessions), 0.0, measure, &OnlyCancel(context.progress))?;
        let Some(Application::Oltp(oltp)) = &result.application else { unreachable!("OLTP reports") };
        Ok(oltp.tps)
    })
}

/// Where a curve bends.
fn bend(tps: &[f64]) -> f64 {
    let peak = tps.iter().copied().fold(0.0, f64::max);
    let i = tps.iter().position(|&t| t >= PEAK_SHARE * peak).unwrap_or(0);
    f64::from(SESSIONS[i])
}

/// The three figures that the text states.
pub fn compare(context: &Context) -> Result<Vec<Comparison>, PointError> {
    let setup = Setup::of("iodrive-320-mlc-postgres");
    let flash = sweep("iodrive-320-mlc", &setup, context)?;
    let disks = sweep("sas-raid10-6", &setup, context)?;
    let peak = |tps: &[f64]| tps.iter().copied().fold(0.0, f64::max);
    let between = |(low, high): (f64, f64)| Published::Between { low, high };
    let points = vec![
        ComparisonPoint::new("peak, flash over disks", "times", between(RATIO), peak(&flash) / peak(&disks)),
        ComparisonPoint::new("flash bends at", "sessions", between(FLASH_BEND), bend(&flash)),
        ComparisonPoint::new("disks bend at", "sessions", between(DISK_BEND), bend(&disks)),
    ];
    Ok(vec![Comparison::new(
        "iodrive-320-mlc-postgres",
        "ioDrive 320 GB MLC against six SAS disks: PostgreSQL 80/20",
        "iodrive-320-mlc",
        points,
        None,
        "A machine bends at the fewest sessions that reach 95 % of its peak.",
    )])
}
