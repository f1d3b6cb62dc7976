//! A smaller card that behaves like the whole one.
//!
//! Write amplification depends on the share of spare space and on the pages of a band, not on how many bands there
//! are; latency depends on dies and timing. So a scaled card has fewer bands and everything else unchanged. The bands
//! that always stay free or open are as many on a small card as on a large one: they are kept, and the rest is scaled
//! together with the user capacity, so that the spare factor without them stays the same.

use crate::capacity::Capacities;
use crate::zones;
use card::CardConfig;
use device::SECTOR_BYTES;
use disk::ArrayConfig;
use ftl::{GcMode, SlcCache};

/// Fewest bands for data: with less, a victim has no choice of bands to be the best of.
const MIN_DATA_BANDS: u32 = 32;
/// Fewest spare bands: free space is a few hundredths of a band off its mean, which is to be 1 % of the spare space.
const MIN_SPARE_BANDS: f64 = 4.0;
/// Spare bands for each band that free space swings about its mean: where collection stops the world, the swing must
/// stay a small part of the spare space, as it is on the whole card.
const SPARE_BANDS_PER_SWING: f64 = 4.0;

/// The card at `scale`, which is above 0 and at most 1. Exact at 1; never smaller than the constants above allow.
pub(crate) fn card(full: &CardConfig, scale: f64) -> CardConfig {
    if let Some(of) = full.ftl.zones {
        return zones::scaled(full, of, scale);
    }
    let Capacities { overhead_bands, data_sectors_per_band, .. } = Capacities::of(full);
    let full_data_bands = full.bands - overhead_bands;
    let data_bands = data_bands(full, full_data_bands, data_sectors_per_band, scale);
    if data_bands >= full_data_bands {
        return *full;
    }
    let mut card = *full;
    card.bands = data_bands + overhead_bands;
    let ratio = f64::from(data_bands) / f64::from(full_data_bands);
    // The data that are on the move are as many on a small card as on a large one.
    let resting = full.ftl.resting_sectors(data_sectors_per_band);
    let moving = full.ftl.user_sectors as f64 - resting;
    card.ftl.user_sectors = ((resting * ratio + moving).round() as u64).max(1);
    if let Some(cache) = full.ftl.map_cache {
        // Pages of the map take space of their own, which is not as much smaller as the card is.
        let usable = |card: &CardConfig, bands: u32| {
            let map = card.ftl.map_sectors(data_sectors_per_band) as f64;
            f64::from(bands) * data_sectors_per_band as f64 - map
        };
        let at_size = |sectors| Some(cache.at_size(full.ftl.user_sectors, sectors));
        card.ftl.map_cache = at_size(card.ftl.user_sectors);
        let ratio = usable(&card, data_bands) / usable(full, full_data_bands);
        card.ftl.user_sectors = ((resting * ratio + moving).round() as u64).max(1);
        card.ftl.map_cache = at_size(card.ftl.user_sectors);
    }
    card.ftl.slc_cache = full.ftl.slc_cache.map(|cache| SlcCache {
        bands: ((f64::from(cache.bands) * ratio).round() as u32).max(1),
        bits_per_cell: cache.bits_per_cell,
    });
    card
}

fn data_bands(full: &CardConfig, full_data_bands: u32, data_sectors_per_band: u64, scale: f64) -> u32 {
    let swing = match full.ftl.gc {
        GcMode::Paced { .. } => 0.0,
        GcMode::StopTheWorld { start_free_bands, stop_free_bands } => {
            f64::from(stop_free_bands - start_free_bands) / 2.0
        }
    };
    let used_bands = full.ftl.user_sectors as f64 / data_sectors_per_band as f64;
    let spare_share = 1.0 - used_bands / f64::from(full_data_bands);
    let spare_bands = MIN_SPARE_BANDS.max(SPARE_BANDS_PER_SWING * swing);
    // The cast saturates when there is next to no spare space: then the card stays whole.
    let for_spare = (spare_bands / spare_share).ceil() as u32;
    let wanted = (f64::from(full_data_bands) * scale).round() as u32;
    wanted.max(MIN_DATA_BANDS).max(for_spare).min(full_data_bands)
}

/// Data bands of a card of a certain size at least: enough that victims are chosen among many.
const MIN_SIZED_DATA_BANDS: u64 = 128;
/// Fewest rows of a block.
const MIN_ROWS: u32 = 8;

/// The card with contents and so many user sectors: dies, times and the effective spare factor are kept. Blocks have
/// fewer pages where there would be too few bands otherwise.
pub(crate) fn sized(full: &CardConfig, user_sectors: u64) -> CardConfig {
    let full = &full.with_whole_map();
    let capacities = Capacities::of(full);
    // By whole bands, as cards that were made earlier were sized: a card in files is sized anew at each start.
    let usable_sectors = u64::from(full.bands - capacities.overhead_bands) * capacities.data_sectors_per_band;
    let spare_factor = 1.0 - full.ftl.user_sectors as f64 / usable_sectors as f64;
    let used = 1.0 - spare_factor;
    let mut card = *full;
    loop {
        let geometry = &card.nand.geometry;
        let Capacities { overhead_bands, data_sectors_per_band, .. } = Capacities::of(&card.with_contents());
        let data_bands = (user_sectors as f64 / used / data_sectors_per_band as f64).ceil() as u64;
        let rows = geometry.units_per_band();
        let cell_rows = card.ftl.persistence.map_or(1, |persistence| persistence.cell_rows);
        let halved = card.nand.geometry.pages_per_block / 2;
        let can_halve = rows.is_multiple_of(2) && rows / 2 >= MIN_ROWS && (rows / 2).is_multiple_of(cell_rows);
        if data_bands < MIN_SIZED_DATA_BANDS && can_halve {
            card.nand.geometry.pages_per_block = halved;
            continue;
        }
        card.bands = data_bands.max(u64::from(MIN_DATA_BANDS)) as u32 + overhead_bands;
        card.ftl.user_sectors = user_sectors;
        card.ftl.slc_cache = full.ftl.slc_cache.map(|cache| SlcCache {
            bands: ((u64::from(cache.bands) * u64::from(card.bands)).div_ceil(u64::from(full.bands)) as u32).max(1),
            bits_per_cell: cache.bits_per_cell,
        });
        return card.with_contents();
    }
}

/// Disks of which `data_disks` hold at least so many bytes of the user's, in whole chunks.
pub(crate) fn array_sized(full: &ArrayConfig, user_bytes: u64, data_disks: u64) -> ArrayConfig {
    let mut array = *full;
    let unit = full.chunk_bytes.max(SECTOR_BYTES);
    let bytes = user_bytes.div_ceil(data_disks).next_multiple_of(unit);
    array.disk.capacity_bytes = bytes.min(full.disk.capacity_bytes);
    array
}
