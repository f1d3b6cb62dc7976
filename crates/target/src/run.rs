//! One run: one load on one device.

use crate::error::RunError;
use crate::machine::{Machine, Stop, StopReason};
use crate::placement::{self, place};
use crate::precondition::{Pattern, precondition};
use crate::zone_check;
use crate::{Modelled, Progress, Recorder, SteadyRule, WarmUp, steady_state, warm_cache};
use device::{HostConfig, SECTOR_BYTES, Time};
use ftl::{AllHandles, Counters, ZoneCounters, ZoneStates};
use load::{FileioConfig, LoadConfig};
use profile::{CacheConfig, CacheMode, DeviceConfig};
use results::{Flash, Overwriting, RunResult, Sim, SteadyState, ZoneUse};
use serde_json::Value;
use std::time::Instant;

/// Version of the result's schema.
const SCHEMA: u32 = 1;

/// The measured part of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Measure {
    Seconds(f64),
    /// Requests of the host (any kind).
    Requests(u64),
    /// A number of requests, after another number that is not measured.
    After {
        /// Before anything is measured.
        warm_up: u64,
        requests: u64,
    },
    /// Enough for stable figures, and until five rounds are steady (at most 25).
    Auto,
}

/// A run: the load, the device, the host.
pub struct RunSpec<'a> {
    /// Configuration of the device.
    pub device: &'a DeviceConfig,
    /// Description of the device in the result.
    pub device_json: Value,
    /// Configuration of the host.
    pub host: &'a HostConfig,
    /// Description of the host in the result.
    pub host_json: Value,
    /// Configuration of the load.
    pub load: &'a LoadConfig,
    /// Share of the user capacity that holds data before the run, 0 to 1.
    pub fill: f64,
    /// Root seed of the run.
    pub seed: u64,
    /// Measured part of the run.
    pub measure: Measure,
    /// Do not precondition: show the fast beginning.
    pub fresh: bool,
    /// Keep where the time of requests went.
    pub explain_tail: bool,
    /// Put whole histograms of latency into the result.
    pub histograms: bool,
}

/// A device in the state in which a load finds it.
#[derive(Clone)]
pub struct Prepared {
    /// The device, filled and overwritten.
    pub device: Modelled,
    /// Balance with the load's pattern, where this is skewed.
    pub overwriting: Option<Overwriting>,
}

impl From<Modelled> for Prepared {
    /// A device whose balance somebody else reports.
    fn from(device: Modelled) -> Prepared {
        Prepared { device, overwriting: None }
    }
}

/// Builds the device and brings it to the state in which the load is to find it.
pub fn prepare(spec: &RunSpec, progress: &dyn Progress) -> Result<Prepared, RunError> {
    zone_check::check(spec.device, spec.load)?;
    let capacity_bytes = spec.device.user_bytes();
    let load = spec.load.build(spec.seed)?;
    if !(0.0..=1.0).contains(&spec.fill) {
        return Err(RunError::Fill { fill: spec.fill });
    }
    let footprint_bytes = load.footprint_bytes();
    if footprint_bytes > capacity_bytes {
        return Err(RunError::Footprint { footprint_bytes, capacity_bytes });
    }
    let mut device = Modelled::new(spec.device, load.processes(), spec.explain_tail, spec.seed)?;
    place(&mut device, spec.device, spec.load, spec.seed)?;
    device.compress(spec.host.compressible);
    let mut overwriting = None;
    if !spec.fresh {
        let fill_bytes = ((capacity_bytes as f64 * spec.fill) as u64).max(footprint_bytes);
        let fill_bytes = fill_bytes.div_ceil(SECTOR_BYTES) * SECTOR_BYTES;
        let pattern = pattern_of(spec.load, footprint_bytes);
        let done = precondition(&mut device, fill_bytes.min(capacity_bytes), pattern, spec.seed, progress)?;
        overwriting = done.overwriting;
    }
    Ok(Prepared { device, overwriting })
}

