//! `flashrig torture --takeovers`: simulated lives of an array that several controllers share. Exit code 1 when one of them
//! goes wrong.

use crate::args::TortureArgs;
use crate::cancel;
use crate::error::Failure;
use crate::lives;
use crate::output::{pretty, print};
use crate::progress::Watch;
use crate::view::{self, TookOver};
use serde_json::{Value, json};
use std::process::ExitCode;
use std::time::Instant;
use torture::takeovers::Campaign;

const LIVES: u64 = 5_000;
const NO: u8 = 1;

pub fn takeovers(args: &TortureArgs) -> Result<ExitCode, Failure> {
    cancel::listen()?;
    let campaign = Campaign { seed: args.seed, flaw: None };
    let begun = Instant::now();
    let watch = Watch::new();
    let (tally, found) = lives::within(args, LIVES, &watch, |limits| campaign.run(limits));
    let partial = watch.stopped();
    drop(watch);
    let least = args.require_coverage.filter(|_| found.is_none()).unwrap_or(0);
    let rare = tally.met.counts().into_iter().filter(|(_, count)| *count < least).collect();
    let wall_seconds = begun.elapsed().as_secs_f64();
    let report = TookOver { seed: args.seed, tally, found, rare, partial, wall_seconds };
    print(&if args.json { pretty(&report_json(&report)) } else { view::takeovers(&report) })?;
    Ok(match (&report.found, report.partial) {
        (Some(_), _) => ExitCode::from(NO),
        (None, true) => ExitCode::from(cancel::EXIT_CODE),
        (None, false) if !report.rare.is_empty() => ExitCode::from(NO),
        (None, false) => ExitCode::SUCCESS,
    })
}

fn report_json(report: &TookOver) -> Value {
    let TookOver { seed, tally, found, rare, partial, wall_seconds } = report;
    let counts =
        |counts: &[(&str, u64)]| counts.iter().map(|(what, count)| json!({"what": what, "count": count})).collect();
    let counts: [Vec<Value>; 2] = [counts(&tally.met.counts()), counts(rare)];
    json!({
        "seed": seed,
        "partial": partial,
        "lives": tally.lives,
        "faults": tally.faults,
        "steps": tally.events,
        "met": counts[0],
        "rare": counts[1],
        "violation": found.as_ref().map(|found| json!({
            "life": found.life,
            "wrong": found.wrong.to_string(),
            "faults": found.smallest.faults.iter().map(ToString::to_string).collect::<Vec<_>>(),
        })),
        "wall_seconds": wall_seconds,
    })
}
