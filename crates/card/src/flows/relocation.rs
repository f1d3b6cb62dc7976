//! Relocation: sectors are read, perhaps carried through the host, put into the open stripe, programmed.

use crate::card::{Card, Contents, Done};
use crate::core::die_op::Work;
use crate::core::timers::Timer;
use device::Time;
use ftl::Relocation;

/// Why sectors are relocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Due {
    /// Room is needed, or a band has to be emptied.
    Collection,
    /// The host has been idle for a while: the SLC cache is emptied for its next burst.
    Fold,
}

impl<C: Contents> Card<C> {
    /// Starts the relocations that are due.
    #[inline]
    pub(crate) fn relocate_due(&mut self, now: Time) {
        // An idle card collects freely, but never more at once than a unit for each die: the next request of the host
        // must not find a queue.
        let idle = self.core.host.is_idle();
        // Relocations that wait for room go first.
        if self.core.phase.is_draining() || self.core.relocations.first_waiting().is_some() || C::holds_relocation(self)
        {
            return;
        }
        let compresses = self.core.ftl.compresses();
        let idle_sectors = self.core.ftl.layout().dies * self.core.ftl.layout().unit_sectors;
        while self.core.relocations.has_room()
            && let Some(due) =
                self.relocation_due(now, idle && self.core.relocations.sectors_in_flight() < idle_sectors)
        {
            match self.core.ftl.next_relocation() {
                Some(relocation) => {
                    let sectors = relocation.sectors();
                    if due == Due::Fold {
                        self.pace_fold(now, sectors);
                    }
                    let tail = if compresses { self.read_tail(now, &relocation) } else { 0 };
                    let unit = C::read_to_relocate(self, now, &relocation);
                    let mode = relocation.mode;
                    let index = self.core.relocations.begin(relocation);
                    self.start(now, Work::RelocationRead(index), unit, mode, sectors - tail);
                }
                // The victim had nothing left; its band may be ready for its erase.
                None => self.erase_stale(now),
            }
        }
    }

    #[inline]
    fn relocation_due(&mut self, now: Time, idle: bool) -> Option<Due> {
        if self.core.ftl.prepare_relocation(idle) {
            return Some(Due::Collection);
        }
        (idle && self.core.relocations.may_fold(now) && self.core.ftl.prepare_fold()).then_some(Due::Fold)
    }

    /// The next one out of the SLC cache waits until the rate allows it.
    fn pace_fold(&mut self, now: Time, sectors: u32) {
        if let Some(rate) = self.core.config.fold_bytes_per_s {
            let due = self.core.relocations.pace_fold(now, sectors, rate);
            self.core.timers.set(Timer::Idle, due);
        }
    }

    /// Sectors to relocate were read from flash.
    pub(crate) fn relocation_read(&mut self, now: Time, index: u32, done: &mut Done<C>) {
        let relocation = self.core.relocations.read(index);
        C::relocation_read(self, now, relocation, done);
    }

    pub(crate) fn relocation_came(&mut self, now: Time, relocation: Relocation, done: &mut Done<C>) {
        match self.core.config.host_path_sector_ns() {
            None => self.move_sectors(now, relocation, done),
            Some(sector_ns) => {
                let at = self.core.link.relocate_through_host(now, relocation.sectors(), sector_ns);
                if self.core.relocations.send_through_host(at, relocation) {
                    self.core.timers.set(Timer::HostPath, at);
                }
            }
        }
    }

    /// The first relocation on its way through the host is back.
    pub(crate) fn relocation_through_host(&mut self, now: Time, done: &mut Done<C>) {
        let (relocation, next) = self.core.relocations.back_from_host();
        self.core.timers.set(Timer::HostPath, next);
        self.move_sectors(now, relocation, done);
    }

    /// Moves what waited for room, as far as there is some.
    pub(crate) fn move_waiting(&mut self, now: Time, done: &mut Done<C>) {
        if let Some(relocation) = self.core.relocations.first_waiting()
            && C::has_room_to_move(self, relocation)
        {
            let relocation = self.core.relocations.pop_waiting().expect("looked at");
            self.move_sectors(now, relocation, done);
        }
    }

    fn move_sectors(&mut self, now: Time, relocation: Relocation, done: &mut Done<C>) {
        if self.core.phase.is_draining() {
            // They lie where they lay; what room is left is for what lies nowhere.
            return;
        }
        if !C::has_room_to_move(self, &relocation) {
            self.core.relocations.wait(relocation);
            return self.unblock(now);
        }
        self.move_now(now, relocation, done);
    }

    pub(crate) fn move_now(&mut self, now: Time, relocation: Relocation, done: &mut Done<C>) {
        let before = self.core.ftl.counters().relocated_sectors;
        C::relocate(self, relocation);
        let moved = (self.core.ftl.counters().relocated_sectors - before) as u32;
        // Sectors that the host overwrote meanwhile need no program.
        self.core.relocations.remove_sectors(relocation.sectors() - moved);
        self.program_sealed(now);
        if self.core.ftl.has_map_cache() {
            self.move_map_pages(now);
        }
        if self.core.ftl.stale_bands_wait() {
            self.erase_stale(now);
        }
        self.resume(now, done);
    }
}
