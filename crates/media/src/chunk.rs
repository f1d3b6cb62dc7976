//! Chunks: one piece of memory for the contents of several small blocks, or of one large block.
//!
//! A chunk exists once one of its blocks was programmed. Copies of a module share chunks until one of them writes. So
//! copying a module costs a few pointers, and a card of gigabytes takes only the memory that was programmed.

use crate::payload::Payload;
use crate::sectors::Sectors;
use format::{SPARE_BYTES, Shape};

/// Blocks share a chunk while it stays below this size, so that the first write to a shared chunk copies little.
const CHUNK_BYTES: u64 = 4 << 10;

/// The state of a sector's cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Cells {
    #[default]
    Erased = 0,
    Programmed = 1,
    /// The cells hold nothing that error correction can restore.
    Lost = 2,
}

/// The state of a sector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SectorCells {
    pub cells: Cells,
    /// The number of bits that stay wrong until the block is erased.
    pub flips: u16,
}

/// The state of a unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct UnitCells {
    /// The time of its program, by the module's clock.
    pub minute: u32,
    /// A program began here and left no trace that a read would find. The next program here is lost.
    pub touched: bool,
}

/// The division of a module into chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    pub blocks: u32,
    pub rows: u32,
    pub sectors: usize,
    pub payload_bytes: usize,
}

impl Cut {
    pub fn of(shape: &Shape) -> Cut {
        let sector_bytes = SPARE_BYTES + shape.payload_bytes as usize;
        let block_bytes = u64::from(shape.rows_per_block) * u64::from(shape.unit_sectors) * sector_bytes as u64;
        let blocks = (CHUNK_BYTES / block_bytes.max(1)).clamp(1, u64::from(u32::MAX)) as u32;
        let (sectors, payload_bytes) = (shape.unit_sectors as usize, shape.payload_bytes as usize);
        Cut { blocks, rows: shape.rows_per_block, sectors, payload_bytes }
    }
    /// The chunk of a block, and the block's place in it.
    #[inline]
    pub fn locate(&self, block: usize) -> (usize, usize) {
        (block / self.blocks as usize, block % self.blocks as usize)
    }
}

/// The contents of some blocks.
#[derive(Clone, Debug)]
pub(crate) struct Chunk {
    pub units: Vec<UnitCells>,
    pub sectors: Vec<SectorCells>,
    pub contents: Sectors,
}

impl Chunk {
    /// A chunk of erased blocks. The last chunk of a module may have fewer `blocks` than others.
    pub fn new(cut: &Cut, blocks: usize) -> Chunk {
        let units = blocks * cut.rows as usize;
        Chunk {
            units: vec![UnitCells::default(); units],
            sectors: vec![SectorCells::default(); units * cut.sectors],
            contents: Sectors::new(units * cut.sectors, cut.payload_bytes),
        }
    }
    /// Erases a block of the chunk. Payloads without another owner go to `freed`.
    pub fn erase(&mut self, cut: &Cut, place: usize, freed: &mut Vec<Payload>) {
        let rows = cut.rows as usize;
        self.units[place * rows..][..rows].fill(UnitCells::default());
        self.sectors[place * rows * cut.sectors..][..rows * cut.sectors].fill(SectorCells::default());
        self.contents.forget(place * rows * cut.sectors..(place + 1) * rows * cut.sectors, freed);
    }
}
