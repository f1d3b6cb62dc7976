//! Stripes that lie in the volatile cache of their media.

use crate::core::stripes::StripeInFlight;

/// Stripes that are programmed and not known to be durable.
#[derive(Clone, Debug, Default)]
pub struct Syncs {
    unsynced: Vec<StripeInFlight>,
    /// Stripes that the sync under way covers.
    syncing: Vec<StripeInFlight>,
}

impl Syncs {
    /// A stripe was programmed.
    pub fn add(&mut self, stripe: StripeInFlight) {
        self.unsynced.push(stripe);
    }

    /// Stripes that wait for a sync to begin.
    pub fn unsynced(&self) -> usize {
        self.unsynced.len()
    }

    pub fn has_unsynced(&self) -> bool {
        !self.unsynced.is_empty()
    }

    pub fn is_under_way(&self) -> bool {
        !self.syncing.is_empty()
    }

    /// A sync begins: it covers what was programmed before.
    pub fn begin(&mut self) {
        self.syncing = std::mem::take(&mut self.unsynced);
    }

    /// A sync has ended: the stripes that are durable now.
    pub fn end(&mut self) -> Vec<StripeInFlight> {
        std::mem::take(&mut self.syncing)
    }
}
