//! The state of checkpoints: the newest one, and the one that is being written.

use crate::layout::BandId;
use format::{CHECKPOINT_HEAD_BYTES, CheckpointHead};
use std::collections::BTreeMap;
use std::ops::Range;

/// The size of an entry of the map.
pub(crate) const ENTRY_BYTES: usize = 4;

/// The checkpoints of a card.
#[derive(Clone, Debug, Default)]
pub(crate) struct Checkpoints {
    /// The checkpoint that is being written.
    pub snapshot: Option<Box<Snapshot>>,
    /// Bands of the newest complete checkpoint.
    pub complete: Vec<BandId>,
    /// Bands of the checkpoint that is being written.
    pub being_written: Vec<BandId>,
    /// The value of `opened` when the newest checkpoint was begun.
    pub opened_before: u64,
    /// Number of bands that were opened for sectors.
    pub opened: u64,
    /// A band of the newest complete checkpoint can't be read well any more.
    pub is_flawed: bool,
}

/// A checkpoint that is being written.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    pub head: CheckpointHead,
    pub payload_bytes: usize,
    pub parts: u32,
    /// The part that is handed out next. When it is `parts`, only part 0 is left.
    pub next: u32,
    /// Body bytes of part 0, and of parts that changed before they were handed out.
    pub kept: BTreeMap<u32, Box<[u8]>>,
    /// The bytes that follow the map in the body.
    pub rest: Vec<u8>,
    /// Barriers of the host's and the relocation stream: below them lies everything that the map points to.
    pub barriers: [u64; 2],
    /// Barrier of the checkpoint stream: below it lie all parts but part 0, and after part 0 was handed out, all parts.
    pub own_barrier: u64,
    pub head_is_out: bool,
}

impl Snapshot {
    /// The range of the body that a part holds.
    pub fn body_range(&self, part: u32) -> Range<usize> {
        let bytes = |part: usize| (part * self.payload_bytes).saturating_sub(CHECKPOINT_HEAD_BYTES);
        let end = self.head.body_bytes as usize;
        bytes(part as usize).min(end)..bytes(part as usize + 1).min(end)
    }

    /// The part that an entry of the map is in. No entry lies across two parts, because the sizes of a payload and of
    /// the head are multiples of an entry's size.
    pub fn part_of(&self, entry: usize) -> u32 {
        ((CHECKPOINT_HEAD_BYTES + entry * ENTRY_BYTES) / self.payload_bytes) as u32
    }
}
