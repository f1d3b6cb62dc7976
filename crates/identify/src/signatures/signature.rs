//! A mark that a format left, and the reader that it is looked for with.

use std::fmt;
use std::io;

/// Something that can be read at an offset.
pub trait ReadAt {
    /// Reads up to `buf.len()` bytes; 0: the end.
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize>;
}

impl ReadAt for std::fs::File {
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(self, buf, offset)
    }
}

impl ReadAt for Vec<u8> {
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        let rest = usize::try_from(offset).ok().and_then(|offset| self.get(offset..)).unwrap_or_default();
        let length = rest.len().min(buf.len());
        buf[..length].copy_from_slice(&rest[..length]);
        Ok(length)
    }
}

/// The kind of content that a signature marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Class {
    PartitionTable,
    FileSystem,
    /// Part of an array or a replicated device.
    Raid,
    /// Part of a volume group, of a pool, of a storage cluster.
    Pool,
    Encryption,
    /// Pages of memory, perhaps a hibernated system.
    Swap,
    /// Part of a cache.
    Cache,
    Database,
    /// Part of a card of ours.
    Module,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Class::PartitionTable => "partition table",
            Class::FileSystem => "file system",
            Class::Raid => "RAID member",
            Class::Pool => "part of a pool or volume group",
            Class::Encryption => "encryption header",
            Class::Swap => "swap space",
            Class::Cache => "cache",
            Class::Database => "database disk",
            Class::Module => "module of a card",
        })
    }
}

/// A mark that some format left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The format: `ext4`, `GPT`, `LVM2 physical volume`.
    pub name: &'static str,
    /// The kind of content that it marks.
    pub class: Class,
    /// Offset in bytes from the device's beginning.
    pub offset: u64,
    /// `wipefs --all` may not find it, and something else has to remove it.
    pub stubborn: bool,
}
