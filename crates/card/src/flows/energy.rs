//! What capacitors can do: how long the card lives without power, and how much it may acknowledge because of that.
//!
//! When power fails, programs go first on every die, and what has begun is ended. So the last program ends, at the latest,
//! after what is under way (an erase that a read has suspended), and then as many programs as the fullest die has, each
//! with the transfers of all dies of its channel:
//!
//! ```text
//! drain = erase + 2 suspend + read and its retries + rows (program + dies of a channel * transfer)
//! rows  = rows of the buffer + rows of relocations under way + 8
//! ```
//!
//! A row is a program on each die. The eight are the open stripes of both streams, the holes that are owed, two bands'
//! summaries, and three for a program that fails on the way: what it held is written again, and its band closed. What the energy can't put on flash in that
//! time is never acknowledged: the buffer that counts is smaller, if need be.
//!
//! Bad blocks make stripes narrow, and so rows more. A card with contents therefore looks at its fullest die before it
//! acknowledges anything.

use crate::card::Card;
use crate::contents::Storage;
use crate::core::energy::MARGIN_ROWS;

impl Card<Storage> {
    /// The energy suffices for one more sector of the host. Asked of cards with contents: on others no stripe is narrower than
    /// [`CardConfig::durable_buffer_sectors`] counts with.
    pub(crate) fn energy_suffices(&self) -> bool {
        let Some(hold_up_ns) = self.core.config.hold_up_ns() else { return true };
        let suffices = |rows: u32| self.core.config.rows_drain_ns(u64::from(rows) + MARGIN_ROWS) <= hold_up_ns;
        // With nothing under way a sector is always taken: the configuration has energy for that. No die has more programs
        // than all together have, so most of the time nobody has to look for the fullest.
        let all = self.core.dies.programs();
        all == 0 || suffices(all) || suffices(self.core.dies.most_programs())
    }
}
