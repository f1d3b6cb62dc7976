//! Changes of the table of blocks: erases and marks of bad blocks.
//!
//! A page of the table is written to one copy, durably, then to the other, and only then have the changes in it taken
//! place. One such *round* is under way for a page at a time, and begins when all that is asked for together was asked;
//! changes that come meanwhile go with the next. So the blocks of a band, whose entries are neighbours and which are erased
//! together, cost two writes and not two each.
//!
//! Of a copy whose write failed nobody knows what it holds, so it is written first in the next round: the other one is
//! whole. A change whose round failed may be in the file or not; its block counts as not known until it is erased.

use crate::layout::PAGE_BYTES;
use crate::table::{ENTRIES_PER_PAGE, ENTRY_BYTES, Entry};
use media::MediaError;
use std::collections::BTreeMap;

/// Who waits for a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waits {
    /// The erase of a die.
    Die(u32),
    /// A call, by its ticket.
    Call(u64),
}

/// A change of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    pub block: u32,
    /// What becomes of the block.
    pub kind: Kind,
    /// Above all that the block ever had.
    pub epoch: u64,
    pub waits: Waits,
}

/// What becomes of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Erased,
    Bad,
}

impl Change {
    fn apply(&self, entry: Entry) -> Entry {
        match self.kind {
            Kind::Erased => {
                Entry { epoch: self.epoch, cycles: entry.cycles.saturating_add(1), is_known: true, ..entry }
            }
            Kind::Bad if entry.is_known => Entry { is_bad: true, ..entry },
            // What it holds can't be told any more.
            Kind::Bad => Entry { is_bad: true, is_known: true, epoch: self.epoch, ..entry },
        }
    }

    /// Afterwards nobody knows whether it lies in the file.
    fn doubt(&self, entry: Entry) -> Entry {
        match self.kind {
            Kind::Erased => Entry { is_known: false, epoch: self.epoch, ..entry },
            Kind::Bad => Entry { is_bad: true, ..entry },
        }
    }
}

#[derive(Debug, Default)]
struct Page {
    /// Changes that are being written.
    round: Vec<Change>,
    /// Both copies are written, one after the other: this many are.
    written: usize,
    /// Changes for the next round.
    next: Vec<Change>,
    /// The copy that can't be relied on.
    doubtful: Option<usize>,
}

impl Page {
    /// The copy that is written now.
    fn copy(&self) -> usize {
        let first = self.doubtful.unwrap_or(0);
        if self.written == 0 { first } else { 1 - first }
    }
}

/// Pages of the table with changes under way, or with a copy in doubt.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    pages: BTreeMap<u32, Page>,
}

/// What is to be done for a page next.
#[derive(Debug)]
pub(crate) enum Next {
    /// Write this copy of it.
    Write(usize),
    /// Nothing.
    Rest,
}

/// The page of the table with the entry of a block.
pub(crate) fn page_of(block: u32) -> u32 {
    block / ENTRIES_PER_PAGE as u32
}

impl Pages {
    /// Adds a change; true: nothing was known of its page, and [`Pages::begin`] has to follow for it.
    pub fn add(&mut self, change: Change) -> bool {
        let page = self.pages.entry(page_of(change.block)).or_default();
        page.next.push(change);
        page.round.is_empty() && page.next.len() == 1
    }

    /// Begins a round of what was added for a page: the copy of it that is to be written.
    pub fn begin(&mut self, number: u32) -> usize {
        let page = self.pages.get_mut(&number).expect("a change was added for it");
        match begin(page) {
            Next::Write(copy) => copy,
            Next::Rest => unreachable!("it has a change"),
        }
    }

    /// The page as it is to be written.
    pub fn image(&self, number: u32, table: &[Entry], file: u64, out: &mut [u8]) {
        assert_eq!(out.len(), PAGE_BYTES as usize);
        let first = number as usize * ENTRIES_PER_PAGE;
        let entries = &table[first..table.len().min(first + ENTRIES_PER_PAGE)];
        let (used, rest) = out.split_at_mut(entries.len() * ENTRY_BYTES);
        rest.fill(0);
        let round = self.pages.get(&number).map_or(&[][..], |page| &page.round);
        for ((block, entry), out) in (first as u32..).zip(entries).zip(used.chunks_exact_mut(ENTRY_BYTES)) {
            let changes = round.iter().filter(|change| change.block == block);
            changes.fold(*entry, |entry, change| change.apply(entry)).encode(block, file, out);
        }
    }

