//! Errors of identification.

use std::io;
use std::path::PathBuf;

/// An error that keeps something from being identified. Each message is one line that names the path and what to do.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum IdentifyError {
    /// Nothing is there.
    #[error("{}: there is no such device or file; `lsblk` lists the devices", path.display())]
    NotFound {
        /// As it was named.
        path: PathBuf,
    },
    /// No file is made among the devices.
    #[error("{}: there is no such device; `lsblk` lists the devices", path.display())]
    NoDevice {
        /// As it was named.
        path: PathBuf,
    },
    /// It may not be looked at.
    #[error("{}: permission denied: run as root or give your user the group disk", path.display())]
    Permission {
        /// As it was named.
        path: PathBuf,
    },
    /// The kernel said something else.
    #[error("{}: {source}: check that the path is right and the device is attached", path.display())]
    Io {
        /// As it was named.
        path: PathBuf,
        source: io::Error,
    },
    /// A character device.
    #[error("{}: is a character device: name a block device (`lsblk` lists them){}", path.display(), nvme_hint(path))]
    CharacterDevice {
        /// As it was named.
        path: PathBuf,
    },
    #[error("{}: is a directory: name a file in it, or a block device", path.display())]
    Directory {
        /// As it was named.
        path: PathBuf,
    },
    #[error("{}: is a socket: name a file or a block device", path.display())]
    Socket {
        /// As it was named.
        path: PathBuf,
    },
    #[error("{}: is a FIFO: name a file or a block device", path.display())]
    Fifo {
        /// As it was named.
        path: PathBuf,
    },
    /// A regular file where a block device was asked for.
    #[error("{}: is a file, no block device: review it as a file, or name a device (`lsblk` lists them)", path.display())]
    RegularFile {
        /// As it was named.
        path: PathBuf,
    },
    /// A block device where a file was asked for.
    #[error("{}: is a block device, no file: review it as a device, or name a file on it", path.display())]
    BlockDevice {
        /// As it was named.
        path: PathBuf,
    },
    /// A file is to be made in a directory that isn't there.
    #[error("{}: its directory doesn't exist: make it first (`mkdir -p`)", path.display())]
    NoDirectory {
        /// As it was named.
        path: PathBuf,
    },
    /// `/sys` doesn't know the device.
    #[error("{}: block device {number} is not in {}: check that /sys is mounted and the device is still attached", path.display(), sys.display())]
    NotInSys {
        /// As it was named.
        path: PathBuf,
        number: crate::DeviceNumber,
        sys: PathBuf,
    },
}

impl IdentifyError {
    /// The kernel's answer, sorted by what the user can do about it.
    pub(crate) fn from_io(path: &std::path::Path, source: io::Error) -> Self {
        let path = path.to_path_buf();
        match source.kind() {
            io::ErrorKind::NotFound => IdentifyError::NotFound { path },
            io::ErrorKind::PermissionDenied => IdentifyError::Permission { path },
            _ => IdentifyError::Io { path, source },
        }
    }
}

/// `/dev/nvme0` is the controller; who names it means its namespace.
fn nvme_hint(path: &std::path::Path) -> &'static str {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    match name.strip_prefix("nvme") {
        Some(rest) if !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()) => {
            "; an NVMe drive's is its namespace, such as nvme0n1"
        }
        _ => "",
    }
}
