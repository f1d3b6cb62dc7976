//! Handles by which the host places its writes on a modelled card, and what it names them by.

use crate::error::{Problem, ProfileError};
use crate::settings::Settings;
use card::{CardConfig, PlacedBy};
use device::SECTOR_BYTES;
use ftl::{Isolation, PlacementConfig};

const TABLE: &str = "placement";

/// Reads the handles; `None` for a card with one, which is a card without.
pub(crate) fn read(settings: &Settings) -> Result<Option<PlacementConfig>, ProfileError> {
    if !settings.has_table(TABLE) {
        return Ok(None);
    }
    let handles = settings.count(TABLE, "handles")? as u32;
    let isolation = match settings.text_if_any(TABLE, "isolation") {
        Some("persistent") => Isolation::Persistent,
        _ => Isolation::Initial,
    };
    Ok((handles > 1).then_some(PlacementConfig { handles, isolation }))
}

/// Reads what the host names handles by.
pub(crate) fn placed_by(settings: &Settings) -> PlacedBy {
    match settings.text_if_any(TABLE, "by") {
        Some("heat") => PlacedBy::Heat,
        Some("thread") => PlacedBy::Thread,
        Some("file") => PlacedBy::File,
        _ => PlacedBy::Nothing,
    }
}

/// Checks the rest of a card with handles.
pub(crate) fn check(settings: &Settings, card: &CardConfig, stripe_bytes: u64) -> Result<(), ProfileError> {
    let Some(PlacementConfig { handles, .. }) = card.ftl.placement else { return Ok(()) };
    let wrong = |problem| Err(settings.wrong(TABLE, "handles", problem));
    if !card.power_loss_protection || !card.ftl.separate_streams {
        let (table, key) = if card.power_loss_protection {
            ("ftl", "separate_streams = true")
        } else {
            ("card", "power_loss_protection = true")
        };
        return wrong(Problem::MissingBecause { table, key, because: "more than one handle" });
    }
    if card.ftl.slc_cache.is_some() || card.ftl.mapping_sectors > 1 {
        return wrong(Problem::HandlesApart);
    }
    // Each handle has a stripe that waits for more, and one more is on its way.
    let needed_bytes = stripe_bytes * u64::from(handles + 1);
    let bytes = u64::from(card.durable_buffer_sectors()) * SECTOR_BYTES;
    if bytes < needed_bytes {
        return wrong(Problem::BufferOfHandles { bytes, needed_bytes });
    }
    Ok(())
}
