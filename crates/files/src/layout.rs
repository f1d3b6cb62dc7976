//! The layout of a module's file.
//!
//! ```text
//!   page 0            superblock, copy 0
//!   page 1            the card's header of the module, copy 0
//!   page 2            record of syncs, copy 0
//!   page 3            0
//!   page 4            table of blocks, copy 0
//!   page 4 + T        units, in the order of (block, row, die)
//!   behind the units  log
//!   last but 2 + T    table of blocks, copy 1
//!   last but 2        record of syncs, copy 1
//!   last but 1        the card's header, copy 1
//!   last page         superblock, copy 1
//! ```
//!
//! The modules of a card that is divided over shards have such a region for each shard, one after the other and all of
//! one size.

use crate::frame;
use crate::sizes::{PAGE_BYTES, SECTOR_BYTES};
use crate::table::ENTRIES_PER_PAGE;
use media::{BlockAt, Shape, UnitAt};

/// The number of copies of everything but units.
pub(crate) const COPIES: usize = 2;
/// The number of pages before the first copy of the table.
const FRONT_PAGES: u64 = 4;
/// The number of pages after the second copy of the table.
const BACK_PAGES: u64 = 3;
/// The largest payload of a sector.
const MAX_PAYLOAD_BYTES: u32 = 4096;
/// The highest number of sectors in a unit.
const MAX_UNIT_SECTORS: u32 = 64;
/// The highest number of modules of a card.
const MAX_MODULES: u32 = 64;
/// The highest number of shards of a card.
pub const MAX_SHARDS: u32 = 64;
/// The size of the largest module, so that offsets stay far from overflowing.
const MAX_BYTES: u64 = 1 << 60;

/// Whole pages may take this share of a unit's own bytes in addition: an eighth.
const MAX_PADDING_SHARE: u64 = 8;

/// The alignment of units on a disk that takes multiples of `min_bytes`: whole pages, if they cost no more than an
/// eighth. File systems carry out direct writes to parts of their blocks one at a time, and drives read the bytes
/// around them.
fn best_align(shape: &Shape, min_bytes: u32) -> u32 {
    let needed = frame::unit_bytes(shape).next_multiple_of(min_bytes.into());
    let paged = needed.next_multiple_of(PAGE_BYTES);
    if paged - needed <= needed / MAX_PADDING_SHARE { PAGE_BYTES as u32 } else { min_bytes }
}

/// The size of the log area of a new module: one part in 64 of what the module holds, within these bounds.
const LOG_PART: u64 = 64;
const MIN_LOG_BYTES: u64 = 64 << 10;
const MAX_LOG_BYTES: u64 = 8 << 20;

/// The size of the log area of the modules of a new card, which is the same for all of them. Modules of less than a few
/// megabytes have none.
pub(crate) fn best_log_bytes(shape: &Shape) -> u64 {
    let units = u64::from(shape.dies_per_module) * u64::from(shape.blocks_per_die);
    let sectors = units.saturating_mul(shape.rows_per_block.into()).saturating_mul(shape.unit_sectors.into());
    let part = sectors.saturating_mul(shape.payload_bytes.into()) / LOG_PART;
    if part < MIN_LOG_BYTES { 0 } else { part.min(MAX_LOG_BYTES) / PAGE_BYTES * PAGE_BYTES }
}

/// The division of a module's file, with the offset of each part, as one shard of the card has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    shape: Shape,
    shard: u32,
    shards: u32,
    align_bytes: u32,
    unit_bytes: u64,
    table_pages: u64,
    units: u64,
    log_bytes: u64,
    total_bytes: u64,
}

impl Layout {
    /// The layout of a module without a log: as [`Layout::with_log`].
    pub fn new(shape: &Shape, align_bytes: u32, total_bytes: u64) -> Option<Layout> {
        Layout::with_log(shape, align_bytes, total_bytes, 0)
    }

