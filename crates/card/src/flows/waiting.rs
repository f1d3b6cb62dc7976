//! Media that are slow themselves: files and drives.
//!
//! A die's operation is begun on the medium when it begins on the die, and is done when both are: when the time that flash
//! takes is over, and when the medium has answered. While it has not, the die's event is the moment at which the card
//! gives its module up.

use crate::card::{Card, Done};
use crate::contents::Storage;
use crate::core::die_op::Work;
use crate::core::dies::Started;
use crate::core::timers::Timer;
use device::Time;
use media::Medium;

impl Card<Storage> {
    pub(crate) fn is_on_slow_medium(&self) -> bool {
        matches!(self.contents.store.media, Medium::Outside(_)) && !self.core.phase.waits_at_once()
    }

    /// Tells the medium what has begun on dies.
    #[inline]
    pub(crate) fn begin_on_slow_medium(&mut self) {
        if !self.contents.store.to_begin.is_empty() {
            self.begin_all_on_medium();
        }
    }

    #[cold]
    fn begin_all_on_medium(&mut self) {
        let mut all = std::mem::take(&mut self.contents.store.to_begin);
        all.drain(..).for_each(|started| self.begin_one_on_medium(&started));
        self.contents.store.to_begin = all;
    }

    fn begin_one_on_medium(&mut self, started: &Started) {
        let store = &mut self.contents.store;
        let (at, width) = (started.unit, self.core.ftl.layout().width);
        match started.work {
            Work::HostRead(_) | Work::MapRead(_) | Work::RelocationRead(_) | Work::RepairRead(_) => {
                // Another operation of the die is suspended: the read is done when its time comes.
                if let Some(place) = store.place(at)
                    && !store.media.is_under_way(place.block.module, place.block.die)
                {
                    store.media.begin_read(place);
                }
            }
            Work::Program { stripe, .. } => store.begin_program(stripe, at, width),
            Work::Erase(band) => store.begin_erase(at.die, band.0),
            Work::RebuildErase => {
                if let Some(block) = store.block_at(at.die, at.band.0) {
                    store.media.begin_erase(block);
                }
            }
            Work::RebuildProgram => {
                if let Some(unit) = self.contents.rebuilds.current.as_ref().and_then(|rebuild| rebuild.unit.as_ref())
                    && let Some(place) = store.place_for_rebuild(at)
                {
                    store.media.begin_program(place, unit);
                }
            }
        }
    }

    /// The time of a die's operation is over: waits on when the medium has not answered yet. A module that has had its
    /// time is given up; false then, and when the medium has answered.
    pub(crate) fn wait_for_medium(&mut self, now: Time, d: usize) -> bool {
        let store = &self.contents.store;
        if !self.is_on_slow_medium() {
            return false;
        }
        let modules = store.slots.len();
        let is_under_way =
            store.slots[d % modules].is_some_and(|slot| store.media.is_under_way(slot, (d / modules) as u32));
        let Some(op) = self.core.dies.current(d).filter(|_| is_under_way) else { return false };
        let until = op.started + self.core.config.care.module_timeout_ns;
        if until <= now {
            self.give_up_module_of(now, d as u32);
            return false;
        }
        self.core.timers.set(Timer::Die(d), until);
        true
    }

    /// The medium has done what was begun on a die of a slot's module.
    pub fn answered(&mut self, now: Time, slot: u32, die: u32) {
        let store = &self.contents.store;
        let Some(logical) = store.slots.iter().position(|of| *of == Some(slot)) else { return };
        let d = die as usize * store.slots.len() + logical;
        let Some(op) = self.core.dies.current(d) else { return };
        if self.core.timers.time(Timer::Die(d)) == op.started + self.core.config.care.module_timeout_ns {
            self.core.timers.set(Timer::Die(d), now);
        }
    }

    /// The medium has done a sync that was begun.
    pub fn answered_sync(&mut self, now: Time, done: &mut Done<Storage>) {
        self.synced(now, done);
    }

    /// From now on each operation waits for itself: the card is being shut down.
    pub(crate) fn end_waits(&mut self, now: Time, done: &mut Done<Storage>) {
        let modules = self.contents.store.slots.len() as u32;
        (0..modules).for_each(|logical| self.wait_no_longer_for(now, logical));
        self.end_direct_reads(now, done);
        if self.contents.syncs.is_under_way() {
            self.synced(now, done);
        }
    }

    /// A module is gone: nobody waits for its answers any more.
    pub(crate) fn wait_no_longer_for(&mut self, now: Time, logical: u32) {
        if matches!(self.contents.store.media, Medium::Flash(_)) {
            return;
        }
        self.hasten_direct_reads(now, logical);
        if self.contents.log.writing().is_some_and(|writing| writing.to.iter().any(|at| at.0 == logical)) {
            self.core.timers.set(Timer::Log, now);
        }
        let store = &self.contents.store;
        for d in (logical as usize..self.core.timers.dies()).step_by(store.slots.len()) {
            let Some(op) = self.core.dies.current(d) else { continue };
            if self.core.timers.time(Timer::Die(d)) == op.started + self.core.config.care.module_timeout_ns {
                self.core.timers.set(Timer::Die(d), now);
            }
        }
    }
}
