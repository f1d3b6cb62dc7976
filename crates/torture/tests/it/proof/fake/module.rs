//! The contents of a module.

use torture::sim::{Lba, Stamp};

/// Entries of a segment.
pub const SEGMENT_ENTRIES: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    Value(Stamp),
    Zero,
    Lost,
}

/// How an entry can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Good,
    /// Cut while it was programmed.
    Torn,
    /// Its contents can't be corrected; what it is can be told.
    Bad,
}

#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pub seq: u64,
    pub lba: Lba,
    pub content: Content,
    pub state: State,
}

#[derive(Clone, Debug)]
pub struct Segment {
    pub id: u64,
    pub entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
pub struct Module {
    pub card: u32,
    pub uid: u32,
    pub generation: u64,
    pub log: Vec<Segment>,
}

impl Module {
    pub fn new(card: u32, uid: u32, generation: u64) -> Module {
        Module { card, uid, generation, log: Vec::new() }
    }

    pub fn append(&mut self, segment: u64, entry: Entry) {
        match self.log.iter_mut().find(|s| s.id == segment) {
            Some(s) => s.entries.push(entry),
            None => self.log.push(Segment { id: segment, entries: vec![entry] }),
        }
    }

    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.log.iter().flat_map(|s| &s.entries)
    }

    pub fn good(&self, lba: Lba, seq: u64) -> Option<Content> {
        self.entries().find(|e| e.lba == lba && e.seq == seq && e.state == State::Good).map(|e| e.content)
    }

    /// Writes a version anew where it is spoiled.
    pub fn mend(&mut self, lba: Lba, seq: u64, content: Content) {
        for entry in self.log.iter_mut().flat_map(|s| &mut s.entries) {
            if entry.lba == lba && entry.seq == seq && entry.state == State::Bad {
                (entry.content, entry.state) = (content, State::Good);
            }
        }
    }

    /// Spoils all copies of a version.
    pub fn spoil(&mut self, lba: Lba, seq: u64) {
        for entry in self.log.iter_mut().flat_map(|s| &mut s.entries) {
            if entry.lba == lba && entry.seq == seq {
                entry.state = State::Bad;
            }
        }
    }
}
