//! A small card that wears as a large one does.
//!
//! Kept are the width of a stripe and its parity, the share of the space that collection has to work with, policies, what
//! is written where, and the bands that always stay free. Smaller are: the number of dies (one for each unit of a stripe:
//! groups of dies take turns, so each wears as any other), the pages of a block (write amplification depends on them by
//! less than 1 % from 32 a band on: `ftl`'s tests hold it against theory), the number of bands, and the cycles that a
//! block bears. A simulation that wears cards out in a thousand cycles in place of 100,000 must keep
//!
//! - the hazard of a whole life: the chance that a cycle retires a block grows as the cycles get fewer, so that as many
//!   blocks are gone at the same share of the rated cycles;
//! - the bound on the spread of wear as a share of the rated cycles.
//!
//! Chance is not kept: blocks are a few cycles apart however many cycles there are, and a few are a larger part of few.
//! So an accelerated life shows a wider spread than the real one has, never a narrower one.
//!
//! Summaries of bands are left out of the small card, of which they would be too large a part; they count in
//! the large one's data capacity.

use card::CardConfig;
use ftl::{FtlConfig, GcMode, Persistence, SlcCache};
use media::nand::{Endurance, Geometry, NandConfig};

/// Size of the miniature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Data bands, or fewer where bands are large.
    pub bands: u32,
    /// Sectors of a band at most, as far as stripes allow.
    pub band_sectors: u32,
    /// Cycles that a block bears, unless the card's bears fewer.
    pub cycles: u32,
}

impl Default for Size {
    fn default() -> Size {
        Size { bands: 256, band_sectors: 512, cycles: 500 }
    }
}

/// The small card.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Miniature {
    /// Flash of the miniature.
    pub nand: NandConfig,
    /// Number of its bands.
    pub bands: u32,
    /// Its flash management.
    pub ftl: FtlConfig,
    /// Cycles of the large card for one of its own.
    pub factor: f64,
    /// Sectors of data that it holds, summaries and parity apart.
    pub data_sectors: u64,
}

/// Fewest rows of a block.
const MIN_ROWS: u32 = 8;
/// Sectors of a band from which on there are fewer bands, and the fewest, unless fewer are asked for.
const LARGE_BAND_SECTORS: u64 = 1_024;
const FEWEST_BANDS: u32 = 64;
/// Spare bands for each band that free space swings about its mean, as where cards are scaled.
const SPARE_BANDS_PER_SWING: f64 = 4.0;

/// The small card for a large one whose spare that collection can use is `effective_spare_factor`, and of whose blocks
/// one in a million fails `program_fail_ppm_at_rated` times at a program at its rated cycles. With `pads` it keeps which rows
/// share cells, as flushes fill these.
pub fn miniature(
    card: &CardConfig,
    effective_spare_factor: f64,
    program_fail_ppm_at_rated: u32,
    size: Size,
    pads: bool,
) -> Miniature {
    let full = &card.nand.geometry;
    let width = card.ftl.stripe_width;
    let mut geometry = Geometry { modules: width, channels_per_module: 1, dies_per_channel: 1, ..*full };
    let row_sectors = width * geometry.sectors_per_unit();
    while geometry.pages_per_block.is_multiple_of(2)
        && geometry.units_per_band() / 2 >= MIN_ROWS
        && geometry.units_per_band() * row_sectors > size.band_sectors
    {
        geometry.pages_per_block /= 2;
    }
    let endurance = card.nand.endurance;
    let cycles = size.cycles.clamp(1, endurance.rated_cycles);
    let factor = f64::from(endurance.rated_cycles) / f64::from(cycles);
    let fail_ppm = f64::from(fail_ppm_at_rated(card, program_fail_ppm_at_rated)) * factor;
    let spread = f64::from(card.ftl.static_wear_spread_cycles) / factor;
    let levels = card.ftl.static_wear_spread_cycles > 0;
    let mut ftl = FtlConfig {
        static_wear_spread_cycles: if levels { (spread.round() as u32).max(1) } else { 0 },
        // Without room for entries there are no summaries.
        persistence: card
            .ftl
            .persistence
            .filter(|_| pads)
            .map(|persistence| Persistence { payload_bytes: 0, ..persistence }),
        // Its writes name no handles.
        placement: None,
        ..card.ftl
    };
    let overhead_bands = ftl.overhead_bands();
    let swing = match ftl.gc {
        GcMode::Paced { .. } => 0.0,
        GcMode::StopTheWorld { start_free_bands, stop_free_bands } => {
            f64::from(stop_free_bands - start_free_bands) / 2.0
        }
    };
    let for_swing = (SPARE_BANDS_PER_SWING * swing / effective_spare_factor.max(1e-3)).ceil() as u32;
    // Units of many planes make bands that can't be made small: fewer of them are enough, and wear out sooner.
    let units = u64::from(geometry.units_per_band()) * u64::from(row_sectors);
    let as_many = (u64::from(size.bands) * LARGE_BAND_SECTORS / units.max(1)).max(FEWEST_BANDS.into());
    let data_bands = size.bands.min(as_many.try_into().unwrap_or(u32::MAX)).max(for_swing);
    let bands = data_bands + overhead_bands;
    geometry.blocks_per_plane = bands;
    let layout = ftl.layout(&geometry);
    let band_sectors = u64::from(layout.band_data_sectors(|_| layout.all_units()));
    let resting = f64::from(data_bands) * (1.0 - effective_spare_factor);
    ftl.user_sectors = ((band_sectors as f64 * (resting + ftl.moving_data_bands())) as u64).max(1);
    if let Some(cache) = card.ftl.map_cache {
        ftl.map_cache = Some(cache.at_size(card.ftl.user_sectors, ftl.user_sectors));
        let of_map = ftl.map_sectors(band_sectors) as f64 * (1.0 - effective_spare_factor);
        ftl.user_sectors = ftl.user_sectors.saturating_sub(of_map as u64).max(1);
    }
    ftl.slc_cache = ftl.slc_cache.map(|cache| SlcCache {
        bands: ((u64::from(cache.bands) * u64::from(bands)).div_ceil(u64::from(card.bands.max(1))) as u32).max(1),
        bits_per_cell: cache.bits_per_cell,
    });
    let endurance = Endurance {
        rated_cycles: cycles,
        factory_bad_ppm: endurance.factory_bad_ppm,
        erase_fail_ppm_at_rated: fail_ppm.round().min(1e6) as u32,
    };
    let nand = NandConfig { geometry, timing: card.nand.timing, endurance };
    Miniature { nand, bands, ftl, factor, data_sectors: band_sectors * u64::from(bands) }
}

/// Chance in a million that a cycle at the rated ones retires a block: its erase fails, or one of its programs does.
pub fn fail_ppm_at_rated(card: &CardConfig, program_fail_ppm_at_rated: u32) -> u32 {
    let programs = card.nand.geometry.units_per_band();
    let ppm = program_fail_ppm_at_rated.saturating_mul(programs);
    card.nand.endurance.erase_fail_ppm_at_rated.saturating_add(ppm)
}
