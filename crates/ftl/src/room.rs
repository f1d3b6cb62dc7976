//! How much room there is, and how much a card needs at least.

use crate::ftl::Ftl;

impl Ftl {
    /// Data sectors that all usable bands hold together.
    pub fn data_sectors(&self) -> u64 {
        self.bands.data_sectors()
    }

    /// The same of a card without bad blocks.
    pub fn new_data_sectors(&self) -> u64 {
        u64::from(self.bands.count()) * u64::from(self.full_band_sectors)
    }

    /// Data sectors with which a full card can be written at all: what it holds, the reserve, and a band for the host to
    /// open. Near to it, collection gains next to nothing from a victim.
    pub fn least_data_sectors(&self) -> u64 {
        self.config.map_entries() + u64::from(self.config.reserve_bands + 1) * u64::from(self.full_band_sectors)
    }
}
