//! The bands of a card: what each is doing, how full of valid data and how worn it is.

use crate::layout::{BandId, Layout};
use nand::{Blocks, CellMode};
use std::collections::BTreeSet;

/// What a band is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BandState {
    /// Erased, waiting to be opened.
    Free,
    /// Being written.
    Open,
    /// Full.
    Closed,
    /// Chosen by garbage collection: what is valid in it is being moved.
    Victim,
    /// Empty of valid data, to be erased.
    Stale,
    /// No stripe of it is usable any more.
    Retired,
}

/// One band.
#[derive(Clone, Copy, Debug)]
pub struct Band {
    /// What it is doing.
    pub state: BandState,
    /// How its cells are used, while it is not free.
    pub mode: CellMode,
    /// It has bad blocks: its stripes are narrower.
    pub has_bad: bool,
    /// Sectors of data it holds when full, in native mode.
    pub data_sectors: u32,
    /// Times it was erased.
    pub cycles: u32,
}

/// All bands and the pool of free ones.
#[derive(Clone, Debug)]
pub struct Bands {
    bands: Vec<Band>,
    /// Valid sectors of each band, apart from the rest because every overwrite touches it.
    pub valid: Vec<u32>,
    /// Free bands by wear.
    free: BTreeSet<(u32, BandId)>,
    /// Sum of `data_sectors` over free bands, and how many bands without bad blocks that is.
    free_sectors: u64,
    free_worth: u32,
    /// Sectors of data in a band without bad blocks.
    full_sectors: u32,
    slc_in_use: u32,
    /// Sum of `data_sectors` over bands that are not retired.
    data_sectors: u64,
}

impl Bands {
    /// All free; `blocks` says which are bad.
    pub fn new(layout: &Layout, count: u32, blocks: &Blocks) -> Bands {
        let mut all = Bands {
            bands: Vec::with_capacity(count as usize),
            valid: vec![0; count as usize],
            free: BTreeSet::new(),
            free_sectors: 0,
            free_worth: 0,
            full_sectors: layout.data_sectors(layout.rows, (0..layout.groups).map(|_| layout.width)),
            slc_in_use: 0,
            data_sectors: 0,
        };
        for b in 0..count {
            all.bands.push(Band {
                state: BandState::Stale,
                mode: CellMode::Native,
                has_bad: false,
                data_sectors: 0,
                cycles: 0,
            });
            all.put_into_service(BandId(b), layout, blocks);
        }
        all
    }

    /// Looks at which blocks are good; the band becomes free, or retired when none of its stripes is usable.
    fn put_into_service(&mut self, id: BandId, layout: &Layout, blocks: &Blocks) {
        let good = |group: u32| {
            let first = group * layout.width;
            (first..first + layout.width).filter(|&die| !blocks.is_bad(id.0, die)).count() as u32
        };
        let band = &mut self.bands[id.0 as usize];
        self.data_sectors -= u64::from(band.data_sectors);
        band.has_bad = (0..layout.groups).any(|g| good(g) < layout.width);
        band.data_sectors = layout.data_sectors(layout.rows, (0..layout.groups).map(good));
        self.data_sectors += u64::from(band.data_sectors);
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

    fn set_free_sectors(&mut self, sectors: u64) {
        self.free_sectors = sectors;
        // To the nearest: a few bad blocks in each band must not cost a whole one, or the host stalls for it.
        let full = u64::from(self.full_sectors);
        self.free_worth = ((sectors + full / 2) / full) as u32;
    }

    /// One band.
    #[inline]
    pub fn get(&self, id: BandId) -> &Band {
        &self.bands[id.0 as usize]
    }

    /// How many bands there are.
    pub fn count(&self) -> u32 {
        self.bands.len() as u32
    }

    /// Free bands.
    #[inline]
    pub fn free_count(&self) -> u32 {
        self.free.len() as u32
    }

    /// Free bands counted by what they hold: bad blocks have narrowed some.
    #[inline]
    pub fn free_worth(&self) -> u32 {
        self.free_worth
    }

    /// Sectors of data that the free bands hold.
    pub fn free_sectors(&self) -> u64 {
        self.free_sectors
    }

    /// Bands in SLC mode.
    pub fn slc_in_use(&self) -> u32 {
        self.slc_in_use
    }

    /// Sectors of data that all usable bands hold together.
    pub fn data_sectors(&self) -> u64 {
        self.data_sectors
    }

    /// Opens the least worn free band, or the most worn one for data that is known to be cold.
    pub fn open(&mut self, mode: CellMode, cold: bool) -> Option<BandId> {
        let (_, id) = if cold { self.free.pop_last() } else { self.free.pop_first() }?;
        let band = &mut self.bands[id.0 as usize];
        band.state = BandState::Open;
        band.mode = mode;
        self.slc_in_use += u32::from(mode == CellMode::Slc);
        let sectors = u64::from(band.data_sectors);
        self.set_free_sectors(self.free_sectors - sectors);
        Some(id)
    }

    /// Changes the state along Open, Closed, Victim, Stale.
    pub fn set_state(&mut self, id: BandId, from: BandState, to: BandState) {
        let state = &mut self.bands[id.0 as usize].state;
        assert_eq!(*state, from, "band {}", id.0);
        *state = to;
    }

    /// A stale band was erased and is free again.
    pub fn erased(&mut self, id: BandId, layout: &Layout, blocks: &Blocks) {
        let band = &mut self.bands[id.0 as usize];
        assert_eq!(band.state, BandState::Stale, "band {}", id.0);
        assert_eq!(self.valid[id.0 as usize], 0, "band {} holds valid data", id.0);
        band.cycles += 1;
        self.slc_in_use -= u32::from(band.mode == CellMode::Slc);
        self.put_into_service(id, layout, blocks);
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        self.bands.capacity() * size_of::<Band>() + self.valid.capacity() * 4 + self.free.len() * 16
    }
}
