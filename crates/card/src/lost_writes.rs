//! A card with capacitors that stops while it holds what it has acknowledged.
//!
//! It stops when more has failed at once than parity makes up for. Should a part of that answer again later, what lies on
//! flash is older than what was acknowledged, and nothing there says so: the headers do.

use crate::card::Card;
use crate::store::Store;

impl Card {
    /// When the card has halted and holds what it acknowledged, tells the modules that are left. Not those that another
    /// controller has: they are its own.
    pub(crate) fn note_halt(&mut self) {
        if !self.halted || std::mem::replace(&mut self.halt_is_noted, true) {
            return;
        }
        let is_empty = self.buffer_free_sectors == self.config.buffer_sectors;
        let Some(store) = &mut self.store else { return };
        if !self.config.power_loss_protection || is_empty && store.dirty_holes.is_empty() {
            return;
        }
        let Store { media, headers, slots, .. } = &mut **store;
        headers.common.lost_writes = true;
        // Who does not answer now and is back later has an older generation, and is told from this by its fellows; if
        // nobody answers, there is nobody to be told.
        let _ = headers.claim(&mut **media, slots).and_then(|()| headers.write(&mut **media, slots));
    }
}
