//! Sessions that remember what was acknowledged, until power goes.

use super::config::CrashConfig;
use crate::clients::execute;
use crate::{Cluster, DatabaseError, Power};
use ::device::Rng;
use postgres::{Client, NoTls, Statement};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use target::Progress;

/// Bound on the time after a cut for which sessions may be answered: a transaction that is acknowledged then was never
/// on the device.
pub(crate) const AFTERWARDS: Duration = Duration::from_secs(1);
/// Between two checkpoints, so that pages are written and recovery begins in the middle of the load.
const CHECKPOINT_EVERY: Duration = Duration::from_millis(700);
/// Before a cut, checkpoint follows on checkpoint for so long.
const RUSH_S: f64 = 1.0;
const POLL: Duration = Duration::from_millis(10);

/// A session's memory, over all cycles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ledger {
    /// Number of the last transaction that was acknowledged; the first one's is 1.
    pub acknowledged: u64,
    /// Number and row of the one that was asked for and not answered.
    pub in_flight: Option<(u64, u32)>,
    /// Number of the last acknowledged transaction that changed each row; 0: none.
    pub rows: Vec<u64>,
}

impl Ledger {
    pub fn new(rows: u32) -> Ledger {
        Ledger { acknowledged: 0, in_flight: None, rows: vec![0; rows as usize] }
    }
}

/// Makes the tables, on the device to the last byte.
pub(super) fn make_tables(
    cluster: &Cluster,
    config: &CrashConfig,
    progress: &dyn Progress,
) -> Result<(), DatabaseError> {
    let (sessions, rows) = (config.sessions, config.rows);
    let sql = format!(
        "CREATE TABLE crash_log (session int NOT NULL, seq bigint NOT NULL, PRIMARY KEY (session, seq)); \
         CREATE TABLE crash_counter (session int PRIMARY KEY, seq bigint NOT NULL); \
         CREATE TABLE crash_rows (session int NOT NULL, slot int NOT NULL, seq bigint NOT NULL, pad text NOT NULL, \
             PRIMARY KEY (session, slot)); \
         INSERT INTO crash_counter SELECT session, 0 FROM generate_series(0, {sessions} - 1) AS session; \
         INSERT INTO crash_rows SELECT session, slot, 0, repeat(md5(slot::text), 30) \
             FROM generate_series(0, {sessions} - 1) AS session, generate_series(0, {rows} - 1) AS slot"
    );
    let mut client = cluster.connect()?;
    execute(&mut client, "making the tables of the crash test", &sql, progress)?;
    execute(&mut client, "making the tables of the crash test", "CHECKPOINT", progress)
}

/// A session's statements.
struct Statements {
    log: Statement,
    count: Statement,
    row: Statement,
}

/// A module that is pulled out of the working device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pulled {
    pub module: u32,
    /// It is put back before power is cut, and is being rebuilt then, or has just been.
    pub comes_back: bool,
}

impl Pulled {
    /// One cut of three finds the device without one of its modules, and one with a module that has just been put back; each
    /// module in turn.
    pub fn in_cycle(cycle: u32, power: &dyn Power) -> Option<Pulled> {
        (power.modules() > 0 && !cycle.is_multiple_of(3))
            .then(|| Pulled { module: cycle / 3 % power.modules().max(1), comes_back: cycle % 3 == 2 })
    }
}

