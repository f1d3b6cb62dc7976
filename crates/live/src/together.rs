//! How a card stands whose shards stand each in their own way: counts add up, and the worst state is the card's.

use crate::engine::Engine;
use crate::live::Live;
use crate::pace::Pace;
use crate::settings::Settings;
use crate::start_status::StartStatus;
use crate::stats::{Kind, Recorders};
use crate::status::{LogStatus, ModuleStatus, Snapshot, Status};
use crate::timing::Timing;
use card::{CriticalWarning, Health};

impl Live {
    /// How long things take.
    pub fn timing(&self) -> Timing {
        self.shards[0].shared.lock().timing
    }

    /// Whether the machine keeps up with that.
    pub fn pace(&self) -> Pace {
        let pace = |engine: &mut Engine| {
            let wall_ns = engine.wall_ns();
            engine.device.lateness.pace(wall_ns)
        };
        pace_of(&self.each(pace))
    }

    /// Writes may be answered before they are durable, so that flushes matter.
    pub fn has_volatile_cache(&self) -> bool {
        self.each(|engine| engine.has_volatile_cache()).contains(&true)
    }

    /// How it stands.
    pub fn status(&self) -> Status {
        let (statuses, recorders) = (self.each(Engine::status), self.recorders());
        self.of_card(&statuses, &recorders)
    }

    /// Its modules, by slot. Looks at every erase block.
    pub fn modules(&self) -> Vec<ModuleStatus> {
        modules_of(self.each(|engine| engine.modules()))
    }

    /// Its health, while it has power.
    pub fn health(&self) -> Option<Health> {
        health_of(&self.each(|engine| engine.health()))
    }

    /// How many requests of a kind took how long since the start: pairs of nanoseconds and a count, ascending, exact to
    /// 1 %. At most some thousand.
    pub fn latencies(&self, kind: Kind) -> Vec<(u64, u64)> {
        self.recorders().recorded(kind)
    }

    /// All of it, as of one moment in each shard.
    pub fn snapshot(&self) -> Snapshot {
        let mut recorders = Recorders::new();
        let (mut statuses, mut modules, mut healths) = (Vec::new(), Vec::new(), Vec::new());
        for shard in &self.shards {
            let mut engine = shard.shared.lock();
            statuses.push(engine.status());
            modules.push(engine.modules());
            healths.push(engine.health());
            recorders.add(&engine.device.recorders);
        }
        recorders.add(&self.divided.recorders.lock());
        Snapshot {
            status: self.of_card(&statuses, &recorders),
            modules: modules_of(modules),
            health: health_of(&healths),
            latencies: recorders.buckets(),
            recorded: Kind::ALL.map(|kind| recorders.recorded(kind)),
            explanations: recorders.explanations(),
        }
    }

    /// From now on requests that take longer than this are slow ones, by kind in the order of [`Kind::ALL`]: where their
    /// time goes is kept by itself as well.
    pub fn slow_above(&self, bounds_ns: [u64; Kind::ALL.len()]) {
        self.shards.iter().for_each(|shard| shard.shared.lock().device.recorders.slow_above(bounds_ns));
    }

    fn of_card(&self, shards: &[Status], recorders: &Recorders) -> Status {
        Status { size_bytes: self.size_bytes(), stats: recorders.stats(), ..status_of(shards) }
    }

    fn each<T>(&self, look: impl Fn(&mut Engine) -> T) -> Vec<T> {
        self.shards.iter().map(|shard| look(&mut shard.shared.lock())).collect()
    }

    /// The requests of all shards, and those that were divided.
    fn recorders(&self) -> Recorders {
        let mut all = Recorders::new();
        self.shards.iter().for_each(|shard| all.add(&shard.shared.lock().device.recorders));
        all.add(&self.divided.recorders.lock());
        all
    }
}

/// The pace of all shards.
fn pace_of(shards: &[Pace]) -> Pace {
    shards.iter().fold(Pace::default(), |all, pace| Pace {
        most_behind_ns: all.most_behind_ns.max(pace.most_behind_ns),
        late_share: all.late_share.max(pace.late_share),
    })
}

