//! The division of a card's modules.

/// The division of a card's modules. A block is a die's share of a band: one erase block of each plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// The number of modules, which are numbered by slot.
    pub modules: u32,
    /// The number of dies of a module.
    pub dies_per_module: u32,
    /// The number of blocks of a die.
    pub blocks_per_die: u32,
    /// The number of units of a block, which are programmed in order.
    pub rows_per_block: u32,
    /// The number of sectors of a unit.
    pub unit_sectors: u32,
    /// The size of a sector's payload.
    pub payload_bytes: u32,
    /// The number of consecutive rows that share cells; 1 if none do. A cut program may spoil earlier rows of its group.
    pub rows_sharing_cells: u32,
}

impl Shape {
    /// The number of dies of the card.
    pub fn dies(&self) -> u32 {
        self.modules * self.dies_per_module
    }

    /// The number of blocks of the card.
    pub fn blocks(&self) -> u64 {
        u64::from(self.dies()) * u64::from(self.blocks_per_die)
    }

    /// The number of sectors of all modules together; `None` if 64 bits can't count them.
    pub fn sectors(&self) -> Option<u64> {
        [self.dies_per_module, self.blocks_per_die, self.rows_per_block, self.unit_sectors]
            .into_iter()
            .try_fold(u64::from(self.modules), |product, factor| product.checked_mul(factor.into()))
    }

    /// The rows that a program of `row` may spoil if it is cut: earlier ones that share its cells.
    pub fn earlier_rows_sharing_cells(&self, row: u32) -> std::ops::Range<u32> {
        let group = self.rows_sharing_cells.max(1);
        row / group * group..row
    }
}
