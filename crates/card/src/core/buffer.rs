//! Room in the write buffer, in sectors of the host.
//!
//! Invariant: the buffer never holds more than it has room for.

/// How much of the write buffer is free.
#[derive(Clone, Copy, Debug)]
pub struct WriteBuffer {
    free_sectors: u32,
    sectors: u32,
}

impl WriteBuffer {
    /// An empty buffer. It has room for so many sectors as the energy can put on flash: those in it count as durable.
    pub fn new(sectors: u32) -> WriteBuffer {
        WriteBuffer { free_sectors: sectors, sectors }
    }

    pub fn free_sectors(&self) -> u32 {
        self.free_sectors
    }

    pub fn sectors(&self) -> u32 {
        self.sectors
    }

    pub fn is_empty(&self) -> bool {
        self.free_sectors == self.sectors
    }

    /// A sector was taken in.
    #[inline]
    pub fn take(&mut self) {
        self.free_sectors -= 1;
    }

    /// Sectors are safe on flash.
    #[inline]
    pub fn free(&mut self, sectors: u32) {
        self.free_sectors += sectors;
        assert!(self.free_sectors <= self.sectors, "more freed than was buffered");
    }
}