/// The status of all shards. Its requests are those of the first shard: the owner knows those of the card.
fn status_of(shards: &[Status]) -> Status {
    let first = &shards[0];
    if shards.len() == 1 {
        return first.clone();
    }
    let any = |is: fn(&Status) -> bool| shards.iter().any(is);
    let sum = |count: fn(&Status) -> u64| shards.iter().map(count).sum::<u64>();
    let bands = |count: fn(&Status) -> u32| shards.iter().map(count).sum::<u32>();
    let host_sectors = sum(|status| status.host_sectors);
    let relocated_sectors = sum(|status| status.relocated_sectors);
    let paces: Vec<Pace> = shards.iter().map(|status| status.pace).collect();
    Status {
        powered: shards.iter().all(|status| status.powered),
        stopped: any(|status| status.stopped),
        read_only: any(|status| status.read_only),
        degraded: any(|status| status.degraded),
        size_bytes: sum(|status| status.size_bytes),
        shards: shards.len() as u32,
        timing: first.timing,
        pace: pace_of(&paces),
        stats: first.stats,
        host_sectors,
        relocated_sectors,
        parity_sectors: sum(|status| status.parity_sectors),
        padding_sectors: sum(|status| status.padding_sectors),
        metadata_sectors: sum(|status| status.metadata_sectors),
        write_amplification: match host_sectors {
            0 => 1.0,
            _ => (host_sectors + relocated_sectors) as f64 / host_sectors as f64,
        },
        free_bands: bands(|status| status.free_bands),
        reserve_bands: bands(|status| status.reserve_bands),
        bands: bands(|status| status.bands),
        fill: shards.iter().map(|status| status.fill).sum::<f64>() / shards.len() as f64,
        collects: any(|status| status.collects),
        scrub: share(shards, |status| status.scrub),
        rebuild: share(shards, |status| status.rebuild),
        recovery_ns: shards.iter().filter_map(|status| status.recovery_ns).max(),
        start: StartStatus::of_shards(shards.iter().filter_map(|status| status.start.clone())),
        power_cuts: first.power_cuts,
        mismatched_sectors: sum(|status| status.mismatched_sectors),
        rebuilt_sectors: sum(|status| status.rebuilt_sectors),
        lost_sectors: sum(|status| status.lost_sectors),
        hedged_reads: sum(|status| status.hedged_reads),
        log: log_of(shards),
        settings: settings(shards),
    }
}

/// The logs of all shards that have one.
fn log_of(shards: &[Status]) -> Option<LogStatus> {
    let logs = shards.iter().filter_map(|status| status.log);
    logs.reduce(|all, log| LogStatus {
        records: all.records + log.records,
        sectors: all.sectors + log.sectors,
        bytes: all.bytes + log.bytes,
        flushes: all.flushes + log.flushes,
        flushes_without_room: all.flushes_without_room + log.flushes_without_room,
        replayed_sectors: all.replayed_sectors + log.replayed_sectors,
    })
}

/// The share that is done by all shards: those that have nothing to do are done.
fn share(shards: &[Status], of: fn(&Status) -> Option<f64>) -> Option<f64> {
    let is_done = shards.iter().all(|status| of(status).is_none());
    let done = shards.iter().map(|status| of(status).unwrap_or(1.0)).sum::<f64>();
    (!is_done).then_some(done / shards.len() as f64)
}

/// The settings of the card, of which each shard has its share.
fn settings(shards: &[Status]) -> Settings {
    let rates = shards.iter().map(|status| status.settings.rebuild_bytes_per_s);
    let target_free_bands = shards.iter().map(|status| status.settings.target_free_bands).sum();
    Settings { rebuild_bytes_per_s: rates.sum(), target_free_bands, ..shards[0].settings }
}

/// The modules of all shards, by slot: each slot has one module, of which each shard has a part.
fn modules_of(shards: Vec<Vec<ModuleStatus>>) -> Vec<ModuleStatus> {
    let count = shards.len() as u64;
    let mut shards = shards.into_iter();
    let mut all = shards.next().unwrap_or_default();
    for shard in shards {
        for (module, part) in all.iter_mut().zip(shard) {
            module.present &= part.present;
            module.state = module.state.max(part.state);
            module.bad_blocks += part.bad_blocks;
            module.mean_cycles += part.mean_cycles;
            module.max_cycles = module.max_cycles.max(part.max_cycles);
        }
    }
    all.iter_mut().for_each(|module| module.mean_cycles /= count);
    all
}

/// The health of all shards, which have power together.
fn health_of(shards: &[Option<Health>]) -> Option<Health> {
    let mut all: Option<Health> = None;
    for shard in shards {
        let part = (*shard)?;
        all = Some(all.map_or(part, |all| worse(&all, &part)));
    }
    all
}

fn worse(one: &Health, other: &Health) -> Health {
    let (a, b) = (one.critical_warning, other.critical_warning);
    Health {
        critical_warning: CriticalWarning {
            spare_below_threshold: a.spare_below_threshold || b.spare_below_threshold,
            reliability_degraded: a.reliability_degraded || b.reliability_degraded,
            read_only: a.read_only || b.read_only,
        },
        available_spare: one.available_spare.min(other.available_spare),
        available_spare_threshold: one.available_spare_threshold,
        percentage_used: one.percentage_used.max(other.percentage_used),
        data_units_read: one.data_units_read + other.data_units_read,
        data_units_written: one.data_units_written + other.data_units_written,
        host_read_commands: one.host_read_commands + other.host_read_commands,
        host_write_commands: one.host_write_commands + other.host_write_commands,
        controller_busy_time: one.controller_busy_time.max(other.controller_busy_time),
        power_cycles: one.power_cycles.max(other.power_cycles),
        power_on_hours: one.power_on_hours.max(other.power_on_hours),
        unsafe_shutdowns: one.unsafe_shutdowns.max(other.unsafe_shutdowns),
        media_errors: one.media_errors + other.media_errors,
    }
}
