//! The mix that was measured on a served card, run on the card's model in virtual time.
//!
//! Load and host of the model have the figures of the live run where it has them: pages that a transaction touches,
//! what the buffer cache answered, log, and the CPU time that it took.

use crate::error::Failure;
use load::{CacheConfig, OltpConfig};
use profile::{DeviceConfig, Host, Profile};
use results::{DatabaseMix, DatabaseMixPoint, DatabaseReport};
use review::{Bench, MixTimes, mix_sweep};
use target::Progress;

/// Until the cache of a controller has filled and is written back as fast as it fills; and about two sweeps of it over
/// the disks.
const DISKS: MixTimes = MixTimes { warm_up_s: 100.0, measured_s: 180.0 };
const FLASH: MixTimes = MixTimes { warm_up_s: 5.0, measured_s: 10.0 };
/// CPU time that every transaction takes at least: sending, parsing, a snapshot.
const MIN_CPU_NS: u64 = 20_000;
const DIRTY_LIMIT: f64 = 0.01;

/// A card that is served, as its model knows it.
pub struct Served<'a> {
    pub profile: &'a Profile,
    /// Bytes that a host sees of it.
    pub bytes: u64,
    pub is_disks: bool,
}

impl Served<'_> {
    /// Adds what the model says to each point of the mix, if there are any.
    pub fn add(&self, report: &mut DatabaseReport, seed: u64, progress: &dyn Progress) -> Result<(), Failure> {
        let data_bytes = report.data_bytes;
        let Some(mix) = report.mix.as_mut().filter(|mix| !mix.points.is_empty()) else { return Ok(()) };
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let mut host = Host::open("default")?;
        host.set(&format!("host.cores={cores}"))?;
        let full = self.profile.lower(1.0)?.user_bytes();
        let scale = (self.bytes as f64 / full as f64).min(1.0);
        let mut bench = Bench::new(self.profile, &host, scale, seed)?;
        // The disks that are served are of the size that was asked for.
        if let Some((array, _)) = self.profile.disks_with_contents(Some(self.bytes))? {
            bench.device = DeviceConfig::Disks(array);
        }
        let loads: Vec<OltpConfig> = mix.points.iter().map(|point| load_of(mix, point, data_bytes)).collect();
        progress.begin("the same on the model", 1);
        let times = if self.is_disks { DISKS } else { FLASH };
        for (point, modelled) in mix.points.iter_mut().zip(mix_sweep(&bench, &loads, times, progress)?) {
            point.modelled_tps = Some(modelled.tps);
        }
        mix.modelled = Some(format!(
            "The modelled transactions run on the card's model in virtual time, behind {cores} cores that have nothing to \
             run but the database. Pages, buffer hits, log and CPU time of a transaction are those measured at each point; \
             the CPU time of clients, kernel threads and of the served card itself is not in it."
        ));
        Ok(())
    }
}

fn transactions(point: &DatabaseMixPoint) -> f64 {
    (point.tps * point.activity.seconds).max(1.0)
}

/// Blocks that a transaction reads.
fn reads(point: &DatabaseMixPoint) -> f64 {
    point.activity.blocks_read as f64 / transactions(point)
}

fn load_of(mix: &DatabaseMix, point: &DatabaseMixPoint, data_bytes: u64) -> OltpConfig {
    let usual = OltpConfig::default();
    let activity = &point.activity;
    let touched = (activity.blocks_hit + activity.blocks_read) as f64 / transactions(point);
    let pages = (touched.round() as u32).max(1);
    let writes = transactions(point) * f64::from(100 - mix.select_percent) / 100.0;
    let cpu_ns = activity.cpu_s.map_or(usual.cpu_per_select_ns, |cpu_s| (cpu_s * 1e9 / transactions(point)) as u64);
    let page_bytes = u64::from(usual.page_bytes);
    OltpConfig {
        sessions: point.sessions,
        select_percent: mix.select_percent.into(),
        insert_percent: mix.insert_percent.into(),
        db_bytes: (data_bytes / page_bytes * page_bytes).max(page_bytes),
        pages_per_select: pages,
        pages_per_write: pages.max(usual.changed_pages_per_write),
        cpu_per_select_ns: cpu_ns.max(MIN_CPU_NS),
        cpu_per_write_ns: cpu_ns.max(MIN_CPU_NS),
        // The measured time includes the cost of more sessions.
        cpu_per_session_ns: 0,
        think_ns: mix.think_ns,
        cache: CacheConfig {
            hit_ratio: Some((1.0 - reads(point) / f64::from(pages)).clamp(0.0, 1.0)),
            dirty_start: 0.0,
            dirty_limit: DIRTY_LIMIT,
            ..usual.cache
        },
        wal_bytes_per_write: ((activity.wal_bytes as f64 / writes.max(1.0)) as u32).clamp(100, 1 << 20),
        ..usual
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use results::DatabaseActivity;

    /// 100 transactions a second of one session: each reads four blocks of ten and takes 2 ms of CPU.
    fn measured() -> DatabaseReport {
        let activity = DatabaseActivity {
            seconds: 2.0,
            blocks_hit: 1_200,
            blocks_read: 800,
            wal_bytes: 40_000,
            cpu_s: Some(0.4),
            ..DatabaseActivity::default()
        };
        let point = DatabaseMixPoint { sessions: 1, tps: 100.0, activity, ..DatabaseMixPoint::default() };
        let mix = DatabaseMix { select_percent: 80, insert_percent: 10, points: vec![point], ..DatabaseMix::default() };
        DatabaseReport { data_bytes: 64 << 20, mix: Some(mix), ..DatabaseReport::default() }
    }

    #[test]
    fn the_models_transactions_are_those_that_were_measured() {
        let report = measured();
        let mix = report.mix.as_ref().unwrap();
        let load = load_of(mix, &mix.points[0], report.data_bytes);
        load.validate().unwrap();
        assert_eq!((load.pages_per_select, load.wal_bytes_per_write, load.cpu_per_select_ns), (10, 1_000, 2_000_000));
        assert!((load.cache.hit_ratio.unwrap() - 0.6).abs() < 1e-9);
    }

    #[test]
    fn one_session_that_waits_for_its_reads_is_as_fast_as_they_are() {
        let mut report = measured();
        let profile = Profile::open("sas-raid10-6").unwrap();
        let served = Served { profile: &profile, bytes: 1 << 30, is_disks: true };
        served.add(&mut report, 1, &target::Silent).unwrap();
        let mix = report.mix.unwrap();
        // Four reads of a disk of 15,000 revolutions, and two milliseconds of CPU: between 30 and 90 a second.
        let tps = mix.points[0].modelled_tps.unwrap();
        assert!((30.0..90.0).contains(&tps), "{tps}");
        assert!(mix.modelled.unwrap().contains("cores"));
    }
}
