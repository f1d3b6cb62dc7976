//! A file or device that is served as it is, whatever lies in it.

use crate::disks::{Disks, Opened};
use crate::error::FilesError;
use crate::locked::{LockedFile, LockedFiles};
use crate::ring::Ring;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// A file or device that this process has for itself. All who ask it have the same open file, each on a ring of its own.
#[derive(Clone, Debug)]
pub struct RawFile(Arc<LockedFile>);

impl RawFile {
    /// Opens and locks what lies at a path. Writes nothing.
    pub fn open(path: &Path) -> Result<RawFile, FilesError> {
        Ok(RawFile(LockedFiles::default().open(path)?))
    }

    /// The size of the file or device.
    pub fn bytes(&self) -> u64 {
        self.0.bytes
    }

    /// Requests begin and end on multiples of this number of bytes.
    pub fn align_bytes(&self) -> u32 {
        self.0.align_bytes
    }

    /// A shortcoming that a person should know of, though the file works.
    pub fn note(&self) -> Option<&str> {
        self.0.note.as_deref()
    }

    /// A way to ask it that no other thread uses, and the file's handle there.
    pub fn ring(&self) -> io::Result<(Box<dyn Disks>, Opened)> {
        let mut ring = Ring::sharing(&LockedFiles::default())?;
        let opened = ring.keep(Arc::clone(&self.0));
        Ok((Box::new(ring), opened))
    }
}
