//! The choice of the block that leaves a full cache.
//!
//! LRU and FIFO are the textbook's, and what FlashCache offers. CLOCK is FIFO whose candidates get a second chance if
//! they were used. S3-FIFO is Algorithm 1 of J. Yang, Y. Zhang, Z. Qiu, Y. Yue and K. V. Rashmi, "FIFO queues are all
//! you need for cache eviction", SOSP 2023: a new block stays in a small queue, a tenth of the cache, and leaves it for
//! the main queue if it was used twice, else for a list of ghosts; a miss of a ghost goes to the main queue. It is the
//! one that resists scans here. SIEVE does not on block devices, for it has no ghosts; ARC and 2Q keep lists in order of
//! use, which a map on flash would have to be written for at each hit.

use super::ghost::Ghost;
use device::{Links, List};
use profile::CachePolicy;

/// The part of the cache that is S3-FIFO's small queue: one in so many blocks.
const SMALL_PART: u32 = 10;
/// Uses that S3-FIFO counts at most.
const MOST_USES: u8 = 3;
/// Uses beyond which a block of the small queue goes to the main one.
const USES_TO_STAY: u8 = 1;

/// Mark of a slot that is in the small queue; the other bits count uses.
const IN_SMALL: u8 = 0x80;

/// The order in which slots that are used leave.
#[derive(Clone, Debug)]
pub(super) struct Policy {
    kind: CachePolicy,
    links: Links,
    main: List,
    small: List,
    small_room: u32,
    marks: Vec<u8>,
    ghost: Ghost,
}

impl Policy {
    pub fn new(kind: CachePolicy, blocks: u32) -> Policy {
        let small_room = (blocks / SMALL_PART).max(1);
        Policy {
            kind,
            links: Links::default(),
            main: List::EMPTY,
            small: List::EMPTY,
            small_room,
            marks: Vec::new(),
            ghost: Ghost::new(blocks - small_room),
        }
    }

    /// A block came into a slot.
    pub fn insert(&mut self, slot: u32, block: u64) {
        let to_small = self.kind == CachePolicy::S3Fifo && !self.ghost.take(block);
        self.push(slot, to_small);
    }

    /// A slot that was chosen stays all the same, as if it had just been used.
    pub fn keep(&mut self, slot: u32) {
        self.push(slot, false);
    }

    fn push(&mut self, slot: u32, to_small: bool) {
        let at = slot as usize;
        if self.marks.len() <= at {
            self.marks.resize(at + 1, 0);
        }
        self.marks[at] = if to_small { IN_SMALL } else { 0 };
        let list = if to_small { &mut self.small } else { &mut self.main };
        self.links.push(list, slot);
    }

    /// A block that is here was asked for.
    #[inline]
    pub fn hit(&mut self, slot: u32) {
        match self.kind {
            CachePolicy::Lru => {
                self.links.remove(&mut self.main, slot);
                self.links.push(&mut self.main, slot);
            }
            CachePolicy::Fifo => {}
            CachePolicy::Clock => self.marks[slot as usize] = 1,
            CachePolicy::S3Fifo => {
                let mark = &mut self.marks[slot as usize];
                if *mark & !IN_SMALL < MOST_USES {
                    *mark += 1;
                }
            }
        }
    }

    /// Takes a slot out.
    pub fn remove(&mut self, slot: u32) {
        let list = if self.marks[slot as usize] & IN_SMALL != 0 { &mut self.small } else { &mut self.main };
        self.links.remove(list, slot);
    }

    /// Chooses the slot that leaves and takes it out; `block_of` knows what lies in it.
    pub fn choose(&mut self, block_of: impl Fn(u32) -> u64) -> Option<u32> {
        if self.kind == CachePolicy::S3Fifo {
            while !self.small.is_empty() && (self.small.len() >= self.small_room || self.main.is_empty()) {
                let slot = self.small.tail()?;
                self.links.remove(&mut self.small, slot);
                if self.marks[slot as usize] & !IN_SMALL > USES_TO_STAY {
                    self.push(slot, false);
                } else {
                    self.ghost.note(block_of(slot));
                    return Some(slot);
                }
            }
        }
        loop {
            let slot = self.main.tail()?;
            self.links.remove(&mut self.main, slot);
            let uses = self.marks[slot as usize];
            if uses == 0 {
                return Some(slot);
            }
            // Each round takes a use away, so this ends.
            self.links.push(&mut self.main, slot);
            self.marks[slot as usize] = if self.kind == CachePolicy::Clock { 0 } else { uses - 1 };
        }
    }
}