    /// The layout of a module of a card, with so many bytes of log. Units begin on multiples of `align_bytes`, which
    /// divides a page. `total_bytes` is the size of the file or device, or 0 for the smallest possible. `None` if there
    /// can be no such module.
    pub fn with_log(shape: &Shape, align_bytes: u32, total_bytes: u64, log_bytes: u64) -> Option<Layout> {
        let is_legal = (1..=MAX_MODULES).contains(&shape.modules)
            && (1..=MAX_UNIT_SECTORS).contains(&shape.unit_sectors)
            && (1..=MAX_PAYLOAD_BYTES).contains(&shape.payload_bytes)
            && shape.rows_sharing_cells > 0
            && log_bytes.is_multiple_of(PAGE_BYTES)
            && log_bytes <= MAX_LOG_BYTES
            && align_bytes.is_power_of_two()
            && (SECTOR_BYTES as u64..=PAGE_BYTES).contains(&u64::from(align_bytes));
        if !is_legal {
            return None;
        }
        let unit_bytes = frame::unit_bytes(shape).next_multiple_of(u64::from(align_bytes));
        let blocks = u64::from(shape.dies_per_module).checked_mul(shape.blocks_per_die.into())?;
        let units = blocks.checked_mul(shape.rows_per_block.into())?;
        // Block numbers have 32 bits.
        if units == 0 || blocks > u64::from(u32::MAX) {
            return None;
        }
        let table_pages = blocks.div_ceil(ENTRIES_PER_PAGE as u64);
        let payload = units.checked_mul(unit_bytes)?.checked_next_multiple_of(PAGE_BYTES)?;
        let min_bytes = payload
            .checked_add(log_bytes)?
            .checked_add((FRONT_PAGES + BACK_PAGES + COPIES as u64 * table_pages) * PAGE_BYTES)?;
        let total_bytes = if total_bytes == 0 { min_bytes } else { total_bytes / PAGE_BYTES * PAGE_BYTES };
        let fits = (min_bytes..=MAX_BYTES).contains(&total_bytes);
        fits.then_some(Layout {
            shape: *shape,
            shard: 0,
            shards: 1,
            align_bytes,
            unit_bytes,
            table_pages,
            units,
            log_bytes,
            total_bytes,
        })
    }

    /// The same for a shard of a card that has so many: its region begins behind those of the shards before it. `None` if
    /// there can be no such module.
    pub fn of_shard(self, shard: u32, shards: u32) -> Option<Layout> {
        let is_legal = shard < shards && shards <= MAX_SHARDS;
        let fits = self.total_bytes.checked_mul(shards.into()).is_some_and(|bytes| bytes <= MAX_BYTES);
        (is_legal && fits).then_some(Layout { shard, shards, ..self })
    }

    /// The smallest layout of a new module on a disk that takes multiples of `min_bytes`, which divides a page. `None` if
    /// there can be no such module.
    pub fn least(shape: &Shape, min_bytes: u32) -> Option<Layout> {
        Layout::least_with_log(shape, min_bytes, best_log_bytes(shape))
    }

    /// The same with so many bytes of log.
    pub(crate) fn least_with_log(shape: &Shape, min_bytes: u32, log_bytes: u64) -> Option<Layout> {
        Layout::with_log(shape, best_align(shape, min_bytes), 0, log_bytes)
    }

    /// The shape of the card that the module belongs to.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Units begin on multiples of this number of bytes.
    pub fn align_bytes(&self) -> u32 {
        self.align_bytes
    }

    /// The number of the shard, and the number of shards.
    pub fn shard(&self) -> (u32, u32) {
        (self.shard, self.shards)
    }

    /// The size of the shard's region of the module.
    pub fn total_bytes(&self) -> u64 {
        self.total_bytes
    }

    /// The size of the module in its file: of the regions of all shards.
    pub fn module_bytes(&self) -> u64 {
        self.total_bytes * u64::from(self.shards)
    }

