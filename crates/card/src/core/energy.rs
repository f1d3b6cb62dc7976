//! The energy of a card: how long it lives without power, and how much it may acknowledge because of that.
//!
//! When power fails, programs go first on every die, and operations that have begun are ended. So the last program ends,
//! at the latest, after the operation under way (an erase that a read has suspended), and then as many programs as the
//! fullest die has, each with the transfers of all dies of its channel:
//!
//! ```text
//! drain = erase + 2 suspend + read and its retries + rows (program + dies of a channel * transfer)
//! rows  = rows of the buffer + rows of relocations under way + 8
//! ```
//!
//! A row is a program on each die. The eight are the open stripes of both streams, the holes that are owed, two bands'
//! summaries, and three for a program that fails on the way: its sectors are written again, and its band is closed.
//! Sectors that the energy can't put on flash in that time are never acknowledged: the buffer that counts is smaller, if
//! need be.
//!
//! Bad blocks make stripes narrow, and so rows more. A card with contents therefore looks at its fullest die before it
//! acknowledges anything.

use super::config::CardConfig;

/// Rows of open stripes, holes, summaries, and of a program that fails.
pub const MARGIN_ROWS: u64 = 8;

impl CardConfig {
    /// Time that the energy lasts, where it has an end.
    pub fn hold_up_ns(&self) -> Option<u64> {
        self.capacitors.filter(|_| self.power_loss_protection).map(|capacitors| capacitors.hold_up_ns())
    }

    /// Time until so many rows are programmed, whatever is under way.
    pub fn rows_drain_ns(&self, rows: u64) -> u64 {
        let (geometry, timing) = (&self.nand.geometry, &self.nand.timing);
        let native = timing.native;
        // Retries of a read that is under way: no flash has more than this.
        const READS: u64 = 9;
        let under_way = native.erase_ns + 2 * timing.suspend_ns.unwrap_or(0) + READS * native.read_ns;
        let page_bytes = u64::from(geometry.page_bytes + geometry.spare_bytes);
        let transfer_ns = timing.bus_ns(page_bytes * u64::from(geometry.pages_per_unit()));
        under_way + rows * (native.program_ns + u64::from(geometry.dies_per_channel) * transfer_ns)
    }

    /// Rows that so many sectors fill.
    pub fn rows_of(&self, sectors: u32) -> u64 {
        let ftl = &self.ftl;
        let stripe_sectors = (ftl.stripe_width - ftl.parity_units) * self.nand.geometry.sectors_per_unit();
        let groups = (self.nand.geometry.dies() / ftl.stripe_width).max(1);
        u64::from(sectors.div_ceil(stripe_sectors.max(1)).div_ceil(groups))
    }

    /// Longest time that it takes to put a buffer of so many sectors on flash, and all that goes with it.
    pub fn drain_ns(&self, buffer_sectors: u32) -> u64 {
        let rows = self.rows_of(buffer_sectors) + self.rows_of(self.relocation_sectors);
        self.rows_drain_ns(rows + MARGIN_ROWS)
    }

    /// Sectors of the buffer that the energy can put on flash; all of them where it has no end.
    pub fn durable_buffer_sectors(&self) -> u32 {
        let Some(hold_up_ns) = self.hold_up_ns() else { return self.buffer_sectors };
        // The time never falls with the sectors: the first that do not fit any more are sought by halves.
        let (mut fits, mut too_many) = (0, self.buffer_sectors + 1);
        while too_many - fits > 1 {
            let sectors = fits + (too_many - fits) / 2;
            *(if self.drain_ns(sectors) <= hold_up_ns { &mut fits } else { &mut too_many }) = sectors;
        }
        fits
    }
}
