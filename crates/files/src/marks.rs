//! How far blocks were programmed, so that units that a disk has forgotten are told from units that were never there.
//!
//! A frame says how many units of its block were programmed until then. If a synced unit follows on units that are not
//! there, and it counts them, they were synced too and have been lost. For the end of a block, on which nothing follows,
//! the record of syncs names the last synced unit of the blocks that were programmed last. Both cost no write.
//!
//! All modules may have forgotten the same place, if it was restored from a copy, or if what they lie on went back in
//! time. Then nothing else tells that from a write that power cut.

use crate::canary::{Canary, planted};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The number of blocks that are kept: as many as the record of syncs has room for.
pub(crate) const MAX_MARKS: usize = 254;

/// A block, and its last unit that is known to have been synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub block: u32,
    pub row: u32,
    pub epoch: u64,
}

/// A block that was programmed.
#[derive(Debug)]
struct Programmed {
    epoch: u64,
    /// Units so far; 0: not known.
    count: u32,
    synced_row: Option<u32>,
    /// Numbers of programs that no sync has covered, and their rows.
    pending: VecDeque<(u64, u32)>,
    last_number: u64,
}

/// The blocks of a module, as far as they are known.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    blocks: BTreeMap<u32, Programmed>,
    /// The blocks with programs that no sync has covered, and perhaps others.
    pending: BTreeSet<u32>,
    /// By block: the last unit that was found, and the units until then, as its frame counts them.
    found: BTreeMap<u32, (u32, u32)>,
    /// Units that were looked for and not found.
    blank: BTreeSet<(u32, u32)>,
    /// Units of those that were synced once.
    fallen: BTreeSet<(u32, u32)>,
    has_new: bool,
}

impl Marks {
    /// The marks of an earlier session, which go on to count.
    pub fn of(marks: Vec<Mark>) -> Marks {
        let known = |Mark { block, row, epoch }| {
            let synced_row = Some(row);
            (block, Programmed { epoch, count: 0, synced_row, pending: VecDeque::new(), last_number: 0 })
        };
        Marks { blocks: marks.into_iter().map(known).collect(), ..Marks::default() }
    }

    /// A unit is about to be programmed. Returns the units of its block with this one, or 0 if that is not known.
    pub fn begins(&mut self, block: u32, epoch: u64, row: u32, number: u64) -> u32 {
        let is_same = self.blocks.get(&block).is_some_and(|programmed| programmed.epoch == epoch);
        if !is_same {
            self.forget(block);
            self.make_room();
            let new = Programmed { epoch, count: 0, synced_row: None, pending: VecDeque::new(), last_number: 0 };
            self.blocks.insert(block, new);
        }
        let programmed = self.blocks.get_mut(&block).expect("it is there by now");
        if programmed.count > 0 || row == 0 {
            programmed.count += 1;
        }
        programmed.pending.push_back((number, row));
        self.pending.insert(block);
        programmed.last_number = number;
        programmed.count
    }

    fn make_room(&mut self) {
        if self.blocks.len() < MAX_MARKS {
            return;
        }
        let synced = self.blocks.iter().filter(|(_, programmed)| programmed.pending.is_empty());
        if let Some(oldest) = synced.min_by_key(|(_, programmed)| programmed.last_number).map(|(block, _)| *block) {
            self.blocks.remove(&oldest);
        }
    }

    /// The block was or will be erased, or a program of it has failed: nothing is known of it.
    pub fn forget(&mut self, block: u32) {
        self.blocks.remove(&block);
        self.found.remove(&block);
        let of_block = (block, 0)..=(block, u32::MAX);
        for units in [&mut self.blank, &mut self.fallen] {
            let gone: Vec<_> = units.range(of_block.clone()).copied().collect();
            for unit in gone {
                units.remove(&unit);
            }
        }
    }

    /// A sync has covered programs up to this number.
    pub fn synced(&mut self, upto: u64) {
        self.pending.retain(|block| {
            let Some(programmed) = self.blocks.get_mut(block) else { return false };
            while programmed.pending.front().is_some_and(|(number, _)| *number <= upto) {
                programmed.synced_row = programmed.pending.pop_front().map(|(_, row)| row);
            }
            !programmed.pending.is_empty()
        });
    }

    /// The marks, for the record of syncs: those of the blocks that were programmed last, in any order.
    pub fn list(&self) -> Vec<Mark> {
        let mark = |(&block, of): (&u32, &Programmed)| {
            Some((of.last_number, Mark { block, row: of.synced_row?, epoch: of.epoch }))
        };
        let mut marks: Vec<(u64, Mark)> = self.blocks.iter().filter_map(mark).collect();
        if marks.len() > MAX_MARKS {
            marks.select_nth_unstable_by_key(MAX_MARKS, |(number, mark)| (std::cmp::Reverse(*number), mark.block));
            marks.truncate(MAX_MARKS);
        }
        marks.into_iter().map(|(_, mark)| mark).collect()
    }