/// Lets the sessions commit, pulls a module if one is named, and cuts power under them. Afterwards no process of the
/// server is left. Seconds of load until the cut.
pub(super) fn run_until_cut(
    cluster: &mut Cluster,
    config: &CrashConfig,
    (cycle, seed): (u32, u64),
    ledgers: &mut [Ledger],
    power: &dyn Power,
    pulled: Option<Pulled>,
    progress: &dyn Progress,
) -> Result<f64, DatabaseError> {
    let mut clients = Vec::new();
    for _ in ledgers.iter() {
        clients.push(prepare(cluster).map_err(DatabaseError::sql("preparing the crash test"))?);
    }
    let mut checkpointer = cluster.connect()?;
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for (session, (ledger, (mut client, statements))) in ledgers.iter_mut().zip(clients).enumerate() {
            let over = &over;
            let mut rng = Rng::stream(seed, &format!("database crash {cycle} {session}"));
            scope.spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    let slot = rng.below(ledger.rows.len() as u64) as u32;
                    let number = ledger.acknowledged + 1;
                    ledger.in_flight = Some((number, slot));
                    // An error is power that is gone, or is looked into afterwards: there are too few transactions.
                    if transaction(&mut client, &statements, session as i32, number as i64, slot as i32).is_err() {
                        break;
                    }
                    ledger.acknowledged = number;
                    ledger.rows[slot as usize] = number;
                    ledger.in_flight = None;
                }
            });
        }
        let over_too = &over;
        // One cut of two strikes in the middle of checkpoints: then the device has more to write than it can, and what
        // it holds back has commits among it.
        let rush_s = if cycle % 2 == 0 { config.load_s - RUSH_S } else { f64::INFINITY };
        scope.spawn(move || {
            let began = Instant::now();
            let mut last = began;
            while !over_too.load(Ordering::Relaxed) {
                if last.elapsed() >= CHECKPOINT_EVERY || began.elapsed().as_secs_f64() >= rush_s {
                    if checkpointer.batch_execute("CHECKPOINT").is_err() {
                        break;
                    }
                    last = Instant::now();
                }
                std::thread::sleep(POLL);
            }
        });
        let cut = cut_after(config.load_s, power, pulled, progress);
        if cut.is_ok() {
            std::thread::sleep(AFTERWARDS);
        }
        over.store(true, Ordering::Relaxed);
        // Sessions that wait for the device end with the server.
        cluster.kill_hard();
        cut
    })
}

/// Pulls a module if one is named, and cuts power. Seconds until then.
pub(crate) fn cut_after(
    load_s: f64,
    power: &dyn Power,
    pulled: Option<Pulled>,
    progress: &dyn Progress,
) -> Result<f64, DatabaseError> {
    let began = Instant::now();
    // Shares of the time at which something happens, the next one last.
    let mut to_come: Vec<(f64, bool)> = match pulled {
        Some(Pulled { comes_back: true, .. }) => vec![(0.8, true), (0.3, false)],
        Some(Pulled { comes_back: false, .. }) => vec![(0.5, false)],
        None => Vec::new(),
    };
    while began.elapsed().as_secs_f64() < load_s {
        if progress.cancelled() {
            return Err(DatabaseError::Cancelled);
        }
        if let Some((Pulled { module, .. }, (_, back))) =
            pulled.zip(to_come.pop_if(|(share, _)| began.elapsed().as_secs_f64() >= load_s * *share))
        {
            let (what, done) = match back {
                true => ("the module can't be put back", power.insert(module)),
                false => ("the module can't be pulled", power.pull(module)),
            };
            done.map_err(|why| DatabaseError::Power { what, why: why.into() })?;
        }
        std::thread::sleep(POLL);
    }
    power.cut().map_err(|why| DatabaseError::Power { what: "power can't be cut", why: why.into() })?;
    Ok(began.elapsed().as_secs_f64())
}

fn prepare(cluster: &Cluster) -> Result<(Client, Statements), postgres::Error> {
    let mut client = cluster.config().connect(NoTls)?;
    let statements = Statements {
        log: client.prepare("INSERT INTO crash_log VALUES ($1, $2)")?,
        count: client.prepare("UPDATE crash_counter SET seq = $2 WHERE session = $1")?,
        row: client.prepare("UPDATE crash_rows SET seq = $3 WHERE session = $1 AND slot = $2")?,
    };
    Ok((client, statements))
}

fn transaction(
    client: &mut Client,
    statements: &Statements,
    session: i32,
    number: i64,
    slot: i32,
) -> Result<(), postgres::Error> {
    let mut transaction = client.transaction()?;
    transaction.execute(&statements.log, &[&session, &number])?;
    transaction.execute(&statements.count, &[&session, &number])?;
    transaction.execute(&statements.row, &[&session, &slot, &number])?;
    transaction.commit()
}
