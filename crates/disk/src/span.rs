//! Ranges of logical blocks.

/// Size of a block, the disk's unit of address.
pub(crate) const BLOCK_BYTES: u64 = 512;

/// A range of blocks, `start..end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub start: u64,
    pub end: u64,
}

impl Span {
    pub const EMPTY: Span = Span { start: 0, end: 0 };

    pub fn new(start: u64, end: u64) -> Span {
        debug_assert!(start <= end);
        Span { start, end }
    }

    pub fn blocks(self) -> u64 {
        self.end - self.start
    }

    pub fn bytes(self) -> u64 {
        self.blocks() * BLOCK_BYTES
    }

    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// The part that both have; empty when they have none.
    pub fn and(self, other: Span) -> Span {
        let start = self.start.max(other.start);
        Span { start, end: self.end.min(other.end).max(start) }
    }

    /// The smallest span around both. An empty one adds nothing.
    pub fn hull(self, other: Span) -> Span {
        if self.is_empty() {
            other
        } else if other.is_empty() {
            self
        } else {
            Span { start: self.start.min(other.start), end: self.end.max(other.end) }
        }
    }
}
