//! `flashrig run`: one load, or one trace, on one card.

use crate::args::{DeviceArgs, LoadName, MeasureArgs, RunArgs};
use crate::cancel;
use crate::error::Failure;
use crate::opening::open;
use crate::output::{JsonSink, print};
use crate::progress::Watch;
use crate::replay_cmd::replay;
use crate::units::percent;
use crate::view::{self, Asked};
use device::SECTOR_BYTES;
use load::LoadConfig;
use profile::{DeviceConfig, Profile};
use results::RunResult;
use serde_json::{Value, json};
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
    let (profile, host) = open(&args.card, &args.device.model.host, &args.device.model.settings)?;
    let scale = args.device.scale.0;
    let device = profile.lower(scale)?;
    let fill_bytes = fill_bytes(&device, args.device.fill.0);
    let load = load(args, name, fill_bytes);
    load.validate()?;
    check_size(&load, &profile, &device, scale)?;
    let spec = RunSpec {
        device: &device,
        device_json: device_json(&profile, &device, &args.device)?,
        host: &host.config(),
        host_json: host.to_json(),
        load: &load,
        fill: args.device.fill.0,
        seed: args.device.model.seed,
        measure: measure(&args.measure),
        fresh: args.device.fresh,
        explain_tail: args.output.explain_tail,
        histograms: false,
    };
    let sink = args.output.json.as_deref().map(JsonSink::open).transpose()?;
    cancel::listen()?;
    let (result, partial) = {
        let watch = Watch::new();
        (target::run(&spec, &watch)?, watch.stopped())
    };
    let device_words = view::device_words(&profile, device.user_bytes(), scale);
    let asked = Asked {
        device: format!("{device_words}, {}", state_words(args)),
        load: format!("{}; host {}, seed {}", view::load_words(&load), host.name(), args.device.model.seed),
        partial,
    };
    deliver(sink, &asked, &result)
}

/// Writes and prints the result of a run. The file first: what took long to measure must not be lost because the reader of
/// the table went away.
pub fn deliver(sink: Option<JsonSink>, asked: &Asked, result: &RunResult) -> Result<ExitCode, Failure> {
    let json_only = sink.as_ref().is_some_and(JsonSink::is_stdout);
    if let Some(sink) = sink {
        sink.write(&result_json(result, asked.partial))?;
    }
    if !json_only {
        print(&view::result(asked, result))?;
    }
    Ok(if asked.partial { ExitCode::from(cancel::EXIT_CODE) } else { ExitCode::SUCCESS })
}

/// The state in which the load finds the device.
pub fn state_words(args: &RunArgs) -> String {
    if args.device.fresh { "fresh".to_owned() } else { format!("{} full", percent(args.device.fill.0)) }
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
        return Err(Failure::TooLarge { needed_bytes, user_bytes });
    }
    // The next power of two of the card's size that holds the load.
    let parts = (user_bytes as f64 / needed_bytes as f64).log2().floor();
    Err(Failure::TooLargeForScale { needed_bytes, scaled_bytes, scale, try_scale: 2f64.powf(-parts) })
}

fn measure(args: &MeasureArgs) -> Measure {
    match (args.seconds, args.requests.or(args.writes)) {
        (Some(seconds), _) => Measure::Seconds(seconds),
        (None, Some(requests)) => Measure::Requests(requests),
        (None, None) => Measure::Auto,
    }
}

/// The card, and what this run made of it.
pub fn device_json(profile: &Profile, device: &DeviceConfig, args: &DeviceArgs) -> Result<Value, Failure> {
    let mut json = profile.to_json()?;
    json["scale"] = json!(args.scale.0);
    json["scaled_user_bytes"] = json!(device.user_bytes());
    json["fill"] = json!(args.fill.0);
    Ok(json)
}

/// The result's JSON; one that Ctrl-C cut short says so.
fn result_json(result: &RunResult, partial: bool) -> Value {
    let mut json = serde_json::to_value(result).expect("results have text keys and finite numbers or null");
    if partial {
        json["partial"] = json!(true);
    }
    json
}
