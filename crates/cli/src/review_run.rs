//! A review from its options to its files, whatever the target is.

use crate::args::ReviewArgs;
use crate::cancel;
use crate::error::{Failure, ReviewFailure, StreamFailure};
use crate::output::{TextSink, pretty, print};
use crate::review_output::{Files, short_name};
use crate::table::wrap;
use crate::units::counted;
use crate::view;
use results::{HostInfo, Price, ReviewResult, TargetInfo};
use review::{Options, Plan, Review, Start};
use std::fs;
use std::path::Path;
use std::process::ExitCode;

/// The options of the method.
pub fn options(args: &ReviewArgs, scale: f64) -> Options {
    Options {
        seed: args.seed,
        scale,
        fill: args.fill.0,
        quick: args.quick,
        budget_s: args.real.budget.map(|budget| budget.0.as_secs_f64()),
        only: args.only.clone(),
        shown_over_budget: args.plan,
    }
}

/// The head of the result: its name, the version that makes it, the price of the device.
pub fn start(args: &ReviewArgs, files: &Files, known_usd: Option<f64>) -> Start {
    let price = |amount, source: &str| Price { amount, currency: "USD".into(), source: source.into() };
    Start {
        name: short_name(&files.json.with_extension("").to_string_lossy()),
        generator: format!("flashrig {}", env!("CARGO_PKG_VERSION")),
        started: None,
        price: args.price.map(|p| price(p.0, "--price")).or(known_usd.map(|usd| price(usd, "the card's profile"))),
        prior: None,
    }
}

/// The partial result that `--resume` goes on from, if it is a part of this review. It is read before anything
/// of the target is touched.
pub fn prior(
    args: &ReviewArgs,
    files: &Files,
    info: &TargetInfo,
    host: &HostInfo,
    plan: &Plan,
) -> Result<Option<ReviewResult>, Failure> {
    if !args.resume {
        return Ok(None);
    }
    let prior = files.read()?;
    review::check_resumable(&prior, info, host, plan)
        .map_err(|source| ReviewFailure::Resume { path: files.json.clone(), source })?;
    Ok(Some(prior))
}

/// Prints the plan, and nothing is done.
pub fn show_plan(args: &ReviewArgs, title: &str, plan: &Plan, files: &Files) -> Result<ExitCode, Failure> {
    if args.json {
        let phases = serde_json::to_value(plan.phases()).expect("results have text keys");
        let fitting = plan.fitting();
        print(&pretty(&serde_json::json!({ "expected_s": plan.expected_s(), "fitting": fitting, "phases": phases })))?;
    } else {
        print(&view::plan(title, plan, files))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes fio's job files, and says how many there are.
fn export_fio(result: &ReviewResult, dir: &Path) -> Result<u64, Failure> {
    let files = review::fio_jobs(result);
    fs::create_dir_all(dir).map_err(|source| StreamFailure::Unwritable { path: dir.to_owned(), source })?;
    for file in &files {
        TextSink::replace(&dir.join(&file.name), &file.text)?;
    }
    Ok(files.len() as u64)
}

/// Writes the files, prints the tables, and says how it ended.
pub fn deliver(args: &ReviewArgs, files: &Files, review: Review) -> Result<ExitCode, Failure> {
    let Review { result, error } = review;
    // The files first: what took long to measure must not be lost because the reader of the tables went away. Nor must
    // it be because there is no room for files: then there are the tables.
    let written = files.write(&result);
    if args.json {
        print(&pretty(&serde_json::to_value(&result).expect("results have text keys")))?;
    } else {
        print(&view::review(&result, written.is_ok().then_some(files), args.tables))?;
    }
    written?;
    if let Some(dir) = &args.export_fio {
        let files = export_fio(&result, dir)?;
        if !args.json {
            print(&view::printable(&wrap(
                "fio:    ",
                8,
                &format!("{} in {}", counted(files, "job file"), dir.display()),
            )))?;
        }
    }
    match error {
        Some(target::TargetError::Cancelled) => Ok(ExitCode::from(cancel::EXIT_CODE)),
        Some(error) => Err(ReviewFailure::Target { partial: files.json.clone(), source: error }.into()),
        None if result.partial.is_some() => Ok(ExitCode::from(cancel::EXIT_CODE)),
        None => Ok(ExitCode::SUCCESS),
    }
}
