//! What the headers say of what is durable.
//!
//! Of a stripe that has lost more than parity stands for, nothing on the media tells whether it ever was durable. The headers
//! do, as of when they were written: when a module goes, when the card is shut down, with its totals, and when a start is
//! over. Invariants:
//! - what they say is durable is, and stays so until its band is erased;
//! - of what made a band stale they say so before it is erased;
//! - a band that they say holds something does, until they say that it does not: before it is erased;
//! - "nothing was erased since" is taken back before a band that held sectors is erased, and not said while some of one is
//!   left on blocks that could not be.

use crate::card::Card;
use crate::store::Store;
use format::{BandSet, Durable, HEADER_BANDS};
use ftl::{BandId, BandState, Ftl, SealedStripe, StreamId, StripeId};
use media::MediaError;
use std::collections::{BTreeSet, VecDeque};

/// The streams of which it is told.
const STREAMS: [StreamId; 2] = [StreamId::Host, StreamId::Relocation];

/// How far the streams are.
#[derive(Clone, Debug, Default)]
pub struct Noted {
    /// By stream: stripes that are not known to be durable, with their numbers in the stream. At most those that are in
    /// flight, and the one before them.
    in_flight: [VecDeque<(u64, Durable)>; 2],
    /// Behind the last one.
    end: [Durable; 2],
    /// Bands that were erased but for blocks that would not be. What lies on those looks like a band of which the rest is
    /// lost, until the band is opened again.
    left_behind: BTreeSet<u32>,
    /// The highest opening of a band that was found.
    last_found: u64,
    /// What was found is whole again, and the headers say so. Before that they tell of what there was before the start.
    pub start_is_over: bool,
}

impl Noted {
    /// Of a card that was found. Nobody erases bands that are retired, whatever lies there.
    pub fn at_start(ftl: &Ftl, bands: u32) -> Noted {
        let is_retired = |band: &u32| ftl.band_state(BandId(*band)) == BandState::Retired;
        let last_found = (0..bands).map(|band| ftl.opening(BandId(band)).sequence).max().unwrap_or(0);
        Noted { left_behind: (0..bands).filter(is_retired).collect(), last_found, ..Noted::default() }
    }
}

impl Card {
    /// A stripe is about to be programmed.
    pub(crate) fn note_stripe(&mut self, sealed: &SealedStripe) {
        let stream = sealed.stream as usize;
        if self.store.is_none() || stream >= STREAMS.len() {
            return;
        }
        self.forget_durable(stream);
        let Card { ftl, noted, .. } = self;
        let band_sequence = ftl.opening(sealed.stripe.band).sequence;
        // What shares its cells can be spoiled until all of them are programmed.
        let StripeId { band, index } = sealed.stripe;
        let at = Durable { band_sequence, stripe: ftl.cells_begin(StripeId { band, index }) };
        noted.left_behind.remove(&band.0);
        noted.in_flight[stream].push_back((sealed.sequence, at));
        noted.end[stream] = Durable { stripe: ftl.cells_begin(StripeId { band, index: index + 1 }), ..at };
    }

    fn forget_durable(&mut self, stream: usize) {
        let Card { ftl, noted, .. } = self;
        let in_flight = &mut noted.in_flight[stream];
        while in_flight.front().is_some_and(|(number, _)| ftl.stream_is_durable(STREAMS[stream], number + 1)) {
            in_flight.pop_front();
        }
    }

    /// Puts how far the streams are durable, and where it lies, into the headers, to be written.
    pub(crate) fn note_durable(&mut self) {
        if self.store.is_none() {
            return;
        }
        let durable = [0, 1].map(|stream| {
            self.forget_durable(stream);
            self.noted.in_flight[stream].front().map_or(self.noted.end[stream], |(_, at)| *at)
        });
        let bands = (0..self.config.bands.min(HEADER_BANDS)).map(BandId);
        let holds: BandSet = bands.filter(|band| self.holds_durable(*band, &durable)).map(|band| band.0).collect();
        let is_over = self.noted.start_is_over;
        let common = &mut self.contents().headers.common;
        if !is_over {
            // What was found they tell of already.
            common.holds.insert_all(&holds);
            return;
        }
        common.holds = holds;
        for (at, noted) in durable.into_iter().zip(&mut common.durable) {
            if at.band_sequence != 0 {
                *noted = at;
            }
        }
        let no_erases = !self.ftl.stale_bands_wait() && self.erasing.is_empty() && self.noted.left_behind.is_empty();
        self.contents().headers.common.no_erases = no_erases;
    }

    /// Something that is durable lies in the band. Of what was found that counts only when the start is over.
    fn holds_durable(&self, band: BandId, durable: &[Durable; 2]) -> bool {
        let is_in_use = !matches!(self.ftl.band_state(band), BandState::Free | BandState::Retired);
        if !is_in_use || self.erasing.iter().any(|erasing| erasing.band == band) {
            return false;
        }
        let opening = self.ftl.opening(band);
        let Some(durable) = durable.get(usize::from(opening.stream)) else { return false };
        let is_durable = if opening.sequence <= self.noted.last_found {
            opening.sequence != 0 && self.noted.start_is_over
        } else {
            (opening.sequence, 0) < (durable.band_sequence, durable.stripe)
        };
        // Where a program failed nothing need be.
        let is_written = |die| self.ftl.blocks().is_usable(band.0, die) && !self.ftl.blocks().is_erased(band.0, die);
        is_durable && (0..self.ftl.layout().dies).any(is_written)
    }

    /// A band is about to be erased. What made its sectors stale is durable; should it ever be lost, that must be known,
    /// for nothing older is left then.
    pub(crate) fn note_erase(&mut self, band: BandId) {
        self.note_erase_beside_rescue();
        let Some(store) = &self.store else { return };
        let before = store.headers.common.clone();
        self.note_durable();
        let Store { media, headers, slots, .. } = self.contents();
        headers.common.no_erases = false;
        headers.common.holds.remove(band.0);
        let told = &headers.common;
        if (before.durable, before.no_erases, &before.holds) == (told.durable, told.no_erases, &told.holds) {
            return;
        }
        let told = headers.write_totals(&mut **media, slots);
        // A module that can't take it is noticed by whoever writes there next.
        self.halted |= told.is_err_and(|failed| matches!(failed.error, MediaError::NoPower | MediaError::Fenced));
    }

    /// A band was erased, all of it or not.
    pub(crate) fn note_erased(&mut self, band: BandId, all_of_it: bool) {
        if all_of_it {
            self.noted.left_behind.remove(&band.0);
        } else {
            self.noted.left_behind.insert(band.0);
        }
    }

    /// When what was found is whole again, the headers say that it is durable.
    pub(crate) fn note_end_of_start(&mut self) {
        if self.noted.start_is_over || self.store.is_none() || self.halted || self.draining {
            return;
        }
        let is_whole = !self.is_rescuing() && !self.ftl.must_empty();
        let erases = self.ftl.stale_bands_wait() || !self.erasing.is_empty();
        if is_whole && !erases && self.owes_since_start.is_none() {
            self.noted.start_is_over = true;
            self.save_totals();
        }
    }
}

#[cfg(test)]
mod tests;
