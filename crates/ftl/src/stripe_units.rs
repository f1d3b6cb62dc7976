//! The units of a stripe: which take data, and which takes parity.

use crate::layout::Layout;

/// The units of a stripe that are in use, as bits by unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StripeUnits {
    /// The units that take data.
    pub data: u64,
    /// The unit that takes parity; 0 if there is none.
    pub parity: u64,
}

/// Divides the units in use into those that take data and the one that takes parity.
#[inline]
pub fn split_units(stripe_index: u32, good: u64, layout: &Layout) -> StripeUnits {
    let width = layout.width;
    if layout.parity_units == 0 {
        return StripeUnits { data: good, parity: 0 };
    }
    if good.count_ones() <= layout.parity_units {
        return StripeUnits { data: 0, parity: 0 };
    }
    let row = layout.row_of(stripe_index);
    let wanted = (row + layout.group_of(stripe_index)) % width;
    // The first good unit from the wanted one on, around the end.
    let from_wanted = good & (u64::MAX << wanted);
    let unit = if from_wanted != 0 { from_wanted } else { good }.trailing_zeros();
    StripeUnits { data: good & !(1 << unit), parity: 1 << unit }
}
