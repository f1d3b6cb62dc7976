//! `flashrig torture`: simulated lives of cards, with faults. Exit code 1 when a card breaks its promise.

use crate::args::TortureArgs;
use crate::cancel;
use crate::error::{Failure, MediaFailure, StreamFailure};
use crate::lives;
use crate::output::{TextSink, pretty, print};
use crate::progress::Watch;
use crate::takeovers_cmd::takeovers;
use crate::view::{self, Campaigned, Found};
use serde_json::{Value, json};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use target::Progress;
use torture::Kind;
use torture::campaign::{Campaign, Gaps, Reproducer, Trial, Violation, Wrong};

const LIVES: u64 = 2_000;
const OPERATIONS: u32 = 5_000;
/// Beyond the redundancy, where many a life ends early.
const OPERATIONS_BEYOND: u32 = 300;
/// Lives that may be lived to make one that failed small.
const SHRINKING_LIVES: u32 = 2_000;
const NO: u8 = 1;

pub fn torture(args: &TortureArgs) -> Result<ExitCode, Failure> {
    if let Some(dir) = args.image.as_deref().filter(|dir| dir.exists()) {
        let source = std::io::Error::new(ErrorKind::AlreadyExists, "it is there already; name a new folder");
        return Err(StreamFailure::Unwritable { path: dir.to_owned(), source }.into());
    }
    if let Some(path) = &args.replay {
        return replay(path, args);
    }
    if args.takeovers {
        return takeovers(args);
    }
    let path = PathBuf::from(format!("torture-{}.json", args.seed));
    TextSink::probe(&path)?;
    cancel::listen()?;
    let report = run(args, &path)?;
    if let Some(dir) = &args.image {
        save(&report, args.first, dir)?;
    }
    if args.json {
        print(&pretty(&report_json(&report)))?;
    } else {
        print(&view::torture(&report))?;
    }
    Ok(match (&report.violation, report.partial) {
        (Some(_), _) => ExitCode::from(NO),
        (None, true) => ExitCode::from(cancel::EXIT_CODE),
        (None, false) if !report.gaps.is_empty() => ExitCode::from(NO),
        (None, false) => ExitCode::SUCCESS,
    })
}

/// Saves the media of the life that failed, as it was found, or of the last one.
fn save(report: &Campaigned, first: u64, dir: &Path) -> Result<(), Failure> {
    match (&report.violation, report.tally.lives.checked_sub(1)) {
        (Some(found), _) => save_image(&found.violation.trial, dir),
        (None, Some(last)) => save_image(&report.campaign.trial(first + last), dir),
        (None, None) => Ok(()),
    }
}

fn save_image(trial: &Trial, dir: &Path) -> Result<(), Failure> {
    let _quiet = QuietPanics::new();
    let saved = std::panic::catch_unwind(|| trial.save_image(dir));
    let nothing = || Err(std::io::Error::other("a life that ends in a panic leaves no media"));
    let saved = saved.unwrap_or_else(|_| nothing());
    Ok(saved.map_err(|source| StreamFailure::Unwritable { path: dir.to_owned(), source })?)
}

fn run(args: &TortureArgs, path: &Path) -> Result<Campaigned, Failure> {
    let cards = Kind::ALL.into_iter().filter(|kind| args.card.as_deref().is_none_or(|name| name == kind.name()));
    let operations = args.operations.unwrap_or(if args.beyond { OPERATIONS_BEYOND } else { OPERATIONS });
    let campaign = Campaign { seed: args.seed, cards: cards.collect(), operations, beyond: args.beyond };
    let begun = Instant::now();
    let watch = Watch::new();
    let quiet = QuietPanics::new();
    let (tally, violation) = lives::within(args, LIVES, &watch, |limits| campaign.run(limits));
    let partial = watch.stopped();
    let violation = violation.map(|violation| {
        watch.begin("make the life small that failed", 1);
        keep(violation, path, &|| watch.cancelled())
    });
    drop(quiet);
    drop(watch);
    let violation = violation.transpose()?;
    let gaps = match args.require_coverage {
        Some(least) if violation.is_none() => tally.gaps(&campaign.kinds(), least),
        _ => Gaps::default(),
    };
    let wall_seconds = begun.elapsed().as_secs_f64();
    Ok(Campaigned { campaign, tally, violation, gaps, partial, wall_seconds })
}

