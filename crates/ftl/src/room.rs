//! The data capacity of a card, and the minimum that it needs.

use crate::config::GcMode;
use crate::ftl::Ftl;
use crate::stream::StreamId;

impl Ftl {
    /// The number of data sectors that all usable bands hold together.
    pub fn data_sectors(&self) -> u64 {
        self.bands.data_sectors()
    }

    /// The number of data sectors that all bands of a card without bad blocks hold together.
    pub fn new_data_sectors(&self) -> u64 {
        u64::from(self.bands.count()) * u64::from(self.full_band_sectors)
    }

    /// The number of sectors that the host can write before it has to wait for a band that collection frees.
    pub fn host_room_sectors(&self) -> u64 {
        let open = self.streams[StreamId::Host as usize].room_sectors(&self.layout, &self.bands);
        let free = self.bands.free_worth().saturating_sub(self.config.reserve_bands);
        u64::from(open) + u64::from(free) * u64::from(self.full_band_sectors)
    }

    /// The room for the host that paced collection aims at.
    pub fn host_room_aim_sectors(&self) -> u64 {
        match self.config.gc {
            GcMode::Paced { target_free_bands } => u64::from(target_free_bands) * u64::from(self.full_band_sectors),
            GcMode::StopTheWorld { .. } => 0,
        }
    }

    /// The minimum of data sectors with which a full card can be written: its contents, the reserve, and a band for the
    /// host to open. Near this minimum, collection gains next to nothing from a victim.
    pub fn min_data_sectors(&self) -> u64 {
        self.config.map_entries() + u64::from(self.config.reserve_bands + 1) * u64::from(self.full_band_sectors)
    }
}
