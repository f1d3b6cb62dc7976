//! `flashrig run`: one load, or one trace, on one card.

use crate::args::{LoadName, MeasureArgs, RunArgs};
use crate::cancel;
use crate::error::{Failure, RunFailure};
use crate::opening::{self, open};
use crate::output::JsonSink;
use crate::progress::Watch;
use crate::replay_cmd::replay;
use crate::run_result::{deliver, device_json, state_words};
use crate::view::{self, RunHeading};
use device::SECTOR_BYTES;
use load::{LoadConfig, ReplicaConfig};
use profile::{DeviceConfig, Profile};
use results::{Application, RunResult, TransactionsPer};
use serde_json::Value;
use std::process::ExitCode;
use target::{Measure, Progress, RunSpec};

pub fn run(args: &RunArgs) -> Result<ExitCode, Failure> {
    match (args.load, &args.trace.trace) {
        (Some(load), _) => run_load(args, load),
        (None, Some(path)) => replay(args, path),
        (None, None) => unreachable!("the parser asks for one of them"),
    }
}

fn run_load(args: &RunArgs, name: LoadName) -> Result<ExitCode, Failure> {
    let (profile, host) = open(&args.card, &args.device.model.host, &args.device.settings())?;
    let scale = opening::scale(&profile, args.device.scale)?;
    let device = profile.lower(scale)?;
    let fill_bytes = fill_bytes(&device, args.device.fill.0);
    let load = load(args, name, whole_regions(args, &device, fill_bytes));
    load.validate()?;
    check_size(&load, &profile, &device, scale)?;
    let spec = RunSpec {
        device: &device,
        device_json: device_json(&profile, &device, scale, &args.device)?,
        host: &host.config(),
        host_json: host.to_json(),
        load: &load,
        fill: args.device.fill.0,
        seed: args.device.model.seed,
        measure: measure(&args.measure),
        fresh: args.device.fresh,
        explain_tail: args.output.explain_tail,
        histograms: args.output.histograms,
    };
    let sink = args.output.json.as_deref().map(JsonSink::open).transpose()?;
    cancel::listen()?;
    let (result, load, partial) = {
        let watch = Watch::new();
        let load = behind_its_master(load, args.replica.replica_tps, &spec, &watch)?;
        (target::run(&RunSpec { load: &load, ..spec }, &watch)?, load, watch.stopped())
    };
    let result = RunResult { transactions_per: transactions_per(&result, &profile), ..result };
    let device_words = view::device_words(&profile, device.user_bytes(), scale);
    let heading = RunHeading {
        device: format!("{device_words}, {}", state_words(args)),
        load: format!("{}; host {}, seed {}", view::load_words(&load), host.in_words(), args.device.model.seed),
        partial,
    };
    deliver(sink, &heading, &result)
}

/// The transactions of a load that has some, for each unit of what the card takes.
fn transactions_per(result: &RunResult, profile: &Profile) -> Option<TransactionsPer> {
    let tps = match result.application.as_ref()? {
        Application::Oltp(report) => report.tps,
        Application::Tpcc(report) => report.tps,
        Application::Slob(_) | Application::Replica(_) => return None,
    };
    Some(TransactionsPer::of(tps, profile.price_usd(), profile.power_watts(), profile.rack_units()))
}

/// A replica whose master's rate is not given: the master runs first, on the same card.
fn behind_its_master(
    load: LoadConfig,
    given: Option<f64>,
    spec: &RunSpec,
    progress: &dyn Progress,
) -> Result<LoadConfig, Failure> {
    let (LoadConfig::Replica(replica), None) = (load, given) else { return Ok(load) };
    let master = RunSpec {
        load: &LoadConfig::Tpcc(replica.master),
        device_json: Value::Null,
        host_json: Value::Null,
        explain_tail: false,
        histograms: false,
        ..*spec
    };
    let master = target::run(&master, progress)?;
    let Some(Application::Tpcc(report)) = master.application else { unreachable!("TPC-C reports") };
    Ok(LoadConfig::Replica(ReplicaConfig { master_tps: report.tps, ..replica }))
}

/// The bytes of a file whose regions are whole zones, where the device has some and each thread has a region.
fn whole_regions(args: &RunArgs, device: &DeviceConfig, bytes: u64) -> u64 {
    let streams = if args.fileio.own_regions { args.fileio.threads } else { 1 };
    target::whole_zones(device, bytes, streams, args.fileio.block.0)
}

/// Whole sectors that hold data before the run.
fn fill_bytes(device: &DeviceConfig, fill: f64) -> u64 {
    let sectors = device.user_bytes() / SECTOR_BYTES;
    ((sectors as f64 * fill).round() as u64).clamp(1, sectors) * SECTOR_BYTES
}

fn load(args: &RunArgs, name: LoadName, fill_bytes: u64) -> LoadConfig {
    match name.fileio() {
        Some(mode) => LoadConfig::Fileio(args.fileio.config(mode, fill_bytes)),
        None if name == LoadName::Redo => LoadConfig::Redo(args.redo.config(fill_bytes)),
        None if name == LoadName::Slob => LoadConfig::Slob(args.slob.config()),
        None if name == LoadName::Tpcc => LoadConfig::Tpcc(args.tpcc.config(fill_bytes)),
        None if name == LoadName::Replica => LoadConfig::Replica(args.replica.config(fill_bytes)),
        None => LoadConfig::Oltp(args.oltp.config(fill_bytes)),
    }
}

/// Says at which scale the load would fit; the run itself knows only the model.
fn check_size(load: &LoadConfig, profile: &Profile, device: &DeviceConfig, scale: f64) -> Result<(), Failure> {
    let needed_bytes = load.footprint_bytes();
    let scaled_bytes = device.user_bytes();
    if needed_bytes <= scaled_bytes {
        return Ok(());
    }
    let user_bytes = profile.summary()?.user_bytes;
    if needed_bytes > user_bytes {
        return Err(RunFailure::TooLarge { needed_bytes, user_bytes }.into());
    }
    // The next power of two of the card's size that holds the load.
    let parts = (user_bytes as f64 / needed_bytes as f64).log2().floor();
    Err(RunFailure::TooLargeForScale { needed_bytes, scaled_bytes, scale, try_scale: 2f64.powf(-parts) }.into())
}

fn measure(args: &MeasureArgs) -> Measure {
    match (args.seconds, args.requests.or(args.writes)) {
        (Some(seconds), _) => Measure::Seconds(seconds),
        (None, Some(requests)) => Measure::Requests(requests),
        (None, None) => Measure::Auto,
    }
}
