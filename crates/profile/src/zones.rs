//! Zones that the host writes in order and resets, instead of a map of sectors with spare space.

use crate::capacity::Capacities;
use crate::error::{Problem, ProfileError};
use crate::settings::Settings;
use card::{CardConfig, ZoneHost, ZoneWrites};
use device::SECTOR_BYTES;
use ftl::{GcMode, ZoneConfig};

pub(crate) const TABLE: &str = "zones";

/// Zones that may be active where the file does not say how many, if the buffer has room for their stripes.
const USUAL_ACTIVE: u32 = 14;
/// Fewest zones of a smaller model.
const MIN_ZONES: u32 = 32;

/// Reads the table, if there is one. The capacity follows from the flash: all bands but those that are kept for bad blocks.
pub(crate) fn read(settings: &Settings, card: &mut CardConfig, cards: u64) -> Result<(), ProfileError> {
    if !settings.has_table(TABLE) {
        return Ok(());
    }
    let wrong = |key, problem| Err(settings.wrong(TABLE, key, problem));
    let bands = settings.count(TABLE, "bands")? as u32;
    let ftl = &card.ftl;
    let divided = ftl.slc_cache.is_some() || ftl.placement.is_some() || ftl.map_cache.is_some();
    let divided = divided || ftl.compression.is_some();
    if cards > 1 || divided || ftl.mapping_sectors > 1 || settings.has_table("cache") {
        return wrong("bands", Problem::ZonesApart);
    }
    if !card.power_loss_protection {
        let (table, key) = ("card", "power_loss_protection = true");
        return wrong("bands", Problem::MissingBecause { table, key, because: "zones" });
    }
    let unit_sectors = card.nand.geometry.sectors_per_unit();
    let stripe_sectors = (unit_sectors * ftl.stripe_width.saturating_sub(ftl.parity_units)).max(1);
    // Each active zone has a stripe that waits for more, and one more is on its way.
    let room = (card.durable_buffer_sectors() / stripe_sectors).saturating_sub(1);
    let given = settings.count_if_any(TABLE, "max_active").map(|count| count as u32);
    let max_active = given.unwrap_or(room.clamp(1, USUAL_ACTIVE));
    if max_active > room {
        let bytes = u64::from(card.durable_buffer_sectors()) * SECTOR_BYTES;
        let needed_bytes = u64::from(stripe_sectors) * SECTOR_BYTES * u64::from(max_active + 1);
        let key = if given.is_some() { "max_active" } else { "bands" };
        return wrong(key, Problem::BufferOfZones { bytes, needed_bytes });
    }
    let max_open = settings.count_if_any(TABLE, "max_open").map_or(max_active, |count| count as u32);
    if max_open > max_active {
        return wrong("max_open", Problem::OutOfOrder { low: "max_open", high: "max_active" });
    }
    card.ftl.zones = Some(ZoneConfig { bands, max_open, max_active });
    // The device keeps no map that recovery would have to find, and moves nothing.
    card.ftl.persistence = None;
    card.ftl.gc = GcMode::Paced { target_free_bands: 1 };
    card.ftl.reserve_bands = 2;
    card.model.zone_host = ZoneHost {
        writes: match settings.text_if_any(TABLE, "writes") {
            Some("append") => ZoneWrites::Appended,
            _ => ZoneWrites::AtPointer,
        },
        append_ns: settings.count_if_any(TABLE, "append_ns").unwrap_or(0),
        unwritten: settings.real_if_any(TABLE, "unwritten").unwrap_or(0.0),
    };
    let possible = fit(card);
    let zones = settings.count_if_any(TABLE, "count").map_or(possible, |count| count as u32);
    if zones > possible || possible == 0 {
        let key = if possible == 0 { "bands" } else { "count" };
        return wrong(key, Problem::ZonesBeyondFlash { zones: zones.max(1), possible });
    }
    card.ftl.user_sectors = u64::from(zones) * zone_sectors(card);
    Ok(())
}

/// Sectors of a zone.
fn zone_sectors(card: &CardConfig) -> u64 {
    let bands = card.ftl.zones.map_or(1, |zones| zones.bands);
    Capacities::of(card).data_sectors_per_band * u64::from(bands)
}

/// Bands that no zone has: those that stay free, and those whose blocks stand for bad ones. Factories leave about as many bad
/// blocks on each die; the worst of many dies has four standard deviations more.
fn bands_kept(card: &CardConfig) -> u32 {
    let bad = f64::from(card.bands) * f64::from(card.nand.endurance.factory_bad_ppm) * 1e-6;
    let worst = if bad > 0.0 { (bad + 4.0 * bad.sqrt()).ceil() as u32 + 2 } else { 0 };
    card.ftl.max_bands_kept() + 1 + worst
}

/// The number of zones that the bands suffice for.
fn fit(card: &CardConfig) -> u32 {
    let bands = card.ftl.zones.map_or(1, |zones| zones.bands);
    card.bands.saturating_sub(bands_kept(card)) / bands
}

/// A smaller card with zones that are as large.
pub(crate) fn scaled(full: &CardConfig, zones: ZoneConfig, scale: f64) -> CardConfig {
    let count = (full.ftl.user_sectors / zone_sectors(full)) as u32;
    let wanted = ((f64::from(count) * scale).round() as u32).max(MIN_ZONES).max(2 * zones.max_active);
    if wanted >= count {
        return *full;
    }
    let mut card = *full;
    card.ftl.user_sectors = u64::from(wanted) * zone_sectors(full);
    card.bands = wanted * zones.bands;
    while fit(&card) < wanted {
        card.bands += 1;
    }
    card
}
