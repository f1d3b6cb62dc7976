//! Looking at everything that is on flash before somebody needs it.
//!
//! A pass reads every stripe that is on flash, one after the other. A band with a sector that can't be read, or that
//! the medium advises to write elsewhere, is emptied: what is lost of it is rebuilt while all else of the stripe can be read.

use crate::card::{Card, Done};
use crate::contents::Storage;
use crate::contents::repair::Others;
use crate::contents::scrub::{Scrub, ScrubProgress};
use crate::core::timers::Timer;
use device::Time;
use ftl::{BandId, BandState, Ppa, StreamId, StripeId};

impl Card<Storage> {
    /// Begins a pass over all that is on flash, unless one is under way. A card that has halted does nothing more: its
    /// requests are answered for by whoever drives it.
    pub fn begin_scrub(&mut self, now: Time, done: &mut Done<Storage>) {
        if self.contents.scrub.is_none() && !self.core.phase.is_halted() {
            self.scrub_bands(BandId(0), self.core.ftl.bands());
            self.resume(now, done);
        }
    }

    /// Begins a pass over bands from `first` up to the one before `end`.
    pub(crate) fn scrub_bands(&mut self, first: BandId, end: u32) {
        self.contents.scrub = Some(Scrub::of_bands(first, end));
    }

    /// How far the pass is, while there is one.
    pub fn scrub_progress(&self) -> Option<ScrubProgress> {
        Some(self.contents.scrub.as_ref()?.progress(self.core.ftl.bands()))
    }

    /// Reads the next stripe, if none is being read.
    pub(crate) fn advance_scrub(&mut self, now: Time, done: &mut Done<Storage>) {
        if self.core.phase.is_draining() || self.core.phase.is_halted() {
            return;
        }
        // On a drive a start waits for what a pass reads, and hosts wait for the start.
        if self.contents.store.media.reads_beside_programs() && !self.is_ready() {
            return;
        }
        if self.contents.scrub.is_none() {
            self.begin_due_scrub(now);
        }
        while let Some(scrub) = &self.contents.scrub
            && let Some(stripe) = scrub.next()
        {
            if scrub.is_over() {
                self.contents.scrub = None;
                self.begin_due_scrub(now);
                continue;
            }
            let state = self.core.ftl.band_state(stripe.band);
            let holds = matches!(state, BandState::Open | BandState::Closed | BandState::Victim);
            let (stripes, _) = self.core.ftl.band_stripes(stripe.band);
            let on_flash = holds && self.is_on_flash(stripe);
            let scrub = self.contents.scrub.as_mut().expect("looked at");
            if !holds || stripe.index >= stripes {
                scrub.skip_band();
                continue;
            }
            if !on_flash {
                scrub.skip_stripe();
                continue;
            }
            if let Some(end) = scrub.rests(now) {
                return self.core.timers.set(Timer::Scrub, end);
            }
            scrub.begin_stripe(now, self.contents.life.commands());
            self.read_for_scrub(now, stripe, done);
        }
    }

    /// All of a stripe is programmed, and nothing of it waits in the buffer.
    fn is_on_flash(&self, stripe: StripeId) -> bool {
        let layout = self.core.ftl.layout();
        let units = self.core.ftl.stripe_units(stripe);
        let store = &self.contents.store;
        (0..layout.width).filter(|unit| (units.data | units.parity) >> unit & 1 == 1).all(|unit| {
            let at = layout.unit_address(stripe, unit);
            let first = layout.stripe_start(stripe) + unit * layout.unit_sectors;
            let waits = (first..first + layout.unit_sectors).any(|ppa| store.buffered(Ppa(ppa)).is_some());
            !waits && (self.core.ftl.is_programmed(at) || !self.core.ftl.blocks().is_usable(stripe.band.0, at.die))
        })
    }

    /// A stripe was read.
    pub(crate) fn scrubbed(&mut self, now: Time, stripe: StripeId, members: &Others, done: &mut Done<Storage>) {
        let layout = *self.core.ftl.layout();
        let units = self.core.ftl.stripe_units(stripe);
        let store = &self.contents.store;
        let in_use = units.data | units.parity;
        let mut found = 0;
        for unit in (0..layout.width).filter(|unit| in_use >> unit & 1 == 1) {
            let at = layout.unit_address(stripe, unit);
            // A unit that is known to be away is no news.
            if self.core.ftl.blocks().is_dead(at.die) || store.blocks.absent.contains(&(stripe.band.0, at.die)) {
                continue;
            }
            found += members.flaws(store, &self.core.ftl, at);
        }
        let was_written = members.any_good(store, &self.core.ftl, stripe);
        if found > 0 && self.finds_itself_fenced() {
            return;
        }
        let scrub = self.contents.scrub.as_mut().expect("it is under way");
        scrub.finish_stripe();
        if self.contents.store.media.reads_beside_programs() {
            scrub.rest(now, self.contents.life.commands());
        }
        if found > 0 && was_written {
            scrub.count_found(found);
            for stream in StreamId::ALL {
                if self.core.ftl.open_band_of(stream) == Some(stripe.band) {
                    self.abandon_band(now, stream);
                }
            }
            self.core.ftl.evacuate(stripe.band);
            self.program_sealed(now);
        }
        self.erase_stale(now);
        self.resume(now, done);
    }
}
