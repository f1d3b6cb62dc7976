//! Memory for direct I/O, and a pool of it, because mapping pages for each request would cost more than the request.

use memmap2::MmapMut;
use std::collections::BTreeMap;
use std::fmt;
use std::io;

/// Page-aligned memory. No device asks for more alignment.
#[derive(Default)]
pub struct Buffer {
    map: Option<MmapMut>,
    len: usize,
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
        Ok(Buffer { map: Some(MmapMut::map_anon(len.max(1).next_multiple_of(GRAIN_BYTES))?), len })
    }

    /// The bytes of the buffer, to read.
    pub fn bytes(&self) -> &[u8] {
        self.map.as_ref().map_or(&[], |map| &map[..self.len])
    }

    /// The bytes of the buffer, to write.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        match &mut self.map {
            Some(map) => &mut map[..self.len],
            None => &mut [],
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
        self.map.as_ref().map_or(0, |map| map.len())
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.len)
    }
}

/// The highest number of bytes in buffers of one size that the pool keeps, and the least number of these that it may keep.
const MAX_FREE_BYTES: usize = 16 << 20;
const MIN_FREE: usize = 256;

/// Buffers that are not in use.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    free: BTreeMap<usize, Vec<Buffer>>,
}

impl Pool {
    /// A buffer with arbitrary contents.
    ///
    /// # Panics
    /// If there is no memory.
    pub fn take(&mut self, len: usize) -> Buffer {
        let capacity = len.max(1).next_multiple_of(GRAIN_BYTES);
        match self.free.get_mut(&capacity).and_then(Vec::pop) {
            Some(mut buffer) => {
                buffer.len = len;
                buffer
            }
            None => Buffer::new(len).expect("memory for a request"),
        }
    }

    pub fn give(&mut self, buffer: Buffer) {
        if buffer.capacity() > 0 {
            let free = self.free.entry(buffer.capacity()).or_default();
            if free.len() < MIN_FREE.max(MAX_FREE_BYTES / buffer.capacity()) {
                free.push(buffer);
            }
        }
    }
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
}
