//! Power cuts under load: what was acknowledged is there afterwards, what was not is there whole or not at all.
//!
//! Sessions commit transactions that each leave a row in a log, a number in a counter and a new version of a random row,
//! and remember in this process' memory what was acknowledged. Power goes; the server's processes are killed, because the
//! file system below them has to be mounted again; power comes back, the database recovers, and everything is compared:
//! transactions by the log and the counter, and each row by its last version, so that a page that came back in an older
//! state is seen although the log knows better. A module may be pulled before. The server's own checkers look at what the
//! comparison does not read.

mod check;
mod config;
mod ledger;
mod postgres;
mod server;
mod sessions;

pub use config::CrashConfig;

pub(crate) use server::{Commits, CrashServer, Reader};

use check::{Found, compare};
use config::MAX_COMPLAINTS;
use ledger::Ledger;
use sessions::Pulled;

use crate::cluster::last_words;
use crate::{DatabaseError, Power};
use results::{CrashCycle, DatabaseCrash};
use std::time::Duration;
use target::Progress;

/// Recovery may take long; then it has failed.
const RECOVERY_PATIENCE: Duration = Duration::from_secs(900);
/// The name of the reading in errors.
pub(crate) const READING: &str = "reading back after recovery";

/// Runs the cycles on a server that runs.
pub(crate) fn crash<S: CrashServer>(
    server: &mut S,
    settings: &[(String, String)],
    config: &CrashConfig,
    power: &dyn Power,
    seed: u64,
    progress: &dyn Progress,
    mut so_far: impl FnMut(&DatabaseCrash),
) -> Result<(), DatabaseError> {
    progress.begin("power cuts", config.cycles.into());
    server.make_tables(config, progress)?;
    // The server syncs what it writes; what lay there before it started is synced here.
    let data = server.data();
    let file = std::fs::File::open(&data).map_err(DatabaseError::io(&data))?;
    rustix::fs::syncfs(&file).map_err(|e| DatabaseError::io(&data)(e.into()))?;
    drop(file);
    let mut ledgers: Vec<Ledger> = (0..config.sessions).map(|_| Ledger::new(config.rows)).collect();
    let mut result = begin(power, config);
    for cycle in 0..config.cycles {
        progress.step(&format!("power cut {} of {}", cycle + 1, config.cycles));
        if !server.is_running() {
            server.kill_hard();
            server.start(settings, RECOVERY_PATIENCE, progress)?;
        }
        let done = one_cycle(server, settings, config, power, (cycle, seed), &mut ledgers, progress)?;
        let recovered = done.recovery_s.is_some();
        result.cycles.push(done);
        result.passed = result.cycles.iter().all(CrashCycle::is_clean);
        result.verdict = verdict(&result);
        so_far(&result);
        progress.at(u64::from(cycle) + 1);
        if !recovered || progress.cancelled() {
            break;
        }
    }
    if progress.cancelled() { Err(DatabaseError::Cancelled) } else { Ok(()) }
}

fn one_cycle<S: CrashServer>(
    server: &mut S,
    settings: &[(String, String)],
    config: &CrashConfig,
    power: &dyn Power,
    (cycle, seed): (u32, u64),
    ledgers: &mut [Ledger],
    progress: &dyn Progress,
) -> Result<CrashCycle, DatabaseError> {
    let failed = |what: &'static str| move |why: String| DatabaseError::Power { what, why: why.into() };
    let pulled = Pulled::in_cycle(cycle, power);
    let before: u64 = ledgers.iter().map(|ledger| ledger.acknowledged).sum();
    let load_s = sessions::run_until_cut(server, config, (cycle, seed), ledgers, power, pulled, progress)?;
    let restored = power.restore();
    let mut done = CrashCycle {
        fault: fault(pulled),
        load_s,
        acknowledged: ledgers.iter().map(|ledger| ledger.acknowledged).sum::<u64>() - before,
        in_flight: ledgers.iter().filter(|ledger| ledger.in_flight.is_some()).count() as u64,
        ..CrashCycle::default()
    };
    // A file system that can't be mounted any more has lost what it flushed: a finding, as what the database finds is.
    if let Err(why) = restored {
        done.complaints.push(format!("the file system does not come back: {why}"));
        return Ok(done);
    }
    match server.start(settings, RECOVERY_PATIENCE, progress) {
        Ok(took) => done.recovery_s = Some(took.as_secs_f64()),
        Err(DatabaseError::Server { said, .. }) => {
            done.complaints.push(format!("{} does not start: {said}", S::NAME));
            return Ok(done);
        }
        Err(error) => return Err(error),
    }
    match read(server, config) {
        Ok(found) => compare(ledgers, &found, &mut done),
        Err(error) => done.complaints.push(finding(error)?),
    }
    progress.step(S::CHECKERS);
    server.check(&mut done)?;
    if let Some(Pulled { module, comes_back: false }) = pulled {
        power.insert(module).map_err(failed("the module can't be put back"))?;
    }
    power.rebuilt().map_err(failed("the device is not whole again"))?;
    Ok(done)
}

