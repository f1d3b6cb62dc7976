//! Bounds of a page.

/// The largest page.
pub const MAX_PAGE_BYTES: usize = 1_200_000;
/// The most devices that a page compares; more than that, no chart can tell apart.
pub const MAX_DEVICES: usize = 12;
