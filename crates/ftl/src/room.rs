//! The data capacity of a card, and the minimum that it needs.

use crate::ftl::Ftl;

impl Ftl {
    /// The number of data sectors that all usable bands hold together.
    pub fn data_sectors(&self) -> u64 {
        self.bands.data_sectors()
    }

    /// The number of data sectors that all bands of a card without bad blocks hold together.
    pub fn new_data_sectors(&self) -> u64 {
        u64::from(self.bands.count()) * u64::from(self.full_band_sectors)
    }

    /// The minimum of data sectors with which a full card can be written: its contents, the reserve, and a band for the
    /// host to open. Near this minimum, collection gains next to nothing from a victim.
    pub fn min_data_sectors(&self) -> u64 {
        self.config.map_entries() + u64::from(self.config.reserve_bands + 1) * u64::from(self.full_band_sectors)
    }
}
