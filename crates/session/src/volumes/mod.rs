//! The division of a card into volumes.
//!
//! A volume is thin: it has as many addresses as it was made with, and room on the card only where something was written.
//! Room is handed out in extents, whose owners lie in a table on the card itself ([`format::VolumePage`]).
//!
//! Invariants:
//! - an extent has one owner, on the card as well as in memory, whatever was cut: the entry of an extent lies in one page,
//!   and an extent of a volume that was given another place is durably free before its new place is;
//! - a volume never reads what another one has written: an extent that was freed is durably zero before its new owner is
//!   written;
//! - the owner of an extent is durable before the first write to it is begun, so whatever a flush covers is found again;
//! - the copy of a page that is overwritten is never the newest one that is known to be whole.

mod layout;
mod table;

pub use layout::Layout;
pub use table::{VolumeStatus, VolumeTable};

use crate::request::ReplyError;
use format::{MAX_VOLUME_NAME_BYTES, MAX_VOLUMES};

/// A card, as the table of its volumes asks it.
pub trait TableDisk {
    /// The bytes of a range.
    fn read(&mut self, offset_bytes: u64, len_bytes: u32) -> Result<Vec<u8>, ReplyError>;

    /// Writes pieces, in any order. All are durable when it returns without an error; after an error any of them may be.
    fn write(&mut self, pieces: &[(u64, &[u8])]) -> Result<(), ReplyError>;

    /// Has a range read as zeroes, durably.
    fn clear(&mut self, offset_bytes: u64, len_bytes: u64) -> Result<(), ReplyError>;
}

/// Why a volume can't be had, made or changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VolumeError {
    /// The card has no room for a table and some extents.
    #[error("a card of {size_bytes} bytes is too small for volumes: they need {needed_bytes}")]
    CardTooSmall {
        /// The bytes of the card.
        size_bytes: u64,
        /// The bytes of the smallest card that can have volumes.
        needed_bytes: u64,
    },
    /// The name has no letter, too many, or one that is not allowed.
    #[error(
        "{name} can't be the name of a volume: letters, digits, '.', '_' and '-', {MAX_VOLUME_NAME_BYTES} at most, can, \
         beginning with a letter or digit"
    )]
    Name {
        /// The name that was asked for.
        name: VolumeName,
    },
    /// Another volume has the name.
    #[error("there is a volume {name} already")]
    Exists {
        /// The name that was asked for.
        name: VolumeName,
    },
    /// No volume has the name.
    #[error("there is no volume {name}{}", of_names(known))]
    Unknown {
        /// The name that was asked for.
        name: VolumeName,
        /// The names that there are.
        known: Vec<VolumeName>,
    },
    /// There are as many volumes as a card can have.
    #[error("a card has {MAX_VOLUMES} volumes at most")]
    TooMany,
    /// The size is 0, no multiple of a sector, or beyond what can be addressed.
    #[error("a volume can't have {size_bytes} bytes: whole sectors of 4 KiB, up to {max_bytes} bytes, can be had")]
    Size {
        /// The bytes that were asked for.
        size_bytes: u64,
        /// The most bytes that a volume of this card can have.
        max_bytes: u64,
    },
    /// The volume is larger than that.
    #[error("volume {name} has {size_bytes} bytes: volumes only grow")]
    Shrinks {
        /// The name of the volume.
        name: VolumeName,
        /// The bytes that it has.
        size_bytes: u64,
    },
    /// The table on the card can't be read.
    #[error("page {page} of the volume table can't be read: {why}")]
    Damaged {
        /// The number of the page.
        page: u32,
        /// The reason why its better copy is not believed.
        why: TableDamage,
    },
    /// The card does not do it.
    #[error(transparent)]
    Card(#[from] ReplyError),
}

impl VolumeError {
    /// The card was never divided: nothing that begins as a table does lies where one would, or the card has no room for it.
    #[must_use]
    pub fn is_no_table(&self) -> bool {
        let why = TableDamage::Page(format::VolumePageError::Magic);
        matches!(self, VolumeError::CardTooSmall { .. })
            || matches!(self, VolumeError::Damaged { page: 0, why: found } if *found == why)
    }
}

/// The reason why a volume table is not believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableDamage {
    /// Neither copy of the page is whole.
    #[error(transparent)]
    Page(#[from] format::VolumePageError),
    /// The page is of another card, or has come to lie in the place of another page.
    #[error("it is of another card, or of another place")]
    Foreign,
    /// The card has another size than the one that it was divided with.
    #[error("it was written for a card of another size")]
    OtherSize,
    /// Two extents have the same owner.
    #[error("two extents say that they are the same part of a volume")]
    OwnedTwice,
}

fn of_names(known: &[VolumeName]) -> String {
    match known {
        [] => " (this card has none)".to_owned(),
        known => format!(" (there are {})", known.iter().map(|name| &*name.0).collect::<Vec<_>>().join(", ")),
    }
}

/// The name of a volume, in an error: it may have any letters.
#[derive(Clone, PartialEq, Eq)]
pub struct VolumeName(Box<str>);

impl From<&str> for VolumeName {
    fn from(name: &str) -> VolumeName {
        VolumeName(name.into())
    }
}

impl std::fmt::Display for VolumeName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

impl std::fmt::Debug for VolumeName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.0)
    }
}
