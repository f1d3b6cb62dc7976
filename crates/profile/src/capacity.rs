//! Division of a card's flash: installed, parity, data, user, spare.

use card::CardConfig;
use device::SECTOR_BYTES;

/// The division of one card, at the scale it was lowered to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capacities {
    /// Bytes of flash that are installed.
    pub installed_bytes: u64,
    /// Flash that holds parity.
    pub parity_bytes: u64,
    /// Flash that holds sectors of the host: installed without parity.
    pub data_bytes: u64,
    /// Bytes that the host can address.
    pub user_bytes: u64,
    /// 1 - user / data capacity.
    pub spare_factor: f64,
    /// The same without the bands that always stay free or open: what garbage collection has to work with. Scaling
    /// keeps this one.
    pub effective_spare_factor: f64,
    /// Bands of the card.
    pub bands: u32,
    /// Bands that always stay free or open.
    pub overhead_bands: u32,
    /// Sectors of the host that a band holds beside its parity and its summary.
    pub data_sectors_per_band: u64,
}

impl Capacities {
    /// Divides the flash of a card.
    pub fn of(card: &CardConfig) -> Capacities {
        let ftl = &card.ftl;
        let band = sectors_per_band(card);
        let (width, parity) = (u64::from(ftl.stripe_width), u64::from(ftl.parity_units));
        // The width divides the dies, so it divides a band.
        let without_parity = band / width * (width - parity);
        let geometry = &card.nand.geometry;
        let layout = ftl.layout(geometry);
        let data_sectors_per_band = u64::from(layout.band_data_sectors(|_| layout.all_units()));
        let bands = u64::from(card.bands);
        let overhead_bands = ftl.overhead_bands();
        let data_sectors = bands * without_parity;
        let usable_sectors = (bands.saturating_sub(u64::from(overhead_bands)) * data_sectors_per_band)
            .saturating_sub(ftl.map_sectors(data_sectors_per_band));
        let resting_sectors = ftl.resting_sectors(data_sectors_per_band);
        Capacities {
            installed_bytes: bands * band * SECTOR_BYTES,
            parity_bytes: (bands * band - data_sectors) * SECTOR_BYTES,
            data_bytes: data_sectors * SECTOR_BYTES,
            user_bytes: ftl.user_sectors * SECTOR_BYTES,
            spare_factor: 1.0 - ftl.user_sectors as f64 / data_sectors as f64,
            effective_spare_factor: 1.0 - resting_sectors / usable_sectors as f64,
            bands: card.bands,
            overhead_bands,
            data_sectors_per_band,
        }
    }

    /// User / data capacity: the `u` of write-amplification formulas.
    pub fn used_share(&self) -> f64 {
        1.0 - self.spare_factor
    }
}

/// 4 KiB sectors of a band, parity included.
pub(crate) fn sectors_per_band(card: &CardConfig) -> u64 {
    let geometry = &card.nand.geometry;
    u64::from(geometry.dies()) * u64::from(geometry.units_per_band()) * u64::from(geometry.sectors_per_unit())
}
