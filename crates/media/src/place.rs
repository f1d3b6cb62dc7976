//! How media are divided.

/// How the modules of a card are divided. A block is a die's share of a band: one erase block of each plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Modules, numbered by slot.
    pub modules: u32,
    /// Dies of a module.
    pub dies_per_module: u32,
    /// Blocks of a die.
    pub blocks_per_die: u32,
    /// Units of a block, programmed in order.
    pub rows_per_block: u32,
    /// Sectors of a unit.
    pub unit_sectors: u32,
    /// Bytes of a sector's payload.
    pub payload_bytes: u32,
    /// Consecutive rows that share cells: a cut program may spoil earlier rows of its group. 1: none do.
    pub rows_sharing_cells: u32,
}

impl Shape {
    /// Dies of the card.
    pub fn dies(&self) -> u32 {
        self.modules * self.dies_per_module
    }
    /// Blocks of the card.
    pub fn blocks(&self) -> u64 {
        u64::from(self.dies()) * u64::from(self.blocks_per_die)
    }
    /// Rows whose cells a program of `row` disturbs if it is cut: earlier ones of its group.
    pub fn earlier_rows_sharing_cells(&self, row: u32) -> std::ops::Range<u32> {
        let group = self.rows_sharing_cells.max(1);
        row / group * group..row
    }
}

/// A block of a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockAt {
    /// Slot of its module.
    pub module: u32,
    /// Its die within the module.
    pub die: u32,
    /// Its place on the die: the band.
    pub block: u32,
}

/// A unit of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UnitAt {
    /// Its block.
    pub block: BlockAt,
    /// Its place in the block.
    pub row: u32,
}
