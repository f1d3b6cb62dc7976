//! Errors of attaching and detaching. Each message is one line that says what to do.

use crate::quoted::Quoted;
use crate::source::SourceError;
use std::io;
use std::path::PathBuf;

/// An error that keeps something from being attached or detached.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum AttachError {
    /// An error of the source that was named.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// Only root makes devices.
    #[error("only root may {verb} devices: sudo flashrig {verb} ...")]
    NotRoot { verb: &'static str },
    /// The program is not there.
    #[error("{program} is missing: install {package}")]
    NoProgram { program: &'static str, package: &'static str },
    /// It says no.
    #[error("{command}: {said}")]
    Program {
        /// As it was called.
        command: Quoted,
        /// Its last line.
        said: Quoted,
    },
    /// A kernel without the driver.
    #[error(
        "this kernel has no nbd driver (modprobe nbd finds none): serve the card with --fuse DIR and attach that: \
         flashrig attach DIR"
    )]
    NoNbd,
    /// All of them are taken.
    #[error("all nbd devices are in use: detach one, or load the driver with more: modprobe nbd nbds_max=64")]
    NoFreeNbd,
    /// A second device on the same file would have a cache of its own.
    #[error("{}: is attached already as {}", .path.display(), .device.display())]
    Already { path: PathBuf, device: PathBuf },
    /// Its record can't be written, so it was detached again.
    #[error("can't keep a record in {}: {source}", .folder.display())]
    Record { folder: PathBuf, source: io::Error },
    /// It is none of ours.
    #[error("{}: was not attached by flashrig: nothing was detached (flashrig attach --list shows what was)", .path.display())]
    NotOurs { path: PathBuf },
    /// Somebody uses it.
    #[error("{} is in use: {reasons}", .device.display())]
    InUse {
        device: PathBuf,
        /// By whom, and what to do.
        reasons: Quoted,
    },
    /// The kernel has not let go of it.
    #[error("{} is still open somewhere: it goes when the last who has it open closes it", .device.display())]
    StillThere { device: PathBuf },
    /// A mount of a server that has died.
    #[error("can't unmount {}: {source}", .mountpoint.display())]
    Unmount { mountpoint: PathBuf, source: io::Error },
    /// It has a server, or never had one.
    #[error("{}: is no disk that waits for its server: nothing was given up", .path.display())]
    NotWaiting { path: PathBuf },
    /// The ublk driver says no.
    #[error(transparent)]
    Ublk(#[from] ublk::UblkError),
    /// An error of identifying the device.
    #[error(transparent)]
    Identify(#[from] identify::IdentifyError),
}
