//! The outcomes of operations in a power cut, as data.

use crate::hash::{hash, purpose};
use crate::place::{BlockAt, UnitAt};
use crate::slot::Unsynced;
use crate::unit::Unit;
use bytes::Bytes;

/// An operation that is in flight when power goes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the comment of each variant says what its fields are")]
pub enum UnderWay {
    /// The program of a unit.
    Program { at: UnitAt, unit: Unit },
    /// The erase of a block.
    Erase { at: BlockAt },
    /// The write of a record into the log of a module.
    Log { module: u32, offset_bytes: u64, bytes: Bytes },
}

/// The outcome of an operation that was in flight.
///
/// Every outcome can be given for every operation, so that a plan need not know the kind of the operation that it hits:
/// an outcome of the other kind means the worst of this kind. For a write of the log, an outcome that is neither
/// [`CutOutcome::NotBegun`] nor [`CutOutcome::Done`] leaves a part of it. For a header copy, [`CutOutcome::NotBegun`] leaves the
/// old copy, [`CutOutcome::Done`] the new one, and every other outcome an unreadable one. For marking a block bad,
/// every outcome but [`CutOutcome::NotBegun`] means that it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the comment of each variant says what its fields are")]
pub enum CutOutcome {
    /// The operation had no effect.
    NotBegun,
    /// The operation is complete, but was not reported.
    Done,
    /// A program is complete for some sectors.
    Torn {
        /// Sectors that hold the programmed bytes: bit n is sector n.
        good: u64,
        /// Sectors that still read as erased. All others are uncorrectable. If all sectors read as erased, the unit is
        /// not erased: the next program of it before the block's next erase is lost.
        blank: u64,
        /// Rows that were programmed earlier into the same cells are lost, see [`crate::Shape::rows_sharing_cells`].
        spoil_earlier: bool,
    },
    /// A program left only unreadable sectors.
    Garbage { spoil_earlier: bool },
    /// An erase left only unreadable sectors. The block must be erased again.
    PartlyErased,
    /// An erase was almost complete: the block reads as erased, and about half of the sectors that are programmed into
    /// it before it is erased again are lost.
    Weak,
}

impl CutOutcome {
    /// The outcome of a program that is complete for the first `sectors`.
    pub fn prefix(sectors: u32) -> CutOutcome {
        CutOutcome::Torn { good: low_bits(sectors), blank: 0, spoil_earlier: false }
    }
    /// The outcome of a program that is complete for all but the first `sectors`.
    pub fn suffix(sectors: u32) -> CutOutcome {
        CutOutcome::Torn { good: !low_bits(sectors), blank: 0, spoil_earlier: false }
    }
}

fn low_bits(count: u32) -> u64 {
    1u64.checked_shl(count).map_or(u64::MAX, |bit| bit - 1)
}

/// The loss, in a power cut, of reported operations that were not synced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CacheLoss {
    /// The medium's seed decides for each operation whether it is lost.
    #[default]
    Seeded,
    /// All operations are lost.
    All,
    /// No operation is lost.
    None,
}

/// Whether to keep the next of a module's unsynced operations.
pub(crate) fn coin(loss: CacheLoss, seed: u64, cuts: u64, module: u32) -> impl FnMut(&Unsynced) -> bool {
    let mut index = 0u64;
    move |_| {
        index += 1;
        match loss {
            CacheLoss::All => false,
            CacheLoss::None => true,
            CacheLoss::Seeded => hash(&[seed, purpose::CACHE, cuts, u64::from(module), index]) & 1 == 1,
        }
    }
}
