//! Memory in long pieces, which requests have parts of. In huge pages a request to a device has fewer pieces, and finding them
//! costs the kernel less.
//!
//! The code is sound because of these invariants:
//! - Parts do not overlap, because each begins where the last one ended, and none is carved twice while it has an owner.
//! - A part has one owner, and keeps the mapping alive.

#![allow(unsafe_code)]

use memmap2::{Advice, MmapOptions, MmapRaw};
use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The size of an arena: a hundred reads of any length. A user may register that much with a ring by default.
pub(crate) const ARENA_BYTES: usize = 8 << 20;

/// A mapping that is divided into parts.
pub struct Arena {
    map: MmapRaw,
    /// The bytes that were carved off, from the start.
    carved: AtomicUsize,
}

impl Arena {
    /// An arena that nothing of is in use.
    pub fn new() -> io::Result<Arc<Arena>> {
        let map = MmapRaw::from(MmapOptions::new().len(ARENA_BYTES).map_anon()?);
        // Where there are no huge pages it works all the same.
        let _ = map.advise(Advice::HugePage);
        Ok(Arc::new(Arena { map, carved: AtomicUsize::new(0) }))
    }

    /// Where it lies.
    pub(crate) fn place(&self) -> (*mut u8, usize) {
        (self.map.as_mut_ptr(), self.map.len())
    }

    /// Carves off a part, while there is room.
    pub(crate) fn carve(self: &Arc<Arena>, bytes: usize) -> Option<Part> {
        let end = |carved: usize| carved.checked_add(bytes).filter(|end| *end <= self.map.len());
        let offset = self.carved.fetch_update(Ordering::Relaxed, Ordering::Relaxed, end).ok()?;
        Some(Part { of: Arc::clone(self), offset, bytes })
    }

    /// Has all of it to carve again, if no part has an owner any more.
    pub(crate) fn reuse(self: &mut Arc<Arena>) -> bool {
        let Some(arena) = Arc::get_mut(self) else { return false };
        *arena.carved.get_mut() = 0;
        true
    }
}

impl fmt::Debug for Arena {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} bytes are carved", self.carved.load(Ordering::Relaxed), self.map.len())
    }
}

/// A part of an arena, with one owner.
pub(crate) struct Part {
    of: Arc<Arena>,
    offset: usize,
    bytes: usize,
}

impl Part {
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the range lies within the mapping, which `of` keeps; only the owner of this part reaches it.
        unsafe { std::slice::from_raw_parts(self.of.map.as_ptr().add(self.offset), self.bytes) }
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and the owner is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.of.map.as_mut_ptr().add(self.offset), self.bytes) }
    }

    pub fn len(&self) -> usize {
        self.bytes
    }

    pub fn is_of(&self, memory: &Arc<Arena>) -> bool {
        Arc::ptr_eq(&self.of, memory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_lie_side_by_side_until_there_is_no_room() {
        let mut memory = Arena::new().unwrap();
        let mut parts: Vec<Part> = std::iter::from_fn(|| memory.carve(1 << 20)).collect();
        assert_eq!(parts.len(), ARENA_BYTES >> 20);
        assert!(memory.carve(4096).is_none());
        parts.iter_mut().zip(1..).for_each(|(part, number)| part.bytes_mut().fill(number));
        assert!(!memory.reuse());
        drop(memory);
        assert!(parts.iter().zip(1..).all(|(part, number)| part.bytes().iter().all(|byte| *byte == number)));
    }

    #[test]
    fn an_arena_is_carved_again_when_no_part_of_it_has_an_owner() {
        let mut arena = Arena::new().unwrap();
        let parts = [arena.carve(ARENA_BYTES / 2).unwrap(), arena.carve(ARENA_BYTES / 2).unwrap()];
        let [first, last] = parts;
        drop(first);
        assert!(!arena.reuse() && arena.carve(4096).is_none());
        drop(last);
        assert!(arena.reuse() && arena.carve(ARENA_BYTES).is_some());
    }
}
