//! The sizes of sectors on a card that compresses: drawn as they are written, and kept until they are written again.

use crate::compression_config::CompressionConfig;
use crate::layout::BandId;
use device::{Compressible, Rng};

/// The work of compression since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompressionCounters {
    /// Granules of a sector that is not compressed.
    pub sector_granules: u32,
    /// Granules of all that the host wrote, compressed.
    pub host_granules: u64,
    /// Granules at the end of stripes that the next sector did not fit into.
    pub unused_granules: u64,
}

impl CompressionCounters {
    /// The work between `earlier` and `self`.
    pub fn since(&self, earlier: &CompressionCounters) -> CompressionCounters {
        CompressionCounters {
            sector_granules: self.sector_granules,
            host_granules: self.host_granules - earlier.host_granules,
            unused_granules: self.unused_granules - earlier.unused_granules,
        }
    }

    /// The work of two cards of the same kind.
    pub fn plus(&self, other: &CompressionCounters) -> CompressionCounters {
        CompressionCounters {
            sector_granules: self.sector_granules.max(other.sector_granules),
            host_granules: self.host_granules + other.host_granules,
            unused_granules: self.unused_granules + other.unused_granules,
        }
    }
}

/// The sizes of a card's sectors, in granules.
#[derive(Clone, Debug)]
pub(crate) struct Sizes {
    config: CompressionConfig,
    /// The size of each sector as it lies on flash; meaningful where it is mapped.
    of_sector: Vec<u8>,
    /// Valid sectors of each band, whatever their size.
    valid: Vec<u32>,
    /// Compressed bytes of what the host writes: the fewest, and how many numbers there are from these on.
    bytes: (u32, u32),
    mean: f64,
    rng: Rng,
    pub counters: CompressionCounters,
}

impl Sizes {
    /// The sizes of a card with so many sectors and bands.
    pub fn new(config: CompressionConfig, sectors: u64, bands: u32, seed: u64) -> Sizes {
        Sizes {
            config,
            of_sector: vec![0; sectors as usize],
            valid: vec![0; bands as usize],
            bytes: CompressionConfig::bytes_of(Compressible::NOT),
            mean: 1.0,
            rng: Rng::stream(seed, "compressed sizes"),
            counters: CompressionCounters { sector_granules: config.granules(), ..CompressionCounters::default() },
        }
    }

    /// The host's writes are as compressible as this from now on.
    pub fn compress(&mut self, compressible: Compressible) {
        self.bytes = CompressionConfig::bytes_of(compressible);
        self.mean = self.config.mean_size(compressible);
    }

    /// The mean size of what the host writes, in sectors.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// The host writes a sector: its new size.
    #[inline]
    pub fn draw(&mut self, sector: u32) -> u32 {
        let (fewest, count) = self.bytes;
        let bytes = if count == 1 { fewest } else { fewest + self.rng.below(u64::from(count)) as u32 };
        let granules = self.config.granules_of(bytes);
        self.of_sector[sector as usize] = granules as u8;
        self.counters.host_granules += u64::from(granules);
        granules
    }

    /// The size of a sector that is mapped.
    #[inline]
    pub fn of(&self, sector: u32) -> u32 {
        self.of_sector[sector as usize].into()
    }

    /// A sector lies in a band from now on, or no longer.
    #[inline]
    pub fn came(&mut self, band: BandId) {
        self.valid[band.0 as usize] += 1;
    }

    #[inline]
    pub fn left(&mut self, band: BandId) {
        self.valid[band.0 as usize] -= 1;
    }

    /// Valid sectors of a band.
    pub fn valid_of(&self, band: BandId) -> u32 {
        self.valid[band.0 as usize]
    }

    /// The room that the valid sectors of a band take at most, of which `valid` granules are valid, in stripes of
    /// `stripe_granules`. A stripe is full when the next sector does not fit, so it holds at least as many sectors as if none
    /// were compressed, and lacks less than a sector of being full.
    pub fn room_for(&self, band: BandId, valid: u32, stripe_granules: u32) -> u64 {
        let sector = u64::from(self.config.granules());
        let by_count = u64::from(self.valid_of(band)) * sector;
        let stripe = u64::from(stripe_granules).max(sector);
        let by_size = (u64::from(valid) * stripe).div_ceil(stripe - sector + 1);
        by_count.min(by_size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: CompressionConfig = CompressionConfig { granule_bytes: 512, header_bytes: 0, least_bytes: 0 };

    fn mean(config: CompressionConfig, least: f64, most: f64) -> f64 {
        let mut sizes = Sizes::new(config, 1, 1, 1);
        sizes.compress(Compressible { least, most });
        sizes.mean()
    }

    #[test]
    fn sizes_are_whole_granules_and_never_more_than_a_sector() {
        assert_eq!([0, 1, 512, 513, 4095, 4096].map(|bytes| CONFIG.granules_of(bytes)), [1, 1, 1, 2, 8, 8]);
        let with_header = CompressionConfig { header_bytes: 8, least_bytes: 573, ..CONFIG };
        assert_eq!([0, 1, 1016, 1017, 4096].map(|bytes| with_header.granules_of(bytes)), [2, 2, 2, 3, 8]);
    }

    #[test]
    fn the_mean_is_that_of_all_sizes_that_may_be_drawn() {
        assert_eq!(mean(CONFIG, 0.0, 0.0), 1.0);
        assert_eq!(mean(CONFIG, 0.5, 0.5), 0.5);
        assert_eq!(mean(CONFIG, 0.49, 0.49), 5.0 / 8.0);
        // From 1 to 8 granules, each for 512 numbers of bytes.
        let all = CompressionConfig { granule_bytes: 512, header_bytes: 0, least_bytes: 1 };
        assert!((mean(all, 0.0, 1.0) - 4.5 / 8.0).abs() < 1e-3);
        let mut sizes = Sizes::new(CONFIG, 1, 1, 3);
        sizes.compress(Compressible { least: 0.2, most: 0.7 });
        let drawn: u64 = (0..100_000).map(|_| u64::from(sizes.draw(0))).sum();
        assert!((drawn as f64 / 8e5 / sizes.mean() - 1.0).abs() < 0.003);
        assert_eq!(sizes.counters.host_granules, drawn);
    }
}
