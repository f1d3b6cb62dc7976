//! Looking at everything that is on flash before somebody needs it.
//!
//! A pass reads every stripe that is on flash, one after the other. A band with a sector that can't be read, or that
//! the medium advises to write elsewhere, is emptied: what is lost of it is rebuilt while all else of the stripe can be read.

use crate::card::Card;
use crate::repair::Others;
use device::{Completion, Time};
use ftl::{BandId, BandState, Ppa, StreamId, StripeId};

/// A pass.
#[derive(Clone, Debug, Default)]
pub struct Scrub {
    at: Option<StripeId>,
    /// The band behind the last one.
    end: u32,
    under_way: bool,
    found: u64,
}

/// How far a pass is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScrubProgress {
    /// Bands that were looked at.
    pub bands_done: u64,
    /// Bands in all.
    pub bands: u64,
    /// Sectors that could not be read, or were near to it.
    pub found: u64,
}

impl ScrubProgress {
    /// Share that is done.
    pub fn share(&self) -> f64 {
        self.bands_done as f64 / self.bands.max(1) as f64
    }
}

impl Scrub {
    /// The band whose stripes are being read: it is not erased meanwhile.
    pub fn band(&self) -> Option<BandId> {
        self.at.filter(|_| self.under_way).map(|stripe| stripe.band)
    }
}

impl Card {
    /// Begins a pass over all that is on flash, unless one is under way. A card that has halted does nothing more: its
    /// requests are answered for by whoever drives it.
    pub fn begin_scrub(&mut self, now: Time, done: &mut Vec<Completion>) {
        if self.scrub.is_none() && !self.halted {
            self.scrub_bands(BandId(0), self.ftl.bands());
            self.go_on(now, done);
        }
    }

    /// Begins a pass over bands from `first` up to the one before `end`.
    pub(crate) fn scrub_bands(&mut self, first: BandId, end: u32) {
        self.scrub = Some(Scrub { at: Some(StripeId { band: first, index: 0 }), end, ..Scrub::default() });
    }

    /// How far the pass is, while there is one.
    pub fn scrub_progress(&self) -> Option<ScrubProgress> {
        let scrub = self.scrub.as_ref()?;
        let bands = u64::from(self.ftl.bands());
        let bands_done = scrub.at.map_or(bands, |stripe| u64::from(stripe.band.0));
        Some(ScrubProgress { bands_done, bands, found: scrub.found })
    }

    /// Reads the next stripe, if none is being read.
    pub(crate) fn scrub_on(&mut self, now: Time, done: &mut Vec<Completion>) {
        if self.draining || self.halted {
            return;
        }
        if self.scrub.is_none() {
            self.patrol_on(now);
        }
        while let Some(Scrub { at: Some(stripe), end, under_way: false, .. }) = self.scrub {
            let next_band = StripeId { band: BandId(stripe.band.0 + 1), index: 0 };
            if stripe.band.0 == end {
                self.scrub = None;
                self.patrol_on(now);
                continue;
            }
            let state = self.ftl.band_state(stripe.band);
            let holds = matches!(state, BandState::Open | BandState::Closed | BandState::Victim);
            let (stripes, _) = self.ftl.band_stripes(stripe.band);
            let on_flash = holds && self.is_on_flash(stripe);
            let scrub = self.scrub.as_mut().expect("looked at");
            if !holds || stripe.index >= stripes {
                scrub.at = Some(next_band);
                continue;
            }
            if !on_flash {
                scrub.at = Some(StripeId { index: stripe.index + 1, ..stripe });
                continue;
            }
            scrub.under_way = true;
            self.read_for_scrub(now, stripe, done);
        }
    }

    /// All of a stripe is programmed, and nothing of it waits in the buffer.
    fn is_on_flash(&self, stripe: StripeId) -> bool {
        let layout = self.ftl.layout();
        let units = self.ftl.stripe_units(stripe);
        let store = self.store.as_ref().expect("the card has contents");
        (0..layout.width).filter(|unit| (units.data | units.parity) >> unit & 1 == 1).all(|unit| {
            let at = layout.unit_address(stripe, unit);
            let first = layout.stripe_start(stripe) + unit * layout.unit_sectors;
            let waits = (first..first + layout.unit_sectors).any(|ppa| store.buffered(Ppa(ppa)).is_some());
            !waits && (self.ftl.is_programmed(at) || !self.ftl.blocks().is_usable(stripe.band.0, at.die))
        })
    }

    /// A stripe was read.
    pub(crate) fn scrubbed(&mut self, now: Time, stripe: StripeId, members: &Others, done: &mut Vec<Completion>) {
        let layout = *self.ftl.layout();
        let units = self.ftl.stripe_units(stripe);
        let store = self.store.as_ref().expect("the card has contents");
        let in_use = units.data | units.parity;
        let mut found = 0;
        for unit in (0..layout.width).filter(|unit| in_use >> unit & 1 == 1) {
            let at = layout.unit_address(stripe, unit);
            // What is known to be away is no news.
            if self.ftl.blocks().is_dead(at.die) || store.absent.contains(&(stripe.band.0, at.die)) {
                continue;
            }
            found += members.flaws(store, &self.ftl, at);
        }
        let was_written = members.any_good(store, &self.ftl, stripe);
        if found > 0 && self.finds_itself_fenced() {
            return;
        }
        let scrub = self.scrub.as_mut().expect("it is under way");
        scrub.under_way = false;
        scrub.at = Some(StripeId { index: stripe.index + 1, ..stripe });
        if found > 0 && was_written {
            scrub.found += found;
            for stream in StreamId::ALL {
                if self.ftl.open_band_of(stream) == Some(stripe.band) {
                    self.abandon_band(now, stream);
                }
            }
            self.ftl.evacuate(stripe.band);
            self.program_sealed(now);
        }
        self.erase_stale(now);
        self.go_on(now, done);
    }
}