    /// A synced unit was read that counts the units of its block until then; 0: it does not.
    pub fn reads(&mut self, block: u32, row: u32, count: u32) {
        let (from, before) = self.found.get(&block).map_or((0, 0), |(row, count)| (row + 1, *count));
        if count == 0 || row < from {
            return;
        }
        if count > before + 1 {
            self.have_fallen(block, from..row);
        }
        self.found.insert(block, (row, count));
    }

    /// A unit was read in whose place there is nothing of its block's epoch. Whether it was there once.
    pub fn reads_nothing(&mut self, block: u32, epoch: u64, row: u32) -> bool {
        self.blank.insert((block, row));
        let marked = self.blocks.get(&block).filter(|of| of.epoch == epoch).and_then(|of| of.synced_row);
        let from = self.found.get(&block).map_or(0, |(row, _)| row + 1);
        match marked {
            Some(last) if last == row => self.have_fallen(block, from..row + 1),
            // A block begins with its first row, even if others are left out.
            Some(_) if row == 0 => self.have_fallen(block, 0..1),
            _ => {}
        }
        self.fallen.contains(&(block, row))
    }

    /// A unit in whose place there is nothing was synced once.
    pub fn has_fallen(&self, block: u32, row: u32) -> bool {
        self.fallen.contains(&(block, row))
    }

    fn have_fallen(&mut self, block: u32, rows: std::ops::Range<u32>) {
        let lost: Vec<_> = self.blank.range((block, rows.start)..(block, rows.end)).copied().collect();
        for unit in lost.into_iter().filter(|_| !planted(Canary::FallenIgnored)) {
            self.has_new |= self.fallen.insert(unit);
        }
    }

    /// Whether units were found out, since this was last asked, that were synced and are not there any more.
    pub fn take_new(&mut self) -> bool {
        std::mem::take(&mut self.has_new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blanks in these rows and units in those, which count as they were programmed.
    fn read(marks: &mut Marks, rows: &[Option<u32>]) -> Vec<bool> {
        let read = |(row, count): (u32, &Option<u32>)| match count {
            Some(count) => {
                marks.reads(7, row, *count);
                false
            }
            None => marks.reads_nothing(7, 3, row),
        };
        (0..).zip(rows).map(read).collect()
    }

    #[test]
    fn units_that_a_later_one_counts_have_fallen_and_those_that_a_rebuild_has_left_out_have_not() {
        let mut marks = Marks::default();
        read(&mut marks, &[Some(1), None, None, Some(4), None]);
        assert!(marks.take_new() && !marks.take_new());
        assert_eq!(read(&mut marks, &[Some(1), None, None, Some(4), None]), [false, true, true, false, false]);
        let mut rebuilt = Marks::default();
        read(&mut rebuilt, &[Some(1), None, None, Some(2), None]);
        assert!(!rebuilt.take_new());
        let mut older = Marks::default();
        read(&mut older, &[Some(0), None, None, Some(0), None]);
        assert!(!older.take_new(), "frames of earlier versions count nothing");
        let mut first = Marks::default();
        read(&mut first, &[None, None, Some(3)]);
        assert!(first.take_new());
    }

    #[test]
    fn the_end_of_a_block_is_known_from_the_record_until_the_block_is_erased() {
        let mut marks = Marks::default();
        for (row, number) in (0..5).zip(11..) {
            assert_eq!(marks.begins(7, 3, row, number), row + 1);
        }
        assert!(marks.list().is_empty());
        marks.synced(13);
        let listed = marks.list();
        assert_eq!(listed, [Mark { block: 7, row: 2, epoch: 3 }]);
        let mut later = Marks::of(listed.clone());
        assert_eq!(read(&mut later, &[Some(1), None, None, None]), [false, false, true, false]);
        assert!(later.take_new());
        assert_eq!(read(&mut later, &[Some(1), None, None, None]), [false, true, true, false]);
        let mut all = Marks::of(listed.clone());
        assert!(all.reads_nothing(7, 3, 0) && all.has_fallen(7, 0));
        // Another epoch: what the mark tells of was erased.
        let mut erased = Marks::of(listed);
        assert!(!erased.reads_nothing(7, 4, 2) && !erased.take_new());
        later.forget(7);
        assert!(!later.reads_nothing(7, 3, 2));
    }

    #[test]
    fn the_blocks_that_were_programmed_last_are_kept() {
        let mut marks = Marks::default();
        for block in 0..600 {
            marks.begins(block, 1, 0, u64::from(block) + 1);
            marks.synced(u64::from(block) + 1);
        }
        let listed = marks.list();
        assert_eq!(listed.len(), MAX_MARKS);
        assert!(listed.iter().all(|mark| mark.block >= 600 - MAX_MARKS as u32));
        assert_eq!(marks.begins(3, 1, 5, 700), 0, "its units are not known any more");
    }
}
