//! Where do the bytes lie?
//!
//! [`Media`] is what flash management needs of a medium: units of a die that are read and programmed, blocks that are
//! erased, and a header for each module. [`Unit`] is what one program command carries: for each 4 KiB sector a payload
//! and the spare area that says what it is.
//!
//! A payload is [`Shape::payload_bytes`] long: 4,096 where real bytes are stored, less in simulations, where the first
//! bytes of a sector stand for the rest. Nothing above the medium depends on which.
//!
//! [`nand`] says what flash is made of and how fast it is: what a model of time needs of a medium, without the bytes.
//!
//! [`Flash`] is the emulated medium: NAND flash in memory, with every fault that it knows ([`Fault`], [`CutOutcome`],
//! [`Physics`]), the same with the same seed. [`Module`]s of it can be pulled, copied and put elsewhere.
//!
//! Invariants of it:
//! - rows of a block are programmed in order, each once after an erase ([`Flash`] panics otherwise: the layer above has
//!   a bug); a bad, dead or missing place is an error and no panic;
//! - nothing goes wrong that was not injected and does not follow from [`Physics`] and the seed;
//! - bytes come back wrong as [`SectorState::Good`] only by [`Fault::Miscorrect`], [`Fault::DamageByte`] and programs
//!   that land elsewhere.

mod chunk;
mod error;
mod fault;
mod flash;
mod hash;
pub mod image;
mod medium;
mod module;
pub mod nand;
mod physics;
mod place;
mod power;
mod request;
mod sectors;
mod slot;
mod store;
mod unit;
mod wear;

use std::any::Any;
use std::fmt;
use std::os::fd::BorrowedFd;

pub use error::{MediaError, persist};
pub use fault::{Fault, Part};
pub use flash::Flash;
pub use medium::Medium;
pub use module::Module;
pub use physics::{ErrorRates, Physics};
pub use place::{BlockAt, Shape, UnitAt};
pub use power::{CacheLoss, CutOutcome, UnderWay};
pub use request::{RequestData, SectorData};
pub use sectors::Payload;
pub use slot::{CACHE_OPERATIONS, Unsynced};
pub use store::{LoadError, load_modules};
pub use unit::{SectorState, Unit};

/// Bytes of spare area that flash management has for each sector.
pub const SPARE_BYTES: usize = 64;
/// Bytes of one copy of a module's header.
pub const HEADER_BYTES: usize = 4096;
/// Copies of a module's header.
pub const HEADER_COPIES: u32 = 2;

/// What a read cost and how near it was to its limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadReport {
    /// Further reads with shifted thresholds that it took.
    pub retries: u32,
    /// Corrected bits of the worst sector.
    pub corrected_bits: u32,
    /// The unit should be written elsewhere soon: the medium is near to the end of what it can correct, because of time,
    /// reads or a fault. Not when only its block is worn: elsewhere is no better.
    pub refresh_advised: bool,
}

/// What has ended of what was begun on a medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// What a die did.
    Die {
        /// Slot of its module.
        module: u32,
        /// Die of the module.
        die: u32,
    },
    /// The sync of a module.
    Sync {
        /// Slot of it.
        module: u32,
    },
}

/// The modules of a card.
///
/// Operations happen at once, in the order in which they are called; what takes time stands above. After a power cut
/// every operation answers [`MediaError::NoPower`].
///
/// A medium that is itself slow (a file, a drive) can be told before: what was begun ([`Media::begin_program`] and so on)
/// goes on while others are asked, and the operation itself, called when [`Media::is_under_way`] no longer holds, only
/// hands over how it ended. A die has at most one operation under way; nothing has to be begun.
pub trait Media: Any + fmt::Debug + Send + Sync {
    /// How it is divided.
    fn shape(&self) -> &Shape;

    /// Reads a unit, each of its sectors with its own outcome. `unit` is overwritten; what it holds of sectors that are
    /// not [`SectorState::Good`] is undefined.
    fn read(&mut self, at: UnitAt, unit: &mut Unit) -> Result<ReadReport, MediaError>;

