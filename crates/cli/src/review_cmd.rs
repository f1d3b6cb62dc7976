//! `flashrig review`: the method, on one card.

use crate::args::ReviewArgs;
use crate::cancel;
use crate::error::Failure;
use crate::opening::open;
use crate::output::{JsonSink, print};
use crate::progress::Watch;
use crate::view;
use review::ReviewOptions;
use std::process::ExitCode;

pub fn review(args: &ReviewArgs) -> Result<ExitCode, Failure> {
    let (profile, host) = open(&args.card, &args.host, &args.settings)?;
    let options = ReviewOptions { scale: args.scale.0, seed: args.seed, fill: args.fill.0, quick: args.quick };
    // A card that can't be built is an error before anything is written or measured.
    profile.lower(options.scale)?;
    let sink = args.json.as_deref().map(JsonSink::open).transpose()?;
    cancel::listen()?;
    let result = {
        let watch = Watch::new();
        review::review(&profile, &host, &options, &watch)?
    };
    let json_only = sink.as_ref().is_some_and(JsonSink::is_stdout);
    if let Some(sink) = sink {
        sink.write(&serde_json::to_value(&result).expect("results have text keys"))?;
    }
    if !json_only {
        let heading = view::device_words(&profile, profile.lower(options.scale)?.user_bytes(), options.scale);
        let heading = format!("{heading}; host {}, seed {}", host.name(), options.seed);
        print(&view::review(&heading, &result))?;
    }
    Ok(if result.partial { ExitCode::from(cancel::EXIT_CODE) } else { ExitCode::SUCCESS })
}