    fn start(&self) -> u64 {
        self.total_bytes * u64::from(self.shard)
    }

    /// The size of a unit in the file.
    pub fn unit_bytes(&self) -> usize {
        self.unit_bytes as usize
    }

    /// The size of the log area; 0: there is none.
    pub fn log_bytes(&self) -> u64 {
        self.log_bytes
    }

    /// The offset of the log area.
    pub fn log(&self) -> u64 {
        self.unit_offset(self.units).next_multiple_of(PAGE_BYTES)
    }

    /// The number of units of the module.
    pub fn units(&self) -> u64 {
        self.units
    }

    /// The number of blocks of the module.
    pub fn blocks(&self) -> u32 {
        self.shape.dies_per_module * self.shape.blocks_per_die
    }

    /// The number of pages of one copy of the table.
    pub fn table_pages(&self) -> u32 {
        self.table_pages as u32
    }

    fn page(&self, copy: usize, front: u64, back: u64) -> u64 {
        self.start() + if copy == 0 { front * PAGE_BYTES } else { self.total_bytes - back * PAGE_BYTES }
    }

    /// The offset of a copy of the superblock.
    pub fn superblock(&self, copy: usize) -> u64 {
        self.page(copy, 0, 1)
    }

    /// The offset of a copy of the card's header.
    pub fn header(&self, copy: usize) -> u64 {
        self.page(copy, 1, 2)
    }

    /// The offset of a copy of the record of syncs.
    pub fn record(&self, copy: usize) -> u64 {
        self.page(copy, 2, 3)
    }

    /// The offset of a page of a copy of the table.
    pub fn table(&self, copy: usize, page: u32) -> u64 {
        assert!(u64::from(page) < self.table_pages, "page {page} of a table of {}", self.table_pages);
        self.page(copy, FRONT_PAGES, BACK_PAGES + self.table_pages) + u64::from(page) * PAGE_BYTES
    }

    /// The number of a block. The blocks of a band are neighbours, because they are erased together.
    pub fn block(&self, at: BlockAt) -> u32 {
        let Shape { modules, dies_per_module, blocks_per_die, .. } = self.shape;
        assert!(
            at.module < modules && at.die < dies_per_module && at.block < blocks_per_die,
            "illegal address: {at:?} of {:?}",
            self.shape
        );
        at.block * dies_per_module + at.die
    }

    /// The number of a unit. Consecutive stripes of a band are neighbours.
    pub fn unit(&self, at: UnitAt) -> u64 {
        self.block(at.block);
        assert!(at.row < self.shape.rows_per_block, "illegal address: {at:?} of {:?}", self.shape);
        let row = u64::from(at.block.block) * u64::from(self.shape.rows_per_block) + u64::from(at.row);
        row * u64::from(self.shape.dies_per_module) + u64::from(at.block.die)
    }

    /// The offset and the size of the units of all dies in a band, which are neighbours.
    pub fn band(&self, band: u32) -> (u64, u64) {
        let Shape { dies_per_module, blocks_per_die, rows_per_block, .. } = self.shape;
        assert!(band < blocks_per_die, "illegal address: band {band} of {:?}", self.shape);
        let units = u64::from(dies_per_module) * u64::from(rows_per_block);
        (self.unit_offset(u64::from(band) * units), units * self.unit_bytes)
    }

