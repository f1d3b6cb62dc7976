//! Errors of a disk that a server makes of its card.

use std::io;
use std::path::PathBuf;
use ublk::UblkError;

/// Why a card does not become a disk.
#[derive(Debug, thiserror::Error)]
pub enum DiskError {
    /// The driver does not do it.
    #[error("--ublk: {0}")]
    Driver(#[from] UblkError),
    /// The volume was deleted meanwhile.
    #[error("--ublk: the volume was deleted")]
    NoVolume,
    /// The system gives no thread or descriptor.
    #[error("--ublk: the system refuses what a disk needs: {0}")]
    System(io::Error),
    /// Another server has the disk.
    #[error("--ublk: {} is this card's, and process {pid} serves it", .device.display())]
    Taken {
        /// The path of the disk.
        device: PathBuf,
        /// The process of its server.
        pid: i32,
    },
    /// The writes that outlive the server have no place.
    #[error("--ublk: can't keep what is not flushed in {}: {source}", .path.display())]
    Journal {
        /// The file that keeps them.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// The disk was told that something is written, and nobody knows what.
    #[error(
        "--ublk: {} waits for this card, but the writes that it believes done can't be read from {}: {source}; what was not \
         flushed is lost, so give it up: flashrig detach {}",
        .device.display(), .path.display(), .device.display()
    )]
    Lost {
        /// The path of the disk.
        device: PathBuf,
        /// The file that keeps them.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// The card did not take what its last server had promised.
    #[error("--ublk: {} waits for this card, which does not take the writes that it believes done: {error}", .device.display())]
    Repeat {
        /// The path of the disk.
        device: PathBuf,
        /// The card's answer.
        error: live::ReplyError,
    },
    /// The card has shrunk.
    #[error("--ublk: {} waits for this card, and is larger than it: give it up with flashrig detach {}", .device.display(), .device.display())]
    Smaller {
        /// The path of the disk.
        device: PathBuf,
    },
}
