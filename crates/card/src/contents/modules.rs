//! Modules and dies that go, and modules that come, while the card is at work.
//!
//! Invariants:
//! - the headers of the others say that a module is missing before anything counts as durable without it;
//! - programs still due on a module that went have failed, even if the module is back before their time has come;
//! - nothing on a module that came counts before it is rebuilt, except what it is known to hold: blocks of bands that were
//!   opened before it went. Nothing is written to one that does not belong to the card.

use ftl::recover::JoinError;
use media::MediaError;

/// A module that went while the card was at work, as it is known to be if nobody has changed it since.
#[derive(Clone, Copy, Debug)]
pub struct Gone {
    /// Generation of its header.
    pub generation: u64,
    /// Bands that were opened up to then hold on it what belongs there.
    pub last_band_sequence: u64,
}

/// The price of pulling a module when more are missing then than parity stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PullCost {
    /// Modules that would be missing or not wholly rebuilt.
    pub lacking: u32,
    /// Modules that parity stands for.
    pub parity: u32,
    /// Sectors of the host that could not be read any more, as of now.
    pub lost_sectors: u64,
}

/// Why a module is not taken. Nothing was written to it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum InsertError {
    /// There is a module in the slot.
    #[error("slot {slot} holds a module; pull it first")]
    SlotTaken { slot: u32 },
    /// The card has no such slot.
    #[error("no slot {slot}: the card has {slots}")]
    NoSlot { slot: u32, slots: u32 },
    /// It is divided otherwise than those of the card.
    #[error("slot {slot}: the module has another shape than those of the card")]
    Shape { slot: u32 },
    /// It does not belong to the card.
    #[error(transparent)]
    Join(#[from] JoinError),
    /// It can't be claimed.
    #[error("slot {slot}: {error}")]
    Claim { slot: u32, error: MediaError },
    /// The card has stopped.
    #[error("the card has stopped")]
    Halted,
}

/// A module that was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inserted {
    /// Its number within the card.
    pub module: u32,
    /// Part of what it holds still counts; of one that is new or was away for longer nothing does.
    pub kept: bool,
}
