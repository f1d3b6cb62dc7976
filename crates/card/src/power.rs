//! Power that fails.
//!
//! With capacitors the card has time: it stops collection, puts what the buffer holds on flash, and then loses power.
//! Without, power is gone at once.

use crate::card::Card;
use device::Time;
use ftl::StreamId;

impl Card {
    /// Power begins to fail. A card with capacitors puts what it has acknowledged on flash: its driver goes on to
    /// [`advance`](device::Device::advance) it until [`Card::is_drained`], while the energy lasts.
    pub fn power_fails(&mut self, now: Time) {
        self.draining = true;
        self.waiting_writes.clear();
        if !self.config.power_loss_protection || self.store.is_none() {
            return;
        }
        let as_of = self.contents().next_version;
        self.write_owed_holes(now, as_of);
        self.ftl.seal_early(StreamId::Relocation);
        self.ftl.seal_early(StreamId::Host);
        self.program_sealed(now);
    }

    /// Nothing that was acknowledged is only in the buffer.
    pub fn is_drained(&self) -> bool {
        !self.config.power_loss_protection || self.halted || (self.stripes.is_empty() && self.failed_stripes.is_empty())
    }

    /// The media do not answer any more.
    pub fn is_halted(&self) -> bool {
        self.halted
    }
}
