//! A replaceable module: the state that stays with it when it is pulled, copied, and put into another slot.
//!
//! A module knows neither slots nor power. Its clock stands still unless it is advanced.

use crate::chunk::{Cells, Chunk, Cut, SectorCells};
use crate::error::MediaError;
use crate::fault::Armed;
use crate::hash::{happens, hash, purpose, unit};
use crate::media::ReadReport;
use crate::payload::Payload;
use crate::physics::Physics;
use crate::place::{BlockAt, HEADER_COPIES};
use crate::sectors::Sectors;
use crate::unit::{SectorState, Unit};
use crate::wear::{correct, mean_errors};
use format::{HEADER_BYTES, Shape};
use std::sync::Arc;

/// A module of a card on emulated flash. A clone is another module with the same contents.
#[derive(Clone, Debug)]
pub struct Module {
    pub(crate) shape: Shape,
    pub(crate) serial: u64,
    /// The clock of the module, by which the age of data is measured.
    pub(crate) minutes: u32,
    pub(crate) claim: Option<Claim>,
    pub(crate) dead: bool,
    pub(crate) stuck: bool,
    pub(crate) slow_percent: u32,
    pub(crate) dead_dies: Vec<u32>,
    pub(crate) headers: [Header; HEADER_COPIES as usize],
    /// The log area; empty until it is written.
    pub(crate) log: Arc<Vec<u8>>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) cut: Cut,
    pub(crate) chunks: Vec<Option<Arc<Chunk>>>,
    /// Faults that wait for their operation.
    pub(crate) armed: Vec<Armed>,
}

/// Data count as fading when time and reads have raised their errors to so many times those of fresh data in the same
/// block. Below this, writing them elsewhere gains less than it wears.
const FADED: f64 = 1.25;

/// The right to write to the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Claim {
    pub generation: u64,
    pub controller: u64,
}

/// One copy of the header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Header {
    Blank,
    Written(Arc<[u8]>),
    Unreadable,
}

/// The state of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Block {
    pub cycles: u32,
    /// The first row that may be programmed.
    pub next_row: u32,
    /// The number of reads since the last erase.
    pub reads: u32,
    /// The block is marked bad.
    pub bad: bool,
    /// Every program and erase of the block fails, even if it is not marked bad yet.
    pub broken: bool,
    /// The last erase was cut near its end.
    pub weak: bool,
}

/// The extent of an erase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Erased {
    Fully,
    Partly,
    Weakly,
}

/// The effect of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Put {
    pub die: u32,
    pub block: u32,
    pub row: u32,
    /// Sectors that hold the programmed bytes.
    pub good: u64,
    /// Sectors that still read as erased. All others are lost.
    pub blank: u64,
    /// `false` for a program that landed here by mistake. The layer above does not know of it, so it does not count
    /// when the order of programs is checked.
    pub commanded: bool,
}

impl Module {
    /// A blank module. `serial` decides its luck: the blocks that are bad from the factory, and the sectors that wear
    /// fast.
    ///
    /// # Panics
    /// If the shape has a unit of more than 64 sectors, or a dimension of 0.
    pub fn blank(shape: &Shape, physics: &Physics, serial: u64) -> Module {
        let mut module = Module::perfect(shape, serial);
        if physics.factory_bad_ppm > 0 {
            for (index, block) in (0u64..).zip(&mut module.blocks) {
                if happens(hash(&[serial, purpose::FACTORY_BAD, index]), f64::from(physics.factory_bad_ppm)) {
                    block.bad = true;
                    block.broken = true;
                }
            }
        }
        module
    }

    /// A blank module without bad blocks.
    pub(crate) fn perfect(shape: &Shape, serial: u64) -> Module {
        assert!(
            shape.dies_per_module > 0
                && shape.blocks_per_die > 0
                && shape.rows_per_block > 0
                && (1..=64).contains(&shape.unit_sectors)
                && shape.payload_bytes > 0,
            "no shape for emulated flash: {shape:?}"
        );
        let cut = Cut::of(shape);
        let blocks = shape.dies_per_module as usize * shape.blocks_per_die as usize;
        Module {
            shape: Shape { modules: 1, ..*shape },
            serial,
            minutes: 0,
            claim: None,
            dead: false,
            stuck: false,
            slow_percent: 100,
            dead_dies: Vec::new(),
            headers: [Header::Blank, Header::Blank],
            log: Arc::default(),
            blocks: vec![Block::default(); blocks],
            cut,
            chunks: vec![None; blocks.div_ceil(cut.blocks as usize)],
            armed: Vec::new(),
        }
    }

