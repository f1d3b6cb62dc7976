//! MariaDB and MySQL under power cuts ([`crate::crash`]).

use super::client::Session;
use super::server::{DATABASE, Server};
use crate::crash::{Commits, CrashServer, READING, Reader, complain, finding};
use crate::{CrashConfig, DatabaseError};
use results::CrashCycle;
use std::path::PathBuf;
use std::time::Duration;
use target::Progress;

/// Rows that one statement inserts.
const ROWS_AT_ONCE: u32 = 500;

impl Commits for Session {
    fn commit(&mut self, session: usize, number: u64, slot: u32) -> bool {
        let sql = format!(
            "BEGIN; INSERT INTO crash_log VALUES ({session}, {number}); \
             UPDATE crash_counter SET seq = {number} WHERE session = {session}; \
             UPDATE crash_rows SET seq = {number} WHERE session = {session} AND slot = {slot}; \
             COMMIT; SELECT {number};"
        );
        self.row(&sql) == Some(number.to_string())
    }
}

impl CrashServer for Server {
    const NAME: &'static str = "the server";
    const CHECKERS: &'static str = "CHECK TABLE, innochecksum";
    type Session = Session;

    fn data(&self) -> PathBuf {
        Server::data(self)
    }

    fn is_running(&mut self) -> bool {
        Server::is_running(self)
    }

    fn start(
        &mut self,
        settings: &[(String, String)],
        patience: Duration,
        progress: &dyn Progress,
    ) -> Result<Duration, DatabaseError> {
        Server::start(self, settings, patience, progress)
    }

    fn kill_hard(&mut self) {
        Server::kill_hard(self);
    }

    fn make_tables(&self, config: &CrashConfig, _progress: &dyn Progress) -> Result<(), DatabaseError> {
        let mut sql = String::from(
            "CREATE TABLE crash_log (session INT NOT NULL, seq BIGINT NOT NULL, PRIMARY KEY (session, seq)) ENGINE=InnoDB; \
             CREATE TABLE crash_counter (session INT PRIMARY KEY, seq BIGINT NOT NULL) ENGINE=InnoDB; \
             CREATE TABLE crash_rows (session INT NOT NULL, slot INT NOT NULL, seq BIGINT NOT NULL, pad VARCHAR(1000) NOT NULL, \
             PRIMARY KEY (session, slot)) ENGINE=InnoDB; ",
        );
        for session in 0..config.sessions {
            sql.push_str(&format!("INSERT INTO crash_counter VALUES ({session}, 0); "));
        }
        let mut made = Session::open(&self.client(), DATABASE)?;
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

    fn session(&self) -> Result<Session, DatabaseError> {
        Session::open(&self.client(), DATABASE)
    }

    fn reader(&self) -> Result<Reader<'_>, DatabaseError> {
        Ok(Box::new(|sql| {
            let rows = self.client().ask(DATABASE, READING, sql)?;
            let numbers = rows.iter().map(|row| {
                let (session, seq) = row.split_once('\t')?;
                Some((session.parse().ok()?, seq.parse().ok()?))
            });
            let damaged =
                || DatabaseError::Program { program: READING.into(), said: "a row is no pair of numbers".into() };
            numbers.collect::<Option<Vec<_>>>().ok_or_else(damaged)
        }))
    }

    fn check(&mut self, done: &mut CrashCycle) -> Result<(), DatabaseError> {
        let checked = self.client().ask(
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
            Err(error) => done.complaints.push(finding(error)?),
        }
        self.stop()?;
        for table in ["crash_log", "crash_counter", "crash_rows"] {
            let file = self.data().join(DATABASE).join(format!("{table}.ibd"));
            let mut checksums = self.command(&self.programs().checksums);
            complain(done, "innochecksum", checksums.arg(file))?;
        }
        Ok(())
    }
}
