//! `flashrig review`: the method, on a modelled card, a file or a block device.

use crate::args::ReviewArgs;
use crate::cancel;
use crate::database_cmd;
use crate::error::Failure;
use crate::output::{pretty, print};
use crate::progress::Watch;
use crate::real_target;
use crate::review_output::{Existing, Files, short_name};
use crate::review_target::{Named, named};
use crate::view;
use profile::{Host, Profile};
use results::{HostInfo, Price, ReviewResult, TargetInfo};
use review::{Options, Plan, Review, Start, Subject};
use std::process::ExitCode;
use target::{ModelTarget, Progress, Target};

pub fn review(args: &ReviewArgs) -> Result<ExitCode, Failure> {
    if args.database.database.is_some() {
        return database_cmd::review(args);
    }
    match named(args)? {
        Named::Model { profile, host, scale } => model(args, &profile, &host, scale),
        Named::BlockDevice(path) => real_target::block_device(args, &path),
        Named::File(path) => real_target::file(args, &path),
    }
}

fn model(args: &ReviewArgs, profile: &Profile, host: &Host, scale: f64) -> Result<ExitCode, Failure> {
    let target = ModelTarget::new(profile, host, scale, args.seed)?;
    let plan = review::plan(&Subject::of(&target), &options(args, scale))?;
    let files = Files::of(args.out.as_deref(), &args.target);
    if args.plan {
        return show_plan(args, &target.info().title, &plan, &files);
    }
    files.check(match (args.resume, args.overwrite) {
        (true, _) => Existing::Resumed,
        (_, true) => Existing::Replaced,
        _ => Existing::ReplacedIfModelled,
    })?;
    let prior = prior(args, &files, &target.info(), &target.host(), &plan)?;
    let start = Start { prior, ..start(args, &files, profile.price_usd()) };
    cancel::listen()?;
    let (mut done, comparing) = {
        let watch = Watch::new();
        let mut done = review::review(Box::new(target), &plan, start, &watch, &|_| {});
        watch.begin("compare with what was published", 1);
        let compared = if args.quick || !args.only.is_empty() {
            Ok(())
        } else {
            review::lay_over_published(&mut done.result, profile, scale, args.seed, &watch)
        };
        (done, compared)
    };
    if let Err(error) = comparing {
        done.result.partial.get_or_insert_with(|| error.to_string());
    }
    deliver(args, &files, done)
}

/// Returns the options of the method.
pub fn options(args: &ReviewArgs, scale: f64) -> Options {
    Options {
        seed: args.seed,
        scale,
        fill: args.fill.0,
        quick: args.quick,
        budget_s: args.real.budget.map(|budget| budget.0.as_secs_f64()),
        only: args.only.clone(),
    }
}

/// Name, version, price.
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

/// The partial result that `--resume` goes on from, if it is a part of this review. To be asked before anything of the
/// target is touched.
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
        .map_err(|source| Failure::Resume { path: files.json.clone(), source })?;
    Ok(Some(prior))
}

/// Prints the plan of a review for `--plan`.
pub fn show_plan(args: &ReviewArgs, title: &str, plan: &Plan, files: &Files) -> Result<ExitCode, Failure> {
    if args.json {
        let phases = serde_json::to_value(plan.phases()).expect("results have text keys");
        print(&pretty(&serde_json::json!({ "expected_s": plan.expected_s(), "phases": phases })))?;
    } else {
        print(&view::plan(title, plan, files))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the files, prints the tables, and says how it ended.
pub fn deliver(args: &ReviewArgs, files: &Files, review: Review) -> Result<ExitCode, Failure> {
    let Review { result, error } = review;
    // The files first: what took long to measure must not be lost because the reader of the tables went away. Nor must it
    // be because there is no room for files: then there are the tables.
    let written = files.write(&result);
    if args.json {
        print(&pretty(&serde_json::to_value(&result).expect("results have text keys")))?;
    } else {
        print(&view::review(&result, written.is_ok().then_some(files)))?;
    }
    written?;
    match error {
        Some(target::TargetError::Cancelled) => Ok(ExitCode::from(cancel::EXIT_CODE)),
        Some(error) => Err(Failure::Target { partial: files.json.clone(), source: error }),
        None if result.partial.is_some() => Ok(ExitCode::from(cancel::EXIT_CODE)),
        None => Ok(ExitCode::SUCCESS),
    }
}
