//! Stripes by number.

use ftl::{Layout, Ppa, StripeId};

/// First address of a unit of a stripe.
pub fn unit_start(layout: &Layout, stripe: StripeId, unit: u32) -> Ppa {
    Ppa(layout.stripe_start(stripe) + unit * layout.unit_sectors)
}
