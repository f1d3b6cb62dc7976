//! Looking at everything that is on flash before somebody needs it.
//!
//! A pass reads every stripe that is on flash, one after the other. A band with a sector that can't be read, or that
//! the medium advises to write elsewhere, is emptied: what is lost of it is rebuilt while all else of the stripe can be read.

use ftl::{BandId, StripeId};

#[derive(Clone, Debug, Default)]
pub struct Scrub {
    pub at: Option<StripeId>,
    /// The band behind the last one.
    pub end: u32,
    pub under_way: bool,
    pub found: u64,
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
