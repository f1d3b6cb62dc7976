//! Memory for direct I/O, and a pool of it, because mapping pages for each request would cost more than the request.

use crate::arena::{ARENA_BYTES, Arena, Part};
use bytes::Bytes;
use memmap2::MmapMut;
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// Page-aligned memory. No device asks for more alignment.
#[derive(Default)]
pub struct Buffer {
    memory: Memory,
    len: usize,
    /// Others' memory that a write has before the bytes of the buffer, in pieces that begin and end on pages.
    lead: Vec<Bytes>,
}

#[derive(Default)]
enum Memory {
    #[default]
    None,
    Own(MmapMut),
    Part(Part),
}

/// Capacities are multiples of this.
const GRAIN_BYTES: usize = 4096;

impl Buffer {
    /// A buffer without memory, for requests that carry none.
    pub fn none() -> Buffer {
        Buffer::default()
    }

    /// A buffer of `len` zeroes.
    pub fn new(len: usize) -> io::Result<Buffer> {
        let map = MmapMut::map_anon(len.max(1).next_multiple_of(GRAIN_BYTES))?;
        Ok(Buffer { memory: Memory::Own(map), len, lead: Vec::new() })
    }

    /// The bytes of the buffer, to read.
    pub fn bytes(&self) -> &[u8] {
        match &self.memory {
            Memory::None => &[],
            Memory::Own(map) => &map[..self.len],
            Memory::Part(part) => &part.bytes()[..self.len],
        }
    }

    /// The bytes of the buffer, to write.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        match &mut self.memory {
            Memory::None => &mut [],
            Memory::Own(map) => &mut map[..self.len],
            Memory::Part(part) => &mut part.bytes_mut()[..self.len],
        }
    }

    /// Has it begin with so many bytes of its memory, with arbitrary contents.
    ///
    /// # Panics
    /// If it has less.
    pub fn set_len(&mut self, len: usize) {
        assert!(len <= self.capacity(), "{len} of {} bytes", self.capacity());
        self.len = len;
    }

    /// The bytes that it has room for.
    pub fn capacity(&self) -> usize {
        match &self.memory {
            Memory::None => 0,
            Memory::Own(map) => map.len(),
            Memory::Part(part) => part.len(),
        }
    }

    /// Others' memory that a write has before the bytes of the buffer.
    pub fn lead(&self) -> &[Bytes] {
        &self.lead
    }

    /// Has a write begin with these bytes, which are kept until it has ended.
    pub(crate) fn set_lead(&mut self, lead: Vec<Bytes>) {
        self.lead = lead;
    }

    /// The bytes of a request that has the buffer, with those before it.
    pub fn request_bytes(&self) -> usize {
        self.lead.iter().map(Bytes::len).sum::<usize>() + self.len
    }

    /// The memory of the buffer is a part of this.
    pub(crate) fn is_of(&self, memory: &Arc<Arena>) -> bool {
        matches!(&self.memory, Memory::Part(part) if part.is_of(memory))
    }

    /// Shares its bytes. The memory is free when nobody has any part of them.
    pub fn freeze(self) -> Bytes {
        Bytes::from_owner(self)
    }
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        self.bytes()
    }
}

impl From<Part> for Buffer {
    fn from(part: Part) -> Buffer {
        Buffer { len: part.len(), memory: Memory::Part(part), lead: Vec::new() }
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.request_bytes())
    }
}

/// The highest number of bytes in buffers of one size that the pool keeps, and the least number of these that it may keep.
const MAX_FREE_BYTES: usize = 16 << 20;
const MIN_FREE: usize = 256;

/// The most arenas that a pool carves buffers from. Their parts come back to the pool, and never to the system.
const MAX_ARENAS: usize = 8;

/// Buffers that were lent and have come back, from whichever thread had the last part.
type Returned = Arc<Mutex<Vec<Buffer>>>;

/// A buffer whose bytes are read elsewhere. It goes back when the last reader is done.
struct Lent {
    buffer: Buffer,
    returned: Returned,
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        self.buffer.bytes()
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let buffer = std::mem::take(&mut self.buffer);
        self.returned.lock().unwrap_or_else(PoisonError::into_inner).push(buffer);
    }
}

/// Buffers of each capacity that are not in use.
type Free = BTreeMap<usize, Vec<Buffer>>;

/// Buffers that are not in use.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    free: Free,
    /// The memory that the disks know beforehand, and the buffers that were carved from it.
    pinned: Option<Arc<Arena>>,
    free_pinned: Free,
    /// Arenas that other buffers were carved from; the last one may have room for more.
    arenas: Vec<Arc<Arena>>,
    returned: Returned,
}

impl Pool {
    /// A pool that has this memory to read into.
    pub fn with(pinned: Option<Arc<Arena>>) -> Pool {
        Pool { pinned, ..Pool::default() }
    }

    /// A buffer with arbitrary contents.
    ///
    /// # Panics
    /// If there is no memory.
    pub fn take(&mut self, len: usize) -> Buffer {
        let capacity = capacity_for(len);
        if self.free.get(&capacity).is_none_or(Vec::is_empty) {
            self.take_back();
        }
        if let Some(buffer) = take_free(&mut self.free, len) {
            return buffer;
        }
        match self.carve(capacity) {
            Some(part) => Buffer { len, ..part.into() },
            None => Buffer::new(len).expect("memory for a request"),
        }
    }

