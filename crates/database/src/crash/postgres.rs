//! PostgreSQL under power cuts.

use super::config::CrashConfig;
use super::server::{Beside, Commits, CrashServer, Reader};
use super::{READING, complain};
use crate::clients::execute;
use crate::cluster::DATABASE;
use crate::{Cluster, DatabaseError};
use postgres::{Client, NoTls, Statement};
use results::CrashCycle;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use target::Progress;

/// Between two checkpoints, so that pages are written and recovery begins in the middle of the load.
const CHECKPOINT_EVERY: Duration = Duration::from_millis(700);
/// Before a cut, checkpoint follows on checkpoint for so long.
const RUSH_S: f64 = 1.0;
const POLL: Duration = Duration::from_millis(10);

/// A connection, and a session's statements.
pub(crate) struct Session {
    client: Client,
    log: Statement,
    count: Statement,
    row: Statement,
}

impl Session {
    fn open(cluster: &Cluster) -> Result<Session, postgres::Error> {
        let mut client = cluster.config().connect(NoTls)?;
        let log = client.prepare("INSERT INTO crash_log VALUES ($1, $2)")?;
        let count = client.prepare("UPDATE crash_counter SET seq = $2 WHERE session = $1")?;
        let row = client.prepare("UPDATE crash_rows SET seq = $3 WHERE session = $1 AND slot = $2")?;
        Ok(Session { client, log, count, row })
    }

    fn transaction(&mut self, session: i32, number: i64, slot: i32) -> Result<(), postgres::Error> {
        let mut transaction = self.client.transaction()?;
        transaction.execute(&self.log, &[&session, &number])?;
        transaction.execute(&self.count, &[&session, &number])?;
        transaction.execute(&self.row, &[&session, &slot, &number])?;
        transaction.commit()
    }
}

impl Commits for Session {
    fn commit(&mut self, session: usize, number: u64, slot: u32) -> bool {
        self.transaction(session as i32, number as i64, slot as i32).is_ok()
    }
}

impl CrashServer for Cluster {
    const NAME: &'static str = "PostgreSQL";
    const CHECKERS: &'static str = "pg_amcheck, pg_checksums";
    type Session = Session;

    fn data(&self) -> PathBuf {
        Cluster::data(self)
    }

    fn is_running(&mut self) -> bool {
        Cluster::is_running(self)
    }

    fn start(
        &mut self,
        settings: &[(String, String)],
        patience: Duration,
        progress: &dyn Progress,
    ) -> Result<Duration, DatabaseError> {
        Cluster::start(self, settings, patience, progress)
    }

    fn kill_hard(&mut self) {
        Cluster::kill_hard(self);
    }

    fn make_tables(&self, config: &CrashConfig, progress: &dyn Progress) -> Result<(), DatabaseError> {
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
        let mut client = self.connect()?;
        execute(&mut client, "making the tables of the crash test", &sql, progress)?;
        execute(&mut client, "making the tables of the crash test", "CHECKPOINT", progress)
    }

    fn session(&self) -> Result<Session, DatabaseError> {
        Session::open(self).map_err(DatabaseError::sql("preparing the crash test"))
    }

    /// Checkpoints, so that pages are written and recovery begins in the middle of the load.
    fn beside(&self, cycle: u32, config: &CrashConfig) -> Result<Option<Beside>, DatabaseError> {
        let mut checkpointer = self.connect()?;
        // One cut of two strikes in the middle of checkpoints: then the device has more to write than it can, and what
        // it holds back has commits among it.
        let rush_s = if cycle.is_multiple_of(2) { config.load_s - RUSH_S } else { f64::INFINITY };
        Ok(Some(Box::new(move |over| {
            let began = Instant::now();
            let mut last = began;
            while !over.load(Ordering::Relaxed) {
                if last.elapsed() >= CHECKPOINT_EVERY || began.elapsed().as_secs_f64() >= rush_s {
                    if checkpointer.batch_execute("CHECKPOINT").is_err() {
                        break;
                    }
                    last = Instant::now();
                }
                std::thread::sleep(POLL);
            }
        })))
    }

    fn reader(&self) -> Result<Reader<'_>, DatabaseError> {
        let mut client = self.connect()?;
        // No index decides what is seen.
        let scans = "SET enable_indexscan = off; SET enable_indexonlyscan = off";
        client.batch_execute(scans).map_err(DatabaseError::sql(READING))?;
        Ok(Box::new(move |sql| {
            let rows = client.query(sql, &[]).map_err(DatabaseError::sql(READING))?;
            Ok(rows.iter().map(|row| (row.get::<_, i32>(0).into(), row.get::<_, i64>(1) as u64)).collect())
        }))
    }

    fn check(&mut self, done: &mut CrashCycle) -> Result<(), DatabaseError> {
        let mut amcheck = self.client_command("pg_amcheck");
        amcheck.args(["--install-missing", "--heapallindexed"]);
        complain(done, "pg_amcheck", amcheck.args(["-d", DATABASE]))?;
        self.stop()?;
        let mut checksums = self.command("pg_checksums");
        complain(done, "pg_checksums", checksums.args(["--check", "-D"]).arg(Cluster::data(self)))
    }
}
