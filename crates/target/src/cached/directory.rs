//! The blocks that lie on the flash, and those of them that the device behind has not got yet.
//!
//! Only a clean block leaves, as in FlashCache, bcache and dm-cache: a dirty one whose turn it is stays until it is
//! written back, ahead of all others, and leaves then, unless it was asked for meanwhile.

use super::ghost::Ghost;
use super::policy::Policy;
use profile::{CacheConfig, Promotion};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Its data come from the device behind, or are on the way to the flash.
const FETCHING: u8 = 1;
/// The device behind has an older version.
const DIRTY: u8 = 2;
/// It is being written back.
const WRITING: u8 = 4;
/// It was chosen to leave, and does when it is clean.
const LEAVING: u8 = 8;
/// Its block has been dropped: it is free when nothing is under way for it.
const DROPPED: u8 = 16;

#[derive(Clone, Copy, Debug)]
struct Slot {
    block: u64,
    /// Things under way for which it must stay.
    pins: u16,
    flags: u8,
}

/// Counts since the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Moves {
    /// Blocks that came in.
    pub promoted: u64,
    /// Blocks that left for others.
    pub evicted: u64,
    /// Times that a clean block, or one being written back, became dirty.
    pub dirtied: u64,
    pub written_back: u64,
    /// Dirty blocks whose data nobody needs any more.
    pub dropped: u64,
    /// Changes that the map on the flash must learn of.
    pub map_changes: u64,
}

/// The map of a cache.
#[derive(Clone, Debug)]
pub struct Directory {
    capacity: u32,
    promotion: Promotion,
    map: FxHashMap<u64, u32>,
    slots: Vec<Slot>,
    free: Vec<u32>,
    policy: Policy,
    /// Blocks that missed once, where it takes two misses.
    missed: Ghost,
    /// Dirty blocks that are not being written back, by their place behind.
    dirty: BTreeSet<u64>,
    /// Those of them that are to leave.
    leaving: BTreeSet<u64>,
    /// Dirty slots, those being written back among them.
    dirty_slots: u32,
    /// The sweep of writing back goes on from here.
    sweep: u64,
    moves: Moves,
}

impl Directory {
    /// An empty cache.
    pub fn new(config: &CacheConfig) -> Directory {
        Directory {
            capacity: config.blocks,
            promotion: config.promotion,
            map: FxHashMap::default(),
            slots: Vec::new(),
            free: Vec::new(),
            policy: Policy::new(config.policy, config.blocks),
            missed: Ghost::new(config.blocks),
            dirty: BTreeSet::new(),
            leaving: BTreeSet::new(),
            dirty_slots: 0,
            sweep: 0,
            moves: Moves::default(),
        }
    }

    pub(super) fn moves(&self) -> Moves {
        self.moves
    }

    /// Blocks that are in it.
    pub fn len(&self) -> u32 {
        self.map.len() as u32
    }

    /// Returns whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// Dirty blocks, those being written back among them.
    pub fn dirty(&self) -> u32 {
        self.dirty_slots
    }

    /// Dirty blocks that are not being written back.
    pub(super) fn waiting(&self) -> u32 {
        self.dirty.len() as u32
    }

    /// Dirty blocks that are to leave and wait for being written back.
    pub(super) fn leaving(&self) -> usize {
        self.leaving.len()
    }

    /// The slot of a block that is in the cache.
    #[inline]
    pub fn slot_of(&self, block: u64) -> Option<u32> {
        self.map.get(&block).copied()
    }

    fn slot(&mut self, slot: u32) -> &mut Slot {
        &mut self.slots[slot as usize]
    }

    fn has(&self, slot: u32, flag: u8) -> bool {
        self.slots[slot as usize].flags & flag != 0
    }

    /// Returns whether a slot's data are still coming.
    pub(super) fn is_fetching(&self, slot: u32) -> bool {
        self.has(slot, FETCHING)
    }

    /// Returns whether the device behind lacks what lies in a slot.
    pub(super) fn is_dirty(&self, slot: u32) -> bool {
        self.has(slot, DIRTY | WRITING)
    }

    /// Returns whether a slot's block was dropped while something was under way for it.
    pub(super) fn is_dropped(&self, slot: u32) -> bool {
        self.has(slot, DROPPED)
    }

    /// A block that is here was asked for.
    #[inline]
    pub fn hit(&mut self, slot: u32) {
        if self.has(slot, LEAVING) {
            let block = self.slots[slot as usize].block;
            self.slot(slot).flags &= !LEAVING;
            self.leaving.remove(&block);
            self.policy.keep(slot);
        } else {
            self.policy.hit(slot);
        }
    }

    /// Brings a block in that is not here, if the rule of promotion says so and a clean block can leave.
    pub fn admit(&mut self, block: u64) -> Option<u32> {
        debug_assert!(!self.map.contains_key(&block));
        if self.promotion == Promotion::Second && !self.missed.take(block) {
            self.missed.note(block);
            return None;
        }
        let slot = self.find_room()?;
        self.slots[slot as usize] = Slot { block, pins: 0, flags: 0 };
        self.map.insert(block, slot);
        self.policy.insert(slot, block);
        self.moves.promoted += 1;
        self.moves.map_changes += 1;
        Some(slot)
    }

