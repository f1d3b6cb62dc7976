//! Room in the write buffer, in sectors of the host; in granules on a card that compresses, as it holds them compressed.
//!
//! Invariant: the buffer never holds more than it has room for.

/// How much of the write buffer is free.
#[derive(Clone, Copy, Debug)]
pub struct WriteBuffer {
    free_sectors: u32,
    sectors: u32,
    /// The most that a sector takes.
    most: u32,
}

impl WriteBuffer {
    /// An empty buffer. It has room for so many sectors as the energy can put on flash: those in it count as durable.
    /// A sector takes `most` of it at most.
    pub fn new(sectors: u32, most: u32) -> WriteBuffer {
        WriteBuffer { free_sectors: sectors, sectors, most }
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

    /// Whether there is room for a sector, however large it is.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.free_sectors >= self.most
    }

    /// A sector was taken in that takes so much.
    #[inline]
    pub fn take(&mut self, room: u32) {
        self.free_sectors -= room;
    }

    /// Sectors are safe on flash.
    #[inline]
    pub fn free(&mut self, sectors: u32) {
        self.free_sectors += sectors;
        assert!(self.free_sectors <= self.sectors, "more freed than was buffered");
    }
}
