//! A controller that compresses what the host writes, in models.

use crate::error::{Problem, ProfileError};
use crate::settings::Settings;
use card::{CardConfig, RelocationPath};
use device::SECTOR_BYTES;
use ftl::CompressionConfig;

const TABLE: &str = "compression";

/// Reads the table, if there is one. A card whose granules are whole sectors stores each as it is.
pub(crate) fn read(settings: &Settings, card: &mut CardConfig) -> Result<(), ProfileError> {
    if !settings.has_table(TABLE) {
        return Ok(());
    }
    let granule_bytes = settings.count(TABLE, "granule")?;
    if !granule_bytes.is_power_of_two() {
        return Err(settings.wrong(TABLE, "granule", Problem::NoPowerOfTwo { key: "granule", bytes: granule_bytes }));
    }
    let best_ratio = settings.real_if_any(TABLE, "best_ratio").unwrap_or(0.0);
    if granule_bytes == SECTOR_BYTES {
        return Ok(());
    }
    for (is_there, without) in [
        (card.ftl.slc_cache.is_some(), "an SLC cache"),
        (card.ftl.placement.is_some(), "handles"),
        (card.ftl.map_cache.is_some(), "memory for a part of the map"),
        (card.ftl.mapping_sectors > 1, "mapping units of more than 4,096 bytes"),
        (card.relocation_path != RelocationPath::Internal, "relocation through the host"),
    ] {
        if is_there {
            return Err(settings.wrong(TABLE, "granule", Problem::CompressionApart { without }));
        }
    }
    card.ftl.compression = Some(CompressionConfig {
        granule_bytes: granule_bytes as u32,
        header_bytes: settings.count_if_any(TABLE, "header").unwrap_or(0) as u32,
        least_bytes: (best_ratio * SECTOR_BYTES as f64).round() as u32,
    });
    Ok(())
}
