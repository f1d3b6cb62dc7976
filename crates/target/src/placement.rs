//! The handles that a host names, on cards that have some: each region of a load gets the handle of its number.

use crate::Modelled;
use crate::error::RunError;
use card::{ModelCard, PlacedBy};
use device::SECTOR_BYTES;
use ftl::AllHandles;
use load::LoadConfig;
use profile::DeviceConfig;
use results::Handle;

/// Says to the cards of a device which sectors the host writes with which handle.
pub(crate) fn place(
    device: &mut Modelled,
    config: &DeviceConfig,
    load: &LoadConfig,
    seed: u64,
) -> Result<(), RunError> {
    let Some(card) = config.cards().first() else { return Ok(()) };
    let (Some(placement), by) = (card.ftl.placement, card.model.placed_by) else { return Ok(()) };
    let (ends, what) = match by {
        PlacedBy::Nothing => return Ok(()),
        PlacedBy::Heat => (load.ends_of_parts(seed)?, "parts that are written more often and less often"),
        PlacedBy::Thread => (load.ends_of_threads(), "regions of threads"),
        PlacedBy::File => (load.ends_of_files(), "files"),
    };
    if ends.is_empty() || matches!(device, Modelled::Cached(_)) {
        return Err(RunError::NothingToPlace { what });
    }
    let (regions, handles) = (ends.len() as u32 + 1, placement.handles);
    if regions > handles {
        return Err(RunError::TooFewHandles { regions, handles });
    }
    let on = |card: &mut ModelCard, bytes: Vec<u64>| {
        let sectors: Vec<u64> = bytes.iter().map(|end| end.div_ceil(SECTOR_BYTES)).collect();
        card.ftl_mut().place(&sectors);
    };
    match device {
        Modelled::Card(card) => on(card, ends),
        Modelled::Mirrored(mirrored) => mirrored.cards_mut().iter_mut().for_each(|card| on(card, ends.clone())),
        Modelled::Striped(striped) => {
            for i in 0..striped.cards().len() {
                let ends = ends.iter().map(|&end| striped.card_offset(i as u64, end)).collect();
                on(&mut striped.cards_mut()[i], ends);
            }
        }
        Modelled::Raid5(raid) => {
            let ends: Vec<u64> = ends.iter().map(|&end| raid.card_bytes(end)).collect();
            raid.cards_mut().iter_mut().for_each(|card| on(card, ends.clone()));
        }
        Modelled::Zoned(_) | Modelled::Disks(_) | Modelled::Volume(_) | Modelled::Cached(_) => {}
    }
    Ok(())
}

/// The work by handle since the start, over all cards.
pub(crate) fn counters(cards: &[ModelCard]) -> AllHandles {
    let mut all = AllHandles::default();
    for card in cards {
        for (sum, of_card) in all.iter_mut().zip(card.ftl().handle_counters()) {
            sum.host_sectors += of_card.host_sectors;
            sum.relocated_sectors += of_card.relocated_sectors;
        }
    }
    all
}

/// The work by handle between two moments; empty for cards without handles.
pub(crate) fn report(cards: &[ModelCard], before: &AllHandles) -> Vec<Handle> {
    let handles = cards.first().map_or(1, |card| card.ftl().handles()) as usize;
    if handles == 1 {
        return Vec::new();
    }
    let now = counters(cards);
    let of = |(now, before): (&ftl::HandleCounters, &ftl::HandleCounters)| {
        let host_pages = now.host_sectors - before.host_sectors;
        let relocated_pages = now.relocated_sectors - before.relocated_sectors;
        let waf = if host_pages == 0 { 0.0 } else { (host_pages + relocated_pages) as f64 / host_pages as f64 };
        Handle { waf, host_pages, relocated_pages }
    };
    now.iter().zip(before).take(handles).map(of).collect()
}
