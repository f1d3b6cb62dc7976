//! A zoned card: the host writes zones in order and resets them, and the card moves nothing.
//!
//! A zone takes the least worn bands that are free when it is written, and gives them up when it is reset. The zones have streams
//! of their own beside those of a card without, as handles have. The map is how the model keeps where a sector lies: the device
//! needs no more than the bands of its zones.
//!
//! All bands of zones are equally wide. Dies have bad blocks in different places: a block of a band that is set aside stands for a
//! bad one of the same die, so what bad blocks take is as many bands as the worst die has of them. When the bands no longer
//! suffice, an empty zone goes offline.

use crate::bands::BandState;
use crate::ftl::Ftl;
use crate::layout::{BandId, Lba, NONE, Ppa};
use crate::stream::StreamId;
use crate::zone_states::{ZoneError, ZoneState, ZoneStates};
use media::nand::CellMode;

/// The result of a reset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ZoneReset {
    /// Sectors that were in the write buffer, and are not programmed any more.
    pub unbuffered_sectors: u32,
    /// The bands that are erased for it.
    pub bands: Vec<BandId>,
}

/// The padding of a zone that was finished, for [`Ftl::zone_is_durable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZonePadding {
    slot: u8,
    barrier: u64,
}

impl Ftl {
    /// The states of the card's zones; `None`: it has none.
    pub fn zones(&self) -> Option<&ZoneStates> {
        self.zones.as_ref().map(|zones| &zones.states)
    }

    /// The states of the card's zones, for commands that change nothing else.
    pub fn zones_mut(&mut self) -> Option<&mut ZoneStates> {
        self.zones.as_mut().map(|zones| &mut zones.states)
    }

    /// Zones that have no bands any more.
    pub fn offline_zones(&self) -> u32 {
        self.zones.as_ref().map_or(0, |zones| zones.offline)
    }

    /// A write at sectors of the host's has come, whose sectors are then written one by one.
    pub fn begin_zone_write(&mut self, first: Lba, sectors: u32) -> Result<(), ZoneError> {
        let states = self.zones_mut().expect("the card has zones");
        let capacity = states.limits().capacity;
        states.write(first.0 / capacity, first.0 % capacity, sectors)
    }

    /// An append to a zone has come; returns the first of its sectors, which are then written one by one.
    pub fn begin_zone_append(&mut self, zone: u32, sectors: u32) -> Result<Lba, ZoneError> {
        let states = self.zones_mut().expect("the card has zones");
        let offset = states.append(zone, sectors)?;
        Ok(Lba(zone * states.limits().capacity + offset))
    }

    /// Gives a sector of a zone its next address.
    pub(crate) fn append_to_zone(&mut self, lba: Lba) -> Ppa {
        let zones = self.zones.as_mut().expect("the card has zones");
        let capacity = zones.states.limits().capacity;
        let (zone, offset) = (lba.0 / capacity, lba.0 % capacity);
        assert_eq!(zones.placed[zone as usize], offset, "zone {zone} is written in order");
        let slot = zones.slot(zone);
        if zones.frontier(slot).stream.needs_band() {
            self.open_band_of_zone(zone, slot);
        }
        let zones = self.zones.as_mut().expect("the card has zones");
        zones.placed[zone as usize] += 1;
        let stream = &mut zones.frontier(slot).stream;
        let band = stream.band().expect("just opened");
        let taken = stream.take(false, &self.layout, &self.bands);
        self.lies_at(lba, taken.ppa, band);
        if let Some(sealed) = taken.sealed {
            self.seal(sealed, taken.closed);
        }
        if offset + 1 == capacity {
            self.zones.as_mut().expect("the card has zones").release_slot(zone);
        }
        Ppa(taken.ppa)
    }

    fn open_band_of_zone(&mut self, zone: u32, slot: u8) {
        let band = self.bands.open(StreamId::Host as u8, CellMode::Native, false);
        let band = band.expect("a zone that is empty has its bands among the free ones");
        let (stripes, data_stripes) = self.band_stripes(band);
        let zones = self.zones.as_mut().expect("the card has zones");
        zones.bands[zone as usize].push(band);
        zones.frontier(slot).stream.start_band(band, CellMode::Native, stripes, data_stripes, 1);
    }