/// Returns the pattern in which a load writes to its `footprint_bytes`: the state to which a device is brought before
/// it is measured depends on nothing else of the load.
pub fn pattern_of(load: &LoadConfig, footprint_bytes: u64) -> Pattern {
    match load {
        LoadConfig::Fileio(FileioConfig { mode, .. }) if !mode.writes() => Pattern::None,
        LoadConfig::Fileio(FileioConfig { mode, .. }) if mode.is_sequential() => Pattern::Sequential,
        LoadConfig::Fileio(config) => {
            Pattern::Random { block_bytes: config.block_bytes.into(), access: config.access, footprint_bytes }
        }
        // Behind the log lies data, which its database once wrote a block at a time, all over.
        LoadConfig::Redo(config) => Pattern::Random {
            block_bytes: config.read_block_bytes.into(),
            access: load::Access::Uniform,
            footprint_bytes,
        },
        // Databases write blocks of 8 KiB all over.
        LoadConfig::Slob(_) | LoadConfig::Oltp(_) | LoadConfig::Tpcc(_) | LoadConfig::Replica(_) => {
            Pattern::Random { block_bytes: 8192, access: load::Access::Uniform, footprint_bytes }
        }
    }
}

/// Runs a load on a modelled device.
pub fn run(spec: &RunSpec, progress: &dyn Progress) -> Result<RunResult, RunError> {
    let began = Instant::now();
    let prepared = prepare(spec, progress)?;
    let precondition_wall_seconds = began.elapsed().as_secs_f64();
    let mut result = measure(spec, prepared, progress)?;
    let sim = result.sim.as_mut().expect("a model's result");
    sim.wall_seconds = began.elapsed().as_secs_f64();
    sim.precondition_wall_seconds = precondition_wall_seconds;
    Ok(result)
}

/// Bands' worth of host writes in a round that `Auto` measures, at least.
const BANDS_PER_ROUND: f64 = 6.0;

/// Requests that `Auto` measures in each round.
fn auto_round_requests(load: &LoadConfig, device: &Modelled) -> u64 {
    match load {
        LoadConfig::Fileio(config) if config.mode.writes() => {
            // A twentieth of the data capacity, and several bands of each card, so that a round cleans many bands and
            // is not at the mercy of single ones.
            let sectors: f64 = device
                .cards()
                .iter()
                .map(|c| {
                    let data = c.ftl().usable_data_sectors() as f64;
                    let band = f64::from(c.ftl().layout().band_sectors / c.ftl().config().sector_room());
                    (data / 20.0).max(BANDS_PER_ROUND * band) / c.ftl().mean_size()
                })
                .sum();
            let bytes = sectors * SECTOR_BYTES as f64;
            // Blocks of a sector or less write a sector.
            let per_request = f64::from(config.block_bytes).max(SECTOR_BYTES as f64);
            ((bytes / per_request) as u64).clamp(2_000, 400_000)
        }
        LoadConfig::Fileio(_) | LoadConfig::Redo(_) => 20_000,
        LoadConfig::Slob(_) | LoadConfig::Oltp(_) | LoadConfig::Tpcc(_) | LoadConfig::Replica(_) => 50_000,
    }
}

