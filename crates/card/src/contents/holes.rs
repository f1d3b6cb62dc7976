//! Trimmed sectors, so that they stay trimmed when the power goes.
//!
//! The media tell of holes by segments: one sector with a bit for each LBA, as of a version. Data of a later version
//! stand, whatever the bit says. A card with capacitors owes such a sector for each segment with trims that it has
//! acknowledged, and writes it when power fails at the latest; one without writes them when it is flushed. It may say
//! of an LBA that is written again that it is a hole no more only when what was written is durable: until then the bit
//! stays, because losing the new data must not bring back what the trim took away.

use std::collections::BTreeMap;

/// Segments with trims that a card with capacitors owes at most; beyond it writes the first of them.
pub const MAX_OWED_SEGMENTS: usize = 8;

/// Trims that the media have to be told of.
#[derive(Clone, Debug, Default)]
pub struct Holes {
    /// Segments with trims that no sector on the media tells of yet, with the version of the last of these trims.
    pub dirty: BTreeMap<u32, u64>,
    /// The highest version as of which a list of holes was written.
    pub as_of: u64,
    /// LBAs that were written over holes and are not known to be durable, with their versions.
    pub written_over: BTreeMap<u32, u64>,
    /// Trims that have to be durable before what they made stale is erased.
    pub trims: TrimsBeforeErase,
    /// Lists that have to be written before the card is ready.
    pub owed_since_start: Option<OwedSinceStart>,
}

/// How far the card is with making trims durable that bands wait for. Without capacitors an erase may take the newest
/// durable version of a trimmed sector only when the trim is durable too: an older one may lie elsewhere.
#[derive(Clone, Copy, Debug, Default)]
pub struct TrimsBeforeErase {
    pub stage: Stage,
    /// The number of bands that waited to be erased when stage [`Stage::Before`] began, less those erased since: they
    /// may be erased once the trims are durable.
    pub bands: usize,
    /// The number of waiting bands that may be erased already, as far as trims are concerned.
    pub cleared: usize,
    /// The holes that were written last are durable when this barrier is.
    pub written: u64,
}

#[derive(Clone, Copy, Debug, Default)]
pub enum Stage {
    #[default]
    None,
    /// Data written before has to be durable first: it is when this barrier is.
    Before { barrier: u64, as_of: u64 },
    /// The lists of holes that tell of the trims have to be durable: they are when this barrier is.
    Holes { barrier: u64 },
}

impl TrimsBeforeErase {
    /// A card starts with `bands` bands that wait to be erased. They hold nothing that counts: no trim made them stale.
    pub fn at_start(bands: usize) -> TrimsBeforeErase {
        TrimsBeforeErase { cleared: bands, ..TrimsBeforeErase::default() }
    }
}

/// Holes that only a checkpoint tells of: should it be damaged, what was trimmed must not come back. Lists of them are
/// written at the start.
#[derive(Clone, Debug)]
pub enum OwedSinceStart {
    /// The lists of these segments are still to be written, as of the start.
    ToWrite { segments: Vec<u32>, as_of: u64 },
    /// They are durable when this barrier is.
    Written { barrier: u64 },
}
