//! What can go wrong, each in one line with its remedy.

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why there is no result, or only a part of one.
#[derive(Debug, Error)]
pub enum DatabaseError {
    /// No binaries.
    #[error(
        "PostgreSQL is not installed (looked in {looked}): install it (Debian: postgresql-15), or name its binaries with \
         --pg-bin"
    )]
    NoPostgres {
        /// Where it was looked for.
        looked: String,
    },
    /// Some are there, and not all.
    #[error("{} has no {missing}: PostgreSQL's server and pgbench are needed (Debian: postgresql-15)", .dir.display())]
    Incomplete {
        /// Where.
        dir: PathBuf,
        /// Which program.
        missing: &'static str,
    },
    /// Too old.
    #[error("{} has PostgreSQL {found}, and at least {least} is needed (Debian: postgresql-15)", .dir.display())]
    TooOld {
        /// Where.
        dir: PathBuf,
        /// Its version.
        found: String,
        /// The oldest that will do.
        least: u32,
    },
    /// Something else than PostgreSQL.
    #[error("{} does not say which version of PostgreSQL it is: it says {said:?}", .program.display())]
    NoVersion {
        /// Which program.
        program: PathBuf,
        /// What it said.
        said: String,
    },
    /// Not a directory.
    #[error("{}: no directory; a database is reviewed in a directory on the mounted device", .0.display())]
    NoDirectory(PathBuf),
    /// Can't be written to.
    #[error("{}: can't make a directory there: {source}", .dir.display())]
    NotWritable {
        /// Which.
        dir: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Too little room.
    #[error(
        "{}: {free_mib} MiB are free, and {needed_mib} MiB are needed: make room, or ask for less with --db-size", .dir.display()
    )]
    Full {
        /// Which.
        dir: PathBuf,
        /// Free.
        free_mib: u64,
        /// Needed.
        needed_mib: u64,
    },
    /// Too little memory for a device whose contents lie in it.
    #[error(
        "{available_mib} MiB of memory are available, and the device, whose contents lie in memory, needs {device_mib} MiB: \
         ask for a smaller --size"
    )]
    DeviceBeyondMemory {
        /// Available.
        available_mib: u64,
        /// Needed.
        device_mib: u64,
    },
    /// Too little memory for the database and a device whose contents lie in memory.
    #[error(
        "{available_mib} MiB of memory are available; PostgreSQL needs {needed_mib} MiB and the device, whose contents lie \
         in memory, {device_mib} MiB: ask for a smaller --size, or smaller --shared-buffers"
    )]
    MemoryOfDevice {
        /// Available.
        available_mib: u64,
        /// Needed by PostgreSQL.
        needed_mib: u64,
        /// Needed by the device.
        device_mib: u64,
    },
    /// Too little memory.
    #[error(
        "{available_mib} MiB of memory are available, and {needed_mib} MiB are needed for {sessions} sessions and the \
         shared buffers: ask for fewer --sessions or smaller --shared-buffers"
    )]
    Memory {
        /// Available.
        available_mib: u64,
        /// Needed.
        needed_mib: u64,
        /// Most sessions.
        sessions: u32,
    },
    /// Nobody to run as.
    #[error("PostgreSQL does not run as root, and there is neither a user postgres nor nobody: add one")]
    NoAccount,
    /// The unprivileged user can't get there.
    #[error(
        "{}: user {user} can't get there: every directory above it must let others pass (chmod o+x)", .dir.display()
    )]
    Unreachable {
        /// Which.
        dir: PathBuf,
        /// Who.
        user: String,
    },
    /// A parameter.
    #[error("{0}")]
    Parameter(String),
    /// No power to cut.
    #[error(
        "{title}: there is no power to cut. A crash test needs a card that this program serves: killing PostgreSQL would \
         only test PostgreSQL, not the device"
    )]
    NoPower {
        /// What it is.
        title: String,
    },
    /// A program failed.
    #[error("{program} failed: {said}")]
    Program {
        /// Which.
        program: String,
        /// Its last words.
        said: String,
    },
    /// The server does not start, or has died.
    #[error("PostgreSQL {what}: {said} (its log: {})", .log.display())]
    Server {
        /// What it did not do.
        what: &'static str,
        /// Its last words.
        said: String,
        /// Where it says more.
        log: PathBuf,
    },
    /// A statement.
    #[error("{what}: {source}")]
    Sql {
        /// What was being done.
        what: String,
        /// Why not.
        source: postgres::Error,
    },
    /// A file.
    #[error("{}: {source}", .path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Power.
    #[error("{what}: {why}")]
    Power {
        /// What was asked of the device.
        what: &'static str,
        /// Why not.
        why: String,
    },
    /// Ctrl-C.
    #[error("stopped by Ctrl-C")]
    Cancelled,
}

impl DatabaseError {
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> DatabaseError {
        let path = path.into();
        |source| DatabaseError::Io { path, source }
    }

    pub(crate) fn sql(what: impl Into<String>) -> impl FnOnce(postgres::Error) -> DatabaseError {
        let what = what.into();
        |source| DatabaseError::Sql { what, source }
    }
}

/// The database's own words, which [`postgres::Error`] keeps behind "db error".
pub(crate) fn words(error: &postgres::Error) -> String {
    error.as_db_error().map_or_else(|| error.to_string(), |db| db.message().to_owned())
}
