//! Errors of opening, preparing and measuring a drive.
//!
//! Each message is one line that names the file or device and says what to do about it.

use crate::nvme::PurgeError;
use crate::payload::Fault;
use crate::size;
use device::Operation;
use std::io;
use std::path::{Path, PathBuf};
use target::TargetError;

/// See the module.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum DriveError {
    /// Nothing is there.
    #[error("{}: there is no such file or device", .path.display())]
    Missing { path: PathBuf },
    #[error("{}: no permission to read and write it: run as its owner or as root", .path.display())]
    Permission { path: PathBuf },
    /// Its file system is mounted read-only, or the device is write-protected.
    #[error("{}: is read-only: choose another file, or remount its file system writable", .path.display())]
    ReadOnly { path: PathBuf },
    /// Neither a file nor a block device.
    #[error("{}: is a directory: give a file in it, or a block device", .path.display())]
    Directory { path: PathBuf },
    /// Something else than what was to be opened.
    #[error("{}: is not {wanted}", .path.display())]
    Kind {
        path: PathBuf,
        /// `a regular file` or `a block device`.
        wanted: &'static str,
    },
    /// Mounted, or part of something that is.
    #[error("{}: is in use (mounted, swap, or part of an array or volume): unmount it first", .path.display())]
    InUse { path: PathBuf },
    /// A file that is there must not be overwritten.
    #[error("{}: exists already, and flashrig overwrites no file that it did not make: give another name", .path.display())]
    Exists { path: PathBuf },
    /// Was not made by this program.
    #[error("{}: was not made by flashrig, so it is neither overwritten nor removed: give another name", .path.display())]
    Foreign { path: PathBuf },
    /// The file system is in memory, or can't bypass the page cache.
    #[error("{}: its file system can't read and write directly, so memory would be measured: give a file on a disk", .path.display())]
    NotDirect { path: PathBuf },
    /// The file system has no room.
    #[error("{}: the file system has {} left, {} are needed: give a smaller --size", .path.display(), size::of(*.left_bytes), size::of(*.needed_bytes))]
    NoSpace { path: PathBuf, left_bytes: u64, needed_bytes: u64 },
    /// An empty file or device.
    #[error("{}: holds {}, at least {} are needed: give a larger file or device", .path.display(), size::of(*.bytes), size::of(*.needed_bytes))]
    TooSmall { path: PathBuf, bytes: u64, needed_bytes: u64 },
    /// The load does not fit.
    #[error("{}: the load touches {}, but only {} are there: use less of it", .path.display(), size::of(*.footprint_bytes), size::of(*.capacity_bytes))]
    Footprint { path: PathBuf, footprint_bytes: u64, capacity_bytes: u64 },
    /// Requests that direct I/O can't do.
    #[error("{}: takes multiples of {align_bytes} bytes, but {len_bytes} bytes at {offset_bytes} were asked for: use a larger block", .path.display())]
    Misaligned {
        path: PathBuf,
        align_bytes: u32,
        /// First byte of the request.
        offset_bytes: u64,
        len_bytes: u32,
    },
    /// Too many large requests at once.
    #[error("{requests} requests of {} at once need more than {} of memory: ask for fewer or smaller ones", size::of(*.request_bytes), size::of(*.limit_bytes))]
    Memory { requests: u32, request_bytes: u64, limit_bytes: u64 },
    /// A share that is none.
    #[error("fill {fill} is not between 0 and 1 (100 %)")]
    Fill { fill: f64 },
    /// No time to measure.
    #[error("a real device is measured for a stated time: give the seconds, above 0")]
    Seconds,
    /// The load can't be built.
    #[error(transparent)]
    Load(#[from] load::LoadError),
    /// The kernel gives no ring.
    #[error("{}: the kernel refuses io_uring ({source}): Linux 5.11 or later is needed, with kernel.io_uring_disabled=0 and, in a container, a seccomp profile that permits it", .path.display())]
    Ring { path: PathBuf, source: io::Error },
    /// A request failed.
    #[error("{}: {} of {len_bytes} bytes at {offset_bytes} failed: {source}: {}", .path.display(), word(*.op), remedy(.source))]
    Request { path: PathBuf, op: Operation, offset_bytes: u64, len_bytes: u32, source: io::Error },
    /// A request did less than it was asked for.
    #[error("{}: {} of {len_bytes} bytes at {offset_bytes} ended after {done_bytes} bytes: it has become smaller, or is failing: see dmesg", .path.display(), word(*.op))]
    Short { path: PathBuf, op: Operation, offset_bytes: u64, len_bytes: u32, done_bytes: u32 },
    /// A sector was read with other contents than were written.
    #[error("{}: what was read at {offset_bytes} {fault}: the device returns wrong data, do not trust it", .path.display())]
    Verify { path: PathBuf, offset_bytes: u64, fault: Fault },
    /// Something that was not a request of a load.
    #[error("{}: {doing} failed: {source}: {}", .path.display(), remedy(.source))]
    Doing {
        path: PathBuf,
        /// The step that failed, as in `reserving space`.
        doing: &'static str,
        source: io::Error,
    },
    /// It can't be emptied by the command that was asked for.
    #[error("{}: {source}", .path.display())]
    Purge { path: PathBuf, source: PurgeError },
    /// A person asked to stop.
    #[error("stopped")]
    Cancelled,
}

impl DriveError {
    /// An error of opening or creating `path`.
    pub(crate) fn opening(path: &Path, source: io::Error) -> DriveError {
        let path = path.to_owned();
        match source.raw_os_error() {
            Some(libc::ENOENT | libc::ENOTDIR) => DriveError::Missing { path },
            Some(libc::EACCES | libc::EPERM) => DriveError::Permission { path },
            Some(libc::EROFS) => DriveError::ReadOnly { path },
            Some(libc::EISDIR) => DriveError::Directory { path },
            Some(libc::EBUSY) => DriveError::InUse { path },
            Some(libc::EEXIST) => DriveError::Exists { path },
            Some(libc::EINVAL) => DriveError::NotDirect { path },
            _ => DriveError::Doing { path, doing: "opening", source },
        }
    }
}

impl From<DriveError> for TargetError {
    fn from(error: DriveError) -> TargetError {
        match error {
            DriveError::Cancelled => TargetError::Cancelled,
            other => TargetError::Real(Box::new(other)),
        }
    }
}

fn word(op: Operation) -> &'static str {
    match op {
        Operation::Read => "a read",
        Operation::Write => "a write",
        Operation::Flush => "a flush",
        Operation::Trim => "a discard",
    }
}

fn remedy(error: &io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(libc::ENOSPC | libc::EDQUOT) => "its file system is full: free some space, or give a smaller --size",
        Some(libc::ENODEV | libc::ENXIO) => "the device is gone: see dmesg",
        Some(libc::EIO | libc::EREMOTEIO | libc::EBADMSG | libc::ENODATA | libc::ETIMEDOUT) => {
            "the device is failing, or is gone: see dmesg"
        }
        Some(libc::EINVAL) => "the device takes no such request: use a larger block",
        Some(libc::EPERM | libc::EACCES) => "run as root",
        Some(libc::ENOMEM) => "memory is short: raise the limit on locked memory (ulimit -l), or ask for less at once",
        _ => "see dmesg",
    }
}
