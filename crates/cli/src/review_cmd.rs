//! `flashrig review`: the method, on a modelled card, a file or a block device.

use crate::args::ReviewArgs;
use crate::cancel;
use crate::card_dir;
use crate::database_card;
use crate::database_cmd;
use crate::error::{Failure, StreamFailure};
use crate::progress::Watch;
use crate::real_target;
use crate::review_output::{Existing, Files};
use crate::review_run::{deliver, options, prior, show_plan, start};
use crate::review_target::{Named, named};
use profile::{Host, Profile};
use review::{Start, Subject};
use std::path::Path;
use std::process::ExitCode;
use target::{ModelTarget, Progress, Target};

pub fn review(args: &ReviewArgs) -> Result<ExitCode, Failure> {
    if args.database.database.is_some() {
        return with_database(args);
    }
    if let Some(dir) = args.export_fio.as_deref().filter(|dir| dir.exists() && !dir.is_dir()) {
        // A review that took long must not fail for the name of a directory.
        let source = std::io::ErrorKind::NotADirectory.into();
        return Err(StreamFailure::Unwritable { path: dir.to_owned(), source }.into());
    }
    match named(args)? {
        Named::Model { profile, host, scale } => model(args, &profile, &host, scale),
        Named::BlockDevice(path) => real_target::block_device(args, &path),
        Named::File(path) => real_target::file(args, &path),
    }
}

/// A database on a card, or in a directory; a folder that a card was made in is the card.
fn with_database(args: &ReviewArgs) -> Result<ExitCode, Failure> {
    let path = Path::new(&args.target);
    let is_toml = path.extension().is_some_and(|extension| extension == "toml");
    let is_name = Profile::builtin_names().any(|name| name == args.target);
    if is_toml || is_name || card_dir::is_card(path) { database_card::review(args) } else { database_cmd::review(args) }
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
        if done.result.partial.is_none() {
            // A review is whole without what the model says between its points.
            let _ = study::fit::advise_model(&mut done.result, profile, host, args.seed);
        }
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
