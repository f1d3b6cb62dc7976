//! The disks that the modules' bytes go to: files, or a simulation of files whose power a test can cut.

use crate::arena::Arena;
use crate::buffer::Buffer;
use crate::error::FilesError;
use std::fmt;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The handle of an open file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle(pub usize);

/// The kind of a request to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IoKind {
    /// A read that fills the buffer.
    Read,
    /// A write of the buffer.
    Write {
        /// The bytes of this write, and no others, are durable when it has ended.
        durable: bool,
    },
    /// A sync: all writes that ended before it began are durable when it has ended.
    Sync,
    /// The place need not be kept any more. Until it is written again, it reads as before or as zeroes, in each part of
    /// 512 bytes; when the request has ended well, as zeroes.
    Discard {
        /// The size of the place.
        bytes: u64,
    },
}

/// A request to a file.
#[derive(Debug)]
pub struct Io {
    /// A number that comes back in [`Done`].
    pub tag: u64,
    /// The file that the request goes to.
    pub handle: Handle,
    /// Whether the request is a read, a write or a sync.
    pub kind: IoKind,
    /// The offset in the file, in bytes.
    pub offset: u64,
    /// Memory, which comes back in [`Done`].
    pub buffer: Buffer,
}

/// The end of a request.
#[derive(Debug)]
pub struct Done {
    /// The tag of the request.
    pub tag: u64,
    /// The number of bytes, or a negative error number.
    pub result: i32,
    /// The buffer of the request.
    pub buffer: Buffer,
}

/// The options of a new module's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Make {
    /// The size of the file; a device must have at least as many bytes.
    pub bytes: u64,
    /// A device may be overwritten.
    pub overwrite: bool,
}

/// A file that was opened. No other process has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// The handle for requests to the file.
    pub handle: Handle,
    /// The size of the file or device.
    pub bytes: u64,
    /// Requests begin and end on multiples of this number of bytes.
    pub align_bytes: u32,
    /// The whole file reads as zeroes.
    pub is_zero: bool,
    /// A discard is worth while.
    pub can_discard: bool,
    /// A shortcoming that a person should know of, though the file works.
    pub note: Option<String>,
}

/// Files with asynchronous requests. Requests to different places may be carried out in any order.
pub trait Disks: fmt::Debug + Send + Sync {
    /// Opens a file and locks it for this process.
    fn open(&mut self, path: &Path) -> Result<Opened, FilesError>;

    /// The alignment that requests to a file at this path would need, in bytes.
    fn align_bytes(&mut self, path: &Path) -> Result<u32, FilesError>;

    /// Makes a file, or takes a device, and opens it.
    fn make(&mut self, path: &Path, how: Make) -> Result<Opened, FilesError>;

    /// Removes a file that was made and did not become a module. Leaves a device as it is.
    fn unmake(&mut self, path: &Path);

    /// Closes a file as soon as its requests in flight have ended.
    fn close(&mut self, handle: Handle);

    /// Queues a request. It may wait until [`Disks::submit`].
    fn begin(&mut self, io: Io);

    /// Submits the queued requests.
    fn submit(&mut self) -> io::Result<()>;

    /// Submits the queued requests, and waits until a request has ended, but no longer than `timeout`.
    fn wait(&mut self, timeout: Option<Duration>) -> io::Result<()>;

    /// Appends requests that have ended: some of them, where there are many.
    fn reap(&mut self, done: &mut Vec<Done>);

    /// A file descriptor that becomes readable when a request has ended, if there is one.
    fn fd(&self) -> Option<BorrowedFd<'_>>;

    /// Memory that reads into cost less; `None`: all memory is alike.
    fn pinned(&self) -> Option<Arc<Arena>> {
        None
    }

    /// Whether writes to a file may have a [`Buffer::lead`].
    fn gathers(&self, _handle: Handle) -> bool {
        false
    }

    /// A random number that no other file has.
    fn unique(&mut self) -> u64;

    /// Disks that reach the same places and change nothing; `None`: those are files alone.
    fn beside(&self) -> Option<Box<dyn Disks>> {
        None
    }

    /// There is something at a path, which may become a module only if it may be overwritten.
    fn is_there(&self, path: &Path) -> bool {
        path.exists()
    }
}
