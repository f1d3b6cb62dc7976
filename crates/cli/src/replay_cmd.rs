//! `flashrig run --trace`: one trace on one card.

use crate::args::{RunArgs, TraceSpeed};
use crate::cancel;
use crate::error::Failure;
use crate::opening::{self, open};
use crate::output::JsonSink;
use crate::progress::Watch;
use crate::run_result::{deliver, device_json, state_words};
use crate::view::{self, RunHeading};
use load::trace::{Feed, Format, Options};
use load::{ReplayConfig, Speed};
use serde_json::{Value, json};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use target::{ReplaySpec, RunError, TraceSource};

/// Requests outstanding at once without `--depth`: at recorded times enough that few devices need more, else what is
/// usual to keep one busy.
const DEPTH_RECORDED: u32 = 1024;
const DEPTH_MAX: u32 = 32;

pub fn replay(args: &RunArgs, path: &Path) -> Result<ExitCode, Failure> {
    let (profile, host) = open(&args.card, &args.device.model.host, &args.device.settings())?;
    let scale = opening::scale(&profile, args.device.scale)?;
    let device = profile.lower(scale)?;
    let sink = args.output.json.as_deref().map(JsonSink::open).transpose()?;
    let options = Options {
        format: args.trace.trace_format.map(|name| name.format()),
        skip_bad: args.trace.skip_bad,
        volume: args.trace.trace_volume.clone(),
    };
    let feed = Feed::open(path, options)?;
    let config = config(args, feed.format());
    let load_json = load_json(args, path, &feed, &config);
    let load_words = load_words(path, &feed, &config);
    cancel::listen()?;
    let spec = ReplaySpec {
        device: &device,
        device_json: device_json(&profile, &device, scale, &args.device)?,
        host: &host.config(),
        host_json: host.to_json(),
        load_json,
        config,
        seconds: args.measure.seconds,
        fill: args.device.fill.0,
        seed: args.device.model.seed,
        fresh: args.device.fresh,
        explain_tail: args.output.explain_tail,
        histograms: args.output.histograms,
    };
    let bytes_read = feed.bytes_read();
    let bytes_read = || bytes_read.load(Ordering::Relaxed);
    let source = TraceSource { size_bytes: feed.size_bytes(), bytes_read: &bytes_read, batches: feed };
    let (result, partial) = {
        let watch = Watch::new();
        let result = target::replay(&spec, source, &watch).map_err(|error| match error {
            RunError::Trace(error) => Failure::from(error),
            other => other.into(),
        })?;
        (result, watch.stopped())
    };
    let device_words = view::device_words(&profile, device.user_bytes(), scale);
    let heading = RunHeading {
        device: format!("{device_words}, {}", state_words(args)),
        load: format!("{load_words}; host {}, seed {}", host.in_words(), args.device.model.seed),
        partial,
    };
    deliver(sink, &heading, &result)
}

fn config(args: &RunArgs, format: Format) -> ReplayConfig {
    let usual = if format.has_times() { Speed::Recorded(1.0) } else { Speed::Max };
    let speed = args.trace.speed.map_or(usual, |speed| speed.0);
    let depth = if speed == Speed::Max { DEPTH_MAX } else { DEPTH_RECORDED };
    ReplayConfig { speed, depth: args.fileio.depth.unwrap_or(depth), requests: args.measure.requests }
}

fn load_json(args: &RunArgs, path: &Path, feed: &Feed, config: &ReplayConfig) -> Value {
    json!({
        "kind": "trace",
        "file": path.display().to_string(),
        "format": feed.format().name(),
        "compression": feed.compression().name(),
        "speed": TraceSpeed(config.speed).to_string(),
        "depth": config.depth,
        "volume": args.trace.trace_volume,
        "skip_bad": args.trace.skip_bad,
    })
}

fn load_words(path: &Path, feed: &Feed, config: &ReplayConfig) -> String {
    let speed = match config.speed {
        Speed::Max => format!("as fast as it goes, {} at once", config.depth),
        Speed::Recorded(1.0) => format!("at its recorded times, at most {} at once", config.depth),
        Speed::Recorded(factor) => {
            format!("at {factor} times its recorded speed, at most {} at once", config.depth)
        }
    };
    let path = view::printable(&path.display().to_string());
    format!("trace {path} ({}, {}), {speed}", feed.format().title(), feed.compression().name())
}
