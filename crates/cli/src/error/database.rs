//! Errors of databases on a device.

use crate::units::capacity;
use std::path::PathBuf;
use thiserror::Error;

/// A database that does not come to its end.
#[derive(Debug, Error)]
pub enum DatabaseFailure {
    /// The database can't be run.
    #[error(transparent)]
    Database(#[from] database::DatabaseError),
    /// The card that the database runs on can't be had.
    #[error(transparent)]
    Mounted(#[from] database::mounted::MountedError),
    /// No file system fits on the card.
    #[error("--size is too small for a file system: at least {}", capacity(*.needed_bytes))]
    CardTooSmall { needed_bytes: u64 },
    /// The database ended before everything was measured.
    #[error("{source}; what was measured until then is in {}", .partial.display())]
    DatabaseEnded { partial: PathBuf, source: database::DatabaseError },
}
