//! Looking at everything that is on flash before somebody needs it.
//!
//! A pass reads every stripe that is on flash, one after the other. A band with a sector that can't be read, or that
//! the medium advises to write elsewhere, is emptied: what is lost of it is rebuilt while all else of the stripe can be read.
//!
//! A drive that reads a stripe makes the host's reads wait. So on drives a pass takes a hundredth of the time while the host
//! asks for something, and all of it while the host does not.

use device::Time;
use ftl::{BandId, StripeId};

/// After a stripe that the host's requests met, a pass rests so many times as long as the stripe took.
const RESTS: u64 = 99;
/// A rest is no longer than this: a drive that answers late once does not stop a pass.
const MAX_REST_NS: u64 = 1_000_000_000;

/// A pass under way.
#[derive(Clone, Debug)]
pub struct Scrub {
    at: StripeId,
    /// The band behind the last one.
    end: u32,
    /// The stripe at `at` is being read.
    under_way: bool,
    /// When the stripe began to be read, and the commands of the host that had been answered then.
    began: (Time, u64),
    /// Nothing is read before.
    rests_until: Time,
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
    /// A pass over bands from `first` up to the one before `end`.
    pub fn of_bands(first: BandId, end: u32) -> Scrub {
        Scrub {
            at: StripeId { band: first, index: 0 },
            end,
            under_way: false,
            began: (Time::ZERO, 0),
            rests_until: Time::ZERO,
            found: 0,
        }
    }

    /// The stripe that is to be looked at next, while none is being read.
    pub fn next(&self) -> Option<StripeId> {
        (!self.under_way).then_some(self.at)
    }

    /// All bands of the pass were looked at.
    pub fn is_over(&self) -> bool {
        self.at.band.0 == self.end
    }

    /// The next stripe is passed over.
    pub fn skip_stripe(&mut self) {
        self.at.index += 1;
    }

    /// The rest of the band is passed over.
    pub fn skip_band(&mut self) {
        self.at = StripeId { band: BandId(self.at.band.0 + 1), index: 0 };
    }

    /// The next stripe is being read; so many commands of the host were answered before.
    pub fn begin_stripe(&mut self, now: Time, commands: u64) {
        self.under_way = true;
        self.began = (now, commands);
    }

    /// The stripe was read.
    pub fn finish_stripe(&mut self) {
        self.under_way = false;
        self.skip_stripe();
    }

    /// Rests, if the host was answered while the stripe was read: so many commands in all.
    pub fn rest(&mut self, now: Time, commands: u64) {
        let (began, before) = self.began;
        if commands != before {
            self.rests_until = now + ((now - began) * RESTS).min(MAX_REST_NS);
        }
    }

    /// The end of a rest, if one is not over.
    pub fn rests(&self, now: Time) -> Option<Time> {
        (now < self.rests_until).then_some(self.rests_until)
    }

    /// Sectors were found that could not be read, or were near to it.
    pub fn count_found(&mut self, sectors: u64) {
        self.found += sectors;
    }

    /// The band whose stripes are being read: it is not erased meanwhile.
    pub fn band(&self) -> Option<BandId> {
        self.under_way.then_some(self.at.band)
    }

    /// How far the pass is on a card of so many bands.
    pub fn progress(&self, bands: u32) -> ScrubProgress {
        ScrubProgress { bands_done: u64::from(self.at.band.0), bands: u64::from(bands), found: self.found }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_holds_a_band_only_while_it_reads_and_is_over_behind_the_last() {
        let mut scrub = Scrub::of_bands(BandId(3), 5);
        let stripe = |band, index| StripeId { band: BandId(band), index };
        assert_eq!((scrub.next(), scrub.band()), (Some(stripe(3, 0)), None));
        scrub.begin_stripe(Time(0), 7);
        assert_eq!((scrub.next(), scrub.band()), (None, Some(BandId(3))));
        scrub.finish_stripe();
        assert_eq!((scrub.next(), scrub.band()), (Some(stripe(3, 1)), None));
        scrub.skip_stripe();
        assert_eq!(scrub.next(), Some(stripe(3, 2)));
        scrub.skip_band();
        assert_eq!(scrub.next(), Some(stripe(4, 0)));
        assert!(!scrub.is_over());
        scrub.count_found(2);
        scrub.skip_band();
        assert!(scrub.is_over());
        assert_eq!(scrub.progress(10), ScrubProgress { bands_done: 5, bands: 10, found: 2 });
    }

    #[test]
    fn a_pass_rests_while_the_host_asks_and_only_then() {
        let mut scrub = Scrub::of_bands(BandId(0), 5);
        scrub.begin_stripe(Time(1_000), 7);
        scrub.rest(Time(1_100), 7);
        assert_eq!(scrub.rests(Time(1_100)), None);
        scrub.rest(Time(1_100), 8);
        assert_eq!((scrub.rests(Time(1_100)), scrub.rests(Time(11_000))), (Some(Time(11_000)), None));
        scrub.rest(Time(5_000_001_000), 9);
        assert_eq!(scrub.rests(Time(5_000_001_000)), Some(Time(6_000_001_000)), "no longer than a second");
    }
}
