//! Power that fails.
//!
//! With capacitors the card has time: it stops collection, takes nothing more from the host, puts what the buffer holds
//! and what it owes on flash, and then loses power. Bands are erased meanwhile only if there is no other room for that.
//! Without, power is gone at once.

use crate::card::Card;
use crate::contents::Storage;
use device::Time;
use ftl::StreamId;
use ftl::canary::{Canary, planted};

impl Card<Storage> {
    /// Power begins to fail. A card with capacitors puts what it has acknowledged on flash: its driver goes on to
    /// [`advance`](device::Device::advance) it until [`Card::is_drained`], while the energy lasts.
    pub fn power_fails(&mut self, now: Time) {
        self.core.phase.drain();
        self.core.dies.programs_first();
        self.core.host.forget_waiting();
        self.drain(now);
        self.note_halt();
    }

    /// Writes what is owed, as far as there is room, and closes what is open.
    pub(crate) fn drain(&mut self, now: Time) {
        if !self.core.config.power_loss_protection || self.core.phase.is_halted() {
            return;
        }
        while let Some(segment) = self.first_owed()
            && self.core.ftl.has_room_for_holes(1)
        {
            let as_of = self.contents.store.next_version;
            self.write_holes(segment, as_of);
        }
        self.core.ftl.seal_early(StreamId::Relocation);
        self.core.ftl.seal_early(StreamId::Host);
        self.program_sealed(now);
        self.erase_stale(now);
        // More is gone than room was kept for: what is left in the buffer has no place to go to.
        if self.core.dies.in_flight() == 0 && !self.syncs() && !self.owes_nothing() {
            self.core.phase.halt();
        }
        if self.owes_nothing() {
            self.nothing_was_lost();
        }
    }

    fn first_owed(&self) -> Option<u32> {
        self.contents.holes.first_owed()
    }

    /// Something has to be written, and there is no erased band for it.
    pub(crate) fn drain_lacks_room(&self) -> bool {
        let owes = self.first_owed().is_some() || self.contents.failed.has_displaced();
        self.core.config.power_loss_protection
            && owes
            && self.core.ftl.free_bands() == 0
            && self.core.erasing.is_empty()
    }

    fn owes_nothing(&self) -> bool {
        self.core.stripes.is_empty() && !self.syncs() && self.contents.failed.is_empty() && self.first_owed().is_none()
    }

    /// Nothing that was acknowledged is only in the buffer, and the headers don't say so.
    pub fn is_drained(&self) -> bool {
        let is_done = self.owes_nothing() && !self.says_lost_writes();
        !self.core.config.power_loss_protection
            || planted(Canary::CapacitorsEmpty)
            || self.core.phase.is_halted()
            || is_done
    }

    /// The media do not answer any more.
    pub fn is_halted(&self) -> bool {
        self.core.phase.is_halted()
    }
}
