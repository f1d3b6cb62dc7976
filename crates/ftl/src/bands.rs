//! The bands of a card: the state, the valid data and the wear of each, and the pool of free bands.

use crate::layout::{BandId, Layout};
use crate::opening::Opening;
use media::nand::{Blocks, CellMode};
use std::collections::{BTreeMap, BTreeSet};

/// The state of a band.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BandState {
    /// The band is erased and waits to be opened.
    Free,
    /// A stream is filling the band.
    Open,
    /// The band takes no more sectors.
    Closed,
    /// Garbage collection is moving the valid sectors of the band.
    Victim,
    /// The band has no valid sectors and waits for its erase.
    Stale,
    /// No stripe of the band is usable any more.
    Retired,
}

/// The state of one band, except for its valid count.
#[derive(Clone, Copy, Debug)]
pub struct Band {
    pub state: BandState,
    /// How the cells are used, while the band is not free.
    pub mode: CellMode,
    /// The band has bad blocks, so its stripes are narrower.
    pub has_bad: bool,
    /// Sectors of data that the band holds when full, in native mode.
    pub data_sectors: u32,
    /// Times that the band was erased.
    pub cycles: u32,
    /// Number of the last opening: 1, 2, 3 … over all bands.
    pub sequence: u64,
    /// The stream that the sectors come from, as spare areas have it.
    pub stream: u8,
    /// The summary was written, so the band was filled to its end.
    pub has_summary: bool,
}

/// All bands, and the pool of free ones.
#[derive(Clone, Debug)]
pub struct Bands {
    bands: Vec<Band>,
    /// Valid sectors of each band, apart from the rest because every overwrite touches it.
    pub valid: Vec<u32>,
    /// Free bands by wear.
    free: BTreeSet<(u32, BandId)>,
    /// Sum of `data_sectors` over free bands.
    free_sectors: u64,
    /// `free_sectors`, counted in bands without bad blocks.
    free_worth: u32,
    /// Sectors of data in a band without bad blocks, on the dies that answer.
    full_sectors: u32,
    slc_in_use: u32,
    /// Sum of `data_sectors` over bands that are not retired.
    data_sectors: u64,
    /// For bands with `has_bad`: the units of each group of dies that were usable when the band was last put into
    /// service, as bits. A block that goes bad later narrows no stripe that is written.
    narrow: BTreeMap<BandId, Box<[u64]>>,
    /// Number of the last opening of any band.
    pub last_sequence: u64,
}

impl Bands {
    /// Bands that are all free, except for the bad blocks in `blocks`.
    pub fn new(layout: &Layout, count: u32, blocks: &Blocks) -> Bands {
        let mut all = Bands {
            bands: Vec::with_capacity(count as usize),
            valid: vec![0; count as usize],
            free: BTreeSet::new(),
            free_sectors: 0,
            free_worth: 0,
            full_sectors: layout.band_data_sectors(|_| layout.all_units()),
            slc_in_use: 0,
            data_sectors: 0,
            narrow: BTreeMap::new(),
            last_sequence: 0,
        };
        for b in 0..count {
            all.bands.push(Band {
                state: BandState::Stale,
                mode: CellMode::Native,
                has_bad: false,
                data_sectors: 0,
                cycles: 0,
                sequence: 0,
                stream: 0,
                has_summary: false,
            });
            all.put_into_service(BandId(b), layout, blocks);
        }
        all
    }

    /// Takes the good blocks of an erased band into use: the band becomes free, or retired if none of its stripes is
    /// usable.
    fn put_into_service(&mut self, id: BandId, layout: &Layout, blocks: &Blocks) {
        let good = |group: u32| {
            let first = group * layout.width;
            (0..layout.width)
                .filter(|unit| blocks.is_erased(id.0, first + unit))
                .fold(0, |mask, unit| mask | 1u64 << unit)
        };
        let masks: Box<[u64]> = (0..layout.groups).map(good).collect();
        self.set_units(id, layout, masks);
        let band = &mut self.bands[id.0 as usize];
        band.mode = CellMode::Native;
        if band.data_sectors == 0 {
            band.state = BandState::Retired;
        } else {
            band.state = BandState::Free;
            self.free.insert((band.cycles, id));
            let sectors = u64::from(band.data_sectors);
            self.set_free_sectors(self.free_sectors + sectors);
        }
    }