    /// As [`Media::read`], but only the sectors whose bits are set in `wanted` are asked for, from bit 0 on; what comes of the
    /// others is undefined. Units have 64 sectors at most.
    fn read_some(&mut self, at: UnitAt, _wanted: u64, unit: &mut Unit) -> Result<ReadReport, MediaError> {
        self.read(at, unit)
    }

    /// Programs a unit. [`MediaError::Failed`]: its contents are undefined, and the block should not be used any longer.
    fn program(&mut self, at: UnitAt, unit: &Unit) -> Result<(), MediaError>;

    /// Erases a block. [`MediaError::Failed`]: it is not erased, and should not be used any longer. One that was marked bad
    /// may still take it, and stays marked.
    fn erase(&mut self, at: BlockAt) -> Result<(), MediaError>;

    /// What was programmed and erased on a module survives a power cut from now on. Media without a volatile cache have
    /// nothing to do.
    fn sync(&mut self, module: u32) -> Result<(), MediaError>;

    /// Whether programs and erases may be lost in a power cut before [`Media::sync`].
    fn is_volatile(&self) -> bool;

    /// Whether an erase survives a power cut as soon as it has ended, although programs may be lost.
    fn keeps_erases(&self) -> bool {
        !self.is_volatile()
    }

    /// Whether a block was marked bad.
    fn is_bad(&self, at: BlockAt) -> bool;

    /// Marks a block bad, for ever.
    fn mark_bad(&mut self, at: BlockAt) -> Result<(), MediaError>;

    /// Times a block was erased.
    fn cycles(&self, at: BlockAt) -> u32;

    /// One copy of a module's header; `None` when it was never written or can't be read. Its contents are not checked.
    fn read_header(&mut self, module: u32, copy: u32) -> Result<Option<Vec<u8>>, MediaError>;

    /// Writes one copy of a module's header ([`HEADER_BYTES`]). Durable when it returns. A power cut may leave the copy
    /// unreadable, and no other.
    fn write_header(&mut self, module: u32, copy: u32, bytes: &[u8]) -> Result<(), MediaError>;

    /// From now on only the caller may write to a module: whoever claimed it before with a lower generation gets
    /// [`MediaError::Fenced`]. A claim with a generation not above the present one is fenced itself. Media that can't
    /// refuse do nothing.
    fn claim(&mut self, module: u32, generation: u64) -> Result<(), MediaError>;

    /// Whether there is a module in a slot.
    fn has_module(&self, slot: u32) -> bool;

    /// Further reads with shifted thresholds that a read of a unit would take now.
    fn retries(&self, _at: UnitAt) -> u32 {
        0
    }

    /// Whether a module keeps whoever asks it waiting for ever.
    fn is_stuck(&self, _module: u32) -> bool {
        false
    }

    /// Times of a module in percent of what they should be.
    fn slow_percent(&self, _module: u32) -> u32 {
        100
    }

    /// A unit will be read.
    fn begin_read(&mut self, _at: UnitAt) {}

    /// A unit will be programmed with this.
    fn begin_program(&mut self, _at: UnitAt, _unit: &Unit) {}

    /// A block will be erased.
    fn begin_erase(&mut self, _at: BlockAt) {}

    /// A module will be synced. What it covers was programmed and erased before.
    fn begin_sync(&mut self, _module: u32) {}

    /// A copy of a module's header will be written with this.
    fn begin_header(&mut self, _module: u32, _copy: u32, _bytes: &[u8]) {}

    /// What was begun on a die is not done yet.
    fn is_under_way(&self, _module: u32, _die: u32) -> bool {
        false
    }

    /// A sync that was begun is not done yet.
    fn is_syncing(&self, _module: u32) -> bool {
        false
    }

    /// Hands over what was begun, if it was collected.
    fn submit(&mut self) {}

    /// Appends what has ended of what was begun, since this was last asked.
    fn take_ended(&mut self, _ended: &mut Vec<Ended>) {}

    /// Memory of a payload that was erased and that nobody has, to be filled anew; `None`: there is none.
    fn take_payload(&mut self) -> Option<Payload> {
        None
    }

    /// What becomes readable when something that was begun has ended.
    fn bell(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}
