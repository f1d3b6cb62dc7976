//! Looking at everything that is on flash before somebody needs it.
//!
//! A pass reads every stripe that is on flash, one after the other. A band with a sector that can't be read, or that
//! the medium advises to write elsewhere, is emptied: what is lost of it is rebuilt while all else of the stripe can be read.

use ftl::{BandId, StripeId};

/// A pass under way.
#[derive(Clone, Debug)]
pub struct Scrub {
    at: StripeId,
    /// The band behind the last one.
    end: u32,
    /// The stripe at `at` is being read.
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
    /// A pass over bands from `first` up to the one before `end`.
    pub fn of_bands(first: BandId, end: u32) -> Scrub {
        Scrub { at: StripeId { band: first, index: 0 }, end, under_way: false, found: 0 }
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

    /// The next stripe is being read.
    pub fn begin_stripe(&mut self) {
        self.under_way = true;
    }

    /// The stripe was read.
    pub fn finish_stripe(&mut self) {
        self.under_way = false;
        self.skip_stripe();
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
        scrub.begin_stripe();
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
}
