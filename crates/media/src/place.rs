//! Places on media.

/// The number of copies of a module's header.
pub const HEADER_COPIES: u32 = 2;

/// A block of a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockAt {
    /// The slot of the module.
    pub module: u32,
    /// The number of the die within the module.
    pub die: u32,
    /// The number of the block on the die, which is its band's.
    pub block: u32,
}

/// A unit of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UnitAt {
    /// The block that the unit lies in.
    pub block: BlockAt,
    /// The number of the unit within the block.
    pub row: u32,
}

/// The division of a module's log area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogArea {
    /// The size of the area.
    pub bytes: u64,
    /// Writes begin and end on multiples of this number of bytes.
    pub align_bytes: u32,
}