    /// Carves a part of an arena, while there may be more of these. Disks of which no memory is known beforehand have no use
    /// for it.
    fn carve(&mut self, bytes: usize) -> Option<Part> {
        self.pinned.as_ref()?;
        if let Some(part) = self.arenas.last().and_then(|arena| arena.carve(bytes)) {
            return Some(part);
        }
        if self.arenas.len() == MAX_ARENAS || bytes > ARENA_BYTES {
            return None;
        }
        self.arenas.push(Arena::new().ok()?);
        self.arenas.last()?.carve(bytes)
    }

    /// A buffer to read into, of memory that the disks know beforehand while there is some.
    pub fn take_pinned(&mut self, len: usize) -> Buffer {
        let Some(pinned) = &self.pinned else { return self.take(len) };
        if let Some(buffer) = take_free(&mut self.free_pinned, len) {
            return buffer;
        }
        if let Some(part) = pinned.carve(capacity_for(len)) {
            return Buffer { len, ..part.into() };
        }
        self.take_back();
        take_free(&mut self.free_pinned, len).unwrap_or_else(|| self.take(len))
    }

    /// Takes back what was lent and has been read.
    fn take_back(&mut self) {
        let returned = std::mem::take(&mut *self.returned.lock().unwrap_or_else(PoisonError::into_inner));
        returned.into_iter().for_each(|buffer| self.give(buffer));
    }

    /// Lends bytes of a buffer to any number of readers. The buffer is given back when the last of them is done.
    pub fn lend(&self, buffer: Buffer, part: Range<usize>) -> Bytes {
        Bytes::from_owner(Lent { buffer, returned: Arc::clone(&self.returned) }).slice(part)
    }

    pub fn give(&mut self, mut buffer: Buffer) {
        buffer.lead.clear();
        let capacity = buffer.capacity();
        match &buffer.memory {
            Memory::None => {}
            // A part is carved once.
            Memory::Part(_) if self.pinned.as_ref().is_some_and(|pinned| buffer.is_of(pinned)) => {
                self.free_pinned.entry(capacity).or_default().push(buffer)
            }
            Memory::Part(_) => self.free.entry(capacity).or_default().push(buffer),
            Memory::Own(_) => {
                let free = self.free.entry(capacity).or_default();
                if free.len() < MIN_FREE.max(MAX_FREE_BYTES / capacity) {
                    free.push(buffer);
                }
            }
        }
    }
}

fn capacity_for(len: usize) -> usize {
    len.max(1).next_multiple_of(GRAIN_BYTES)
}

fn take_free(free: &mut Free, len: usize) -> Option<Buffer> {
    let mut buffer = free.get_mut(&capacity_for(len))?.pop()?;
    buffer.len = len;
    Some(buffer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_has_the_length_that_was_asked_for_and_begins_on_a_page() {
        let mut pool = Pool::default();
        for len in [1, 512, 4096, 4097, 1 << 20] {
            let buffer = pool.take(len);
            assert_eq!(buffer.bytes().len(), len);
            assert_eq!(buffer.bytes().as_ptr() as usize % 4096, 0);
            pool.give(buffer);
        }
        assert_eq!(pool.take(700).bytes().len(), 700);
        assert!(Buffer::none().bytes().is_empty());
    }

    #[test]
    fn a_buffer_that_was_lent_is_used_again_when_its_last_reader_is_done() {
        let mut pool = Pool::default();
        let mut buffer = pool.take(8192);
        let memory = buffer.bytes().as_ptr();
        buffer.bytes_mut()[4096..].fill(7);
        let lent = pool.lend(buffer, 4096..8192);
        let part = lent.slice(..16);
        drop(lent);
        assert_ne!(pool.take(8192).bytes().as_ptr(), memory);
        assert_eq!(part, [7; 16][..]);
        std::thread::spawn(|| drop(part)).join().unwrap();
        assert_eq!(pool.take(8192).bytes().as_ptr(), memory);
    }

    #[test]
    fn reads_have_pinned_memory_as_far_as_it_goes_and_have_it_again() {
        let pinned = Arena::new().unwrap();
        let mut pool = Pool::with(Some(Arc::clone(&pinned)));
        let is_pinned = |buffer: &Buffer| buffer.is_of(&pinned);
        let buffers: Vec<Buffer> = (0..9).map(|_| pool.take_pinned(1 << 20)).collect();
        assert_eq!(buffers.iter().filter(|buffer| is_pinned(buffer)).count(), 8);
        let lent: Vec<Bytes> = buffers.into_iter().map(|buffer| pool.lend(buffer, 0..4096)).collect();
        assert!(!is_pinned(&pool.take_pinned(1 << 20)));
        drop(lent);
        let buffers: Vec<Buffer> = (0..9).map(|_| pool.take_pinned(1 << 20)).collect();
        assert_eq!(buffers.iter().filter(|buffer| is_pinned(buffer)).count(), 8);
        assert!(!is_pinned(&pool.take(4096)), "for what is written");
    }
}