    /// Sets the units that a band uses on each group of dies.
    fn set_units(&mut self, id: BandId, layout: &Layout, masks: Box<[u64]>) {
        let band = &mut self.bands[id.0 as usize];
        self.data_sectors -= u64::from(band.data_sectors);
        band.has_bad = masks.iter().any(|&mask| mask != layout.all_units());
        band.data_sectors = layout.band_data_sectors(|group| masks[group as usize]);
        self.data_sectors += u64::from(band.data_sectors);
        if band.has_bad {
            self.narrow.insert(id, masks);
        } else {
            self.narrow.remove(&id);
        }
    }

    /// The units of a stripe that are in use, including parity, as bits.
    #[inline]
    pub fn units_in_use(&self, id: BandId, group: u32, layout: &Layout) -> u64 {
        if !self.bands[id.0 as usize].has_bad {
            return layout.all_units();
        }
        self.narrow[&id][group as usize]
    }

    /// Counts the free and retired bands again, after dies went or came back.
    pub fn recount_free(&mut self, layout: &Layout, blocks: &Blocks) {
        let free: Vec<BandId> = self.free.iter().map(|&(_, id)| id).collect();
        let retired = (0..self.count()).map(BandId).filter(|id| self.get(*id).state == BandState::Retired);
        let again: Vec<BandId> = free.into_iter().chain(retired).collect();
        let answering = |group: u32| {
            let first = group * layout.width;
            (0..layout.width).filter(|unit| !blocks.is_dead(first + unit)).fold(0, |mask, unit| mask | 1u64 << unit)
        };
        let full_sectors = layout.band_data_sectors(answering);
        if full_sectors > 0 {
            self.full_sectors = full_sectors;
        }
        self.free.clear();
        self.set_free_sectors(0);
        for id in again {
            self.put_into_service(id, layout, blocks);
        }
    }

    /// Counts a band that is not in use again, after a block of it was erased.
    pub fn recount(&mut self, id: BandId, layout: &Layout, blocks: &Blocks) {
        let band = &self.bands[id.0 as usize];
        match band.state {
            BandState::Free => {
                self.free.remove(&(band.cycles, id));
                let sectors = u64::from(band.data_sectors);
                self.set_free_sectors(self.free_sectors - sectors);
            }
            BandState::Retired => {}
            BandState::Open | BandState::Closed | BandState::Victim | BandState::Stale => return,
        }
        self.put_into_service(id, layout, blocks);
    }

    /// Takes a free band out of service for good: it gives its blocks to others.
    pub fn set_aside(&mut self, id: BandId, layout: &Layout) {
        let band = &self.bands[id.0 as usize];
        assert!(matches!(band.state, BandState::Free | BandState::Retired), "band {}", id.0);
        if self.free.remove(&(band.cycles, id)) {
            let sectors = u64::from(band.data_sectors);
            self.set_free_sectors(self.free_sectors - sectors);
        }
        self.set_units(id, layout, vec![0; layout.groups as usize].into());
        self.bands[id.0 as usize].state = BandState::Retired;
    }

    /// The most worn of the free bands, while there is more than one.
    pub fn most_worn_free(&self) -> Option<BandId> {
        (self.free.len() > 1).then(|| self.free.last().expect("there is one").1)
    }

    fn set_free_sectors(&mut self, sectors: u64) {
        self.free_sectors = sectors;
        // Rounded to the nearest: a few bad blocks in each band must not cost a whole band, or the host would stall for
        // it.
        let full = u64::from(self.full_sectors);
        self.free_worth = ((sectors + full / 2) / full) as u32;
    }

