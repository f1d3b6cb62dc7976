//! The reasons why an operator's action is refused.

use card::{InsertError, OpenError, PullCost};
use device::SECTOR_BYTES;
use ftl::FtlError;
use media::image::ImageError;
use std::io;
use std::path::PathBuf;

/// Why something was not done.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum ControlError {
    /// There is no power.
    #[error("the card has no power; power on first")]
    NoPower,
    /// There is power.
    #[error("the card has power already")]
    HasPower,
    /// It does nothing any more.
    #[error("the card has stopped: more is gone than parity stands for")]
    Stopped,
    /// There is nothing to be pulled.
    #[error("slot {slot} is empty")]
    Empty { slot: u32 },
    /// Parity does not stand for what would be missing.
    #[error("slot {slot}: {}; force it if that is meant (--force)", cost_in_words(.cost))]
    BeyondParity { slot: u32, cost: PullCost },
    /// There is no module to be put back.
    #[error("no module was pulled from slot {slot}; insert a new one")]
    NothingPulled { slot: u32 },
    /// There is no such slot.
    #[error("no slot {slot}: the card has {slots}")]
    NoSlot { slot: u32, slots: u32 },
    /// The module is not taken.
    #[error(transparent)]
    Insert(#[from] InsertError),
    /// The card is not found on its modules any more.
    #[error("the card does not start: {0}")]
    Open(#[from] OpenError),
    /// A file can't be read.
    #[error("{path}: {source}")]
    Unreadable { path: PathBuf, source: io::Error },
    /// A file holds no module.
    #[error("{path}: {source}")]
    Image { path: PathBuf, source: ImageError },
    /// Flash management can't work so.
    #[error(transparent)]
    Setting(FtlError),
    /// A rebuild that never ends.
    #[error("a rebuild has to program more than 0 bytes in a second")]
    RebuildRate,
    /// A new module needs a file.
    #[error("slot {slot}: a new module of this card lies in a file; name it")]
    NewWithoutFile { slot: u32 },
    /// A file can't be used as a module.
    #[error(transparent)]
    File(#[from] files::FilesError),
    /// The medium can't do this.
    #[error("{what} is not possible on this medium")]
    Medium { what: &'static str },
}

/// The price of a pull, as an operator reads it.
pub fn cost_in_words(cost: &PullCost) -> String {
    let PullCost { lacking, parity, lost_sectors } = *cost;
    let modules = if lacking == 1 { "module is" } else { "modules are" };
    format!(
        "with its module gone {lacking} {modules} missing or not rebuilt, parity stands for {parity}, and {} bytes of the \
         host's data can't be read",
        lost_sectors * SECTOR_BYTES
    )
}