    /// The division of the module; `modules` is 1.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The number that the module's luck is drawn from. Copies have the same.
    pub fn serial(&self) -> u64 {
        self.serial
    }

    /// Whether the module has lasting damage, or a fault that can cost data waits for its operation: the module or a
    /// die does not answer, or the module will take a program and do something else.
    pub fn is_harmed(&self) -> bool {
        let costs_data = |armed: &Armed| !matches!(armed, Armed::FailPrograms { .. } | Armed::FailErases { .. });
        self.dead || self.stuck || !self.dead_dies.is_empty() || self.armed.iter().any(costs_data)
    }

    /// Lets time pass for the module.
    pub fn advance_time(&mut self, days: f64) {
        assert!(days >= 0.0, "time runs backwards: {days} days");
        // The clock saturates after 8,000 years.
        self.minutes = (f64::from(self.minutes) + (days * 24.0 * 60.0).round()).min(f64::from(u32::MAX)) as u32;
    }

    /// The bytes of one copy of the header, even if the module does not answer.
    pub fn header(&self, copy: u32) -> Option<&[u8]> {
        match &self.headers[copy as usize] {
            Header::Written(bytes) => Some(bytes),
            Header::Blank | Header::Unreadable => None,
        }
    }

    pub(crate) fn set_header(&mut self, copy: u32, bytes: &[u8]) {
        assert_eq!(bytes.len(), HEADER_BYTES, "a header of another length");
        self.headers[copy as usize] = Header::Written(bytes.into());
    }

    #[inline]
    pub(crate) fn index(&self, die: u32, block: u32) -> usize {
        assert!(
            die < self.shape.dies_per_module && block < self.shape.blocks_per_die,
            "illegal address: die {die} block {block} of {:?}",
            self.shape
        );
        die as usize * self.shape.blocks_per_die as usize + block as usize
    }

    #[inline]
    pub(crate) fn block(&self, die: u32, block: u32) -> &Block {
        &self.blocks[self.index(die, block)]
    }

    #[inline]
    pub(crate) fn block_mut(&mut self, die: u32, block: u32) -> &mut Block {
        let index = self.index(die, block);
        &mut self.blocks[index]
    }

    /// Fails if the module, or this die of it, does not answer.
    #[inline]
    pub(crate) fn answers(&self, die: Option<u32>) -> Result<(), MediaError> {
        if self.dead || self.stuck || die.is_some_and(|die| self.dead_dies.contains(&die)) {
            return Err(MediaError::NoAnswer);
        }
        Ok(())
    }

    /// The chunk of a block, which is made if there was none, and the block's place in it.
    pub(crate) fn chunk_mut(&mut self, block: usize) -> (&mut Chunk, usize) {
        let (chunk, place) = self.cut.locate(block);
        let blocks = (self.blocks.len() - chunk * self.cut.blocks as usize).min(self.cut.blocks as usize);
        let cut = self.cut;
        let chunk = self.chunks[chunk].get_or_insert_with(|| Arc::new(Chunk::new(&cut, blocks)));
        (Arc::make_mut(chunk), place)
    }

    /// The number of a unit in its block's chunk.
    #[inline]
    fn unit_index(&self, place: usize, row: u32) -> usize {
        assert!(row < self.cut.rows, "illegal address: row {row} of {:?}", self.shape);
        place * self.cut.rows as usize + row as usize
    }

    /// Panics if programming this row would break the order of the rows of a block.
    pub(crate) fn assert_legal(&self, die: u32, block: u32, row: u32) {
        let next = self.block(die, block).next_row;
        assert!(
            (next..self.shape.rows_per_block).contains(&row),
            "illegal program: module {:x} die {die} block {block} row {row}, next is {next} of {}",
            self.serial,
            self.shape.rows_per_block
        );
    }

