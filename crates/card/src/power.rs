//! Power that fails.
//!
//! With capacitors the card has time: it stops collection, takes nothing more from the host, puts what the buffer holds
//! and what it owes on flash, and then loses power. Bands are erased meanwhile only if there is no other room for that.
//! Without, power is gone at once.

use crate::card::Card;
use device::Time;
use ftl::StreamId;
use ftl::canary::{Canary, planted};

impl Card {
    /// Power begins to fail. A card with capacitors puts what it has acknowledged on flash: its driver goes on to
    /// [`advance`](device::Device::advance) it until [`Card::is_drained`], while the energy lasts.
    pub fn power_fails(&mut self, now: Time) {
        self.draining = true;
        self.dies.programs_first();
        self.waiting_writes.clear();
        self.drain(now);
        self.note_halt();
    }

    /// Writes what is owed, as far as there is room, and closes what is open.
    pub(crate) fn drain(&mut self, now: Time) {
        if !self.config.power_loss_protection || self.store.is_none() || self.halted {
            return;
        }
        while let Some(segment) = self.first_owed()
            && self.ftl.has_room_for_holes(1)
        {
            let as_of = self.contents().next_version;
            self.write_holes(segment, as_of);
        }
        self.ftl.seal_early(StreamId::Relocation);
        self.ftl.seal_early(StreamId::Host);
        self.program_sealed(now);
        self.erase_stale(now);
        // More is gone than room was kept for: what is left in the buffer has no place to go to.
        if self.dies.in_flight() == 0 && !self.syncs() && !self.owes_nothing() {
            self.halted = true;
        }
        if self.owes_nothing() {
            self.nothing_was_lost();
        }
    }

    fn first_owed(&self) -> Option<u32> {
        self.store.as_ref()?.dirty_holes.keys().next().copied()
    }

    /// Something has to be written, and there is no erased band for it.
    pub(crate) fn drain_lacks_room(&self) -> bool {
        let owes = self.first_owed().is_some() || !self.homeless.is_empty();
        self.config.power_loss_protection && owes && self.ftl.free_bands() == 0 && self.erasing.is_empty()
    }

    fn owes_nothing(&self) -> bool {
        self.stripes.is_empty() && !self.syncs() && self.failed_stripes.is_empty() && self.first_owed().is_none()
    }

    /// Nothing that was acknowledged is only in the buffer, and the headers don't say so.
    pub fn is_drained(&self) -> bool {
        let is_done = self.owes_nothing() && !self.says_lost_writes();
        !self.config.power_loss_protection || planted(Canary::CapacitorsEmpty) || self.halted || is_done
    }

    /// The media do not answer any more.
    pub fn is_halted(&self) -> bool {
        self.halted
    }
}
