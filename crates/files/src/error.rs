//! Why module files can't be used.

use std::io;
use std::path::PathBuf;

/// Why a module's file can't be made or opened. One line each: what, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    /// The system refused.
    #[error("{}: can't {what}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried.
        what: &'static str,
        /// Why not.
        error: io::Error,
    },
    /// There is a file of this name.
    #[error("{}: exists already: name another file, or remove it", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// A block device would be overwritten.
    #[error("{}: is a block device, and all it holds would be lost: say that it may be overwritten", path.display())]
    Device {
        /// The device.
        path: PathBuf,
    },
    /// Neither a file nor a block device.
    #[error("{}: is neither a file nor a block device", path.display())]
    Kind {
        /// What it is called.
        path: PathBuf,
    },
    /// Another process has it.
    #[error("{}: is in use by another server: stop that one first", path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// There is no room for it.
    #[error("{}: no room for {bytes} bytes: free some, or choose a smaller card", path.display())]
    NoRoom {
        /// The file.
        path: PathBuf,
        /// Bytes that a module takes.
        bytes: u64,
    },
    /// It is no module.
    #[error("{}: holds no module: {why}", path.display())]
    NoModule {
        /// The file.
        path: PathBuf,
        /// What lies there instead.
        why: String,
    },
    /// It is shorter than the module in it.
    #[error("{}: has {found} of {bytes} bytes: it was truncated; have the card fill a new module", path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
        /// Bytes that there are.
        found: u64,
        /// Bytes that there were.
        bytes: u64,
    },
    /// It is divided in another way than the others.
    #[error("{}: has {found} {field}, the card {card}: it belongs to another card", path.display())]
    Shape {
        /// The file.
        path: PathBuf,
        /// What differs.
        field: &'static str,
        /// Of the file.
        found: u32,
        /// Of the card.
        card: u32,
    },
    /// No shape for a card.
    #[error("no module can be divided so: {shape:?}")]
    BadShape {
        /// The shape.
        shape: media::Shape,
    },
    /// There are more or fewer files than the card has modules.
    #[error("{found} files for a card of {modules} modules: name one for each slot")]
    Count {
        /// Files.
        found: usize,
        /// Modules.
        modules: u32,
    },
    /// No file can be used.
    #[error("no module could be opened; the first: {0}")]
    Nothing(Box<FilesError>),
    /// The slot has a module.
    #[error("slot {slot} is taken: pull its module first")]
    Taken {
        /// The slot.
        slot: u32,
    },
    /// There is no such slot.
    #[error("slot {slot}: the card has slots 0 to {}", modules - 1)]
    NoSlot {
        /// The slot.
        slot: u32,
        /// Slots that there are.
        modules: u32,
    },
}
