//! Simulated lives of an array that several controllers share, as a table and as the life that went wrong.

use crate::table::wrap;
use crate::units::{counted, grouped};
use torture::takeovers::{Found, Tally};

/// The outcome of a campaign.
pub struct TookOver {
    pub seed: u64,
    pub tally: Tally,
    /// The first life that went wrong, if one did.
    pub found: Option<Found>,
    /// Events that `--require-coverage` wants more often.
    pub rare: Vec<(&'static str, u64)>,
    /// It was stopped before its end.
    pub partial: bool,
    pub wall_seconds: f64,
}

/// The tally of a campaign, and what it found.
pub fn takeovers(report: &TookOver) -> String {
    let TookOver { seed, tally, found, rare, partial, wall_seconds } = report;
    let mut out = format!("seed {seed}, arrays that two or three controllers share\n");
    if *partial {
        out.push_str("PARTIAL: stopped by Ctrl-C\n");
    }
    let lives = if tally.lives == 1 { "1 life".to_owned() } else { format!("{} lives", grouped(tally.lives)) };
    let per_second = tally.lives as f64 / wall_seconds.max(1e-9);
    out.push_str(&wrap(
        "",
        2,
        &format!("{lives} in {wall_seconds:.1} s ({per_second:.0} a second), {}", counted(tally.faults, "fault")),
    ));
    for (what, count) in tally.met.counts() {
        out.push_str(&format!("{:>14}  {what}\n", grouped(count)));
    }
    for (what, count) in rare {
        out.push_str(&format!("TOO RARE: {what}: {count}\n"));
    }
    let Some(found) = found else {
        out.push_str("no violation\n");
        return out;
    };
    out.push_str(&format!("VIOLATION in life {}: {}\n", found.life, found.wrong));
    let plan = &found.smallest;
    let machines = format!("{} controllers, {} modules, {} hosts", plan.controllers, plan.modules, plan.hosts);
    out.push_str(&format!("  {machines}; faults without which nothing is wrong:\n"));
    for fault in &plan.faults {
        out.push_str(&format!("  {fault}\n"));
    }
    out.push_str(&format!("again: flashrig torture --takeovers --seed {seed} --first {} --lives 1\n", found.life));
    out
}
