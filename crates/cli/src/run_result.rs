//! The result of a load or a trace on a card: its JSON, its words, and where they go.

use crate::args::{DeviceArgs, RunArgs};
use crate::cancel;
use crate::error::Failure;
use crate::output::{JsonSink, print};
use crate::units::percent;
use crate::view::{self, RunHeading};
use profile::{DeviceConfig, Profile, ProfileError};
use results::RunResult;
use serde_json::{Value, json};
use std::process::ExitCode;

/// Writes and prints the result of a run. The file first: what took long to measure must not be lost because the reader
/// of the table went away.
pub fn deliver(sink: Option<JsonSink>, heading: &RunHeading, result: &RunResult) -> Result<ExitCode, Failure> {
    let json_only = sink.as_ref().is_some_and(JsonSink::is_stdout);
    if let Some(sink) = sink {
        sink.write(&result_json(result, heading.partial))?;
    }
    if !json_only {
        print(&view::result(heading, result))?;
    }
    Ok(if heading.partial { ExitCode::from(cancel::EXIT_CODE) } else { ExitCode::SUCCESS })
}

/// The state in which the load finds the device.
pub fn state_words(args: &RunArgs) -> String {
    if args.device.fresh { "fresh".to_owned() } else { format!("{} full", percent(args.device.fill.0)) }
}

/// The card, and what this run made of it.
pub fn device_json(
    profile: &Profile,
    device: &DeviceConfig,
    scale: f64,
    args: &DeviceArgs,
) -> Result<Value, ProfileError> {
    let mut json = profile.to_json()?;
    json["scale"] = json!(scale);
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
