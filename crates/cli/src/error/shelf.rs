//! Errors of `flashrig shelf`.

use std::path::PathBuf;
use thiserror::Error;

/// A file or drive that a shelf can't export.
#[derive(Debug, Error)]
pub enum ShelfFailure {
    /// It can't be opened, or has no room.
    #[error(transparent)]
    Disk(#[from] serve::RawDiskError),
    /// Its name or its reservations are not known.
    #[error(transparent)]
    State(#[from] serve::ShelfStateError),
    /// A drive without a serial number would get the state of another one that comes under its name.
    #[error("{}: has no lasting name in /dev/disk/by-id: say where its state is kept (--state DIR)", .path.display())]
    NoStableName { path: PathBuf },
    /// Two modules would have one state.
    #[error(
        "{} and {} would keep their states in one place, {}: give one of them another name",
        .first.display(), .second.display(), .state.display()
    )]
    SameState { first: PathBuf, second: PathBuf, state: PathBuf },
}
