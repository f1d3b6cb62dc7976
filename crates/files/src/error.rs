//! The reasons why module files can't be used.

use crate::sizes::PAGE_BYTES;
use crate::superblock::NoSuperblock;
use std::io;
use std::path::PathBuf;

/// The reason why a module's file can't be made or opened. Each message is one line: the problem, and the remedy.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum FilesError {
    /// The system refused an action.
    #[error("{}: can't {action}: {error}", path.display())]
    Io { path: PathBuf, action: &'static str, error: io::Error },
    /// A file of this name exists already.
    #[error("{}: exists already: name another file, or remove it", path.display())]
    Exists { path: PathBuf },
    /// A block device would be overwritten.
    #[error("{}: is a block device, and all it holds would be lost: say that it may be overwritten", path.display())]
    Device { path: PathBuf },
    /// The path names neither a file nor a block device.
    #[error("{}: is neither a file nor a block device", path.display())]
    Kind { path: PathBuf },
    /// Another process has the file.
    #[error("{}: is in use by another server: stop that one first", path.display())]
    InUse { path: PathBuf },
    /// There is no room for the module.
    #[error("{}: no room for {bytes} bytes: free some, or choose a smaller card", path.display())]
    NoRoom { path: PathBuf, bytes: u64 },
    /// The file holds no module that can be used.
    #[error("{}: holds no module: {reason}", path.display())]
    NoModule { path: PathBuf, reason: NoModuleReason },
    /// The file is shorter than the module in it.
    #[error("{}: has {found} of {bytes} bytes: it was truncated; have the card fill a new module", path.display())]
    Truncated { path: PathBuf, found: u64, bytes: u64 },
    /// The module has another shape than the others.
    #[error("{}: has {found} {field}, the card {card}: it belongs to another card", path.display())]
    Shape { path: PathBuf, field: &'static str, found: u32, card: u32 },
    /// No module can have this shape.
    #[error("no module can be divided so: {shape:?}")]
    BadShape { shape: media::Shape },
    /// The number of files differs from the number of the card's modules.
    #[error("{found} files for a card of {modules} modules: name one for each slot")]
    Count { found: usize, modules: u32 },
    /// None of the files can be used.
    #[error("no module could be opened; the first: {0}")]
    Nothing(Box<FilesError>),
    /// The slot has a module already.
    #[error("slot {slot} is taken: pull its module first")]
    Taken { slot: u32 },
    /// The card has no slot of this number.
    #[error("slot {slot}: the card has slots 0 to {}", modules - 1)]
    NoSlot { slot: u32, modules: u32 },
}

/// The reason why a file holds no module that can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum NoModuleReason {
    /// The blocks of the disk are larger than a page.
    #[error("its blocks have {align_bytes} bytes, and {PAGE_BYTES} is the most that can be used")]
    BlocksTooLarge { align_bytes: u32 },
    /// The module was made for a disk with smaller blocks.
    #[error("made for blocks of {made_bytes} bytes, and this disk's have {disk_bytes}")]
    Alignment { made_bytes: u32, disk_bytes: u32 },
    /// The file has no numbers left for another session.
    #[error("it was opened too often: have the card fill a new one")]
    TooManySessions,
    /// The file has no room for a superblock.
    #[error("it has {bytes} bytes")]
    TooShort { bytes: u64 },
    /// The superblock can't be used.
    #[error(transparent)]
    Superblock(#[from] NoSuperblock),
}
