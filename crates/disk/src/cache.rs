//! A write cache: what is dirty, what is on its way to the medium, and what room is left.
//!
//! The disk's volatile cache and the controller's battery-backed one are both kept in this form. Adjacent and
//! overlapping writes coalesce.
//!
//! Invariants: a block on its way is not taken again before it has arrived; dirty and on the way together fit the
//! capacity.

use crate::extents::Extents;
use crate::span::{BLOCK_BYTES, Span};

#[derive(Clone, Debug)]
pub(crate) struct WriteCache {
    capacity_blocks: u64,
    dirty: Extents,
    leaving: Extents,
}

impl WriteCache {
    pub fn new(capacity_bytes: u64) -> WriteCache {
        WriteCache {
            capacity_blocks: capacity_bytes / BLOCK_BYTES,
            dirty: Extents::default(),
            leaving: Extents::default(),
        }
    }

    /// Returns the blocks that can be taken from the cache to the medium.
    pub fn dirty(&self) -> &Extents {
        &self.dirty
    }

    /// True when nothing waits to be on the medium.
    pub fn is_empty(&self) -> bool {
        self.dirty.is_empty() && self.leaving.is_empty()
    }

    /// Share of the capacity in use, 0 to 1.
    pub fn fill(&self) -> f64 {
        (self.dirty.blocks() + self.leaving.blocks()) as f64 / self.capacity_blocks.max(1) as f64
    }

    /// True when the write could never be held.
    pub fn too_small_for(&self, span: Span) -> bool {
        span.blocks() > self.capacity_blocks
    }

    /// True when there is room for a write, counting what it overwrites.
    pub fn fits(&self, span: Span) -> bool {
        let overwritten: u64 = self.dirty.within(span).map(Span::blocks).sum();
        self.dirty.blocks() + self.leaving.blocks() + span.blocks() - overwritten <= self.capacity_blocks
    }

    /// Takes a write in.
    pub fn put(&mut self, span: Span) {
        assert!(self.fits(span), "a write was put in a cache that is full");
        self.dirty.insert(span);
    }

    /// A write that passed by is on the medium: what it overwrote need not go there any more.
    pub fn supersede(&mut self, span: Span) {
        self.dirty.remove(span);
    }

    /// True when all of a range is in the cache.
    pub fn holds(&self, span: Span) -> bool {
        let mut at = span.start;
        while at < span.end {
            let until = self.dirty.covered_until(at).max(self.leaving.covered_until(at));
            if until == at {
                return false;
            }
            at = until;
        }
        true
    }

    /// A dirty range starts on its way to the medium.
    pub fn take(&mut self, span: Span) {
        debug_assert!(self.dirty.covered_until(span.start) >= span.end && self.leaving.within(span).next().is_none());
        self.dirty.remove(span);
        self.leaving.insert(span);
    }

    /// Notes that the blocks that were taken of a range are on the medium.
    pub fn arrived(&mut self, span: Span) {
        self.leaving.remove(span);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_comes_back_when_blocks_have_arrived() {
        let mut cache = WriteCache::new(8 * BLOCK_BYTES);
        cache.put(Span::new(0, 4));
        cache.put(Span::new(4, 8));
        assert!(!cache.fits(Span::new(8, 9)));
        assert!(cache.fits(Span::new(2, 6)), "an overwrite needs no room");
        cache.take(Span::new(0, 8));
        assert!(cache.holds(Span::new(0, 8)), "a block on its way can be read");
        assert!(!cache.fits(Span::new(2, 6)), "a block on its way must not change");
        cache.arrived(Span::new(0, 8));
        assert!(cache.is_empty() && cache.fits(Span::new(10, 18)));
    }
}
