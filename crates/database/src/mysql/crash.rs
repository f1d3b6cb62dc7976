//! Power cuts under committing sessions, with the oracle of PostgreSQL's ([`crate::crash`]): what was acknowledged is there
//! afterwards, what was not is there whole or not at all.

use super::client::Session;
use super::server::{DATABASE, Server};
use crate::crash::{
    AFTERWARDS, Found, Ledger, Pulled, SessionFound, begin, compare, complain, cut_after, fault, verdict,
};
use crate::{CrashConfig, DatabaseError, Power};
use ::device::Rng;
use results::{CrashCycle, DatabaseCrash};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use target::Progress;

/// Recovery may take long; then it has failed.
const RECOVERY_PATIENCE: Duration = Duration::from_secs(900);
/// Rows that one statement inserts.
const ROWS_AT_ONCE: u32 = 500;

/// Runs the cycles on a server that runs.
pub(super) fn crash(
    server: &mut Server,
    settings: &[(String, String)],
    config: &CrashConfig,
    power: &dyn Power,
    seed: u64,
    progress: &dyn Progress,
    mut so_far: impl FnMut(&DatabaseCrash),
) -> Result<(), DatabaseError> {
    progress.begin("power cuts", config.cycles.into());
    make_tables(server, config)?;
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

fn make_tables(server: &Server, config: &CrashConfig) -> Result<(), DatabaseError> {
    let mut sql = String::from(
        "CREATE TABLE crash_log (session INT NOT NULL, seq BIGINT NOT NULL, PRIMARY KEY (session, seq)) ENGINE=InnoDB; \
         CREATE TABLE crash_counter (session INT PRIMARY KEY, seq BIGINT NOT NULL) ENGINE=InnoDB; \
         CREATE TABLE crash_rows (session INT NOT NULL, slot INT NOT NULL, seq BIGINT NOT NULL, pad VARCHAR(1000) NOT NULL, \
         PRIMARY KEY (session, slot)) ENGINE=InnoDB; ",
    );
    for session in 0..config.sessions {
        sql.push_str(&format!("INSERT INTO crash_counter VALUES ({session}, 0); "));
    }
    let mut made = Session::open(&server.client(), DATABASE)?;
    let failed = || DatabaseError::Program {
        program: "making the tables of the crash test".into(),
        said: "the server has closed the connection".into(),
    };
    made.row(&format!("{sql} SELECT 1;")).ok_or_else(failed)?;
    for session in 0..config.sessions {
        for first in (0..config.rows).step_by(ROWS_AT_ONCE as usize) {
            let last = (first + ROWS_AT_ONCE).min(config.rows);
            let rows = (first..last).map(|slot| format!("({session}, {slot}, 0, REPEAT(MD5({slot}), 30))"));
            let values = rows.collect::<Vec<_>>().join(", ");
            made.row(&format!("INSERT INTO crash_rows VALUES {values}; SELECT 1;")).ok_or_else(failed)?;
        }
    }
    Ok(())
}

fn one_cycle(
    server: &mut Server,
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
    let load_s = run_until_cut(server, config, (cycle, seed), ledgers, power, pulled, progress)?;
    let restored = power.restore();
    let mut done = CrashCycle {
        fault: fault(pulled),
        load_s,
        acknowledged: ledgers.iter().map(|ledger| ledger.acknowledged).sum::<u64>() - before,
        in_flight: ledgers.iter().filter(|ledger| ledger.in_flight.is_some()).count() as u64,
        ..CrashCycle::default()
    };
    if let Err(why) = restored {
        done.complaints.push(format!("the file system does not come back: {why}"));
        return Ok(done);
    }
    match server.start(settings, RECOVERY_PATIENCE, progress) {
        Ok(took) => done.recovery_s = Some(took.as_secs_f64()),
        Err(DatabaseError::Server { said, .. }) => {
            done.complaints.push(format!("the server does not start: {said}"));
            return Ok(done);
        }
        Err(error) => return Err(error),
    }
    match read(server, config) {
        Ok(found) => compare(ledgers, &found, &mut done),
        // Data that can't be read is a finding: the statements are known to be right.
        Err(DatabaseError::Program { program, said }) => done.complaints.push(format!("{program}: {said}")),
        Err(error) => return Err(error),
    }
    progress.step("CHECK TABLE, innochecksum");
    let checked = server.client().ask(
        DATABASE,
        "CHECK TABLE",
        "CHECK TABLE crash_log EXTENDED; CHECK TABLE crash_counter EXTENDED; CHECK TABLE crash_rows EXTENDED",
    );
    match checked {
        // Table, what was done, kind of the message, message.
        Ok(rows) => {
            let bad = rows.iter().filter(|row| row.split('\t').nth(3) != Some("OK"));
            done.complaints.extend(bad.map(|row| format!("CHECK TABLE: {}", row.replace('\t', " "))));
        }
        Err(DatabaseError::Program { program, said }) => done.complaints.push(format!("{program}: {said}")),
        Err(error) => return Err(error),
    }
    server.stop()?;
    for table in ["crash_log", "crash_counter", "crash_rows"] {
        let file = server.data().join(DATABASE).join(format!("{table}.ibd"));
        let mut checksums = server.command(&server.programs().checksums);
        complain(&mut done, "innochecksum", checksums.arg(file))?;
    }
    if let Some(Pulled { module, comes_back: false }) = pulled {
        power.insert(module).map_err(failed("the module can't be put back"))?;
    }
    power.rebuilt().map_err(failed("the device is not whole again"))?;
    Ok(done)
}

/// Lets the sessions commit, and cuts power under them. Afterwards no process of the server is left.
fn run_until_cut(
    server: &mut Server,
    config: &CrashConfig,
    (cycle, seed): (u32, u64),
    ledgers: &mut [Ledger],
    power: &dyn Power,
    pulled: Option<Pulled>,
    progress: &dyn Progress,
) -> Result<f64, DatabaseError> {
    let mut sessions = Vec::new();
    for _ in ledgers.iter() {
        sessions.push(Session::open(&server.client(), DATABASE)?);
    }
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for (number, (ledger, mut session)) in ledgers.iter_mut().zip(sessions).enumerate() {
            let over = &over;
            let mut rng = Rng::stream(seed, &format!("database crash {cycle} {number}"));
            scope.spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    let slot = rng.below(ledger.rows.len() as u64) as u32;
                    let seq = ledger.acknowledged + 1;
                    ledger.in_flight = Some((seq, slot));
                    let sql = format!(
                        "BEGIN; INSERT INTO crash_log VALUES ({number}, {seq}); \
                         UPDATE crash_counter SET seq = {seq} WHERE session = {number}; \
                         UPDATE crash_rows SET seq = {seq} WHERE session = {number} AND slot = {slot}; \
                         COMMIT; SELECT {seq};"
                    );
                    // The end is power that is gone, or is looked into afterwards: there are too few transactions.
                    if session.row(&sql) != Some(seq.to_string()) {
                        break;
                    }
                    ledger.acknowledged = seq;
                    ledger.rows[slot as usize] = seq;
                    ledger.in_flight = None;
                }
            });
        }
        let cut = cut_after(config.load_s, power, pulled, progress);
        if cut.is_ok() {
            std::thread::sleep(AFTERWARDS);
        }
        over.store(true, Ordering::Relaxed);
        // Sessions that wait for the device end with the server.
        server.kill_hard();
        cut
    })
}

