//! PostgreSQL 80/20 on the ioDrive 320 GB MLC and on six disks.

use super::context::Context;
use crate::mix_sweep::{MixTimes, mix_sweep};
use crate::point::{Bench, PointError};
use crate::setups::Setup;
use load::{CacheConfig, OltpConfig};
use profile::Profile;
use results::{Comparison, ComparisonPoint, Published};

/// Sessions of the sweep.
const SESSIONS: [u32; 14] = [1, 4, 8, 12, 16, 20, 25, 32, 48, 64, 80, 100, 128, 160];
/// "about 4 times" in the text.
const RATIO: (f64, f64) = (3.0, 5.0);
/// "about 25" and "about 100" backends: a third less to almost half as much more.
const FLASH_BEND: (f64, f64) = (16.0, 36.0);
const DISK_BEND: (f64, f64) = (64.0, 144.0);

/// Share of the shared buffers that may wait to be written. Each changed page is written at once, and few may wait: a
/// run reaches at once the balance that a longer one reaches when far more of them have changed, one page written for
/// each that is changed.
const DIRTY_LIMIT: f64 = 0.01;

/// A machine of the comparison.
struct Server<'a> {
    bench: Bench,
    setup: &'a Setup,
    /// Size of the database on this device.
    db_bytes: u64,
    times: MixTimes,
}

impl Server<'_> {
    /// The machine with this card at this scale; `kind` names the keys of the setup that say for how long it runs.
    fn new<'a>(
        card: &str,
        kind: &str,
        scale: f64,
        setup: &'a Setup,
        context: &Context,
    ) -> Result<Server<'a>, PointError> {
        let bench = Bench::builtin(card, &setup.host, scale, context.seed)?;
        // The database shrinks with the device: it takes the same share of it.
        let share = setup.number("db_bytes") / Profile::builtin(card)?.lower(1.0)?.user_bytes() as f64;
        let page_bytes = u64::from(OltpConfig::default().page_bytes);
        let db_bytes = (bench.device.user_bytes() as f64 * share) as u64 / page_bytes * page_bytes;
        let warm_up_s = setup.number(&format!("{kind}_warm_up_seconds"));
        let measured_s = setup.number(&format!("{kind}_seconds"));
        Ok(Server { bench, setup, db_bytes, times: MixTimes { warm_up_s, measured_s } })
    }

    fn load(&self, sessions: u32) -> OltpConfig {
        let setup = self.setup;
        let postgres = OltpConfig::default();
        OltpConfig {
            sessions,
            db_bytes: self.db_bytes,
            pages_per_select: setup.whole("pages_per_select") as u32,
            pages_per_write: setup.whole("pages_per_write") as u32,
            cpu_per_select_ns: setup.whole("cpu_per_select_ns"),
            cpu_per_write_ns: setup.whole("cpu_per_write_ns"),
            cpu_per_session_ns: setup.whole("cpu_per_session_ns"),
            think_ns: setup.whole("think_ns"),
            cache: CacheConfig {
                hit_ratio: Some(setup.number("hit_ratio")),
                dirty_start: 0.0,
                dirty_limit: DIRTY_LIMIT,
                ..postgres.cache
            },
            ..postgres
        }
    }

    /// Transactions a second at each of [`SESSIONS`].
    fn sweep(&self, context: &Context) -> Result<Vec<f64>, PointError> {
        let loads = SESSIONS.map(|sessions| self.load(sessions));
        let reports = mix_sweep(&self.bench, &loads, self.times, context.progress)?;
        Ok(reports.iter().map(|report| report.tps).collect())
    }
}

fn peak(tps: &[f64]) -> f64 {
    tps.iter().copied().fold(0.0, f64::max)
}

/// Finds the bend of the curve over [`SESSIONS`].
fn bend(tps: &[f64]) -> f64 {
    let points: Vec<(f64, f64)> = SESSIONS.into_iter().map(f64::from).zip(tps.iter().copied()).collect();
    results::bend(&points).expect("the sweep has points")
}

/// The three figures that the text states.
pub fn compare(context: &Context) -> Result<Vec<Comparison>, PointError> {
    let setup = Setup::of("iodrive-320-mlc-postgres");
    let flash = Server::new("iodrive-320-mlc", "flash", context.scale, &setup, context)?.sweep(context)?;
    // Disks have no map to precondition: whole ones take no more time than small ones. Their controller's cache is
    // not scaled, and would hold a good part of a small database.
    let disks = Server::new("sas-raid10-6", "disks", 1.0, &setup, context)?.sweep(context)?;
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
        "A machine bends where it first reaches 98 % of its peak; the disks run at full size at any scale.",
    )])
}
