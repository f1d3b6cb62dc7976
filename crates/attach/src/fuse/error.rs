//! What can go wrong, and what the kernel is told of it.

use fuser::Errno;
use live::ReplyError;
use std::io;
use std::path::PathBuf;

/// Why a card is not mounted, or not unmounted.
#[derive(Debug, thiserror::Error)]
pub enum FuseError {
    /// The kernel has no FUSE.
    #[error("/dev/fuse: {0}; load it with: modprobe fuse")]
    NoFuse(io::Error),
    /// The directory.
    #[error("{}: {source}", .mountpoint.display())]
    Mountpoint {
        /// Which.
        mountpoint: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// There is a file system already.
    #[error("{}: a file system is mounted there already; unmount it or name another directory", .mountpoint.display())]
    Taken {
        /// Which.
        mountpoint: PathBuf,
    },
    /// A server died and left its mount.
    #[error(
        "{}: a server that has died left its mount there; clean up with: flashrig detach {}",
        .mountpoint.display(), .mountpoint.display()
    )]
    Dead {
        /// Which.
        mountpoint: PathBuf,
    },
    /// The kernel or fusermount refuses.
    #[error("can't mount {}: {source}", .mountpoint.display())]
    Mount {
        /// Where.
        mountpoint: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Something is open there.
    #[error("{}: is in use; detach what uses it with: flashrig detach {}", .mountpoint.display(), .mountpoint.display())]
    Busy {
        /// Where.
        mountpoint: PathBuf,
    },
    /// The kernel refuses.
    #[error("can't unmount {}: {source}", .mountpoint.display())]
    Unmount {
        /// Where.
        mountpoint: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// What the kernel is told.
pub(in crate::fuse) fn errno(error: ReplyError) -> Errno {
    match error {
        ReplyError::OutOfRange => Errno::EINVAL,
        ReplyError::ReadOnly => Errno::EROFS,
        ReplyError::Unreadable { .. } | ReplyError::NoPower | ReplyError::Halted => Errno::EIO,
    }
}
