//! Memory that a client receives the bytes of a write into.

use bytes::Bytes;
use files::Buffer;

/// Memory for the bytes of a write. Where a medium is slow and the write is long, it is written from there.
#[derive(Debug)]
pub struct WriteMemory(Memory);

#[derive(Debug)]
enum Memory {
    /// The card's own, from which its medium is written.
    Lent(Buffer),
    Own(Vec<u8>),
}

impl WriteMemory {
    /// Memory that no card has lent.
    pub fn new(bytes: usize) -> WriteMemory {
        WriteMemory(Memory::Own(vec![0; bytes]))
    }

    pub(crate) fn lent(buffer: Buffer) -> WriteMemory {
        WriteMemory(Memory::Lent(buffer))
    }

    /// The bytes, to be written to: their contents are arbitrary at first.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        match &mut self.0 {
            Memory::Lent(buffer) => buffer.bytes_mut(),
            Memory::Own(bytes) => bytes,
        }
    }

    /// The number of bytes.
    pub fn len_bytes(&self) -> usize {
        match &self.0 {
            Memory::Lent(buffer) => buffer.bytes().len(),
            Memory::Own(bytes) => bytes.len(),
        }
    }

    /// The bytes, for [`crate::Request::shared`].
    pub fn freeze(self) -> Bytes {
        match self.0 {
            Memory::Lent(buffer) => buffer.freeze(),
            Memory::Own(bytes) => bytes.into(),
        }
    }
}
