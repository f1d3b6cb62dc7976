//! A recorded trace on a modelled device.
//!
//! The device is brought to steady state first: what `fill` puts in use is written front to back, then overwritten at
//! random, 4 KiB at a time. All of the trace is measured, from its first request until its last one is answered; what the
//! sessions computed in between is in the recorded times, so the host charges only the driver's work.

use crate::machine::{Machine, Stop};
use crate::run::{Mark, cache_report, measured};
use crate::{Modelled, Pattern, Progress, RunError, precondition};
use device::{Device, HostConfig, SECTOR_BYTES, Time};
use load::{Access, Batches, Replay, ReplayConfig};
use profile::DeviceConfig;
use results::RunResult;
use serde_json::Value;
use std::time::Instant;

/// A replay: the trace, the device, the host.
pub struct ReplaySpec<'a> {
    /// Configuration of the device.
    pub device: &'a DeviceConfig,
    /// Description of the device in the result.
    pub device_json: Value,
    /// Configuration of the host.
    pub host: &'a HostConfig,
    /// Description of the host in the result.
    pub host_json: Value,
    /// Description of the trace in the result.
    pub load_json: Value,
    /// Speed and depth of the replay.
    pub config: ReplayConfig,
    /// Virtual seconds after which it ends; `None`: with the trace.
    pub seconds: Option<f64>,
    /// Share of the user capacity that holds data before the run, 0 to 1.
    pub fill: f64,
    /// Root seed, of the preconditioning.
    pub seed: u64,
    /// Do not precondition.
    pub fresh: bool,
    /// Keep where the time of requests went.
    pub explain_tail: bool,
    /// Put whole histograms of latency into the result.
    pub histograms: bool,
}

/// Requests of a trace, and the progress of reading it.
pub struct TraceSource<'a, S> {
    /// Batches of the trace's requests.
    pub batches: S,
    /// Its size in bytes, for progress; 0: nobody knows.
    pub size_bytes: u64,
    /// Number of bytes of them that were read.
    pub bytes_read: &'a (dyn Fn() -> u64 + Sync),
}

/// Replays a trace. A broken line ends it with an error, and nothing is reported.
pub fn replay<S: Batches>(
    spec: &ReplaySpec,
    source: TraceSource<S>,
    progress: &dyn Progress,
) -> Result<RunResult, RunError> {
    let began = Instant::now();
    let device = prepare(spec, progress)?;
    let precondition_wall_seconds = began.elapsed().as_secs_f64();
    let host = HostConfig { session_ns: 0, ..*spec.host };
    let mut load = Replay::new(source.batches, spec.config, device.capacity_bytes());
    let mut machine = Machine::new(device, &mut load, host, spec.explain_tail);
    machine.start_endless_measurement();
    let start = Mark::at(&machine);
    progress.begin("replay", source.size_bytes);
    let look = || {
        progress.at((source.bytes_read)());
        progress.cancelled()
    };
    let stop = spec.seconds.map_or(Stop::At(Time(u64::MAX - 1)), |s| Stop::At(start.at + (s * 1e9) as u64));
    machine.run_until_or(stop, &look);
    if machine.device().cards().iter().any(card::ModelCard::is_read_only) {
        return Err(ftl::ReadOnly.into());
    }
    let mut result = measured(&machine, &start, spec.histograms);
    result.cache = cache_report(machine.device(), spec.device, None, &result);
    let row_s = machine.recorder().map_or(1, crate::Recorder::row_s);
    drop(machine);
    let report = results::TraceReport { series_row_s: row_s, ..load.trace_report() };
    if let Some(error) = load.into_error() {
        return Err(error.into());
    }
    if report.requests == 0 {
        return Err(RunError::Cancelled);
    }
    let sim = result.sim.as_mut().expect("a model's result");
    sim.wall_seconds = began.elapsed().as_secs_f64();
    sim.precondition_wall_seconds = precondition_wall_seconds;
    Ok(RunResult {
        target: spec.device_json.clone(),
        load: spec.load_json.clone(),
        seed: spec.seed,
        host: spec.host_json.clone(),
        trace: Some(report),
        ..result
    })
}

fn prepare(spec: &ReplaySpec, progress: &dyn Progress) -> Result<Modelled, RunError> {
    if !(0.0..=1.0).contains(&spec.fill) {
        return Err(RunError::Fill { fill: spec.fill });
    }
    if spec.seconds.is_some_and(|s| !(s > 0.0 && s <= 1e9)) {
        return Err(RunError::NoMeasure { what: "seconds must be above 0 and at most 10^9" });
    }
    if spec.device.cards().iter().any(|card| card.ftl.zones.is_some()) {
        return Err(RunError::ZonesInOrder);
    }
    let mut device = Modelled::new(spec.device, spec.config.depth, spec.explain_tail, spec.seed)?;
    device.compress(spec.host.compressible);
    if !spec.fresh {
        let capacity_bytes = device.capacity_bytes();
        let fill_bytes = ((capacity_bytes as f64 * spec.fill) as u64).div_ceil(SECTOR_BYTES) * SECTOR_BYTES;
        let fill_bytes = fill_bytes.min(capacity_bytes);
        let pattern =
            Pattern::Random { block_bytes: SECTOR_BYTES, access: Access::Uniform, footprint_bytes: fill_bytes };
        precondition(&mut device, fill_bytes, pattern, spec.seed, progress)?;
    }
    Ok(device)
}
