//! Why module files can't be used.

use std::io;
use std::path::PathBuf;

/// Why a module's file can't be made or opened. One line each: what, and what to do.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum FilesError {
    /// The system refused.
    #[error("{}: can't {what}: {error}", path.display())]
    Io { path: PathBuf, what: &'static str, error: io::Error },
    /// There is a file of this name.
    #[error("{}: exists already: name another file, or remove it", path.display())]
    Exists { path: PathBuf },
    /// A block device would be overwritten.
    #[error("{}: is a block device, and all it holds would be lost: say that it may be overwritten", path.display())]
    Device { path: PathBuf },
    /// Neither a file nor a block device.
    #[error("{}: is neither a file nor a block device", path.display())]
    Kind { path: PathBuf },
    /// Another process has it.
    #[error("{}: is in use by another server: stop that one first", path.display())]
    InUse { path: PathBuf },
    /// There is no room for it.
    #[error("{}: no room for {bytes} bytes: free some, or choose a smaller card", path.display())]
    NoRoom { path: PathBuf, bytes: u64 },
    /// It is no module.
    #[error("{}: holds no module: {why}", path.display())]
    NoModule { path: PathBuf, why: String },
    /// It is shorter than the module in it.
    #[error("{}: has {found} of {bytes} bytes: it was truncated; have the card fill a new module", path.display())]
    Truncated { path: PathBuf, found: u64, bytes: u64 },
    /// It is divided in another way than the others.
    #[error("{}: has {found} {field}, the card {card}: it belongs to another card", path.display())]
    Shape { path: PathBuf, field: &'static str, found: u32, card: u32 },
    /// No shape for a card.
    #[error("no module can be divided so: {shape:?}")]
    BadShape { shape: media::Shape },
    /// There are more or fewer files than the card has modules.
    #[error("{found} files for a card of {modules} modules: name one for each slot")]
    Count { found: usize, modules: u32 },
    /// No file can be used.
    #[error("no module could be opened; the first: {0}")]
    Nothing(Box<FilesError>),
    /// The slot has a module.
    #[error("slot {slot} is taken: pull its module first")]
    Taken { slot: u32 },
    /// There is no such slot.
    #[error("slot {slot}: the card has slots 0 to {}", modules - 1)]
    NoSlot { slot: u32, modules: u32 },
}
