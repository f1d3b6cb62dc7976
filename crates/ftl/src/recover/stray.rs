//! Strays: units that lie in another place than they were written for, because their program went astray.
//!
//! The program of a stray was reported as done. So a unit that is found astray was programmed, even if its own place
//! reads erased. When a module is missing, this tells a stripe that was durable from one that a cut has left half
//! written.

use super::place;
use crate::layout::StripeId;
use format::Spare;
use std::collections::BTreeSet;

/// A unit as its spare area names it: band, number of the opening, stripe, unit within the stripe.
type Named = (u32, u64, u32, u8);

/// Units that lie in another place of their die than they were written for. At most all units of the card's dies.
pub(super) struct Strays(BTreeSet<Named>);

impl Strays {
    /// Strays that were found so far: none.
    pub fn new() -> Strays {
        Strays(BTreeSet::new())
    }

    /// Adds the unit that a spare area names.
    pub fn add(&mut self, spare: &Spare) {
        self.0.insert((spare.band, spare.band_sequence, spare.stripe, spare.unit));
    }

    /// The `units` of a stripe that went astray at this opening of the band, as bits.
    pub fn of(&self, stripe: StripeId, sequence: u64, units: u64) -> u64 {
        let named = |unit: u32| (stripe.band.0, sequence, stripe.index, unit as u8);
        place::units(units).filter(|unit| self.0.contains(&named(*unit))).map(|unit| 1 << unit).sum()
    }
}