/// Measures a load on a prepared device.
pub fn measure(spec: &RunSpec, prepared: Prepared, progress: &dyn Progress) -> Result<RunResult, RunError> {
    let Prepared { mut device, overwriting } = prepared;
    match place(&mut device, spec.device, spec.load, spec.seed) {
        // A review asks loads of all kinds.
        Ok(()) | Err(RunError::NothingToPlace { .. }) => {}
        Err(error) => return Err(error),
    }
    device.compress(spec.host.compressible);
    let warmed = if spec.fresh { None } else { warm(&mut device, spec.load, spec.host, spec.seed, progress)? };
    let rule = SteadyRule::SNIA;
    let mut load = spec.load.build(spec.seed)?;
    let round_requests = match spec.measure {
        Measure::Auto => auto_round_requests(spec.load, &device),
        Measure::Requests(0) | Measure::After { requests: 0, .. } => {
            return Err(RunError::NoMeasure { what: "0 requests" });
        }
        Measure::Requests(n) | Measure::After { requests: n, .. } => n.div_ceil(rule.window as u64),
        Measure::Seconds(s) if s > 0.0 && s.is_finite() && s < 1e9 => 0,
        Measure::Seconds(_) => return Err(RunError::NoMeasure { what: "seconds must be above 0 and below 10^9" }),
    };
    let mut machine = Machine::new(device, load.as_mut(), *spec.host, spec.explain_tail);
    let warm_up = warm_up(spec, &mut machine, round_requests, progress);
    let mut rounds = Vec::new();
    let mut start = Mark::of(&mut machine);
    let mut last = start;
    let mut first_round = 0;
    progress.begin("measure", 1_000);
    let mut stopped = warm_up != StopReason::Reached;
    let mut fraction = 0.0;
    while !stopped {
        let round = rounds.len() as u64 + 1;
        let pieces = 20;
        let round_start = (machine.finished(), machine.now());
        for piece in 1..=pieces {
            let stop = match spec.measure {
                Measure::Seconds(s) => {
                    let ns = s * 1e9 * ((round - 1) * pieces + piece) as f64 / (rule.window as u64 * pieces) as f64;
                    Stop::At(start.at + ns as u64)
                }
                _ => Stop::Finished(round_start.0 + (round_requests * piece).div_ceil(pieces)),
            };
            stopped = machine.run_until_or(stop, &|| progress.cancelled()) != StopReason::Reached;
            fraction += 1.0 / (pieces * rule.window as u64) as f64;
            progress.at((fraction * 1e3) as u64);
            stopped |= progress.cancelled();
            if stopped {
                break;
            }
        }
        let recorder = machine.recorder().expect("measuring");
        let elapsed_s = (machine.now() - last.at) as f64 / 1e9;
        if elapsed_s > 0.0 {
            rounds.push((recorder.bytes() - last.bytes) as f64 / elapsed_s);
        }
        last = Mark { at: machine.now(), bytes: recorder.bytes(), ..last };
        if machine.device().cards().iter().any(card::ModelCard::is_read_only) {
            // Its writes are answered with errors: what they took is no figure.
            return Err(ftl::ReadOnly.into());
        }
        let reported = rounds.len() - first_round;
        if reported < rule.window || stopped {
            continue;
        }
        let steady = steady_state(&rounds, &rule);
        if spec.measure != Measure::Auto || steady.attained || rounds.len() >= rule.max_rounds {
            break;
        }
        // Not steady yet: what is reported begins anew, so that it is five rounds of the steady part.
        start = Mark::of(&mut machine);
        last = start;
        first_round = rounds.len();
    }
    if machine.now() == start.at {
        return Err(RunError::Cancelled);
    }
    let mut steady = steady_state(&rounds, &rule);
    steady.attained &= overwriting.is_none_or(|balance| balance.attained);
    steady.attained &= warmed.is_none_or(|warmed| warmed.attained);
    let mut result = result(spec, &machine, &start, SteadyState { overwriting, ..steady });
    result.cache = cache_report(machine.device(), spec.device, warmed, &result);
    Ok(result)
}

