//! The durable watermarks in the headers: when they are moved, and when they are written. `contents/watermark.rs` has the
//! invariants.

use crate::card::Card;
use crate::contents::Storage;
use crate::contents::store::{HeaderFailed, Store};
use device::Time;
use format::{BandSet, Durable, HEADER_BANDS};
use ftl::{BandId, BandState, SealedStripe};
use media::MediaError;

impl Card<Storage> {
    /// A stripe is about to be programmed.
    pub(crate) fn note_stripe(&mut self, sealed: &SealedStripe) {
        self.contents.watermarks.stripe_begins(&self.core.ftl, sealed);
    }

    /// Puts how far the streams are durable, and where it lies, into the headers, to be written.
    pub(crate) fn advance_watermarks(&mut self) {
        let durable = self.contents.watermarks.advance_all(&self.core.ftl);
        let bands = (0..self.core.config.bands.min(HEADER_BANDS)).map(BandId);
        let holds: BandSet = bands.filter(|band| self.holds_durable(*band, &durable)).map(|band| band.0).collect();
        let is_over = self.core.phase.start_is_over();
        let common = &mut self.contents.store.headers.common;
        if !is_over {
            // They tell already of the bands that were found.
            common.holds.insert_all(&holds);
            return;
        }
        common.holds = holds;
        for (at, watermark) in durable.into_iter().zip(&mut common.durable) {
            if at.band_sequence != 0 {
                *watermark = at;
            }
        }
        let no_erases = !self.core.ftl.stale_bands_wait()
            && self.core.erasing.is_empty()
            && !self.contents.watermarks.has_left_behind();
        self.contents.store.headers.common.no_erases = no_erases;
    }

    /// Something that is durable lies in the band. A band that was found holds something only once the start is over.
    fn holds_durable(&self, band: BandId, durable: &[Durable; 2]) -> bool {
        let is_in_use = !matches!(self.core.ftl.band_state(band), BandState::Free | BandState::Retired);
        if !is_in_use || self.core.erasing.iter().any(|erasing| erasing.band == band) {
            return false;
        }
        let opening = self.core.ftl.opening(band);
        let Some(durable) = durable.get(usize::from(opening.stream)) else { return false };
        let is_durable = if self.contents.watermarks.was_found(opening.sequence) {
            opening.sequence != 0 && self.core.phase.start_is_over()
        } else {
            (opening.sequence, 0) < (durable.band_sequence, durable.stripe)
        };
        // Where a program failed nothing need be.
        let is_written =
            |die| self.core.ftl.blocks().is_usable(band.0, die) && !self.core.ftl.blocks().is_erased(band.0, die);
        is_durable && (0..self.core.ftl.layout().dies).any(is_written)
    }

    /// A band is about to be erased. The data that made its sectors stale are durable; should they ever be lost, that
    /// must be known, for nothing older is left then.
    pub(crate) fn note_erase(&mut self, now: Time, band: BandId) {
        self.note_erase_beside_rescue();
        while !self.core.phase.is_halted() {
            let before = self.contents.store.headers.common.clone();
            self.advance_watermarks();
            let told = &mut self.contents.store.headers.common;
            told.no_erases = false;
            told.holds.remove(band.0);
            let is_known =
                (before.durable, before.no_erases, &before.holds) == (told.durable, told.no_erases, &told.holds);
            if is_known || self.tell_totals(now) {
                return;
            }
        }
    }

    /// Writes the headers with the present generation, before something that they must tell of. False: a module did not take
    /// its own, and was given up, or the card has stopped.
    pub(crate) fn tell_totals(&mut self, now: Time) -> bool {
        let Store { media, headers, slots, .. } = &mut self.contents.store;
        match headers.write_totals(&mut **media, slots) {
            Ok(()) => return true,
            Err(HeaderFailed { logical, error: MediaError::Host | MediaError::NoSpace }) => {
                self.give_up_module(now, logical);
            }
            Err(_) => self.core.phase.halt(),
        }
        false
    }

    /// A band was erased, all of it or not.
    pub(crate) fn note_erased(&mut self, band: BandId, all_of_it: bool) {
        self.contents.watermarks.band_erased(band, all_of_it);
    }

    /// When what was found is whole again, the headers say that it is durable.
    pub(crate) fn note_end_of_start(&mut self) {
        if self.core.phase.start_is_over() || self.core.phase.is_halted() || self.core.phase.is_draining() {
            return;
        }
        self.forget_rescued();
        let is_whole = !self.is_rescuing() && !self.core.ftl.must_empty();
        let erases = self.core.ftl.stale_bands_wait() || !self.core.erasing.is_empty();
        if is_whole && !erases && self.contents.holes.owed_since_start().is_none() && self.contents.log.is_replayed() {
            self.core.phase.end_start();
            // Records that are not known to this start never count again.
            self.announce_log();
        }
    }
}

#[cfg(test)]
mod tests;
