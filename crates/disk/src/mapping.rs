//! Mapping of blocks to disks.
//!
//! Blocks of the array go round the *columns* of a row, a chunk to each; the next row follows at the next chunk of the
//! disks. The holder of a column is a *set* of disks that all hold the same: one disk, or a mirror. In RAID 5 the
//! parity moves one disk to the left from row to row, and the data follow it (the "left-symmetric" layout of Lee and
//! Katz, "The performance of parity placements in disk arrays", IEEE Trans. Computers 42(6), 1993).
//!
//! Invariants: two blocks of the array never share a place; data and parity of a row lie at the same addresses of
//! their disks.

use crate::span::{BLOCK_BYTES, Span};
use crate::{ArrayConfig, RaidLevel};
use std::ops::Range;

#[derive(Clone, Debug)]
pub(crate) struct Mapping {
    level: RaidLevel,
    disks: u64,
    /// Chunks of data in a row.
    columns: u64,
    chunk_blocks: u64,
    rows: u64,
}

impl Mapping {
    pub fn new(config: &ArrayConfig) -> Mapping {
        let disks = u64::from(config.disks);
        let columns = match config.level {
            RaidLevel::Raid0 => disks,
            RaidLevel::Raid1 => 1,
            RaidLevel::Raid10 => disks / 2,
            RaidLevel::Raid5 => disks - 1,
        };
        Mapping {
            level: config.level,
            disks,
            columns,
            chunk_blocks: config.chunk_bytes / BLOCK_BYTES,
            rows: config.disk.capacity_bytes / config.chunk_bytes,
        }
    }

    pub fn capacity_blocks(&self) -> u64 {
        self.rows * self.row_blocks()
    }

    pub fn columns(&self) -> usize {
        self.columns as usize
    }

    pub fn has_parity(&self) -> bool {
        self.level == RaidLevel::Raid5
    }

    /// Data blocks of a row.
    pub fn row_blocks(&self) -> u64 {
        self.columns * self.chunk_blocks
    }

    pub fn row_of(&self, lba: u64) -> u64 {
        lba / self.row_blocks()
    }

    /// The part of the array that is written to the disks at once around `lba`: a row where rows share parity,
    /// otherwise a chunk.
    pub fn unit_around(&self, lba: u64) -> Span {
        let blocks = if self.has_parity() { self.row_blocks() } else { self.chunk_blocks };
        let start = lba / blocks * blocks;
        Span::new(start, start + blocks)
    }

    /// Sets of disks that hold the same.
    pub fn sets(&self) -> usize {
        match self.level {
            RaidLevel::Raid0 | RaidLevel::Raid5 => self.disks as usize,
            RaidLevel::Raid1 => 1,
            RaidLevel::Raid10 => self.columns as usize,
        }
    }

    /// The disks of a set.
    pub fn members(&self, set: usize) -> Range<usize> {
        match self.level {
            RaidLevel::Raid0 | RaidLevel::Raid5 => set..set + 1,
            RaidLevel::Raid1 => 0..self.disks as usize,
            RaidLevel::Raid10 => 2 * set..2 * set + 2,
        }
    }

    /// The set with the parity of a row. Only RAID 5 has one.
    pub fn parity_set(&self, row: u64) -> usize {
        (self.disks - 1 - row % self.disks) as usize
    }

    fn set_of(&self, row: u64, column: u64) -> usize {
        if self.has_parity() {
            ((self.parity_set(row) as u64 + 1 + column) % self.disks) as usize
        } else {
            column as usize
        }
    }

    /// The place of rows on every disk.
    pub fn rows_on_disk(&self, rows: Range<u64>) -> Span {
        Span::new(rows.start * self.chunk_blocks, rows.end * self.chunk_blocks)
    }

    /// Adds a range of the array to what it needs of each set. One span of a set is enough: a range without gaps lies
    /// without gaps on each disk, but for the chunks of parity between, which a read passes over.
    pub fn spread(&self, span: Span, needs: &mut [Span]) {
        let mut lba = span.start;
        while lba < span.end {
            let (chunk, offset) = (lba / self.chunk_blocks, lba % self.chunk_blocks);
            let (row, column) = (chunk / self.columns, chunk % self.columns);
            let blocks = (self.chunk_blocks - offset).min(span.end - lba);
            let start = row * self.chunk_blocks + offset;
            let need = &mut needs[self.set_of(row, column)];
            *need = need.hull(Span::new(start, start + blocks));
            lba += blocks;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::disk_15k;
    use std::collections::BTreeSet;

    fn small(level: RaidLevel, disks: u32) -> Mapping {
        let disk = crate::DiskConfig { capacity_bytes: 4096 * 10, ..disk_15k() };
        let config = ArrayConfig { disk, disks, level, chunk_bytes: 2048, controller_cache_bytes: 0, controller_ns: 0 };
        Mapping::new(&config)
    }

    #[test]
    fn no_two_blocks_share_a_place_and_parity_has_its_own() {
        for (level, disks) in
            [(RaidLevel::Raid0, 3), (RaidLevel::Raid1, 2), (RaidLevel::Raid10, 6), (RaidLevel::Raid5, 5)]
        {
            let mapping = small(level, disks);
            let mut places = BTreeSet::new();
            for lba in 0..mapping.capacity_blocks() {
                let mut needs = vec![Span::EMPTY; mapping.sets()];
                mapping.spread(Span::new(lba, lba + 1), &mut needs);
                for (set, need) in needs.iter().enumerate().filter(|(_, need)| !need.is_empty()) {
                    assert_eq!(need.blocks(), 1);
                    assert!(places.insert((set, need.start)), "{level}: block {lba}");
                }
            }
            assert_eq!(places.len() as u64, mapping.capacity_blocks());
            if mapping.has_parity() {
                for row in 0..mapping.capacity_blocks() / mapping.row_blocks() {
                    for block in mapping.rows_on_disk(row..row + 1).start..mapping.rows_on_disk(row..row + 1).end {
                        assert!(places.insert((mapping.parity_set(row), block)), "row {row}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_range_lies_without_gaps_on_each_disk() {
        for (level, disks) in [(RaidLevel::Raid0, 3), (RaidLevel::Raid1, 2), (RaidLevel::Raid10, 6)] {
            let mapping = small(level, disks);
            for start in 0..mapping.capacity_blocks() {
                for end in start + 1..mapping.capacity_blocks() {
                    let mut needs = vec![Span::EMPTY; mapping.sets()];
                    mapping.spread(Span::new(start, end), &mut needs);
                    assert_eq!(needs.iter().map(|n| n.blocks()).sum::<u64>(), end - start);
                }
            }
        }
    }

    #[test]
    fn capacity_is_what_mirrors_and_parity_leave() {
        assert_eq!(small(RaidLevel::Raid0, 4).capacity_blocks(), 320);
        assert_eq!(small(RaidLevel::Raid1, 2).capacity_blocks(), 80);
        assert_eq!(small(RaidLevel::Raid10, 4).capacity_blocks(), 160);
        assert_eq!(small(RaidLevel::Raid5, 4).capacity_blocks(), 240);
    }
}
