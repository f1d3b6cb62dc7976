//! Changes of the table of blocks: erases and marks of bad blocks.
//!
//! A page of the table is written durably to one copy and then to the other, and only then the changes in it have taken
//! place. One such *round* is in flight for a page at a time. A round begins when the driver submits, and changes that
//! come meanwhile go with the next round. So the blocks of a band, whose entries are neighbours and which are erased
//! together, cost two writes together and not two each.
//!
//! The contents of a copy whose write failed are unknown, so this copy is written first in the next round, while the
//! other one is whole. A change whose round failed may be in the file or not; its block counts as not known until it is
//! erased.

use crate::sizes::PAGE_BYTES;
use crate::table::{ENTRIES_PER_PAGE, ENTRY_BYTES, Entry};
use media::MediaError;
use std::collections::BTreeMap;

/// The waiter for a change of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waiter {
    /// The erase of a die.
    Die(u32),
    /// A call, by its ticket.
    Call(u64),
}

/// A change of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    pub block: u32,
    pub kind: Kind,
    /// The new epoch, above all epochs that the block ever had.
    pub epoch: u64,
    pub waiter: Waiter,
}

/// The kind of a change to a block.
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
            // The contents of the block can't be told any more.
            Kind::Bad => Entry { is_bad: true, is_known: true, epoch: self.epoch, ..entry },
        }
    }

    /// The entry after a round that failed, when it is unknown whether the file holds the change.
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
    /// The number of copies that this round has written, of two.
    written: usize,
    /// Changes for the next round.
    next: Vec<Change>,
    /// The copy whose last write failed.
    doubtful: Option<usize>,
}

impl Page {
    /// The copy that is written now.
    fn copy(&self) -> usize {
        let first = self.doubtful.unwrap_or(0);
        if self.written == 0 { first } else { 1 - first }
    }
}

/// Pages of the table with changes in flight, or with a copy in doubt.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    pages: BTreeMap<u32, Page>,
}

/// The next action for a page.
#[derive(Debug)]
pub(crate) enum Next {
    /// Write this copy of the page.
    Write(usize),
    Rest,
}

/// The page of the table with the entry of a block.
pub(crate) fn page_of(block: u32) -> u32 {
    block / ENTRIES_PER_PAGE as u32
}

impl Pages {
    /// Adds a change. `true` if its page was at rest, so that [`Pages::begin`] has to follow.
    pub fn add(&mut self, change: Change) -> bool {
        let page = self.pages.entry(page_of(change.block)).or_default();
        page.next.push(change);
        page.round.is_empty() && page.next.len() == 1
    }

    /// Begins a round for a page with the changes that were added. Returns the copy to write.
    pub fn begin(&mut self, number: u32) -> usize {
        let page = self.pages.get_mut(&number).expect("a change was added for it");
        match begin(page) {
            Next::Write(copy) => copy,
            Next::Rest => unreachable!("it has a change"),
        }
    }

    /// The page as it has to be written, with the changes of the round.
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

    /// Reports the end of a write of a page's copy. Returns the next action for the page, and the waiters whose changes
    /// have ended with `result`.
    pub fn written(&mut self, number: u32, result: Result<(), MediaError>, table: &mut [Entry]) -> (Next, Vec<Waiter>) {
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
        (next, round.into_iter().map(|change| change.waiter).collect())
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
        Change { block, kind: Kind::Erased, epoch, waiter: Waiter::Die(block) }
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
        assert_eq!((ended, table[3].epoch, table[4].epoch), (vec![Waiter::Die(2), Waiter::Die(3)], 5, 1));
        pages.written(0, Ok(()), &mut table);
        let (next, ended) = pages.written(0, Ok(()), &mut table);
        assert!(matches!(next, Next::Rest));
        assert_eq!((ended, table[4].epoch), (vec![Waiter::Die(4), Waiter::Die(5)], 5));
    }

    #[test]
    fn a_copy_that_failed_is_written_first_and_its_changes_are_not_known() {
        let (mut pages, mut table) = (Pages::default(), vec![Entry::BLANK; 20]);
        pages.add(change(3, 5));
        pages.begin(0);
        pages.written(0, Ok(()), &mut table);
        let (next, ended) = pages.written(0, Err(MediaError::Host), &mut table);
        assert!(matches!(next, Next::Rest));
        assert_eq!((ended, table[3].is_known, table[3].epoch), (vec![Waiter::Die(3)], false, 5));
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
        pages.add(Change { kind: Kind::Bad, waiter: Waiter::Call(1), ..change(3, 5) });
        pages.begin(0);
        (0..2).for_each(|_| drop(pages.written(0, Ok(()), &mut table)));
        assert_eq!(table[3], Entry { epoch: 5, cycles: 1, is_bad: true, is_known: true });
    }

    #[test]
    fn a_mark_that_failed_costs_no_data() {
        let (mut pages, mut table) = (Pages::default(), vec![Entry::BLANK; 20]);
        pages.add(Change { kind: Kind::Bad, waiter: Waiter::Call(1), ..change(3, 5) });
        pages.begin(0);
        pages.written(0, Err(MediaError::Host), &mut table);
        assert_eq!(table[3], Entry { is_bad: true, ..Entry::BLANK });
    }
}
