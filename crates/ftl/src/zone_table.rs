//! The zones of a card at work: their states, the bands that they fill, and the bands that stand for bad blocks.

use crate::config::FtlConfig;
use crate::error::FtlError;
use crate::handles::Frontier;
use crate::layout::BandId;
use crate::stream::{Stream, StreamId};
use crate::zone_states::ZoneStates;
use std::collections::VecDeque;

/// The slot of a zone that has none.
const NO_SLOT: u8 = 0;

/// The zones at work.
#[derive(Clone, Debug)]
pub(crate) struct ZoneTable {
    pub states: ZoneStates,
    /// The bands of each zone, in the order in which they are filled.
    pub bands: Vec<Vec<BandId>>,
    /// Sectors of each zone that have a place.
    pub placed: Vec<u32>,
    /// The number of the slot whose stream fills a zone, from 1.
    slots: Vec<u8>,
    /// Streams of the zones that are filled, and those that wait for a zone.
    pub frontiers: Vec<Frontier>,
    free_slots: Vec<u8>,
    /// Bands that were reset before they were completely on flash.
    pub doomed: Vec<BandId>,
    /// Bands that give their blocks in the place of bad ones.
    pub aside: Vec<BandId>,
    /// Zones that have no bands any more.
    pub offline: u32,
}

impl ZoneTable {
    /// The zones of a card whose bands have so many sectors.
    pub fn of(config: &FtlConfig, band_sectors: u32) -> Result<Option<Box<ZoneTable>>, FtlError> {
        let Some(zones) = config.zones else { return Ok(None) };
        let divided = config.slc_cache.is_some() || config.placement.is_some() || config.map_cache.is_some();
        let own = config.persistence.is_some() || config.mapping_sectors > 1;
        if !zones.is_possible() || divided || own {
            return Err(FtlError::Zones { max_open: zones.max_open, max_active: zones.max_active });
        }
        let limits = zones.limits(config.user_sectors, band_sectors);
        let count = limits.zones as usize;
        Ok(Some(Box::new(ZoneTable {
            states: ZoneStates::new(limits),
            bands: vec![Vec::new(); count],
            placed: vec![0; count],
            slots: vec![NO_SLOT; count],
            frontiers: Vec::new(),
            free_slots: Vec::new(),
            doomed: Vec::new(),
            aside: Vec::new(),
            offline: 0,
        })))
    }

    /// The slot of a zone; a zone that has none gets one.
    pub fn slot(&mut self, zone: u32) -> u8 {
        let slot = self.slots[zone as usize];
        if slot != NO_SLOT {
            return slot;
        }
        let slot = self.free_slots.pop().unwrap_or_else(|| {
            let number =
                u8::try_from(self.frontiers.len() + 1).expect("zones that are filled are those that are active");
            self.frontiers
                .push(Frontier { stream: Stream::of_handle(StreamId::Host, number), closing: VecDeque::new() });
            number
        });
        self.slots[zone as usize] = slot;
        slot
    }

    /// The slot of a zone that is being filled.
    pub fn slot_in_use(&self, zone: u32) -> Option<u8> {
        Some(self.slots[zone as usize]).filter(|&slot| slot != NO_SLOT)
    }

    /// The zone's stream has nothing open any more: another zone may have it.
    pub fn release_slot(&mut self, zone: u32) {
        let slot = std::mem::replace(&mut self.slots[zone as usize], NO_SLOT);
        if slot != NO_SLOT {
            self.free_slots.push(slot);
        }
    }

    pub fn frontier(&mut self, slot: u8) -> &mut Frontier {
        &mut self.frontiers[usize::from(slot) - 1]
    }

    pub fn stream_and_closing(&mut self, slot: u8) -> (&mut Stream, &mut VecDeque<(BandId, u64)>) {
        let Frontier { stream, closing } = self.frontier(slot);
        (stream, closing)
    }

    /// A closed band is completely on flash: whether its zone was reset meanwhile.
    pub fn is_given_up(&mut self, band: BandId) -> bool {
        let before = self.doomed.len();
        self.doomed.retain(|&doomed| doomed != band);
        self.doomed.len() < before
    }
}
