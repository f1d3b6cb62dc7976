//! Zones of a card: how large they are, and how many may be written at once.

use crate::zone_states::ZoneLimits;

/// Most zones that may be active.
pub const MAX_ACTIVE_ZONES: u32 = 128;

/// Zones of a card that has no map of sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneConfig {
    /// Bands of a zone.
    pub bands: u32,
    /// Zones that may be open at once.
    pub max_open: u32,
    /// Zones that may be open or closed at once: at most [`MAX_ACTIVE_ZONES`].
    pub max_active: u32,
}

impl ZoneConfig {
    /// Zones that together have so many sectors, where a band has `band_sectors`.
    pub fn limits(&self, user_sectors: u64, band_sectors: u32) -> ZoneLimits {
        let capacity = band_sectors * self.bands;
        let zones = (user_sectors / u64::from(capacity)) as u32;
        ZoneLimits { zones, capacity, max_open: self.max_open, max_active: self.max_active }
    }

    /// Whether the numbers contradict each other.
    pub(crate) fn is_possible(&self) -> bool {
        (1..=MAX_ACTIVE_ZONES).contains(&self.max_active) && (1..=self.max_active).contains(&self.max_open)
    }
}
