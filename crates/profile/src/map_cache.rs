//! Memory for a part of the map: of the controller, or of the host (its host memory buffer).

use crate::error::{Problem, ProfileError};
use crate::settings::Settings;
use card::CardConfig;
use device::SECTOR_BYTES;
use ftl::MapCacheConfig;

const TABLE: &str = "map_cache";

/// Entries of a page of the map, of 4 bytes each: they name 4 KiB sectors of up to 16 TiB.
const PAGE_ENTRIES: u64 = SECTOR_BYTES / 4;
/// Pages that each die has to read for entries that were written, at most: more would only wait.
const UPDATES_A_DIE: u32 = 8;

/// Reads the table, if there is one. A card whose memory has room for all of the map is as one without, but for the time that
/// a lookup takes there.
pub(crate) fn read(settings: &Settings, card: &mut CardConfig) -> Result<(), ProfileError> {
    if !settings.has_table(TABLE) {
        return Ok(());
    }
    let room = settings.count(TABLE, "bytes")? / SECTOR_BYTES;
    let unit_bytes = u64::from(card.ftl.mapping_sectors) * SECTOR_BYTES;
    let covers = settings.count_if_any(TABLE, "page_covers").unwrap_or(PAGE_ENTRIES * unit_bytes);
    settings.must_be_multiple((TABLE, "page_covers"), "page_covers", covers, unit_bytes)?;
    let mut cache = MapCacheConfig {
        pages: 0,
        page_sectors: (covers / SECTOR_BYTES) as u32,
        updates: card.buffer_sectors.min(UPDATES_A_DIE.saturating_mul(card.nand.geometry.dies())).max(1),
    };
    let all = cache.map_pages(card.ftl.user_sectors);
    card.model.map_hit_ns = settings.count_if_any(TABLE, "hit_ns").unwrap_or(0);
    if room >= all && card.model.map_hit_ns == 0 {
        return Ok(());
    }
    if card.ftl.placement.is_some() {
        return Err(settings.wrong(TABLE, "bytes", Problem::HandlesNeedMap));
    }
    cache.pages = room.min(all) as u32;
    card.ftl.map_cache = Some(cache);
    // The stream of the map's pages opens a band just before the host does.
    card.ftl.reserve_bands += u32::from(card.ftl.writes_map());
    Ok(())
}
