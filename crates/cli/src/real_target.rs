//! A file or a block device on the command line: what must be true before anything is written, and cleaning up.

use crate::args::ReviewArgs;
use crate::call;
use crate::cancel;
use crate::drive_watch::DriveWatch;
use crate::error::{DeviceFailure, Failure, ReviewFailure, StreamFailure};
use crate::output::{note, print_error};
use crate::progress::Watch;
use crate::review_output::{Existing, Files};
use crate::review_run::{deliver, options, prior, show_plan, start};
use crate::view;
use drive::{Drive, DriveOptions, PurgeBy};
use humantime::format_rfc3339_seconds;
use identify::{Confirmation, Identity};
use results::ReviewResult;
use review::{Plan, Start, Subject};
use std::io::{self, BufRead, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime};
use target::{Clock, Progress, Target};

/// Time that a card may take to be fitted to a review and asked: a person waits for the answer.
const TWIN_PATIENCE: Duration = Duration::from_secs(10);

/// Reviews a block device.
pub fn block_device(args: &ReviewArgs, path: &Path) -> Result<ExitCode, Failure> {
    let identity = identify::block_device(path)?;
    let plan = plan(args, &identity, identity.size_bytes)?;
    let files = Files::of(args.out.as_deref(), &args.target);
    let title = format!("{}: {}", path.display(), identity.title());
    if args.plan {
        return show_plan(args, &title, &plan, &files);
    }
    files.check(existing(args))?;
    let host = identify::host();
    let info = identity.target_info(identity.size_bytes);
    let prior = prior(args, &files, &info, &host, &plan)?;
    // The reasons against it come before the question for permission: who is refused need not be asked.
    let permit = identify::may_be_overwritten(&identity)?;
    let confirmation = identity.confirmation();
    if !args.real.destroy_data {
        return Err(DeviceFailure::NotAllowed {
            path: path.to_owned(),
            title: identity.title().into(),
            what: confirmation.what,
            value: confirmation.value.into(),
        }
        .into());
    }
    confirm(args, path, &identity, &confirmation)?;
    let drive = Drive::block_device(permit.into_file(), path, info, host, drive_options(args, &identity))?;
    carry_out(args, Box::new(drive), prior, &identity, (&title, &plan, &files))
}

/// Reviews what lies under a file.
pub fn file(args: &ReviewArgs, path: &Path) -> Result<ExitCode, Failure> {
    let identity = identify::file(path)?;
    let found = path.symlink_metadata().is_ok();
    let ours = found && Drive::is_ours(path);
    let size_bytes = match (args.real.size, found) {
        (Some(size), false) => size.0,
        (None, false) => return Err(DeviceFailure::NoSize { path: path.to_owned() }.into()),
        (Some(size), true) if ours => size.0,
        (Some(size), true) if size.0 != identity.size_bytes => {
            return Err(DeviceFailure::OtherSize { path: path.to_owned(), size_bytes: identity.size_bytes }.into());
        }
        _ => identity.size_bytes,
    };
    let plan = plan(args, &identity, size_bytes)?;
    let files = Files::of(args.out.as_deref(), &args.target);
    let title = format!("{}: {}", path.display(), identity.title());
    if args.plan {
        return show_plan(args, &title, &plan, &files);
    }
    if found && !ours && !args.real.destroy_data {
        return Err(DeviceFailure::ForeignFile { path: path.to_owned() }.into());
    }
    for written in [&files.json, &files.html] {
        if same_file(written, &identity.path) {
            return Err(ReviewFailure::NoResult { path: written.clone() }.into());
        }
    }
    files.check(existing(args))?;
    let info = identity.target_info(size_bytes);
    let (host, options) = (identify::host(), drive_options(args, &identity));
    let prior = prior(args, &files, &info, &host, &plan)?;
    let mut made = None;
    let drive = if found && !ours {
        Drive::open_file(path, info, host, options)?
    } else {
        if ours && identity.size_bytes > size_bytes {
            // A larger one of an earlier review: its end would be measured with it.
            Drive::remove_file(path)?;
        }
        let again = ours && identity.size_bytes <= size_bytes;
        let drive = if again {
            Drive::adopt_file(path, size_bytes, info, host, options)?
        } else {
            Drive::create_file(path, size_bytes, info, host, options)?
        };
        made = (!args.real.keep).then(|| Made(path.to_owned()));
        drive
    };
    let done = carry_out(args, Box::new(drive), prior, &identity, (&title, &plan, &files));
    drop(made);
    done
}

