//! Memory for direct I/O: page-aligned buffers, one for each request outstanding.

use memmap2::{Advice, MmapMut};
use std::io;

/// One mapping, cut into equal buffers.
pub(crate) struct Arena {
    map: MmapMut,
    stride_bytes: usize,
    /// Buffers of requests that are larger than foreseen.
    larger: Vec<Option<MmapMut>>,
}

/// Buffers begin on pages: no device asks for more.
const PAGE_BYTES: usize = 4096;

impl Arena {
    /// `slots` buffers of at least `bytes` each.
    pub fn new(slots: usize, bytes: usize) -> io::Result<Arena> {
        let stride_bytes = bytes.max(1).next_multiple_of(PAGE_BYTES);
        let map = MmapMut::map_anon(slots.max(1) * stride_bytes)?;
        // Fewer TLB misses; without huge pages it works as well.
        let _ = map.advise(Advice::HugePage);
        Ok(Arena { map, stride_bytes, larger: (0..slots).map(|_| None).collect() })
    }

    /// All regular buffers, as one piece.
    pub fn whole(&mut self) -> &mut [u8] {
        &mut self.map
    }

    /// The first `bytes` of a slot's buffer, and whether it is a regular one.
    pub fn buffer(&mut self, slot: usize, bytes: usize) -> io::Result<(&mut [u8], bool)> {
        if bytes <= self.stride_bytes {
            let first = slot * self.stride_bytes;
            return Ok((&mut self.map[first..first + bytes], true));
        }
        let larger = &mut self.larger[slot];
        if larger.as_ref().is_none_or(|map| map.len() < bytes) {
            *larger = Some(MmapMut::map_anon(bytes.next_power_of_two())?);
        }
        let map = larger.as_mut().expect("just set");
        Ok((&mut map[..bytes], false))
    }
}