    /// Stores the bytes of a unit, and loses the sectors that the program did not complete.
    pub(crate) fn put(&mut self, put: Put, contents: &Sectors) {
        let index = self.index(put.die, put.block);
        let (cut, serial, minute) = (self.cut, self.serial, self.minutes);
        let sectors = u64::from(self.shape.unit_sectors);
        let Block { cycles, weak, .. } = self.blocks[index];
        let unit = self.unit_index(self.cut.locate(index).1, put.row);
        let (chunk, _) = self.chunk_mut(index);
        let touched = chunk.units[unit].touched;
        let mut all_blank = true;
        for sector in 0..sectors {
            let at = unit * cut.sectors + sector as usize;
            let decays = || {
                let place = [serial, purpose::WEAK, index as u64, u64::from(cycles), u64::from(put.row), sector];
                hash(&place) & 1 == 1
            };
            let cells = match (put.good >> sector & 1, put.blank >> sector & 1) {
                (1, _) if touched || weak && decays() => Cells::Lost,
                (1, _) => Cells::Programmed,
                (_, 1) => Cells::Erased,
                _ => Cells::Lost,
            };
            all_blank &= cells == Cells::Erased;
            chunk.sectors[at].cells = cells;
            if cells == Cells::Programmed {
                chunk.contents.copy(at, contents, sector as usize);
            }
        }
        chunk.units[unit].minute = minute;
        chunk.units[unit].touched = all_blank;
        if put.commanded && !all_blank {
            let next = &mut self.blocks[index].next_row;
            *next = (*next).max(put.row + 1);
        }
    }

    /// Erases a block to some extent. Payloads without another owner go to `freed`.
    pub(crate) fn erase(&mut self, die: u32, block: u32, how: Erased, freed: &mut Vec<Payload>) {
        let index = self.index(die, block);
        let state = &mut self.blocks[index];
        state.cycles = state.cycles.saturating_add(1);
        state.reads = 0;
        state.next_row = 0;
        state.weak = how == Erased::Weakly;
        let (chunk, place) = self.cut.locate(index);
        if let Some(mine) = &mut self.chunks[chunk] {
            match Arc::get_mut(mine) {
                // The chunk is kept, because the block will be programmed again.
                Some(mine) => mine.erase(&self.cut, place, freed),
                None if self.cut.blocks == 1 => self.chunks[chunk] = None,
                None => Arc::make_mut(mine).erase(&self.cut, place, freed),
            }
        }
        if how == Erased::Partly {
            let (cut, rows) = (self.cut, self.cut.rows as usize);
            let (chunk, place) = self.chunk_mut(index);
            let lost = SectorCells { cells: Cells::Lost, flips: 0 };
            chunk.sectors[place * rows * cut.sectors..][..rows * cut.sectors].fill(lost);
            self.blocks[index].next_row = self.cut.rows;
        }
    }

    /// Makes the programmed sectors of some rows unreadable.
    pub(crate) fn spoil(&mut self, die: u32, block: u32, rows: std::ops::Range<u32>) {
        let index = self.index(die, block);
        let cut = self.cut;
        if self.chunks[cut.locate(index).0].is_none() {
            return;
        }
        let (chunk, place) = self.chunk_mut(index);
        let first = place * cut.rows as usize;
        let range = (first + rows.start as usize) * cut.sectors..(first + rows.end as usize) * cut.sectors;
        for sector in &mut chunk.sectors[range] {
            if sector.cells == Cells::Programmed {
                sector.cells = Cells::Lost;
            }
        }
    }

    /// The chunk of a sector and its place there, to damage it.
    pub(crate) fn sector_mut(&mut self, die: u32, block: u32, row: u32, sector: u32) -> (&mut Chunk, usize) {
        assert!(sector < self.shape.unit_sectors, "illegal address: sector {sector} of {:?}", self.shape);
        let index = self.index(die, block);
        let cut = self.cut;
        let at = self.unit_index(cut.locate(index).1, row) * cut.sectors + sector as usize;
        (self.chunk_mut(index).0, at)
    }

    /// The state of a sector's cells.
    pub(crate) fn cells(&self, die: u32, block: u32, row: u32, sector: u32) -> Cells {
        let (chunk, place) = self.cut.locate(self.index(die, block));
        let at = self.unit_index(place, row) * self.cut.sectors + sector as usize;
        self.chunks[chunk].as_ref().map_or(Cells::Erased, |chunk| chunk.sectors[at].cells)
    }

