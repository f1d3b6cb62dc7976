//! `flashrig validate`: the models against published tables, or against data sheets. Exit code 1 when a bound is missed.

use crate::args::ValidateArgs;
use crate::cancel;
use crate::error::Failure;
use crate::output::{JsonSink, print};
use crate::progress::Watch;
use crate::view;
use std::process::ExitCode;
use study::datasheets;

pub fn validate(args: &ValidateArgs) -> Result<ExitCode, Failure> {
    let sink = args.json.as_deref().map(JsonSink::open).transpose()?;
    cancel::listen()?;
    let comparisons = {
        let watch = Watch::new();
        match &args.table {
            Some(name) => review::validate_table(name, args.scale.0, args.seed, &watch)?,
            None if args.datasheets => {
                let mut sheets = datasheets::sheets();
                sheets.retain(|sheet| args.card.as_ref().is_none_or(|card| card == sheet.card));
                datasheets::compare(&sheets, args.scale.0, args.seed, &watch)?
            }
            None => review::validate(args.scale.0, args.seed, &watch)?,
        }
    };
    let json_only = sink.as_ref().is_some_and(JsonSink::is_stdout);
    if let Some(sink) = sink {
        sink.write(&serde_json::to_value(&comparisons).expect("results have text keys"))?;
    }
    if !json_only {
        print(&view::comparisons(&comparisons))?;
    }
    let holds = comparisons.iter().all(|comparison| comparison.holds);
    Ok(if holds { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
