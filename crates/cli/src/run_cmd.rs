//! `flashrig run`: one load on one card.

use crate::args::{DeviceArgs, MeasureArgs, RunArgs};
use crate::cancel;
use crate::error::{Failure, one_line};
use crate::output::{JsonSink, print};
use crate::progress::Watch;
use crate::units::{self, capacity, counted, io_size, percent};
use crate::view::{self, Asked};
use device::SECTOR_BYTES;
use load::{FileioConfig, LoadConfig, OltpConfig, SlobConfig};
use profile::{DeviceConfig, Host, Profile};
use results::RunResult;
use serde_json::{Value, json};
use std::process::ExitCode;
use target::{Measure, RunError, RunSpec};

pub fn run(args: &RunArgs) -> Result<ExitCode, Failure> {
    let (profile, host) = open(&args.card, &args.device)?;
    let scale = args.device.scale.0;
    let device = profile.lower(scale)?;
    let fill_bytes = fill_bytes(&device, args.device.fill.0);
    let load = load(args, fill_bytes);
    load.validate()?;
    let spec = RunSpec {
        device: &device,
        device_json: device_json(&profile, &device, &args.device)?,
        host: &host.config(),
        host_json: host.to_json(),
        load: &load,
        fill: args.device.fill.0,
        seed: args.device.seed,
        measure: measure(&args.measure),
        fresh: args.device.fresh,
        explain_tail: args.output.explain_tail,
    };
    let sink = args.output.json.as_deref().map(JsonSink::open).transpose()?;
    cancel::listen()?;
    let (result, partial) = {
        let watch = Watch::new();
        match target::run(&spec, &watch) {
            Ok(result) => (result, watch.stopped()),
            Err(RunError::Cancelled) => {
                drop(watch);
                eprintln!("flashrig: {}", RunError::Cancelled);
                return Ok(ExitCode::from(cancel::EXIT_CODE));
            }
            Err(error) => return Err(error.into()),
        }
    };
    let asked = Asked {
        device: device_words(&profile, &device, &args.device),
        load: format!("{}; host {}, seed {}", load_words(&load), one_line(host.name()), args.device.seed),
        partial,
    };
    // The file first: what took long to measure must not be lost because the reader of the table went away.
    let json_only = sink.as_ref().is_some_and(JsonSink::is_stdout);
    if let Some(sink) = sink {
        sink.write(&result_json(&result, partial))?;
    }
    if !json_only {
        print(&view::result(&asked, &result))?;
    }
    Ok(if partial { ExitCode::from(cancel::EXIT_CODE) } else { ExitCode::SUCCESS })
}

/// The card and the host with what `--set` changes of them.
fn open(card: &str, args: &DeviceArgs) -> Result<(Profile, Host), Failure> {
    let mut profile = Profile::open(card)?;
    let mut host = Host::open(&args.host)?;
    for setting in &args.settings {
        if setting.trim_start().starts_with("host.") { host.set(setting)? } else { profile.set(setting)? }
    }
    Ok((profile, host))
}

/// Whole sectors that hold data before the run.
fn fill_bytes(device: &DeviceConfig, fill: f64) -> u64 {
    let sectors = device.user_bytes() / SECTOR_BYTES;
    ((sectors as f64 * fill).round() as u64).clamp(1, sectors) * SECTOR_BYTES
}

fn load(args: &RunArgs, fill_bytes: u64) -> LoadConfig {
    match args.load.fileio() {
        Some(mode) => LoadConfig::Fileio(args.fileio.config(mode, fill_bytes)),
        None if args.load == crate::args::LoadName::Slob => LoadConfig::Slob(args.slob.config()),
        None => LoadConfig::Oltp(args.oltp.config(fill_bytes)),
    }
}

fn measure(args: &MeasureArgs) -> Measure {
    match (args.seconds, args.requests.or(args.writes)) {
        (Some(seconds), _) => Measure::Seconds(seconds),
        (None, Some(requests)) => Measure::Requests(requests),
        (None, None) => Measure::Auto,
    }
}

/// The card, and what this run made of it.
fn device_json(profile: &Profile, device: &DeviceConfig, args: &DeviceArgs) -> Result<Value, Failure> {
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

fn device_words(profile: &Profile, device: &DeviceConfig, args: &DeviceArgs) -> String {
    let changed: String = profile.changed().iter().map(|setting| format!(", {}", one_line(setting))).collect();
    let scale = if args.scale.0 < 1.0 { format!(" at {}", units::scale(args.scale.0)) } else { String::new() };
    let state = if args.fresh { "fresh".to_owned() } else { format!("{} full", percent(args.fill.0)) };
    format!("{}{scale}: {}, {state}{changed}", one_line(profile.title()), capacity(device.user_bytes()))
}

fn load_words(load: &LoadConfig) -> String {
    match load {
        LoadConfig::Fileio(config) => fileio_words(config),
        LoadConfig::Slob(config) => slob_words(config),
        LoadConfig::Oltp(config) => oltp_words(config),
    }
}

fn fileio_words(config: &FileioConfig) -> String {
    let mut words = format!(
        "{} {}, {}",
        config.mode,
        io_size(config.block_bytes.into()),
        counted(config.threads.into(), "thread"),
    );
    if config.queue_depth > 1 {
        words.push_str(&format!(" with {} requests each", config.queue_depth));
    }
    words.push_str(&format!(", {} file", capacity(config.file_bytes)));
    if !config.mode.is_sequential() && config.access != load::Access::Uniform {
        words.push_str(&format!(", {}", config.access));
    }
    if config.fsync_all {
        words.push_str(", flush after each write");
    } else if config.fsync_every > 0 {
        words.push_str(&format!(", flush every {}", counted(config.fsync_every.into(), "request")));
    }
    words
}

fn slob_words(config: &SlobConfig) -> String {
    format!(
        "slob, {} and {}, {} of {} blocks, {} cache",
        counted(config.readers.into(), "reader"),
        counted(config.writers.into(), "writer"),
        capacity(config.data_bytes()),
        io_size(config.block_bytes.into()),
        io_size(config.cache.bytes),
    )
}

fn oltp_words(config: &OltpConfig) -> String {
    format!(
        "oltp, {}, {} % select, {} database, {} cache",
        counted(config.sessions.into(), "session"),
        config.select_percent,
        capacity(config.db_bytes),
        capacity(config.cache.bytes),
    )
}
