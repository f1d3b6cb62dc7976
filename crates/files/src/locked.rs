//! Files and devices that this process has for itself. The shards of a card share them: each has a region of every module.

use crate::error::FilesError;
use rustix::fs::{FileType, FlockOperation, Mode, OFlags};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

/// The time that opening waits for a file that another process has.
const LOCK_LIMIT: Duration = Duration::from_secs(1);
/// The alignment of requests where the kernel reports none.
pub(crate) const USUAL_ALIGN_BYTES: u32 = 512;

/// A file or device that is locked until it is dropped.
#[derive(Debug)]
pub(crate) struct LockedFile {
    file: File,
    pub bytes: u64,
    pub align_bytes: u32,
    /// A shortcoming that a person should know of.
    pub note: Option<String>,
}

impl LockedFile {
    /// Makes a file that was not there.
    pub fn make(path: &Path) -> Result<LockedFile, FilesError> {
        open(path, Found::File, OFlags::CREATE | OFlags::EXCL)
    }

    pub fn file(&self) -> &File {
        &self.file
    }

    /// The path still names this file.
    fn is_at(&self, path: &Path) -> bool {
        match (std::fs::metadata(path), self.file.metadata()) {
            (Ok(named), Ok(own)) => (named.dev(), named.ino()) == (own.dev(), own.ino()),
            _ => false,
        }
    }
}

impl AsRawFd for LockedFile {
    fn as_raw_fd(&self) -> RawFd {
        self.file.as_raw_fd()
    }
}

impl Drop for LockedFile {
    /// Unlocks the file at once, because the kernel, or a child between fork and exec, may have it open a little longer.
    fn drop(&mut self) {
        let _ = rustix::fs::flock(&self.file, FlockOperation::Unlock);
    }
}

/// The files that some rings share. Each is open until the last of them has closed it.
#[derive(Clone, Debug, Default)]
pub(crate) struct LockedFiles(Arc<Mutex<BTreeMap<PathBuf, Weak<LockedFile>>>>);

impl LockedFiles {
    /// The file at a path, which is opened and locked unless one of the rings has it open.
    pub fn open(&self, path: &Path) -> Result<Arc<LockedFile>, FilesError> {
        let found = find(path)?;
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let open_now = files.get(path).and_then(Weak::upgrade).filter(|file| file.is_at(path));
        if let Some(file) = open_now {
            return Ok(file);
        }
        let file = Arc::new(open(path, found, OFlags::empty())?);
        files.retain(|_, file| file.strong_count() > 0);
        files.insert(path.into(), Arc::downgrade(&file));
        Ok(file)
    }

    /// Shares a file that was made.
    pub fn keep(&self, path: &Path, file: LockedFile) -> Arc<LockedFile> {
        let file = Arc::new(file);
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        files.insert(path.into(), Arc::downgrade(&file));
        file
    }
}

/// The kind of file that a path names.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    File,
    Device,
}

pub(crate) fn failed(path: &Path, action: &'static str, error: io::Error) -> FilesError {
    FilesError::Io { path: PathBuf::from(path), action, error }
}

pub(crate) fn look(path: &Path) -> Result<Option<Found>, FilesError> {
    match rustix::fs::stat(path) {
        Ok(stat) => match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Ok(Some(Found::File)),
            FileType::BlockDevice => Ok(Some(Found::Device)),
            _ => Err(FilesError::Kind { path: path.into() }),
        },
        Err(rustix::io::Errno::NOENT) => Ok(None),
        Err(error) => Err(failed(path, "look at it", error.into())),
    }
}

fn find(path: &Path) -> Result<Found, FilesError> {
    look(path)?.ok_or_else(|| failed(path, "open it", rustix::io::Errno::NOENT.into()))
}

/// As [`open_once`], with some patience: a killed process keeps its files locked until its requests in flight have
/// ended.
fn open(path: &Path, found: Found, flags: OFlags) -> Result<LockedFile, FilesError> {
    let began = Instant::now();
    loop {
        match open_once(path, found, flags) {
            Err(FilesError::InUse { .. }) if began.elapsed() < LOCK_LIMIT => std::thread::sleep(LOCK_LIMIT / 20),
            opened => return opened,
        }
    }
}

fn open_once(path: &Path, found: Found, flags: OFlags) -> Result<LockedFile, FilesError> {
    // O_EXCL keeps a device from being mounted.
    let exclusive = if found == Found::Device { OFlags::EXCL } else { OFlags::empty() };
    let flags = flags | exclusive | OFlags::RDWR | OFlags::CLOEXEC;
    let mode = Mode::RUSR | Mode::WUSR;
    let (file, mut note) = match rustix::fs::open(path, flags | OFlags::DIRECT, mode) {
        Ok(file) => (file, None),
        Err(rustix::io::Errno::INVAL) => {
            // A file system that refuses direct I/O may have made the file before it did.
            let flags = (flags - (OFlags::CREATE | OFlags::EXCL)) | exclusive;
            let create = if found == Found::File { OFlags::CREATE } else { OFlags::empty() };
            let file = rustix::fs::open(path, flags | create, mode).map_err(|e| failed(path, "open it", e.into()))?;
            (file, Some("no direct I/O here: the page cache holds a second copy of what is read and written".into()))
        }
        Err(rustix::io::Errno::BUSY) => return Err(FilesError::InUse { path: path.into() }),
        Err(rustix::io::Errno::EXIST) => return Err(FilesError::Exists { path: path.into() }),
        Err(error) => return Err(failed(path, "open it", error.into())),
    };
    let file = File::from(file);
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(rustix::io::Errno::WOULDBLOCK) => return Err(FilesError::InUse { path: path.into() }),
        // Some network file systems have no locks.
        Err(error) => note = Some(format!("it can't be locked ({error}): see to it that nobody else opens it")),
    }
    let bytes =
        rustix::fs::seek(&file, rustix::fs::SeekFrom::End(0)).map_err(|e| failed(path, "find its end", e.into()))?;
    let align_bytes = match found {
        Found::File => file_align(&file),
        Found::Device => rustix::fs::ioctl_blksszget(&file).map_or(USUAL_ALIGN_BYTES, legal_align),
    };
    Ok(LockedFile { file, bytes, align_bytes, note })
}

/// The alignment that direct requests to a file need.
pub(crate) fn file_align(file: &File) -> u32 {
    let asked = rustix::fs::StatxFlags::DIOALIGN;
    match rustix::fs::statx(file, "", rustix::fs::AtFlags::EMPTY_PATH, asked) {
        Ok(stat) if stat.stx_mask & asked.bits() != 0 => legal_align(stat.stx_dio_offset_align),
        _ => USUAL_ALIGN_BYTES,
    }
}

pub(crate) fn legal_align(bytes: u32) -> u32 {
    bytes.max(USUAL_ALIGN_BYTES)
}