/// Runs a load against the map of a cache that is still empty, until it is as the load keeps it; `None` for other devices.
pub fn warm(
    device: &mut Modelled,
    load: &LoadConfig,
    host: &HostConfig,
    seed: u64,
    progress: &dyn Progress,
) -> Result<Option<WarmUp>, RunError> {
    let Modelled::Cached(cached) = device else { return Ok(None) };
    if cached.config().mode == CacheMode::Passthrough || !cached.directory().is_empty() {
        return Ok(None);
    }
    // The same seed, which decides what is hot. The timed run repeats the draws from the first on, and those are older
    // than anything that the cache remembers of its order when it was replaced twice.
    let mut load = load.build(seed)?;
    let warmed = warm_cache(cached, load.as_mut(), *host, progress)?;
    cached.front_mut().settle_now();
    Ok(Some(warmed))
}

pub(crate) fn cache_report(
    device: &Modelled,
    config: &DeviceConfig,
    warmed: Option<WarmUp>,
    result: &RunResult,
) -> Option<results::CacheReport> {
    let (Modelled::Cached(cached), DeviceConfig::Cached(config)) = (device, config) else { return None };
    let seconds = result.sim.as_ref().map_or(0.0, |sim| sim.virtual_seconds);
    let report = cached.report(seconds, warmed);
    let programmed_bytes = result.flash.as_ref().map_or(0, results::Flash::programmed_pages) * SECTOR_BYTES;
    let per_host_byte = programmed_bytes as f64 / result.write.io_bytes as f64;
    let years = config.rated_bytes / (programmed_bytes as f64 / seconds) / SECONDS_A_YEAR;
    Some(results::CacheReport {
        programmed_bytes,
        programmed_per_host_byte: (result.write.io_bytes > 0).then_some(per_host_byte),
        years_at_rating: (programmed_bytes > 0).then_some(years),
        ..report
    })
}

const SECONDS_A_YEAR: f64 = 365.25 * 86_400.0;

/// A moment at which measurement began.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    pub at: Time,
    bytes: u64,
    counters: Counters,
    handles: AllHandles,
    zones: ZoneCounters,
    media: u64,
}

impl Mark {
    /// Begins to measure now.
    fn of(machine: &mut Machine<Modelled>) -> Mark {
        machine.start_measurement();
        let now = machine.now();
        machine.device_mut().start_measurement(now);
        Mark::at(machine)
    }

    /// This moment, at which measurement has begun.
    pub fn at(machine: &Machine<Modelled>) -> Mark {
        Mark {
            at: machine.now(),
            bytes: 0,
            counters: machine.device().counters(),
            handles: placement::counters(machine.device().cards()),
            zones: zone_counters(machine.device()).unwrap_or_default(),
            media: machine.device().media().total(),
        }
    }
}

fn zone_counters(device: &Modelled) -> Option<ZoneCounters> {
    device.cards().first()?.ftl().zones().map(ZoneStates::counters)
}

/// The use of zones since `before`; `None` where the card has none.
fn zone_use(device: &Modelled, before: &ZoneCounters) -> Option<ZoneUse> {
    let now = zone_counters(device)?;
    let ftl = device.cards().first()?.ftl();
    let limits = ftl.zones()?.limits();
    Some(ZoneUse {
        count: limits.zones.into(),
        capacity_pages: limits.capacity.into(),
        opened: now.opened - before.opened,
        closed_implicitly: now.closed_implicitly - before.closed_implicitly,
        filled: now.filled - before.filled,
        finished: now.finished - before.finished,
        reset: now.reset - before.reset,
        offline: ftl.offline_zones().into(),
    })
}

/// Longest warm-up of a run of stated length, virtual seconds; short runs warm up for a tenth of their length.
const WARM_UP_SECONDS: f64 = 10.0;

