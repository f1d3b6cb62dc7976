//! Errors of a mount, and the error numbers that the kernel gets for failed requests.

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
    /// The directory can't be used as a mountpoint.
    #[error("{}: {source}", .mountpoint.display())]
    Mountpoint {
        /// The directory that was named.
        mountpoint: PathBuf,
        /// The system's answer when it was looked at.
        source: io::Error,
    },
    /// There is a file system already.
    #[error("{}: a file system is mounted there already; unmount it or name another directory", .mountpoint.display())]
    Taken {
        /// The directory that is a mountpoint already.
        mountpoint: PathBuf,
    },
    /// A server died and left its mount.
    #[error(
        "{}: a server that has died left its mount there; clean up with: flashrig detach {}",
        .mountpoint.display(), .mountpoint.display()
    )]
    Dead {
        /// The directory that the dead server's mount still covers.
        mountpoint: PathBuf,
    },
    /// The kernel or fusermount refuses.
    #[error("can't mount {}: {source}", .mountpoint.display())]
    Mount {
        /// The directory that the card was to be mounted on.
        mountpoint: PathBuf,
        /// The reason that was given for the refusal.
        source: io::Error,
    },
    /// Something is open there.
    #[error("{}: is in use; detach what uses it with: flashrig detach {}", .mountpoint.display(), .mountpoint.display())]
    Busy {
        /// The directory of the mount that is in use.
        mountpoint: PathBuf,
    },
    /// The kernel refuses.
    #[error("can't unmount {}: {source}", .mountpoint.display())]
    Unmount {
        /// The directory of the mount that stays.
        mountpoint: PathBuf,
        /// The reason that was given for the refusal.
        source: io::Error,
    },
}

/// The error number that the kernel gets for a request that failed.
pub(in crate::fuse) fn errno(error: ReplyError) -> Errno {
    match error {
        ReplyError::OutOfRange => Errno::EINVAL,
        ReplyError::ReadOnly => Errno::EROFS,
        ReplyError::NoSpace => Errno::ENOSPC,
        ReplyError::Unreadable { .. } | ReplyError::NoPower | ReplyError::Halted => Errno::EIO,
    }
}
