//! Stripes by number.

use ftl::{Layout, Ppa, StripeId, UnitAddress};

/// The stripe that a unit belongs to.
pub fn stripe_of(layout: &Layout, at: UnitAddress) -> StripeId {
    StripeId { band: at.band, index: at.row * layout.groups + at.die / layout.width }
}

/// First address of a unit of a stripe.
pub fn unit_start(layout: &Layout, stripe: StripeId, unit: u32) -> Ppa {
    Ppa(layout.stripe_start(stripe) + unit * layout.unit_sectors)
}
