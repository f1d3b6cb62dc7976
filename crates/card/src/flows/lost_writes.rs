//! A card with capacitors that stops while it holds what it has acknowledged.
//!
//! It stops when more has failed at once than parity makes up for. Should a part of that answer again later, what lies on
//! flash is older than what was acknowledged, and nothing there says so: the headers do. Once it has stopped there may be
//! nobody left to be told, and the card does not know beforehand when that will be: modules may have been silent for a while
//! when it first notices one. So a card that takes writes says from the first of them on that they may be lost, and takes it
//! back when power fails, or the card is shut down, and all that it holds is on flash.
//!
//! When the last module that answers is pulled from a card at work, there is nobody left who could be told that the buffer
//! was empty. Should all of them be back after power went, the card refuses to start, although nothing may be lost: what
//! lies on them is the same in both cases, and of the two answers only the refusal can't be a lie.

use crate::card::Card;
use crate::contents::Storage;
use crate::contents::store::Store;
use device::Time;

impl Card<Storage> {
    /// Something is about to be acknowledged: the headers say what may become of it.
    pub(crate) fn note_risk(&mut self, now: Time) {
        if !self.core.config.power_loss_protection || self.says_lost_writes() {
            return;
        }
        // Modules that can't be told now may be all that is there at the next start.
        self.contents.store.headers.common.lost_writes = true;
        while !self.core.phase.is_halted() && !self.tell_totals(now) {}
    }

    /// The headers say that what was acknowledged is lost.
    pub(crate) fn says_lost_writes(&self) -> bool {
        self.contents.store.headers.common.lost_writes
    }

    /// All that was acknowledged is on flash, and the card takes no more.
    pub(crate) fn nothing_was_lost(&mut self) {
        if !self.says_lost_writes() {
            return;
        }
        let Store { media, headers, slots, .. } = &mut self.contents.store;
        headers.common.lost_writes = false;
        // To both copies: should the newer be damaged, the other must not say that it was. The newest header counts, whoever
        // has it.
        for _copy in 0..media::HEADER_COPIES {
            let _ = headers.write_totals(&mut **media, slots);
        }
    }

    /// When the card has halted and holds what it acknowledged, tells the modules that are left. Not those that another
    /// controller has: they are its own.
    pub(crate) fn note_halt(&mut self) {
        if !self.core.phase.headers_to_be_told() {
            return;
        }
        self.core.phase.tell_headers();
        let is_empty = self.core.buffer.is_empty();
        let store = &mut self.contents.store;
        if !self.core.config.power_loss_protection {
            return;
        }
        if is_empty && !self.contents.holes.are_owed() {
            return self.nothing_was_lost();
        }
        let Store { media, headers, slots, .. } = &mut *store;
        headers.common.lost_writes = true;
        // A module that does not answer now and is back later has an older generation, and is told from this by its
        // fellows; if no module answers, there is none to be told.
        let _ = headers.claim(&mut **media, slots).and_then(|()| headers.write(&mut **media, slots));
    }
}