/// Fills queues and buffer before measuring; nothing of it is reported.
fn warm_up(
    spec: &RunSpec,
    machine: &mut Machine<Modelled>,
    round_requests: u64,
    progress: &dyn Progress,
) -> StopReason {
    let cancelled = || progress.cancelled();
    if spec.fresh {
        return StopReason::Reached;
    }
    let reason = match spec.measure {
        Measure::Seconds(s) => {
            machine.run_until_or(Stop::At(machine.now() + ((s * 0.1).min(WARM_UP_SECONDS) * 1e9) as u64), &cancelled)
        }
        Measure::After { warm_up, .. } => machine.run_until_or(Stop::Finished(warm_up), &cancelled),
        Measure::Requests(_) | Measure::Auto => {
            machine.run_until_or(Stop::Finished(round_requests.div_ceil(2)), &cancelled)
        }
    };
    let fill_caches = cache_filling_requests(spec);
    if reason != StopReason::Reached || machine.finished() >= fill_caches {
        return reason;
    }
    machine.run_until_or(Stop::Finished(fill_caches), &cancelled)
}

/// Requests of a writing load that fill the write caches of disks twice over: until then it is the caches that are
/// measured. Flash cards have their buffer full within the first round.
fn cache_filling_requests(spec: &RunSpec) -> u64 {
    let LoadConfig::Fileio(config) = spec.load else { return 0 };
    if !config.mode.writes() {
        return 0;
    }
    let of_disks = |array: &disk::ArrayConfig| {
        array.controller_cache_bytes + u64::from(array.disks) * array.disk.write_cache_bytes
    };
    let cache_bytes = match spec.device {
        DeviceConfig::Disks(array) => of_disks(array),
        // A load that the device behind can't keep up with fills the flash with dirty blocks before that shows.
        DeviceConfig::Cached(cached) => {
            let behind = if let DeviceConfig::Disks(array) = &cached.back { of_disks(array) } else { 0 };
            let CacheConfig { mode, dirty_share, dirty_limit, .. } = cached.cache;
            let dirty = if mode == CacheMode::Writeback { dirty_limit - dirty_share } else { 0.0 };
            behind + (cached.cache.bytes() as f64 * dirty) as u64
        }
        _ => return 0,
    };
    let write_share = if config.mode.reads() { 1.0 / (1.0 + config.rw_ratio) } else { 1.0 };
    let bytes_per_request = f64::from(config.block_bytes) * write_share;
    // A mix of next to no writes would never fill them: what it does is not bound by them either.
    ((2 * cache_bytes) as f64 / bytes_per_request).min(1e7) as u64
}

fn result(spec: &RunSpec, machine: &Machine<Modelled>, start: &Mark, steady: SteadyState) -> RunResult {
    RunResult {
        target: spec.device_json.clone(),
        load: spec.load.describe(),
        seed: spec.seed,
        host: spec.host_json.clone(),
        steady_state: (!spec.fresh).then_some(steady),
        ..measured(machine, start, spec.histograms)
    }
}

/// Reports the measurements since `start`, without the names of load, device and host.
pub(crate) fn measured(machine: &Machine<Modelled>, start: &Mark, histograms: bool) -> RunResult {
    let now = machine.now();
    let recorder: &Recorder = machine.recorder().expect("measuring");
    let (read, write, sync) = recorder.classes(now, histograms);
    let device = machine.device();
    RunResult {
        schema: SCHEMA,
        target: Value::Null,
        load: Value::Null,
        seed: 0,
        host: Value::Null,
        read,
        write,
        sync,
        series: recorder.series(now),
        flash: device.flash_since(&start.counters).map(|flash| Flash {
            handles: placement::report(device.cards(), &start.handles),
            zones: zone_use(device, &start.zones),
            ..flash
        }),
        steady_state: None,
        transactions_per: None,
        application: machine.application(),
        cache: None,
        tail: recorder.tail(),
        sim: Some(Sim {
            virtual_seconds: (now - start.at) as f64 / 1e9,
            wall_seconds: 0.0,
            precondition_wall_seconds: 0.0,
            media_operations: device.media().total() - start.media,
            requests_generated: machine.generated(),
            requests_finished: machine.finished(),
            requests_in_flight: machine.generated() - machine.finished(),
        }),
        generator: None,
        trace: None,
        thermal: device.thermal_since_start(now),
    }
}