/// Reads every session's record.
fn read<S: CrashServer>(server: &S, config: &CrashConfig) -> Result<Found, DatabaseError> {
    let mut rows = server.reader()?;
    let mut found = Found::none(config);
    for (session, seq) in rows("SELECT session, seq FROM crash_counter")? {
        found.of(session).counter = seq;
    }
    for (session, seq) in rows("SELECT session, seq FROM crash_log ORDER BY session, seq")? {
        found.of(session).log.push(seq);
    }
    for (session, seq) in rows("SELECT session, seq FROM crash_rows ORDER BY session, slot")? {
        found.of(session).rows.push(seq);
    }
    Ok(found)
}

/// Data that can't be read is a finding: the statements are known to be right. Other errors are none.
pub(crate) fn finding(error: DatabaseError) -> Result<String, DatabaseError> {
    match error {
        DatabaseError::Sql { what, source } => Ok(format!("{what}: {}", crate::error::words(&source))),
        DatabaseError::Program { program, said } => Ok(format!("{program}: {said}")),
        other => Err(other),
    }
}

/// A crash test before its first cut.
fn begin(power: &dyn Power, config: &CrashConfig) -> DatabaseCrash {
    DatabaseCrash {
        how: power.how(),
        sessions: config.sessions,
        cycles: Vec::new(),
        verdict: String::new(),
        passed: false,
    }
}

/// The fault in words.
fn fault(pulled: Option<Pulled>) -> String {
    match pulled {
        None => "power cut".to_owned(),
        Some(Pulled { module, comes_back: false }) => format!("module {module} pulled, power cut"),
        Some(Pulled { module, comes_back: true }) => format!("module {module} pulled and put back, power cut"),
    }
}

/// Runs a checker; what it finds is a complaint.
pub(crate) fn complain(
    done: &mut CrashCycle,
    program: &str,
    command: &mut std::process::Command,
) -> Result<(), DatabaseError> {
    let output = command.output().map_err(DatabaseError::io(program))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    for line in lines.iter().take(MAX_COMPLAINTS) {
        done.complaints.push(format!("{program}: {line}"));
    }
    if lines.is_empty() {
        done.complaints.push(format!("{program}: {} ({})", last_words(&said), output.status));
    }
    Ok(())
}

/// In the words that an engineer needs.
fn verdict(crash: &DatabaseCrash) -> String {
    let sum = |of: fn(&CrashCycle) -> u64| crash.cycles.iter().map(of).sum::<u64>();
    let cuts = match crash.cycles.len() {
        1 => "1 power cut".to_owned(),
        n => format!("{n} power cuts"),
    };
    let under = format!("{cuts} under {} committing sessions", crash.sessions);
    let acknowledged = sum(|c| c.acknowledged);
    if crash.passed {
        let slowest = crash.cycles.iter().filter_map(|c| c.recovery_s).fold(0.0, f64::max);
        return format!(
            "{under}: all {acknowledged} acknowledged transactions are there, {} in flight are whole or absent, every row \
             has its newest version, checksums and indexes are clean; recovery took {slowest:.1} s at most.",
            sum(|c| c.in_flight)
        );
    }
    let mut found = Vec::new();
    let (lost, torn, stale) = (sum(|c| c.lost), sum(|c| c.torn), sum(|c| c.stale_rows));
    if lost > 0 {
        found.push(format!("lost {lost} acknowledged transactions of {acknowledged}"));
    }
    if torn > 0 {
        found.push(format!("{torn} transactions are there in part"));
    }
    if stale > 0 {
        found.push(format!("{stale} rows came back in an older version"));
    }
    let complaints = crash.cycles.iter().flat_map(|c| &c.complaints);
    let count = complaints.clone().count();
    if let Some(first) = complaints.clone().next() {
        found.push(match count {
            1 => first.clone(),
            n => format!("{first} (and {} more complaints)", n - 1),
        });
    }
    let advice = match (lost > 0, torn + stale > 0) {
        (true, _) => "The device acknowledges flushes before data is safe: no database belongs on it",
        (_, true) => "The device brought back older or mixed contents: no database belongs on it",
        _ => "The cluster is damaged: no database belongs on this device",
    };
    format!("{under}: {}. {advice}.", found.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crash_of(cycles: Vec<CrashCycle>) -> DatabaseCrash {
        let passed = cycles.iter().all(CrashCycle::is_clean);
        DatabaseCrash { how: "test".into(), sessions: 4, cycles, verdict: String::new(), passed }
    }

    #[test]
    fn the_verdict_says_what_was_lost() {
        let clean = CrashCycle { acknowledged: 100, in_flight: 4, recovery_s: Some(0.5), ..CrashCycle::default() };
        let text = verdict(&crash_of(vec![clean.clone()]));
        assert!(text.starts_with("1 power cut under 4 committing sessions: all 100 acknowledged"), "{text}");
        let lost = CrashCycle { lost: 7, stale_rows: 1, ..clean.clone() };
        let text = verdict(&crash_of(vec![clean.clone(), lost]));
        assert!(text.contains("2 power cuts") && text.contains("lost 7 acknowledged transactions of 200"), "{text}");
        let dead = CrashCycle { recovery_s: None, complaints: vec!["PostgreSQL does not start: x".into()], ..clean };
        let text = verdict(&crash_of(vec![dead]));
        assert!(text.contains("does not start: x. The cluster is damaged"), "{text}");
    }
}
