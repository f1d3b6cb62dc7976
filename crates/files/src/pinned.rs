//! Memory that the kernel knows beforehand: a read into it neither looks its pages up nor holds them.
//!
//! The code is sound because of these invariants:
//! - Parts do not overlap, because each begins where the last one ended, and none is carved twice.
//! - A part has one owner, and keeps the mapping alive.

#![allow(unsafe_code)]

use memmap2::{Advice, MmapOptions, MmapRaw};
use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The size of the memory of a ring: a hundred reads of any length.
const BYTES: usize = 8 << 20;

/// A mapping that is divided into parts.
pub struct Pinned {
    map: MmapRaw,
    /// The bytes that were carved off, from the start.
    carved: AtomicUsize,
}

impl Pinned {
    /// Memory that nothing of is in use.
    pub fn new() -> io::Result<Arc<Pinned>> {
        let map = MmapRaw::from(MmapOptions::new().len(BYTES).map_anon()?);
        // A request to a device has fewer parts then. Where there are no huge pages it works all the same.
        let _ = map.advise(Advice::HugePage);
        Ok(Arc::new(Pinned { map, carved: AtomicUsize::new(0) }))
    }

    /// Where it lies.
    pub(crate) fn place(&self) -> (*mut u8, usize) {
        (self.map.as_mut_ptr(), self.map.len())
    }

    /// Carves off a part, while there is room.
    pub(crate) fn carve(self: &Arc<Pinned>, bytes: usize) -> Option<Part> {
        let end = |carved: usize| carved.checked_add(bytes).filter(|end| *end <= self.map.len());
        let offset = self.carved.fetch_update(Ordering::Relaxed, Ordering::Relaxed, end).ok()?;
        Some(Part { of: Arc::clone(self), offset, bytes })
    }
}

impl fmt::Debug for Pinned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} bytes are carved", self.carved.load(Ordering::Relaxed), self.map.len())
    }
}

/// A part of such memory, with one owner.
pub(crate) struct Part {
    of: Arc<Pinned>,
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

    pub fn is_of(&self, memory: &Arc<Pinned>) -> bool {
        Arc::ptr_eq(&self.of, memory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_lie_side_by_side_until_there_is_no_room() {
        let memory = Pinned::new().unwrap();
        let mut parts: Vec<Part> = std::iter::from_fn(|| memory.carve(1 << 20)).collect();
        assert_eq!(parts.len(), BYTES >> 20);
        assert!(memory.carve(4096).is_none());
        parts.iter_mut().zip(1..).for_each(|(part, number)| part.bytes_mut().fill(number));
        drop(memory);
        assert!(parts.iter().zip(1..).all(|(part, number)| part.bytes().iter().all(|byte| *byte == number)));
    }
}
