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
use load::LoadConfig;
use profile::{DeviceConfig, Profile};
use std::process::ExitCode;
use target::{Measure, RunSpec};

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
    let load = load(args, name, fill_bytes);
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
    let (result, partial) = {
        let watch = Watch::new();
        (target::run(&spec, &watch)?, watch.stopped())
    };
    let device_words = view::device_words(&profile, device.user_bytes(), scale);
    let heading = RunHeading {
        device: format!("{device_words}, {}", state_words(args)),
        load: format!("{}; host {}, seed {}", view::load_words(&load), host.in_words(), args.device.model.seed),
        partial,
    };
    deliver(sink, &heading, &result)
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