    /// Reads a unit.
    pub(crate) fn read(&self, at: BlockAt, row: u32, physics: &Physics, out: &mut Unit) -> ReadReport {
        let (chunk, place) = self.cut.locate(self.index(at.die, at.block));
        out.assert_shape(self.cut.sectors, self.cut.payload_bytes);
        let mut any_good = false;
        let report = self.look(at, row, physics, |sector, state| {
            any_good |= state == SectorState::Good;
            out.set_state(sector, state);
        });
        if let Some(chunk) = self.chunks[chunk].as_ref().filter(|_| any_good) {
            let first = self.unit_index(place, row) * self.cut.sectors;
            (0..self.cut.sectors).for_each(|sector| out.contents_mut().copy(sector, &chunk.contents, first + sector));
        }
        report
    }

    /// The cost of a read of a unit; `found` gets the outcome of each sector.
    pub(crate) fn look(
        &self,
        at: BlockAt,
        row: u32,
        physics: &Physics,
        mut found: impl FnMut(usize, SectorState),
    ) -> ReadReport {
        let index = self.index(at.die, at.block);
        let (chunk, place) = self.cut.locate(index);
        let unit_at = self.unit_index(place, row);
        let sectors = self.cut.sectors;
        let Some(chunk) = &self.chunks[chunk] else {
            (0..sectors).for_each(|sector| found(sector, SectorState::Erased));
            return ReadReport::default();
        };
        let block = &self.blocks[index];
        let (mean, fresh) = if physics.errors.is_none() {
            (0.0, 0.0)
        } else {
            let minutes = self.minutes.saturating_sub(chunk.units[unit_at].minute);
            let mean = mean_errors(physics, block.cycles, minutes, block.reads);
            (mean, mean_errors(physics, block.cycles, 0, 0))
        };
        let mut report = ReadReport::default();
        // Data fade if more than the wear of the block has made bits wrong, so that another block would be better.
        let mut fades = mean > FADED * fresh;
        for sector in 0..sectors {
            let SectorCells { cells, flips } = chunk.sectors[unit_at * sectors + sector];
            let flips = u32::from(flips);
            fades |= flips > 0;
            let state = match cells {
                Cells::Lost => SectorState::Uncorrectable,
                Cells::Erased if flips > physics.ecc_bits => SectorState::Uncorrectable,
                Cells::Erased => SectorState::Erased,
                Cells::Programmed => {
                    let luck = || {
                        let words = [index as u64, u64::from(block.cycles), u64::from(row), sector as u64];
                        let [a, b, c, d] = words;
                        unit(hash(&[self.serial, purpose::RAW_ERRORS, a, b, c, d]))
                    };
                    match correct(physics, mean, flips, luck) {
                        Some((bits, retries)) => {
                            report.retries = report.retries.max(retries);
                            report.corrected_bits = report.corrected_bits.max(bits);
                            SectorState::Good
                        }
                        None => {
                            report.retries = physics.read_retries;
                            SectorState::Uncorrectable
                        }
                    }
                }
            };
            found(sector, state);
        }
        let is_near = report.corrected_bits >= physics.refresh_advised_at_bits.max(1) || report.retries > 0;
        report.refresh_advised = is_near && fades;
        report
    }

    /// Counts so many reads of a block.
    pub(crate) fn disturb(&mut self, die: u32, block: u32, count: u32) {
        let reads = &mut self.block_mut(die, block).reads;
        *reads = reads.saturating_add(count);
    }

    /// Whether the wear of a block makes a program of this row fail.
    pub(crate) fn program_fails(&self, die: u32, block: u32, row: u32, physics: &Physics) -> bool {
        if physics.program_fail_ppm_at_rated == 0 {
            return false;
        }
        let index = self.index(die, block);
        let cycles = self.blocks[index].cycles;
        let words = [self.serial, purpose::PROGRAM_FAILS, index as u64, u64::from(cycles), u64::from(row)];
        happens(hash(&words), physics.failure_ppm(physics.program_fail_ppm_at_rated, cycles))
    }

    /// Whether the wear of a block makes its next erase fail.
    pub(crate) fn erase_fails(&self, die: u32, block: u32, physics: &Physics) -> bool {
        if physics.erase_fail_ppm_at_rated == 0 {
            return false;
        }
        let index = self.index(die, block);
        let cycles = self.blocks[index].cycles.saturating_add(1);
        let words = [self.serial, purpose::ERASE_FAILS, index as u64, u64::from(cycles)];
        happens(hash(&words), physics.failure_ppm(physics.erase_fail_ppm_at_rated, cycles))
    }
}
