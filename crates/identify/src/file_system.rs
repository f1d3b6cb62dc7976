//! The file system that a file lies in.

use std::path::PathBuf;

/// The file system that a file lies in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSystem {
    /// `ext4`, `xfs`, `overlay` …
    pub fs_type: String,
    /// Directory on which it is mounted.
    pub mount_point: PathBuf,
    /// Source that the mount names.
    pub source: PathBuf,
    /// Options of the mount and of the file system: `rw`, `noatime`, `discard`, `nobarrier` …
    pub options: Vec<String>,
    /// Bytes that a file of this user may still take.
    pub free_bytes: Option<u64>,
    /// Bytes in all.
    pub size_bytes: Option<u64>,
}