/// Makes a failed life small and writes it down.
fn keep(violation: Violation, path: &Path, cancelled: &dyn Fn() -> bool) -> Result<Found, Failure> {
    let shrunk = match &violation.wrong {
        Wrong::Failed(_) => violation.trial.shrink(SHRINKING_LIVES, cancelled),
        Wrong::TwoWays => None,
    };
    let (trial, kind, message) = match (shrunk, &violation.wrong) {
        (Some((trial, failure)), _) => (trial, failure.kind(), failure.to_string()),
        (None, Wrong::Failed(failure)) => (violation.trial.clone(), failure.kind(), failure.to_string()),
        (None, Wrong::TwoWays) => (violation.trial.clone(), "two ways", violation.wrong.to_string()),
    };
    let faults = trial.faults(&trial.run());
    let requests = trial.requests();
    TextSink::replace(path, &Reproducer::new(trial, kind).to_json())?;
    Ok(Found { violation, faults, requests, message, path: path.to_owned() })
}

fn replay(path: &Path, args: &TortureArgs) -> Result<ExitCode, Failure> {
    let unreadable = |source| StreamFailure::Unreadable { path: path.to_owned(), source };
    let text = std::fs::read_to_string(path).map_err(unreadable)?;
    let reproducer = Reproducer::from_json(&text)
        .map_err(|source| MediaFailure::NoLife { path: path.to_owned(), source: Box::new(source) })?;
    let trial = reproducer.trial();
    let (life, again) = {
        let _quiet = QuietPanics::new();
        (trial.run(), trial.run())
    };
    let failure = life.failure.as_ref().map(ToString::to_string);
    let failure = failure.or((life.trace != again.trace).then(|| Wrong::TwoWays.to_string()));
    if let Some(dir) = &args.image {
        save_image(&trial, dir)?;
    }
    if args.json {
        print(&pretty(&json!({
            "card": trial.card.name(),
            "requests": life.asks,
            "faults": trial.faults(&life),
            "failure": failure,
            "trace": format!("{:016x}", life.trace),
        })))?;
    } else {
        print(&view::replayed(&trial, &life, failure.as_deref()))?;
    }
    Ok(if failure.is_some() { ExitCode::from(NO) } else { ExitCode::SUCCESS })
}

fn report_json(report: &Campaigned) -> Value {
    let Campaigned { campaign, tally, violation, gaps, partial, wall_seconds } = report;
    let violation = violation.as_ref().map(|found| {
        json!({
            "life": found.violation.life,
            "card": found.violation.trial.card.name(),
            "wrong": found.violation.wrong.to_string(),
            "faults": found.violation.faults,
            "smallest": {
                "file": found.path,
                "requests": found.requests,
                "faults": found.faults,
                "wrong": found.message,
            },
        })
    });
    json!({
        "seed": campaign.seed,
        "cards": campaign.cards.iter().map(|card| card.name()).collect::<Vec<_>>(),
        "operations_of_a_life": campaign.operations,
        "beyond": campaign.beyond,
        "partial": partial,
        "lives": tally.lives,
        "lived_twice": tally.twice,
        "operations": tally.operations,
        "power_cuts": tally.power_cuts,
        "nested_power_cuts": tally.nested_cuts,
        "redundancy_restored": tally.mends,
        "sectors_checked": tally.sectors_read,
        "clients": tally.met,
        "faults": tally.coverage.total(),
        "faults_by_activity": tally.coverage.report().rows,
        "rested": tally.rested,
        "longest_rest_ns": tally.rest_ns,
        "halted": tally.halted,
        "rare_faults": gaps.rare.iter().map(|(kind, count)| json!({"fault": kind.to_string(), "count": count}))
            .collect::<Vec<_>>(),
        "rare_encounters": gaps.unmet.iter().map(|(what, count)| json!({"encounter": what, "count": count}))
            .collect::<Vec<_>>(),
        "empty_cells": gaps.empty.iter()
            .map(|(kind, activity)| json!({"fault": kind.to_string(), "activity": activity}))
            .collect::<Vec<_>>(),
        "trace": format!("{:016x}", tally.trace),
        "violation": violation,
        "wall_seconds": wall_seconds,
    })
}

type Hook = Box<dyn Fn(&std::panic::PanicHookInfo<'_>) + Sync + Send + 'static>;

/// A panic of a card under test is a result, and is told as one. Calls may live side by side: the last one gives the hook
/// back.
struct QuietPanics;

static QUIET: Mutex<(u32, Option<Hook>)> = Mutex::new((0, None));

impl QuietPanics {
    fn new() -> QuietPanics {
        let mut quiet = QUIET.lock().unwrap_or_else(PoisonError::into_inner);
        if quiet.0 == 0 {
            quiet.1 = Some(std::panic::take_hook());
            std::panic::set_hook(Box::new(|_| {}));
        }
        quiet.0 += 1;
        QuietPanics
    }
}

impl Drop for QuietPanics {
    fn drop(&mut self) {
        let mut quiet = QUIET.lock().unwrap_or_else(PoisonError::into_inner);
        quiet.0 -= 1;
        if quiet.0 == 0
            && let Some(hook) = quiet.1.take_if(|_| !std::thread::panicking())
        {
            std::panic::set_hook(hook);
        }
    }
}
