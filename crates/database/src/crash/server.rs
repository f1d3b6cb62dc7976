//! A database server whose power is cut, whichever it is.

use super::config::CrashConfig;
use crate::DatabaseError;
use results::CrashCycle;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use target::Progress;

/// The work of a server beside its sessions, until it is told that all is over.
pub(crate) type Beside = Box<dyn FnOnce(&AtomicBool) + Send>;

/// Answers a statement with its rows of two numbers.
pub(crate) type Reader<'a> = Box<dyn FnMut(&str) -> Result<Vec<(i64, u64)>, DatabaseError> + 'a>;

/// A connection that commits transactions.
pub(crate) trait Commits: Send {
    /// Commits a transaction of a session: its number goes into the log, the counter and a row. False: it was not
    /// acknowledged.
    fn commit(&mut self, session: usize, number: u64, slot: u32) -> bool;
}

/// See the module.
pub(crate) trait CrashServer {
    /// Its name in complaints.
    const NAME: &'static str;
    /// The programs that look at what the comparison does not read.
    const CHECKERS: &'static str;
    type Session: Commits;

    /// The directory of its data.
    fn data(&self) -> PathBuf;

    fn is_running(&mut self) -> bool;

    /// Starts it and waits until it answers, recovery included: so long did it take.
    fn start(
        &mut self,
        settings: &[(String, String)],
        patience: Duration,
        progress: &dyn Progress,
    ) -> Result<Duration, DatabaseError>;

    /// Ends every process of it without letting it do anything more.
    fn kill_hard(&mut self);

    /// Makes the tables of the test.
    fn make_tables(&self, config: &CrashConfig, progress: &dyn Progress) -> Result<(), DatabaseError>;

    fn session(&self) -> Result<Self::Session, DatabaseError>;

    /// The work beside the sessions of a cycle, if there is some.
    fn beside(&self, _cycle: u32, _config: &CrashConfig) -> Result<Option<Beside>, DatabaseError> {
        Ok(None)
    }

    /// Asks for rows of a session's number and a transaction's, on one connection.
    fn reader(&self) -> Result<Reader<'_>, DatabaseError>;

    /// Runs the checkers, which complain, and stops the server.
    fn check(&mut self, done: &mut CrashCycle) -> Result<(), DatabaseError>;
}