    /// A copy of a page was written, or could not be. What is to be done for it, and whose changes have ended, and how.
    pub fn written(&mut self, number: u32, result: Result<(), MediaError>, table: &mut [Entry]) -> (Next, Vec<Waits>) {
        let page = self.pages.get_mut(&number).expect("a page is written for a change");
        match result {
            Ok(()) if page.written == 0 => {
                page.written = 1;
                return (Next::Write(page.copy()), Vec::new());
            }
            Ok(()) => page.doubtful = None,
            Err(_) => page.doubtful = Some(page.copy()),
        }
        let round = std::mem::take(&mut page.round);
        for change in &round {
            let entry = &mut table[change.block as usize];
            *entry = if result.is_ok() { change.apply(*entry) } else { change.doubt(*entry) };
        }
        let next = begin(page);
        if matches!(next, Next::Rest) && page.doubtful.is_none() {
            self.pages.remove(&number);
        }
        (next, round.into_iter().map(|change| change.waits).collect())
    }
}

fn begin(page: &mut Page) -> Next {
    page.round = std::mem::take(&mut page.next);
    page.written = 0;
    if page.round.is_empty() { Next::Rest } else { Next::Write(page.copy()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(block: u32, epoch: u64) -> Change {
        Change { block, kind: Kind::Erased, epoch, waits: Waits::Die(block) }
    }

    #[test]
    fn changes_of_a_page_wait_for_the_round_and_go_together() {
        let (mut pages, mut table) = (Pages::default(), vec![Entry::BLANK; 200]);
        assert!(pages.add(change(2, 5)));
        assert!(!pages.add(change(3, 5)), "it goes with the first");
        assert_eq!(pages.begin(0), 0);
        assert!(!pages.add(change(4, 5)));
        assert!(!pages.add(change(5, 5)));
        assert!(pages.add(change(150, 5)), "another page");
        let mut image = vec![0; PAGE_BYTES as usize];
        pages.image(0, &table, 1, &mut image);
        let at =
            |block: usize, image: &[u8]| Entry::decode(block as u32, 1, &image[block * ENTRY_BYTES..][..ENTRY_BYTES]);
        assert_eq!((at(3, &image).unwrap().epoch, at(4, &image).unwrap().epoch), (5, 1));
        let (next, ended) = pages.written(0, Ok(()), &mut table);
        assert!(matches!(next, Next::Write(1)) && ended.is_empty());
        assert_eq!(table[3].epoch, 1, "not before both copies are written");
        let (next, ended) = pages.written(0, Ok(()), &mut table);
        assert!(matches!(next, Next::Write(0)));
        assert_eq!((ended, table[3].epoch, table[4].epoch), (vec![Waits::Die(2), Waits::Die(3)], 5, 1));
        pages.written(0, Ok(()), &mut table);
        let (next, ended) = pages.written(0, Ok(()), &mut table);
        assert!(matches!(next, Next::Rest));
        assert_eq!((ended, table[4].epoch), (vec![Waits::Die(4), Waits::Die(5)], 5));
    }

    #[test]
    fn a_copy_that_failed_is_written_first_and_its_changes_are_not_known() {
        let (mut pages, mut table) = (Pages::default(), vec![Entry::BLANK; 20]);
        pages.add(change(3, 5));
        pages.begin(0);
        pages.written(0, Ok(()), &mut table);
        let (next, ended) = pages.written(0, Err(MediaError::Host), &mut table);
        assert!(matches!(next, Next::Rest));
        assert_eq!((ended, table[3].is_known, table[3].epoch), (vec![Waits::Die(3)], false, 5));
        assert!(pages.add(change(3, 6)));
        assert_eq!(pages.begin(0), 1, "copy 0 is whole");
        assert!(matches!(pages.written(0, Ok(()), &mut table).0, Next::Write(0)));
        assert!(matches!(pages.written(0, Ok(()), &mut table).0, Next::Rest));
        assert_eq!(table[3], Entry { epoch: 6, cycles: 1, ..Entry::BLANK });
        assert!(pages.add(change(3, 7)));
        assert_eq!(pages.begin(0), 0);
    }

    #[test]
    fn a_block_that_is_erased_and_marked_bad_in_one_round_is_both() {
        let (mut pages, mut table) = (Pages::default(), vec![Entry::BLANK; 20]);
        pages.add(change(9, 5));
        pages.add(change(3, 5));
        pages.add(Change { kind: Kind::Bad, waits: Waits::Call(1), ..change(3, 5) });
        pages.begin(0);
        (0..2).for_each(|_| drop(pages.written(0, Ok(()), &mut table)));
        assert_eq!(table[3], Entry { epoch: 5, cycles: 1, is_bad: true, is_known: true });
    }

    #[test]
    fn a_mark_that_failed_costs_no_data() {
        let (mut pages, mut table) = (Pages::default(), vec![Entry::BLANK; 20]);
        pages.add(Change { kind: Kind::Bad, waits: Waits::Call(1), ..change(3, 5) });
        pages.begin(0);
        pages.written(0, Err(MediaError::Host), &mut table);
        assert_eq!(table[3], Entry { is_bad: true, ..Entry::BLANK });
    }
}
