//! The units of a stripe on their way to the dies.

use ftl::SealedStripe;
use media::Unit;

/// The units of a stripe being programmed.
#[derive(Clone, Debug)]
pub struct Programs {
    pub sealed: SealedStripe,
    /// By unit; `None` where the stripe has none, or it is programmed.
    pub units: Vec<Option<Unit>>,
    /// Units whose program failed, as bits.
    pub failed: u64,
}
