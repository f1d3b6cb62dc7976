//! What the modules' bytes go to: files, or something that behaves like them and whose power tests can cut.

use crate::{Buffer, FilesError};
use std::fmt;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::time::Duration;

/// An open file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle(pub usize);

/// What is asked of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Fills the buffer.
    Read,
    /// Writes the buffer.
    Write {
        /// What it wrote is durable when it has ended. Nothing else is.
        durable: bool,
    },
    /// All writes that have ended are durable when it has.
    Sync,
}

/// One request.
#[derive(Debug)]
pub struct Io {
    /// Comes back with its end.
    pub tag: u64,
    /// Of which file.
    pub handle: Handle,
    /// What.
    pub what: What,
    /// Offset in the file in bytes.
    pub offset: u64,
    /// Memory, which comes back with its end.
    pub buffer: Buffer,
}

/// How a request ended.
#[derive(Debug)]
pub struct Done {
    /// As it was asked.
    pub tag: u64,
    /// Bytes, or an error number, negative.
    pub result: i32,
    /// As it was asked.
    pub buffer: Buffer,
}

/// How a new module's file is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Make {
    /// Bytes of a file; a device must have as many.
    pub bytes: u64,
    /// A device may be overwritten.
    pub overwrite: bool,
}

/// A file that was opened. Nobody else has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// To be asked with.
    pub handle: Handle,
    /// Its length, or the device's.
    pub bytes: u64,
    /// Requests begin and end on multiples of it.
    pub align_bytes: u32,
    /// All of it reads as zeroes.
    pub is_zero: bool,
    /// What is not as it should be, though it works.
    pub note: Option<String>,
}

/// Files, asked asynchronously. Requests to different places may be carried out in any order.
pub trait Disks: fmt::Debug + Send + Sync {
    /// Opens a file, and takes it for this process alone.
    fn open(&mut self, path: &Path) -> Result<Opened, FilesError>;

    /// How requests to a file that is made here would have to be aligned, in bytes.
    fn align_bytes(&mut self, path: &Path) -> Result<u32, FilesError>;

    /// Makes a file, or takes a device, and opens it.
    fn make(&mut self, path: &Path, how: Make) -> Result<Opened, FilesError>;

    /// What was made did not become a module: removes it, if it is a file.
    fn unmake(&mut self, path: &Path);

    /// Lets go of a file, when what is under way on it has ended.
    fn close(&mut self, handle: Handle);

    /// Begins a request. It may wait until [`Disks::submit`].
    fn begin(&mut self, io: Io);

    /// What was begun is under way.
    fn submit(&mut self) -> io::Result<()>;

    /// As [`Disks::submit`], and waits until something has ended, but no longer than `timeout`.
    fn wait(&mut self, timeout: Option<Duration>) -> io::Result<()>;

    /// Appends what has ended.
    fn reap(&mut self, done: &mut Vec<Done>);

    /// Becomes readable when something has ended, if there is such a thing.
    fn fd(&self) -> Option<BorrowedFd<'_>>;

    /// A number that was never given out before.
    fn unique(&mut self) -> u64;
}