    /// The offset of the unit with this number.
    pub fn unit_offset(&self, unit: u64) -> u64 {
        self.start() + (FRONT_PAGES + self.table_pages) * PAGE_BYTES + unit * self.unit_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    const SHAPE: Shape = Shape {
        modules: 3,
        dies_per_module: 3,
        blocks_per_die: 100,
        rows_per_block: 5,
        unit_sectors: 8,
        payload_bytes: 4096,
        rows_sharing_cells: 1,
    };

    #[test]
    fn nothing_overlaps_and_all_is_aligned() {
        let cases = [(512, 4096, 0, 1), (4096, 4096, 0, 3), (1024, 100, 0, 1), (512, 16, 1 << 20, 2)];
        for (align, payload_bytes, slack, shards) in cases {
            let shape = Shape { payload_bytes, ..SHAPE };
            let least = Layout::with_log(&shape, align, 0, 64 << 10).unwrap().total_bytes();
            let whole = Layout::with_log(&shape, align, least + slack, 64 << 10).unwrap();
            let mut taken = BTreeMap::new();
            let mut take = |offset: u64, bytes: u64| {
                assert_eq!(offset % u64::from(align), 0);
                assert!(taken.insert(offset, bytes).is_none());
            };
            for shard in 0..shards {
                let layout = whole.of_shard(shard, shards).unwrap();
                for copy in 0..COPIES {
                    take(layout.superblock(copy), PAGE_BYTES);
                    take(layout.header(copy), PAGE_BYTES);
                    take(layout.record(copy), PAGE_BYTES);
                    (0..layout.table_pages()).for_each(|page| take(layout.table(copy, page), PAGE_BYTES));
                }
                (0..layout.units()).for_each(|unit| take(layout.unit_offset(unit), layout.unit_bytes() as u64));
                take(layout.log(), layout.log_bytes());
            }
            let mut end = 0;
            for (offset, bytes) in taken {
                assert!(offset >= end, "{offset} overlaps");
                end = offset + bytes;
            }
            assert_eq!(end, whole.of_shard(0, shards).unwrap().module_bytes());
            assert_eq!(whole.table_pages(), 300u32.div_ceil(ENTRIES_PER_PAGE as u32));
        }
    }

    #[test]
    fn units_begin_on_pages_where_that_takes_little_room() {
        let of = |unit_sectors, least| best_align(&Shape { unit_sectors, ..SHAPE }, least);
        assert_eq!([1, 2, 4].map(|sectors| of(sectors, 512)), [512; 3]);
        assert_eq!([7, 8, 16, 64].map(|sectors| of(sectors, 512)), [4096; 4]);
        assert_eq!([1, 8].map(|sectors| of(sectors, 4096)), [4096; 2], "what the disk asks for");
    }

    #[test]
    fn dies_of_a_row_are_neighbours_and_rows_follow_each_other() {
        let layout = Layout::new(&SHAPE, 512, 0).unwrap();
        let mut next = 0;
        for block in 0..100 {
            for row in 0..5 {
                for die in 0..3 {
                    assert_eq!(layout.unit(UnitAt { block: BlockAt { module: 2, die, block }, row }), next);
                    next += 1;
                }
            }
        }
        assert_eq!(next, layout.units());
    }

    #[test]
    fn what_is_no_module_has_no_layout() {
        assert_eq!(Layout::new(&Shape { dies_per_module: 0, ..SHAPE }, 512, 0), None);
        assert_eq!(Layout::new(&Shape { unit_sectors: 65, ..SHAPE }, 512, 0), None);
        assert_eq!(Layout::new(&Shape { modules: 65, ..SHAPE }, 512, 0), None);
        assert_eq!(Layout::new(&Shape { payload_bytes: 4097, ..SHAPE }, 512, 0), None);
        assert_eq!(Layout::new(&Shape { blocks_per_die: u32::MAX, ..SHAPE }, 512, 0), None);
        assert_eq!(Layout::new(&Shape { rows_per_block: u32::MAX, blocks_per_die: 1 << 30, ..SHAPE }, 512, 0), None);
        assert_eq!(Layout::new(&SHAPE, 8192, 0), None);
        assert_eq!(Layout::new(&SHAPE, 512, 4096), None, "too short");
        let layout = Layout::new(&SHAPE, 512, 0).unwrap();
        assert_eq!([(1, 1), (0, 0), (0, 65)].map(|(shard, shards)| layout.of_shard(shard, shards)), [None; 3]);
    }
}
