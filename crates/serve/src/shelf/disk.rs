//! A file or drive that a shelf exports.

use crate::nvme::BLOCK_BYTES;
use crate::shelf::disk_port::DiskPort;
use files::{FilesError, RawFile};
use std::io;
use std::path::{Path, PathBuf};

/// The reason why a file or drive can't be exported. Each message is one line.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum RawDiskError {
    /// It can't be opened, or another process has it.
    #[error(transparent)]
    File(#[from] FilesError),
    /// Its blocks are larger than those of the namespaces.
    #[error("{}: its blocks have {align_bytes} bytes, and a shelf exports blocks of {BLOCK_BYTES}", .path.display())]
    Blocks { path: PathBuf, align_bytes: u32 },
    /// Not one block lies in it.
    #[error("{}: has {bytes} bytes: make it larger first (truncate -s 64G {})", .path.display(), .path.display())]
    Empty { path: PathBuf, bytes: u64 },
}

/// A file or drive that this process has for itself.
#[derive(Debug)]
pub struct RawDisk {
    file: RawFile,
    size_bytes: u64,
}

impl RawDisk {
    /// Opens and locks it. Writes nothing.
    pub fn open(path: &Path) -> Result<RawDisk, RawDiskError> {
        let file = RawFile::open(path)?;
        let (bytes, align_bytes) = (file.bytes(), file.align_bytes());
        if align_bytes > BLOCK_BYTES {
            return Err(RawDiskError::Blocks { path: path.into(), align_bytes });
        }
        let size_bytes = bytes / u64::from(BLOCK_BYTES) * u64::from(BLOCK_BYTES);
        if size_bytes == 0 {
            return Err(RawDiskError::Empty { path: path.into(), bytes });
        }
        Ok(RawDisk { file, size_bytes })
    }

    /// The bytes that hosts can address: whole blocks.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// A shortcoming that a person should know of, though the disk works.
    pub fn note(&self) -> Option<&str> {
        self.file.note()
    }

    /// Connects a client.
    pub(crate) fn port(&self) -> io::Result<DiskPort> {
        let (disks, opened) = self.file.ring()?;
        Ok(DiskPort::new(disks, opened.handle, self.size_bytes))
    }
}