    fn find_room(&mut self) -> Option<u32> {
        if let Some(slot) = self.free.pop() {
            return Some(slot);
        }
        if (self.slots.len() as u32) < self.capacity {
            self.slots.push(Slot { block: 0, pins: 0, flags: 0 });
            return Some(self.slots.len() as u32 - 1);
        }
        // Slots in use are put back; when all of them are, there is no room.
        let mut kept = 0;
        while kept < self.capacity {
            let slots = &self.slots;
            let slot = self.policy.choose(|slot| slots[slot as usize].block)?;
            let Slot { block, pins, flags } = self.slots[slot as usize];
            if flags & (DIRTY | WRITING) != 0 {
                self.slot(slot).flags |= LEAVING;
                if flags & WRITING == 0 {
                    self.leaving.insert(block);
                }
            } else if pins > 0 {
                self.policy.keep(slot);
                kept += 1;
            } else {
                self.map.remove(&block);
                self.moves.evicted += 1;
                return Some(slot);
            }
        }
        None
    }

    /// The data of a slot are coming: it stays.
    pub(super) fn fetch(&mut self, slot: u32) {
        self.slot(slot).flags |= FETCHING;
        self.pin(slot);
    }

    /// The data of a slot have come, and are on their way to the flash.
    pub(super) fn fetched(&mut self, slot: u32) {
        self.slot(slot).flags &= !FETCHING;
    }

    fn pin(&mut self, slot: u32) {
        self.slot(slot).pins += 1;
    }

    /// Something that was under way for a slot is over.
    pub(super) fn unpin(&mut self, slot: u32) {
        let entry = self.slot(slot);
        entry.pins -= 1;
        if entry.pins == 0 && entry.flags & DROPPED != 0 {
            entry.flags = 0;
            self.free.push(slot);
        }
    }

    /// A slot got data that the device behind has not got.
    pub fn dirty_now(&mut self, slot: u32) {
        let Slot { block, flags, .. } = self.slots[slot as usize];
        if flags & DIRTY != 0 {
            return;
        }
        self.moves.dirtied += 1;
        self.moves.map_changes += 1;
        self.slot(slot).flags |= DIRTY;
        if flags & WRITING == 0 {
            self.dirty_slots += 1;
            self.dirty.insert(block);
        }
    }

    /// The block of a slot is no longer in the cache.
    pub fn drop(&mut self, slot: u32) {
        let Slot { block, flags, pins } = self.slots[slot as usize];
        self.map.remove(&block);
        if flags & LEAVING == 0 {
            self.policy.remove(slot);
        }
        self.leaving.remove(&block);
        if flags & DIRTY != 0 {
            self.moves.dropped += 1;
            self.dirty.remove(&block);
        }
        if flags & DIRTY != 0 && flags & WRITING == 0 {
            self.dirty_slots -= 1;
        }
        self.moves.map_changes += 1;
        // A write back that is under way ends as if it were needed.
        self.slot(slot).flags = DROPPED | (flags & WRITING);
        if pins == 0 {
            self.slot(slot).flags = 0;
            self.free.push(slot);
        }
    }

    /// Takes dirty blocks to write back, neighbours behind: those that are to leave first, else the next ones of the sweep
    /// over the device behind, as an elevator goes.
    pub fn take_dirty(&mut self, most: u32) -> Vec<(u64, u32)> {
        let first = match self.leaving.range(self.sweep..).next().or(self.leaving.first()) {
            Some(&block) => block,
            None => match self.dirty.range(self.sweep..).next().or(self.dirty.first()) {
                Some(&block) => block,
                None => return Vec::new(),
            },
        };
        let neighbours = self.dirty.range(first..).zip(first..).take_while(|(block, expected)| *block == expected);
        let run: Vec<u64> = neighbours.map(|(block, _)| *block).take(most as usize).collect();
        self.sweep = first + run.len() as u64;
        run.into_iter()
            .map(|block| {
                let slot = self.map[&block];
                self.dirty.remove(&block);
                self.leaving.remove(&block);
                let entry = self.slot(slot);
                entry.flags = entry.flags & !DIRTY | WRITING;
                self.pin(slot);
                (block, slot)
            })
            .collect()
    }

    /// A slot's block has been written back.
    pub fn written_back(&mut self, slot: u32) {
        self.moves.written_back += 1;
        let entry = self.slot(slot);
        entry.flags &= !WRITING;
        let Slot { block, flags, .. } = *entry;
        if flags & DIRTY != 0 {
            self.dirty.insert(block);
            if flags & LEAVING != 0 {
                self.leaving.insert(block);
            }
            return self.unpin(slot);
        }
        self.dirty_slots -= 1;
        self.moves.map_changes += 1;
        if flags & LEAVING != 0 {
            self.map.remove(&block);
            self.moves.evicted += 1;
            self.moves.map_changes += 1;
            self.slot(slot).flags = DROPPED;
        }
        self.unpin(slot);
    }

    /// Checks that each block that became dirty was written back once, or still is dirty.
    ///
    /// # Panics
    /// When a block was lost, or written back twice.
    pub fn check(&self) {
        let count = |flag| self.slots.iter().filter(|slot| slot.flags & flag != 0).count() as u64;
        let (dirty, writing) = (count(DIRTY), count(WRITING));
        let Moves { dirtied, written_back, dropped, .. } = self.moves;
        assert_eq!(dirtied, written_back + dropped + dirty + writing, "a dirty block was lost");
        assert_eq!(u64::from(self.dirty_slots), count(DIRTY | WRITING));
        assert!(self.map.len() <= self.capacity as usize);
    }
}