    /// Resets a zone: its sectors are gone at once, and its bands wait for their erase.
    pub fn reset_zone(&mut self, zone: u32) -> Result<ZoneReset, ZoneError> {
        let zones = self.zones.as_mut().expect("the card has zones");
        let held = zones.states.reset(zone)?;
        assert_eq!(zones.placed[zone as usize], held, "a zone is reset when all of its writes have their place");
        zones.placed[zone as usize] = 0;
        let first = zone * zones.states.limits().capacity;
        let bands = std::mem::take(&mut zones.bands[zone as usize]);
        let mut unbuffered_sectors = 0;
        if let Some(slot) = zones.slot_in_use(zone) {
            let frontier = zones.frontier(slot);
            unbuffered_sectors = frontier.stream.discard_open_stripe();
            if let Some(band) = frontier.stream.abandon_band() {
                frontier.closing.push_back((band, frontier.stream.barrier()));
                self.bands.set_state(band, BandState::Open, BandState::Closed);
            }
            zones.release_slot(zone);
        }
        for lba in first..first + held {
            let old = self.map.get(lba as usize);
            self.map.set(lba as usize, NONE);
            self.invalidate(old);
        }
        for &band in &bands {
            let zones = self.zones.as_mut().expect("the card has zones");
            if zones.frontiers.iter().any(|frontier| frontier.closing.iter().any(|(closing, _)| *closing == band)) {
                zones.doomed.push(band);
            } else {
                self.bands.set_state(band, BandState::Closed, BandState::Stale);
                self.put_aside_stale(band, 0);
            }
        }
        // A band that was closed just now may be on flash already.
        for slot in 1..=self.zones.as_ref().map_or(0, |zones| zones.frontiers.len()) as u8 {
            self.settle_closed(StreamId::Host, slot);
        }
        Ok(ZoneReset { unbuffered_sectors, bands })
    }

    /// Finishes a zone: the rest of its open band is padded. `None`: there is nothing to pad.
    pub fn finish_zone(&mut self, zone: u32) -> Result<Option<ZonePadding>, ZoneError> {
        let zones = self.zones.as_mut().expect("the card has zones");
        if zones.states.finish(zone)? == 0 {
            return Ok(None);
        }
        let Some(slot) = zones.slot_in_use(zone) else { return Ok(None) };
        while let Some(zones) = &mut self.zones {
            let stream = &mut zones.frontier(slot).stream;
            if let Some((sealed, closed)) = stream.seal_early(&self.layout, &self.bands) {
                self.seal(sealed, closed);
            } else if stream.needs_band() {
                break;
            } else {
                stream.open_padding(&self.layout, &self.bands);
            }
        }
        let zones = self.zones.as_mut().expect("the card has zones");
        let barrier = zones.frontier(slot).stream.barrier();
        zones.release_slot(zone);
        Ok(Some(ZonePadding { slot, barrier }))
    }

    /// Whether the padding of a finished zone, and all before it, is on flash.
    pub fn zone_is_durable(&self, padding: ZonePadding) -> bool {
        let zones = self.zones.as_ref().expect("the card has zones");
        zones.frontiers[usize::from(padding.slot) - 1].stream.is_durable(padding.barrier)
    }

    /// Writes a sector of a zone without time; a full zone that is written from its start is reset before.
    pub(crate) fn write_zone_now(&mut self, lba: Lba) -> Result<(), ZoneError> {
        let states = &self.zones.as_ref().expect("the card has zones").states;
        let capacity = states.limits().capacity;
        let zone = lba.0 / capacity;
        if lba.0.is_multiple_of(capacity) && states.state(zone) == ZoneState::Full {
            self.reset_zone(zone)?;
            self.settle_now();
        }
        self.begin_zone_write(lba, 1)
    }

    /// Takes narrow bands of a new card out of service.
    pub(crate) fn set_narrow_bands_aside(&mut self) {
        if self.zones.is_some() {
            (0..self.bands.count()).map(BandId).for_each(|band| self.set_aside_if_narrow(band));
        }
    }

    fn set_aside_if_narrow(&mut self, band: BandId) {
        if self.bands.get(band).has_bad {
            self.set_band_aside(band);
        }
    }

    fn set_band_aside(&mut self, band: BandId) {
        self.bands.set_aside(band, &self.layout);
        self.zones.as_mut().expect("the card has zones").aside.push(band);
    }

    /// Puts good blocks in the place of those of a band that has just been erased and has bad ones.
    pub(crate) fn mend(&mut self, band: BandId) {
        for die in 0..self.layout.dies {
            if !self.blocks.is_bad(band.0, die) {
                continue;
            }
            let has_good = |donor: &&BandId| self.blocks.is_erased(donor.0, die);
            let aside = &self.zones.as_ref().expect("the card has zones").aside;
            let donor = aside.iter().find(has_good).copied().or_else(|| {
                let donor = self.bands.most_worn_free()?;
                self.set_band_aside(donor);
                Some(donor)
            });
            if let Some(donor) = donor {
                self.blocks.exchange(band.0, donor.0, die);
            }
        }
    }

    /// A band is in service again, or set aside because a block of it is bad and none stands for it.
    pub(crate) fn settle_mended(&mut self, band: BandId) {
        self.set_aside_if_narrow(band);
        let usable = self.bands.data_sectors() / u64::from(self.full_band_sectors);
        let zones = self.zones.as_mut().expect("the card has zones");
        let per_zone = u64::from(zones.states.limits().capacity / self.full_band_sectors);
        let mut zone = zones.states.limits().zones;
        // One more band stays free.
        while u64::from(zones.states.limits().zones - zones.offline) * per_zone >= usable && zone > 0 {
            zone -= 1;
            if zones.states.state(zone) == ZoneState::Empty {
                zones.states.take_offline(zone);
                zones.offline += 1;
            }
        }
    }
}