    #[inline]
    pub fn get(&self, id: BandId) -> &Band {
        &self.bands[id.0 as usize]
    }

    /// The number of bands.
    pub fn count(&self) -> u32 {
        self.bands.len() as u32
    }

    /// The number of free bands.
    #[inline]
    pub fn free_count(&self) -> u32 {
        self.free.len() as u32
    }

    /// The free space counted in bands without bad blocks; bad blocks have narrowed some free bands.
    #[inline]
    pub fn free_worth(&self) -> u32 {
        self.free_worth
    }

    /// Sectors of data in a band without bad blocks, on the dies that answer.
    #[inline]
    pub fn full_sectors(&self) -> u32 {
        self.full_sectors
    }

    /// Sectors of data that the free bands hold.
    pub fn free_sectors(&self) -> u64 {
        self.free_sectors
    }

    /// The number of bands in SLC mode.
    pub fn slc_in_use(&self) -> u32 {
        self.slc_in_use
    }

    /// Sectors of data that all usable bands hold together.
    pub fn data_sectors(&self) -> u64 {
        self.data_sectors
    }

    /// Opens the least worn free band, or the most worn one for data that are known to be cold.
    pub fn open(&mut self, stream: u8, mode: CellMode, cold: bool) -> Option<BandId> {
        let (_, id) = if cold { self.free.pop_last() } else { self.free.pop_first() }?;
        self.last_sequence += 1;
        let band = &mut self.bands[id.0 as usize];
        band.state = BandState::Open;
        band.mode = mode;
        band.sequence = self.last_sequence;
        band.stream = stream;
        band.has_summary = false;
        self.slc_in_use += u32::from(mode == CellMode::Slc);
        let sectors = u64::from(band.data_sectors);
        self.set_free_sectors(self.free_sectors - sectors);
        Some(id)
    }

    /// Remembers that the summary of a band was written or found.
    pub fn set_summary(&mut self, id: BandId) {
        self.bands[id.0 as usize].has_summary = true;
    }

    /// Takes a band out of the free pool and closes it, because it was found in use or is not known to be erased.
    /// `false` if the band is retired.
    pub fn take_out(
        &mut self,
        id: BandId,
        cycles: u32,
        opening: Opening,
        units: Option<Box<[u64]>>,
        layout: &Layout,
    ) -> bool {
        let band = &self.bands[id.0 as usize];
        if band.state == BandState::Free {
            self.free.remove(&(band.cycles, id));
            let sectors = u64::from(band.data_sectors);
            self.set_free_sectors(self.free_sectors - sectors);
        } else if units.is_none() {
            return false;
        }
        if let Some(units) = units {
            self.set_units(id, layout, units);
        }
        let band = &mut self.bands[id.0 as usize];
        band.state = BandState::Closed;
        band.cycles = cycles;
        band.sequence = opening.sequence;
        band.stream = opening.stream;
        band.mode = if opening.slc { CellMode::Slc } else { CellMode::Native };
        self.slc_in_use += u32::from(opening.slc);
        true
    }

    /// Changes the state of a band, in the order open, closed, victim, stale.
    pub fn set_state(&mut self, id: BandId, from: BandState, to: BandState) {
        let state = &mut self.bands[id.0 as usize].state;
        assert_eq!(*state, from, "band {}", id.0);
        *state = to;
    }

    /// Returns a stale band that was erased to the free pool.
    pub fn erased(&mut self, id: BandId, layout: &Layout, blocks: &Blocks) {
        let band = &mut self.bands[id.0 as usize];
        assert_eq!(band.state, BandState::Stale, "band {}", id.0);
        assert_eq!(self.valid[id.0 as usize], 0, "band {} holds valid data", id.0);
        band.cycles += 1;
        self.slc_in_use -= u32::from(band.mode == CellMode::Slc);
        self.put_into_service(id, layout, blocks);
    }
}
