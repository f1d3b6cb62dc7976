//! Flash management without time: every program, relocation and erase is done at once.

use crate::ftl::Ftl;
use crate::layout::{Lba, StripeId};
use crate::stream::{SealedStripe, StreamId};
use std::ops::Range;

/// The card takes no more writes, because its spare is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the card is read-only: bad blocks have used up its spare")]
pub struct ReadOnly;

impl Ftl {
    /// Writes a sector and does all the work that this makes due: programs, relocations and erases.
    pub fn write_now(&mut self, lba: Lba) -> Result<(), ReadOnly> {
        if self.zones.is_some() {
            self.write_zone_now(lba).map_err(|_| ReadOnly)?;
        }
        self.make_room_now()?;
        self.write(lba);
        self.written_now();
        Ok(())
    }

    /// Writes sectors at once, and the others of their mapping units with them.
    pub fn write_block_now(&mut self, sectors: Range<u64>) -> Result<(), ReadOnly> {
        for sector in self.whole_units(sectors.clone()) {
            if sectors.contains(&sector) {
                self.write_now(Lba(sector as u32))?;
            } else {
                self.make_room_now()?;
                self.write_rest(Lba(sector as u32));
                self.written_now();
            }
        }
        Ok(())
    }

    fn make_room_now(&mut self) -> Result<(), ReadOnly> {
        while !self.can_write() {
            if !self.gc_step_now() {
                return Err(ReadOnly);
            }
        }
        Ok(())
    }

    fn written_now(&mut self) {
        self.program_sealed_now();
        if self.has_map_cache() {
            self.read_map_now();
            // A band of the map's pages is stale without any relocation that would look for erases.
            self.erase_stale_now();
        }
        while self.prepare_relocation(false) && self.gc_step_now() {}
    }

    /// Puts on flash what the host has written, with the padding that this takes.
    pub fn flush_now(&mut self) {
        self.seal_for_durability(StreamId::Host);
        self.program_sealed_now();
        while self.prepare_relocation(false) && self.gc_step_now() {}
    }

    /// Does one relocation, with the programs and erases that it makes due. `false` if there was nothing to do.
    fn gc_step_now(&mut self) -> bool {
        if self.prepare_relocation(false) {
            if let Some(relocation) = self.next_relocation() {
                self.relocate(relocation, |_, _| {});
                self.read_map_now();
            }
            self.program_sealed_now();
            self.erase_stale_now();
            return true;
        }
        if !self.stale_bands_wait() {
            return false;
        }
        // Stale bands wait for open stripes, and no more writes can fill these.
        let waiting = self.stale_bands();
        self.settle_now();
        if self.stale_bands() == waiting {
            // Those that share cells with the last stripes are open as well.
            self.seal_for_durability(StreamId::Relocation);
            self.seal_for_durability(StreamId::Host);
            self.program_sealed_now();
            self.erase_stale_now();
        }
        true
    }

    /// Programs the open stripes, with padding, and does the erases that wait for them. Nothing is in flight
    /// afterwards.
    pub fn settle_now(&mut self) {
        self.seal_early(StreamId::Relocation);
        self.seal_early(StreamId::Host);
        self.seal_handles();
        self.program_sealed_now();
        self.erase_stale_now();
    }

    fn erase_stale_now(&mut self) {
        while let Some(band) = self.next_erase() {
            self.erased(band);
        }
    }

    fn program_sealed_now(&mut self) {
        while let Some(SealedStripe { stripe, stream, handle, sequence, .. }) = self.pop_sealed() {
            self.program_units_now(stripe);
            match handle {
                0 => self.stripe_durable(stream, sequence),
                _ => self.handle_stripe_durable(stream, handle, sequence),
            }
        }
    }

    fn program_units_now(&mut self, stripe: StripeId) {
        let units = self.stripe_units(stripe);
        let mut used = units.data | units.parity;
        while used != 0 {
            let address = self.layout.unit_address(stripe, used.trailing_zeros());
            used &= used - 1;
            self.unit_programmed(address);
        }
    }
}
