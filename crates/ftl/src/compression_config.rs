//! Compression of a card: what becomes of a sector's size.

use device::{Compressible, SECTOR_BYTES};

/// A controller that compresses each sector before it is programmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompressionConfig {
    /// Sizes on flash are multiples of this part of a sector: 64 bytes to half a sector.
    pub granule_bytes: u32,
    /// Bytes that lie beside the data of a compressed sector.
    pub header_bytes: u32,
    /// Compressed data have at least so many bytes.
    pub least_bytes: u32,
}

impl CompressionConfig {
    /// Granules of a sector that was not compressed.
    pub fn granules(&self) -> u32 {
        SECTOR_BYTES as u32 / self.granule_bytes
    }

    /// Granules that a sector takes whose data compress to so many bytes. One that would not get
    /// smaller stays as it is, and none takes less than one.
    pub fn granules_of(&self, bytes: u32) -> u32 {
        (bytes.max(self.least_bytes) + self.header_bytes).div_ceil(self.granule_bytes).clamp(1, self.granules())
    }

    /// The bytes that sectors compress to: the fewest, and how many numbers there are from these on, each as likely.
    pub(crate) fn bytes_of(compressible: Compressible) -> (u32, u32) {
        let bytes = |share: f64| (SECTOR_BYTES as f64 * (1.0 - share)).round() as u32;
        let (fewest, most) = (bytes(compressible.most), bytes(compressible.least));
        (fewest, most.max(fewest) - fewest + 1)
    }

    /// The mean size of sectors, as a share of what they were.
    pub fn mean_size(&self, compressible: Compressible) -> f64 {
        let (fewest, count) = CompressionConfig::bytes_of(compressible);
        let sum: u64 = (fewest..fewest + count).map(|bytes| u64::from(self.granules_of(bytes))).sum();
        sum as f64 / f64::from(count) / f64::from(self.granules())
    }

    /// Whether granules divide a sector.
    pub(crate) fn is_possible(&self) -> bool {
        let sector = SECTOR_BYTES as u32;
        (64..=sector / 2).contains(&self.granule_bytes) && sector.is_multiple_of(self.granule_bytes)
    }
}
