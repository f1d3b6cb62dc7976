//! The right to overwrite a device.

use crate::system::DeviceNumber;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

/// The right to overwrite a device. While it (or the file taken from it) is there, the kernel mounts the device for
/// nobody, and lets nobody else open it exclusively, nor its disk or partitions.
#[derive(Debug)]
pub struct Permit {
    file: File,
    number: DeviceNumber,
    named: PathBuf,
    path: PathBuf,
}

impl Permit {
    pub(super) fn new(file: File, number: DeviceNumber, named: PathBuf, path: PathBuf) -> Self {
        Permit { file, number, named, path }
    }

    /// The device, open for reading and writing, exclusively.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// The same, for the caller to keep. The right lasts as long as the file is open.
    pub fn into_file(self) -> File {
        self.file
    }

    /// A path that leads to the very device that was checked, whatever became of its name: for opening it again with
    /// other flags (`O_DIRECT`) while the permit is kept.
    pub fn open_path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.file.as_raw_fd()))
    }

    /// The device's number.
    pub fn number(&self) -> DeviceNumber {
        self.number
    }

    /// As it was named.
    pub fn named(&self) -> &Path {
        &self.named
    }

    /// All links resolved.
    pub fn path(&self) -> &Path {
        &self.path
    }
}
