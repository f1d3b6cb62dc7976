//! Simulated lives of cards, as a table and as the life that failed.

use crate::table::wrap;
use crate::units::{counted, duration, grouped};
use std::path::PathBuf;
use torture::campaign::{Campaign, Gaps, Strike, Tally, Trial, Violation};
use torture::sim::Life;

/// More faults of a life are counted and not named.
const MAX_FAULTS: usize = 40;

/// The outcome of a campaign.
pub struct Campaigned {
    pub campaign: Campaign,
    pub tally: Tally,
    /// The first violation, if there was one.
    pub violation: Option<Found>,
    /// Faults that `--require-coverage` wants and that did not happen.
    pub gaps: Gaps,
    /// It was stopped before its end.
    pub partial: bool,
    pub wall_seconds: f64,
}

/// A violation, and where its small form is kept.
pub struct Found {
    /// The violation as the campaign met it.
    pub violation: Violation,
    /// Faults of the small form.
    pub faults: Vec<Strike>,
    /// Requests of the host in the small form.
    pub requests: u32,
    /// The error that the small form ends with.
    pub message: String,
    /// The file of the small form.
    pub path: PathBuf,
}

/// The tally of a campaign, and what it found.
pub fn torture(report: &Campaigned) -> String {
    let Campaigned { campaign, tally, .. } = report;
    let cards: Vec<&str> = campaign.cards.iter().map(|card| card.name()).collect();
    let beyond = if campaign.beyond { ", beyond the redundancy" } else { "" };
    let heading = format!("seed {}, cards {}{beyond}", campaign.seed, cards.join(", "));
    let mut out = wrap("", 2, &heading);
    if report.partial {
        out.push_str("PARTIAL: stopped by Ctrl-C\n");
    }
    let per_second = tally.lives as f64 / report.wall_seconds.max(1e-9);
    out.push_str(&wrap(
        "",
        2,
        &format!(
            "{} in {:.1} s ({per_second:.0} a second), {} lived twice with the same trace",
            lives(tally.lives),
            report.wall_seconds,
            grouped(tally.twice),
        ),
    ));
    out.push_str(&wrap(
        "",
        2,
        &format!(
            "{}, {} ({} in recoveries), {}; redundancy restored {} times; {} read and checked",
            counted(tally.operations, "host operation"),
            counted(tally.power_cuts, "power cut"),
            grouped(tally.nested_cuts),
            counted(tally.coverage.total(), "fault"),
            grouped(tally.mends),
            counted(tally.sectors_read, "sector"),
        ),
    ));
    let met: Vec<String> = tally.met.counts().iter().map(|(what, count)| with_count(*count, what)).collect();
    out.push_str(&wrap("", 2, &format!("clients that share a card: {}", met.join(", "))));
    out.push('\n');
    out.push_str(&tally.coverage.table());
    out.push_str("columns: what the card did; . means nothing there, - did not happen\n\n");
    out.push_str(&format!(
        "came to rest: {} (within {} of virtual time)\n",
        lives(tally.rested),
        duration(tally.rest_ns as f64)
    ));
    for (why, lives) in &tally.halted {
        out.push_str(&format!("halted as it may, {why}: {}\n", grouped(*lives)));
    }
    out.push_str(&gaps(&report.gaps));
    match &report.violation {
        None => out.push_str("no violation\n"),
        Some(found) => out.push_str(&violation(found)),
    }
    out
}

/// The card of a life, and how many requests it has.
fn title(trial: &Trial) -> String {
    format!("card {}, {} requests", trial.card.name(), trial.requests())
}

fn lives(number: u64) -> String {
    format!("{} {}", grouped(number), if number == 1 { "life" } else { "lives" })
}

fn with_count(count: u64, what: &str) -> String {
    format!("{what} {}", grouped(count))
}

fn gaps(gaps: &Gaps) -> String {
    let mut out = String::new();
    for (kind, count) in &gaps.rare {
        out.push_str(&format!("too rare: {kind}, {}\n", grouped(*count)));
    }
    for (what, count) in &gaps.unmet {
        out.push_str(&format!("too rare: {what}, {}\n", grouped(*count)));
    }
    for (kind, activity) in &gaps.empty {
        out.push_str(&format!("never happened: {kind} while the card did: {activity}\n"));
    }
    out
}

fn violation(found: &Found) -> String {
    let mut out = format!("\nVIOLATION in life {} ({})\n", found.violation.life, title(&found.violation.trial));
    out.push_str(&message(&found.violation.wrong.to_string()));
    out.push_str(&faults(&found.violation.faults));
    out.push_str(&format!("\nas small as it gets, {}:\n", counted(found.requests.into(), "request")));
    out.push_str(&message(&found.message));
    out.push_str(&faults(&found.faults));
    out.push_str(&wrap("again: ", 2, &format!("flashrig torture --replay {}", found.path.display())));
    out
}

/// One life again.
pub fn replayed(trial: &Trial, life: &Life, failure: Option<&str>) -> String {
    let mut out = wrap("", 2, &title(trial));
    out.push_str(&faults(&trial.faults(life)));
    out.push_str(&match (failure, life.halted) {
        (Some(failure), _) => message(&format!("VIOLATION: {failure}")),
        (None, Some(refusal)) => wrap("", 2, &format!("no violation; the card halted, as it may: {refusal}")),
        (None, None) => "no violation\n".to_owned(),
    });
    out
}

/// Each line wrapped for itself.
fn message(text: &str) -> String {
    text.lines().map(|line| wrap("  ", 4, &super::printable(line))).collect()
}

fn faults(faults: &[Strike]) -> String {
    let mut out: String = faults.iter().take(MAX_FAULTS).map(|fault| format!("    {fault}\n")).collect();
    if faults.len() > MAX_FAULTS {
        out.push_str(&format!("    and {} more\n", faults.len() - MAX_FAULTS));
    }
    out
}