/// A file that goes when the review ends, however it ends.
struct Made(PathBuf);

impl Drop for Made {
    fn drop(&mut self) {
        // A file that somebody has removed meanwhile needs no removal.
        if let Err(error) = Drive::remove_file(&self.0)
            && self.0.symlink_metadata().is_ok()
        {
            print_error(&format!("{} is left behind: {error}", self.0.display()));
        }
    }
}

/// Returns whether a file that is to be written is, or would be, the one at a path whose links are resolved.
fn same_file(written: &Path, resolved: &Path) -> bool {
    let (Some(parent), Some(name)) = (written.parent(), written.file_name()) else { return false };
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    let would_be = || parent.canonicalize().map(|parent| parent.join(name));
    written.canonicalize().or_else(|_| would_be()).is_ok_and(|written| written == resolved)
}

fn existing(args: &ReviewArgs) -> Existing {
    match (args.resume, args.overwrite) {
        (true, _) => Existing::Resumed,
        (_, true) => Existing::Replaced,
        _ => Existing::Refused,
    }
}

fn drive_options(args: &ReviewArgs, identity: &Identity) -> DriveOptions {
    let purge = args.real.purge.map_or(PurgeBy::Discard, PurgeBy::from);
    DriveOptions { rotational: identity.turns(), seed: args.seed, purge, ..DriveOptions::default() }
}

/// Nothing is opened for a plan: it must be safe to ask for one.
fn plan(args: &ReviewArgs, identity: &Identity, capacity_bytes: u64) -> Result<Plan, Failure> {
    let write_bw_bytes = drive::assumed_write_bw_bytes(identity.turns());
    let subject = Subject { capacity_bytes, clock: Clock::Wall, write_bw_bytes };
    Ok(review::plan(&subject, &options(args, 1.0))?)
}

/// The person says which device is meant, in its own words.
fn confirm(args: &ReviewArgs, path: &Path, identity: &Identity, confirmation: &Confirmation) -> Result<(), Failure> {
    let wrong = |typed: &str| DeviceFailure::NotConfirmed {
        path: path.to_owned(),
        what: confirmation.what,
        typed: typed.into(),
    };
    if let Some(serial) = &args.real.serial {
        return if confirmation.matches(serial) { Ok(()) } else { Err(wrong(serial).into()) };
    }
    if call::current().is_some() || !io::stdin().is_terminal() {
        return Err(DeviceFailure::NobodyToAsk { path: path.to_owned(), what: confirmation.what }.into());
    }
    eprintln!("{}", view::printable(&format!("{}: {}", path.display(), identity.title())));
    for fact in identity.facts() {
        eprintln!("  {}: {}", fact.label, fact.value);
    }
    eprintln!("Everything on it will be destroyed. Type its {} ({}) to go on:", confirmation.what, confirmation.value);
    let mut typed = String::new();
    io::stdin().lock().read_line(&mut typed).map_err(StreamFailure::Stdin)?;
    if confirmation.matches(&typed) { Ok(()) } else { Err(wrong(typed.trim()).into()) }
}

fn carry_out(
    args: &ReviewArgs,
    target: Box<dyn Target>,
    prior: Option<ReviewResult>,
    identity: &Identity,
    (title, plan, files): (&str, &Plan, &Files),
) -> Result<ExitCode, Failure> {
    let start = Start {
        started: Some(format_rfc3339_seconds(SystemTime::now()).to_string()),
        prior,
        ..start(args, files, None)
    };
    // It takes long: a person who is there sees what is coming, and can stop it before it begins.
    note(&view::plan(title, plan, files));
    cancel::listen()?;
    // A save that fails on the way is tried again at the end, where it is an error.
    let save = |result: &ReviewResult| drop(files.write_json(result));
    let drive = DriveWatch::begin(identity);
    let mut done = {
        let watch = Watch::new();
        let mut done = review::review(target, plan, start, &watch, &save);
        // A review is whole without a twin.
        if done.result.partial.is_none() {
            watch.begin("fit a card to it", 1);
            let _ = study::fit::advise_device(&mut done.result, args.seed, TWIN_PATIENCE, &watch);
        }
        done
    };
    done.result.health = drive.and_then(DriveWatch::end);
    done.result.verdict.extend(done.result.health.iter().flat_map(review::judge_health));
    deliver(args, files, done)
}
