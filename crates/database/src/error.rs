//! Errors, each in one line with its remedy.

use load::Given;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// An error that keeps a result from being had or completed.
#[derive(Debug, Error)]
#[allow(missing_docs)]
pub enum DatabaseError {
    #[error(
        "PostgreSQL is not installed (looked in {looked}): install it (Debian: postgresql-15), or name its binaries with \
         --pg-bin"
    )]
    NoPostgres { looked: Given },
    #[error("{program} is not installed: a review with MySQL needs it (Debian: {package})")]
    NoProgram { program: &'static str, package: &'static str },
    /// Some are there, and not all.
    #[error("{} has no {missing}: PostgreSQL's server and pgbench are needed (Debian: postgresql-15)", .dir.display())]
    Incomplete { dir: PathBuf, missing: &'static str },
    #[error("{} has PostgreSQL {found}, and at least {least} is needed (Debian: postgresql-15)", .dir.display())]
    TooOld {
        dir: PathBuf,
        found: Given,
        /// The oldest that will do.
        least: u32,
    },
    /// Something else than PostgreSQL.
    #[error("{} does not say which version of its database it is: it says {said:?}", .program.display())]
    NoVersion { program: PathBuf, said: Given },
    /// Not a directory.
    #[error("{}: no directory; a database is reviewed in a directory on the mounted device", .0.display())]
    NoDirectory(PathBuf),
    /// Can't be written to.
    #[error("{}: can't make a directory there: {source}", .dir.display())]
    NotWritable { dir: PathBuf, source: io::Error },
    /// Too little room.
    #[error(
        "{}: {free_mib} MiB are free, and {needed_mib} MiB are needed: make room, or ask for less with --db-size", .dir.display()
    )]
    Full { dir: PathBuf, free_mib: u64, needed_mib: u64 },
    /// Too little memory for a device whose contents lie in it.
    #[error(
        "{available_mib} MiB of memory are available, and the device, whose contents lie in memory, needs {device_mib} MiB: \
         ask for a smaller --size"
    )]
    DeviceBeyondMemory { available_mib: u64, device_mib: u64 },
    /// Too little memory for the database and a device whose contents lie in memory.
    #[error(
        "{available_mib} MiB of memory are available; the database needs {needed_mib} MiB and the device, whose contents lie \
         in memory, {device_mib} MiB: ask for a smaller --size, or smaller --shared-buffers"
    )]
    MemoryOfDevice {
        available_mib: u64,
        /// Needed by the database.
        needed_mib: u64,
        /// Needed by the device.
        device_mib: u64,
    },
    /// Too little memory.
    #[error(
        "{available_mib} MiB of memory are available, and {needed_mib} MiB are needed for {sessions} sessions and the \
         shared buffers: ask for fewer --sessions or smaller --shared-buffers"
    )]
    Memory { available_mib: u64, needed_mib: u64, sessions: u32 },
    /// Nobody to run as.
    #[error("the database does not run as root, and there is neither a user postgres nor nobody: add one")]
    NoAccount,
    /// The unprivileged user can't get there.
    #[error(
        "{}: user {user} can't get there: every directory above it must let others pass (chmod o+x)", .dir.display()
    )]
    Unreachable { dir: PathBuf, user: Given },
    #[error("{0}")]
    Parameter(Given),
    /// No power to cut.
    #[error(
        "{title}: there is no power to cut. A crash test needs a card that this program serves: killing the database would \
         only test the database, not the device"
    )]
    NoPower { title: Given },
    /// A program failed.
    #[error("{program} failed: {said}")]
    Program {
        program: Given,
        /// Its last words.
        said: Given,
    },
    /// The server does not start, or has died.
    #[error("the database's server {what}: {said} (its log: {})", .log.display())]
    Server {
        what: &'static str,
        /// Its last words.
        said: Given,
        log: PathBuf,
    },
    #[error("{what}: {source}")]
    Sql { what: Given, source: postgres::Error },
    #[error("{}: {source}", .path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{what}: {why}")]
    Power { what: &'static str, why: Given },
    #[error("stopped by Ctrl-C")]
    Cancelled,
}

impl DatabaseError {
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> DatabaseError {
        let path = path.into();
        |source| DatabaseError::Io { path, source }
    }

    pub(crate) fn sql(what: impl Into<Given>) -> impl FnOnce(postgres::Error) -> DatabaseError {
        let what = what.into();
        |source| DatabaseError::Sql { what, source }
    }
}

/// The database's own words, which [`postgres::Error`] keeps behind "db error".
pub(crate) fn words(error: &postgres::Error) -> String {
    error.as_db_error().map_or_else(|| error.to_string(), |db| db.message().to_owned())
}
