//! Files that are opened read-only, so that several processes may read them at the same time. A writer has its files
//! alone.

use crate::disks::{Disks, Done, Handle, Io, IoKind, Make, Opened};
use crate::error::FilesError;
use rustix::fs::{FlockOperation, SeekFrom};
use std::fs::File;
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::fs::{FileExt, FileTypeExt};
use std::path::Path;
use std::time::Duration;

/// Files and block devices that are read synchronously, one request after the other. Requests that would change them
/// are refused.
#[derive(Debug, Default)]
pub(crate) struct ReadOnlyDisks {
    files: Vec<Option<File>>,
    done: Vec<Done>,
}

fn failed(path: &Path, action: &'static str, error: io::Error) -> FilesError {
    FilesError::Io { path: path.into(), action, error }
}

/// The error for making a file, which is not possible read-only.
fn refused(path: &Path) -> FilesError {
    failed(path, "make it", io::ErrorKind::ReadOnlyFilesystem.into())
}

fn read(file: &File, offset: u64, bytes: &mut [u8]) -> i32 {
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read_at(&mut bytes[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(more) => filled += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return -error.raw_os_error().unwrap_or(libc::EIO),
        }
    }
    filled as i32
}

impl Disks for ReadOnlyDisks {
    fn open(&mut self, path: &Path) -> Result<Opened, FilesError> {
        let kind = std::fs::metadata(path).map_err(|error| failed(path, "open it", error))?.file_type();
        if !kind.is_file() && !kind.is_block_device() {
            return Err(FilesError::Kind { path: path.into() });
        }
        let file = File::open(path).map_err(|error| failed(path, "open it", error))?;
        if rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared) == Err(rustix::io::Errno::WOULDBLOCK) {
            return Err(FilesError::InUse { path: path.into() });
        }
        let bytes = rustix::fs::seek(&file, SeekFrom::End(0)).map_err(|e| failed(path, "find its end", e.into()))?;
        self.files.push(Some(file));
        let handle = Handle(self.files.len() - 1);
        // Reads that go through the page cache need no alignment.
        Ok(Opened { handle, bytes, align_bytes: 1, is_zero: false, can_discard: false, note: None })
    }

    fn align_bytes(&mut self, path: &Path) -> Result<u32, FilesError> {
        Err(refused(path))
    }

    fn make(&mut self, path: &Path, _: Make) -> Result<Opened, FilesError> {
        Err(refused(path))
    }

    fn unmake(&mut self, _: &Path) {}

    fn close(&mut self, handle: Handle) {
        self.files[handle.0] = None;
    }

    fn begin(&mut self, io: Io) {
        let Io { tag, handle, kind, offset, mut buffer } = io;
        let file = self.files[handle.0].as_ref().expect("a file that was closed is not asked");
        let result = match kind {
            IoKind::Read => read(file, offset, buffer.bytes_mut()),
            IoKind::Write { .. } | IoKind::Sync | IoKind::Discard { .. } => -libc::EROFS,
        };
        self.done.push(Done { tag, result, buffer });
    }

    fn submit(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn wait(&mut self, _: Option<Duration>) -> io::Result<()> {
        Ok(())
    }

    fn reap(&mut self, done: &mut Vec<Done>) {
        done.append(&mut self.done);
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn unique(&mut self) -> u64 {
        unreachable!("only what is made is given a number")
    }
}
