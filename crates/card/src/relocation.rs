//! Relocations under way: read, perhaps carried through the host, put into the open stripe, programmed.

use crate::card::Card;
use crate::dies::Work;
use device::{Completion, SECTOR_BYTES, Time};
use ftl::Relocation;
use slab::Slab;
use std::collections::VecDeque;

/// Why sectors are relocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Due {
    /// Room is needed, or a band has to be emptied.
    Collection,
    /// The host has been idle for a while: the SLC cache is emptied for its next burst.
    Fold,
}

/// Relocations of a card. Their number is bounded by `relocation_sectors` of the card.
#[derive(Clone, Debug)]
pub struct Relocations {
    /// Being read.
    reading: Slab<Relocation>,
    /// Read, while what could not be read of them is rebuilt.
    filling: usize,
    /// Read, and on their way through the host; times do not fall.
    through_host: VecDeque<(Time, Relocation)>,
    /// Read, and waiting for room: a die has gone, and there is less of it than was counted on.
    waiting: VecDeque<Relocation>,
    /// Sectors read or waiting to be on flash.
    pub sectors_in_flight: u32,
}

impl Relocations {
    pub fn new() -> Relocations {
        Relocations {
            reading: Slab::new(),
            filling: 0,
            through_host: VecDeque::new(),
            waiting: VecDeque::new(),
            sectors_in_flight: 0,
        }
    }

    /// Relocations that are read or carried, those that wait for room not counted.
    pub fn on_their_way(&self) -> usize {
        self.reading.len() + self.filling + self.through_host.len()
    }
}

impl Card {
    /// Starts the relocations that are due.
    #[inline]
    pub(crate) fn relocate_due(&mut self, now: Time) {
        // An idle card collects freely, but never more at once than a unit for each die: the next request of the host
        // must not find a queue.
        let idle = self.in_flight == 0;
        // What failed goes first: free bands are for it, and collection would take them.
        let blocked = !self.failed_stripes.is_empty() || !self.relocations.waiting.is_empty();
        if self.draining || self.halted || blocked {
            return;
        }
        let idle_sectors = self.ftl.layout().dies * self.ftl.layout().unit_sectors;
        while self.relocations.sectors_in_flight < self.config.relocation_sectors
            && let Some(due) = self.relocation_due(now, idle && self.relocations.sectors_in_flight < idle_sectors)
        {
            match self.ftl.next_relocation() {
                Some(relocation) => {
                    let sectors = relocation.sectors();
                    if due == Due::Fold {
                        self.pace_fold(now, sectors);
                    }
                    self.relocations.sectors_in_flight += sectors;
                    let index = self.relocations.reading.insert(relocation) as u32;
                    self.start(now, Work::RelocationRead(index), relocation.unit, relocation.mode, sectors);
                }
                // The victim had nothing left; its band may be ready for its erase.
                None => self.erase_stale(now),
            }
        }
    }

    #[inline]
    fn relocation_due(&mut self, now: Time, idle: bool) -> Option<Due> {
        if self.ftl.gc_demand(idle) {
            return Some(Due::Collection);
        }
        (idle && self.long_idle && now >= self.fold_due && self.ftl.fold_demand()).then_some(Due::Fold)
    }

    /// The next one out of the SLC cache waits until the rate allows it.
    fn pace_fold(&mut self, now: Time, sectors: u32) {
        if let Some(rate) = self.config.fold_bytes_per_s {
            let ns = u64::from(sectors) * SECTOR_BYTES * 1_000_000_000 / rate.max(1);
            self.fold_due = self.fold_due.max(now) + ns;
            self.events.set(self.idle_slot(), self.fold_due);
        }
    }

    /// Sectors to relocate were read from flash.
    pub(crate) fn relocation_read(&mut self, now: Time, index: u32, done: &mut Vec<Completion>) {
        let relocation = self.relocations.reading.remove(index as usize);
        if self.store.is_some() {
            self.relocations.filling += 1;
            if !self.relocation_arrived(now, relocation, done) {
                return;
            }
            return self.relocation_complete(now, relocation, done);
        }
        self.relocation_came(now, relocation, done);
    }

    /// The contents of a relocation are all there.
    pub(crate) fn relocation_complete(&mut self, now: Time, relocation: Relocation, done: &mut Vec<Completion>) {
        self.relocations.filling -= 1;
        self.relocation_came(now, relocation, done);
    }

    fn relocation_came(&mut self, now: Time, relocation: Relocation, done: &mut Vec<Completion>) {
        match self.host_path_sector_ns() {
            None => self.move_sectors(now, relocation, done),
            Some(sector_ns) => {
                let at = self.link.relocate_through_host(now, relocation.sectors(), sector_ns);
                self.relocations.through_host.push_back((at, relocation));
                if self.relocations.through_host.len() == 1 {
                    self.events.set(self.relocation_slot(), at);
                }
            }
        }
    }

    /// The first relocation on its way through the host is back.
    pub(crate) fn relocation_through_host(&mut self, now: Time, done: &mut Vec<Completion>) {
        let (_, relocation) = self.relocations.through_host.pop_front().expect("its event came");
        let next = self.relocations.through_host.front().map_or(Time::NEVER, |r| r.0);
        self.events.set(self.relocation_slot(), next);
        self.move_sectors(now, relocation, done);
    }

    /// Moves what waited for room, as far as there is some.
    pub(crate) fn move_waiting(&mut self, now: Time, done: &mut Vec<Completion>) {
        if let Some(relocation) = self.relocations.waiting.front()
            && self.has_room_to_move(relocation)
        {
            let relocation = self.relocations.waiting.pop_front().expect("looked at");
            self.move_sectors(now, relocation, done);
        }
    }

    /// Sectors of stripes that failed, or that have yet to notice it, go first: what they replaced can't be erased before.
    fn has_room_to_move(&self, relocation: &Relocation) -> bool {
        let owed = self.store.as_ref().map_or(0, |store| store.sectors_to_fail(&self.ftl)) + self.homeless.len() as u32;
        self.ftl.can_relocate(relocation.sectors() + owed)
    }

    fn move_sectors(&mut self, now: Time, relocation: Relocation, done: &mut Vec<Completion>) {
        if self.draining {
            // They lie where they lay; what room is left is for what lies nowhere.
            return;
        }
        if self.store.is_some() && !self.has_room_to_move(&relocation) {
            self.relocations.waiting.push_back(relocation);
            return self.unblock(now);
        }
        self.move_now(now, relocation, done);
    }

    /// Nothing is under way, so nothing will fail: what waits for room takes some of that which is kept for stripes that
    /// do. `false`: nothing waits, or there is none.
    pub(crate) fn move_into_reserve(&mut self, now: Time, done: &mut Vec<Completion>) -> bool {
        if !self.homeless.is_empty() || !self.ftl.can_rewrite() {
            return false;
        }
        let Some(relocation) = self.relocations.waiting.pop_front() else { return false };
        self.move_now(now, relocation, done);
        self.unblock(now);
        true
    }

    fn move_now(&mut self, now: Time, relocation: Relocation, done: &mut Vec<Completion>) {
        let before = self.ftl.counters().relocated_sectors;
        match self.store {
            Some(_) => self.relocate_contents(relocation),
            None => self.ftl.relocate(relocation, |_, _| {}),
        }
        let moved = (self.ftl.counters().relocated_sectors - before) as u32;
        // What the host overwrote meanwhile needs no program.
        self.relocations.sectors_in_flight -= relocation.sectors() - moved;
        self.program_sealed(now);
        if self.ftl.stale_bands_wait() {
            self.erase_stale(now);
        }
        self.go_on(now, done);
    }
}