/// Reads every session's record.
fn read(server: &Server, config: &CrashConfig) -> Result<Found, DatabaseError> {
    let mut sessions = vec![SessionFound::default(); config.sessions as usize];
    let what = "reading back after recovery";
    let rows = |sql: &str| -> Result<Vec<(usize, u64)>, DatabaseError> {
        let rows = server.client().ask(DATABASE, what, sql)?;
        let numbers = rows.iter().map(|row| {
            let (session, seq) = row.split_once('\t')?;
            Some((session.parse().ok()?, seq.parse().ok()?))
        });
        let damaged = || DatabaseError::Program { program: what.into(), said: "a row is no pair of numbers".into() };
        numbers.collect::<Option<Vec<_>>>().ok_or_else(damaged)
    };
    // Sessions were numbered by us: another number would be a damaged row, which is counted with the last session.
    let last = sessions.len() - 1;
    for (session, seq) in rows("SELECT session, seq FROM crash_counter")? {
        sessions[session.min(last)].counter = seq;
    }
    for (session, seq) in rows("SELECT session, seq FROM crash_log ORDER BY session, seq")? {
        sessions[session.min(last)].log.push(seq);
    }
    for (session, seq) in rows("SELECT session, seq FROM crash_rows ORDER BY session, slot")? {
        sessions[session.min(last)].rows.push(seq);
    }
    Ok(Found(sessions))
}
