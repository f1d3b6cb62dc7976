//! Points of a sweep between those that were measured.

use results::{Sweep, Twin};

/// A sweep that a twin of the device did, its ends those of the measured one.
#[derive(Clone, Debug)]
pub struct Computed {
    /// Points of the twin alone: a gain is one of them over another.
    pub sweep: Sweep,
    /// The twin, and how far it is off what was measured.
    pub twin: Twin,
}

/// Somebody who can fill a sweep.
pub trait Between {
    /// Fills a measured sweep; none where nobody can, or not well enough.
    fn fill(&self, sweep: &Sweep) -> Option<Computed>;
}

/// Nobody: measured points decide.
pub(crate) struct Nobody;

impl Between for Nobody {
    fn fill(&self, _: &Sweep) -> Option<Computed> {
        None
    }
}
