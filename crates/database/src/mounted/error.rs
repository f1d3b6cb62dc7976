//! Errors of a database's mounted card.

use load::Given;
use std::io;
use std::path::PathBuf;

/// Why there is no directory on the card.
#[derive(Debug, thiserror::Error)]
pub enum MountedError {
    /// Without privileges nothing can be mounted.
    #[error("a database on a card needs root: the card is attached and mounted; use sudo, or review a directory")]
    NotRoot,
    /// The card's server ended.
    #[error("the card's server ended: {said}")]
    Server {
        /// Its last words.
        said: Given,
    },
    /// The card's server ended while it was needed.
    #[error(
        "the card's server ended ({status}), so every request failed; a kill may be for want of memory; it said: {said}"
    )]
    Ended {
        /// The exit code or signal that it ended with.
        status: std::process::ExitStatus,
        /// Its last words.
        said: Given,
    },
    /// The card's server does not become ready.
    #[error("the card's server was not ready after {seconds} s; what it said is in {}", .log.display())]
    NotReady {
        /// How long it was waited for.
        seconds: u64,
        /// Where its words are.
        log: PathBuf,
    },
    /// The file can't be made a disk, or a program of the system is missing or says no.
    #[error(transparent)]
    Attach(#[from] attach::AttachError),
    /// The file can't be looked at.
    #[error(transparent)]
    Source(#[from] attach::SourceError),
    /// The server does not do what it is told.
    #[error(transparent)]
    Control(#[from] control::ClientError),
    /// The system says no.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file or directory that was worked on.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

impl MountedError {
    pub(crate) fn io(path: &std::path::Path) -> impl FnOnce(io::Error) -> MountedError {
        let path = path.to_owned();
        move |source| MountedError::Io { path, source }
    }
}
