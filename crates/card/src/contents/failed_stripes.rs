//! Stripes of which a program failed.
//!
//! Invariant: a stripe is safe only when each of its sectors is on flash elsewhere, and no program that shares cells with
//! that place can be cut any more.

use crate::core::stripes::StripeInFlight;
use ftl::{Ppa, StripeId};
use slab::Slab;
use std::collections::VecDeque;

/// Stripes that failed, and their sectors on the way to another place.
#[derive(Clone, Debug, Default)]
pub struct FailedStripes {
    /// With the number of their sectors that are not yet on flash elsewhere.
    stripes: Slab<(StripeInFlight, u32)>,
    /// Sectors for which there was no room elsewhere yet, by the address that they were written for.
    displaced: VecDeque<Ppa>,
    /// Sectors that are on flash elsewhere, in a stripe that others share cells with: that stripe, and the failed one.
    sharing_cells: Vec<(StripeId, u32)>,
}

impl FailedStripes {
    pub fn is_empty(&self) -> bool {
        self.stripes.is_empty()
    }

    /// A stripe failed that holds so many sectors; its index.
    pub fn add(&mut self, stripe: StripeInFlight, sectors: u32) -> u32 {
        self.stripes.insert((stripe, sectors)) as u32
    }

    /// A sector needs another place.
    pub fn displace(&mut self, ppa: Ppa) {
        self.displaced.push_back(ppa);
    }

    /// The next sector that needs another place.
    pub fn next_displaced(&mut self) -> Option<Ppa> {
        self.displaced.pop_front()
    }

    /// Sectors that need another place.
    pub fn displaced(&self) -> usize {
        self.displaced.len()
    }

    /// Some sectors lie nowhere but in the buffer, and have no place to go to yet.
    pub fn has_displaced(&self) -> bool {
        !self.displaced.is_empty()
    }

    /// A sector of a failed stripe is on flash, in `stripe`.
    pub fn rewritten_in(&mut self, stripe: StripeId, failed: u32) {
        self.sharing_cells.push((stripe, failed));
    }

    /// The stripes in which sectors are on flash again, each with the one that failed.
    pub fn rewritten(&self) -> &[(StripeId, u32)] {
        &self.sharing_cells
    }

    /// Keeps those rewritten sectors that `waits` says wait on, and returns the failed stripes of the others.
    pub fn take_settled(&mut self, waits: impl Fn(StripeId) -> bool) -> Vec<u32> {
        let all = std::mem::take(&mut self.sharing_cells);
        let (waiting, settled): (Vec<_>, Vec<_>) = all.into_iter().partition(|(stripe, _)| waits(*stripe));
        self.sharing_cells = waiting;
        settled.into_iter().map(|(_, failed)| failed).collect()
    }

    /// A sector of a failed stripe is safe elsewhere: the stripe, when that was its last.
    pub fn settle(&mut self, failed: u32) -> Option<StripeInFlight> {
        let (_, left) = &mut self.stripes[failed as usize];
        *left -= 1;
        (*left == 0).then(|| self.stripes.remove(failed as usize).0)
    }
}
