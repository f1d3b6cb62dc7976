//! Memory that clients pack long writes into, and that a ring writes from where it lies.

use crate::arena::{ARENA_BYTES, Arena};
use crate::buffer::Buffer;
use std::sync::Arc;

/// Memory for long writes, in order. An arena is used again when nobody has any part of it.
#[derive(Debug, Default)]
pub struct Lender {
    arenas: Vec<Arc<Arena>>,
    /// The arena that is being carved.
    current: usize,
    most_arenas: usize,
}

impl Lender {
    /// Memory for writes of so many bytes that are kept at once, and for those that are packed meanwhile.
    pub fn for_bytes(kept_bytes: u64) -> Lender {
        let arenas = kept_bytes.div_ceil(ARENA_BYTES as u64) as usize;
        Lender { arenas: Vec::new(), current: 0, most_arenas: if arenas == 0 { 0 } else { arenas + 2 } }
    }

    /// Memory of so many bytes with arbitrary contents, a multiple of a page; `None`: so much is in use.
    pub fn take(&mut self, bytes: usize) -> Option<Buffer> {
        if bytes > ARENA_BYTES {
            return None;
        }
        if let Some(part) = self.arenas.get(self.current).and_then(|arena| arena.carve(bytes)) {
            return Some(part.into());
        }
        self.current = match self.arenas.iter_mut().position(Arena::reuse) {
            Some(free) => free,
            None if self.arenas.len() == self.most_arenas => return None,
            None => {
                self.arenas.push(Arena::new().ok()?);
                self.arenas.len() - 1
            }
        };
        self.arenas[self.current].carve(bytes).map(Buffer::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_lent_up_to_a_bound_and_again_when_it_is_back() {
        assert!(Lender::default().take(4096).is_none());
        let mut lender = Lender::for_bytes(1);
        let mut lent: Vec<Buffer> = std::iter::from_fn(|| lender.take(1 << 20)).collect();
        assert_eq!(lent.len(), 3 * (ARENA_BYTES >> 20));
        lent.pop();
        assert!(lender.take(1 << 20).is_none(), "the last arena has others in use");
        lent.truncate(2 * (ARENA_BYTES >> 20));
        let place = lender.take(4096).map(|buffer| buffer.bytes().as_ptr() as usize % 4096);
        assert_eq!(place, Some(0));
        assert!(lender.take(ARENA_BYTES + 4096).is_none());
    }
}
