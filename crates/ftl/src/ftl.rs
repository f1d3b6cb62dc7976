//! The map, and what moves in it.

use crate::bands::{BandState, Bands};
use crate::checkpoint::Checkpoints;
use crate::content::Needed;
use crate::gc::Gc;
use crate::layout::{BandId, Layout, Lba, Ppa, StripeId, UnitAddress};
use crate::stream::{SealedStripe, Stream, StreamId, units_of};
use crate::table::Table;
use crate::valid::ValidMap;
use crate::victims::Victims;
use crate::{FtlConfig, SlcCache};
use media::nand::{Blocks, CellMode, NandConfig};
use std::collections::VecDeque;

pub use crate::stream::StripeUnits;

/// No address: an unmapped LBA, or a physical address that holds no host data.
pub(crate) const NONE: u32 = u32::MAX;

/// Why a configuration can't work.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FtlError {
    /// The stripes don't fit the dies.
    #[error("stripe width {width} must divide the {dies} dies and be 1 to 64")]
    StripeWidth {
        /// Asked.
        width: u32,
        /// Of the card.
        dies: u32,
    },
    /// Parity leaves no data.
    #[error("{parity_units} parity units in a stripe of {width} leave no data (0 or 1 are supported)")]
    Parity {
        /// Asked.
        parity_units: u32,
        /// Of a stripe.
        width: u32,
    },
    /// A unit is too large.
    #[error("a program unit of {sectors} sectors exceeds 64 (256 KiB)")]
    UnitSize {
        /// Asked.
        sectors: u32,
    },
    /// Addresses don't fit.
    #[error("{sectors} sectors exceed what a 4-byte map entry can address; use a smaller scale")]
    TooLarge {
        /// Of all bands.
        sectors: u64,
    },
    /// Collection could not work.
    #[error("{user_sectors} user sectors leave no spare: {usable_sectors} can be used beside open bands and reserve")]
    NoSpare {
        /// Of the host.
        user_sectors: u64,
        /// Of the flash.
        usable_sectors: u64,
    },
    /// The bounds contradict each other.
    #[error("garbage collection must keep at least one free band, and stop at more free bands than it starts at")]
    GcBounds,
    /// A band with one bit a cell would have no row.
    #[error("{bits_per_cell} bits per cell leave none of {rows} rows to an SLC band")]
    SlcCache {
        /// Asked.
        bits_per_cell: u32,
        /// Of a band.
        rows: u32,
    },
    /// Garbage collection could run out of space.
    #[error("reserve of {reserve_bands} bands: garbage collection needs at least 2")]
    Reserve {
        /// Asked.
        reserve_bands: u32,
    },
}

/// What was done since the start, in 4 KiB sectors and erase blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Sectors that the host wrote.
    pub host_sectors: u64,
    /// Sectors that garbage collection and wear levelling moved.
    pub relocated_sectors: u64,
    /// Sectors of parity.
    pub parity_sectors: u64,
    /// Sectors of padding.
    pub padding_sectors: u64,
    /// Sectors of band summaries and checkpoints.
    pub metadata_sectors: u64,
    /// Erase blocks erased (a die's share of a band counts once).
    pub erases: u64,
    /// Erase blocks retired.
    pub retired_blocks: u64,
}

impl Counters {
    /// What was done between `earlier` and `self`.
    pub fn since(&self, earlier: &Counters) -> Counters {
        Counters {
            host_sectors: self.host_sectors - earlier.host_sectors,
            relocated_sectors: self.relocated_sectors - earlier.relocated_sectors,
            parity_sectors: self.parity_sectors - earlier.parity_sectors,
            padding_sectors: self.padding_sectors - earlier.padding_sectors,
            metadata_sectors: self.metadata_sectors - earlier.metadata_sectors,
            erases: self.erases - earlier.erases,
            retired_blocks: self.retired_blocks - earlier.retired_blocks,
        }
    }

    /// Write amplification: sectors programmed for data (the host's and relocated ones) over sectors written by the
    /// host; 0 when the host wrote nothing. Parity and padding are counted apart.
    pub fn waf(&self) -> f64 {
        if self.host_sectors == 0 {
            return 0.0;
        }
        (self.host_sectors + self.relocated_sectors) as f64 / self.host_sectors as f64
    }
}

/// Flash management of one card.
#[derive(Clone, Debug)]
pub struct Ftl {
    pub(crate) config: FtlConfig,
    pub(crate) layout: Layout,
    /// LBA to physical address.
    pub(crate) map: Table,
    /// Physical address to LBA; meaningful where the address is valid.
    pub(crate) reverse: Table,
    pub(crate) valid: ValidMap,
    pub(crate) blocks: Blocks,
    pub(crate) bands: Bands,
    pub(crate) victims: Victims,
    pub(crate) streams: [Stream; 3],
    pub(crate) checkpoints: Checkpoints,
    pub(crate) gc: Gc,
    pub(crate) counters: Counters,
    /// Free bands that collection leaves to what can't wait for it; 0 for a card without contents.
    pub(crate) own_bands: u32,
    /// What a rebuild has to restore, while there is one.
    pub(crate) needed: Option<Box<Needed>>,
    /// Data sectors of a band without bad blocks.
    pub(crate) full_band_sectors: u32,
    /// Stripes that wait to be programmed. At most a band's worth for each stream: drivers drain it after each call.
    sealed: VecDeque<SealedStripe>,
    /// Full bands of each stream that are not all on flash, with the barrier that says when they are: before that they
    /// can't be read, so they are no victims. At most as many as the driver has stripes in flight.
    closing: [VecDeque<(BandId, u64)>; 3],
}

impl Ftl {
    /// Erased flash of `bands` bands.
    pub fn new(nand: &NandConfig, bands: u32, config: &FtlConfig, seed: u64) -> Result<Ftl, FtlError> {
        let geometry = &nand.geometry;
        let (dies, width) = (geometry.dies(), config.stripe_width);
        if width == 0 || width > 64 || dies == 0 || dies % width != 0 {
            return Err(FtlError::StripeWidth { width, dies });
        }
        if config.parity_units > 1 || config.parity_units >= width {
            return Err(FtlError::Parity { parity_units: config.parity_units, width });
        }
        if geometry.sectors_per_unit() > 64 || geometry.sectors_per_unit() == 0 {
            return Err(FtlError::UnitSize { sectors: geometry.sectors_per_unit() });
        }
        if config.reserve_bands < 2 {
            return Err(FtlError::Reserve { reserve_bands: config.reserve_bands });
        }
        let rows = geometry.units_per_band();
        if let Some(SlcCache { bits_per_cell, .. }) = config.slc_cache
            && !(1..=rows).contains(&bits_per_cell)
        {
            return Err(FtlError::SlcCache { bits_per_cell, rows });
        }
        config.gc.check()?;
        let sectors = u64::from(dies)
            .saturating_mul(u64::from(geometry.units_per_band()))
            .saturating_mul(u64::from(geometry.sectors_per_unit()))
            .saturating_mul(u64::from(bands));
        if sectors >= u64::from(NONE) || config.user_sectors >= u64::from(NONE) {
            return Err(FtlError::TooLarge { sectors: sectors.max(config.user_sectors) });
        }
        let layout = config.layout(geometry);
        let blocks = Blocks::new(nand, bands, seed);
        let bands = Bands::new(&layout, bands, &blocks);
        let full_band_sectors = layout.band_data_sectors(|_| layout.all_units());
        let ftl = Ftl {
            config: *config,
            layout,
            map: Table::new(config.map_entries() as usize, NONE),
            reverse: Table::new(sectors as usize, NONE),
            valid: ValidMap::new(sectors as u32),
            blocks,
            victims: Victims::new(config.victim, bands.count(), seed),
            bands,
            streams: StreamId::ALL.map(Stream::new),
            checkpoints: Checkpoints::default(),
            gc: Gc::new(config),
            counters: Counters::default(),
            own_bands: 0,
            needed: None,
            full_band_sectors,
            sealed: VecDeque::new(),
            closing: Default::default(),
        };
        let usable_sectors = ftl.usable_sectors(config.overhead_bands());
        if config.user_sectors >= usable_sectors {
            return Err(FtlError::NoSpare { user_sectors: config.user_sectors, usable_sectors });
        }
        Ok(ftl)
    }

    /// Data sectors that collection can use: without bad blocks, checkpoints, and the bands that are kept from it.
    pub(crate) fn usable_sectors(&self, kept_bands: u32) -> u64 {
        let bands = u64::from(kept_bands) + u64::from(self.checkpoint_bands());
        self.bands.data_sectors().saturating_sub(bands * u64::from(self.full_band_sectors))
    }

    /// Share of the data capacity that the host can't address, counting only space that collection can use.
    pub fn effective_spare_factor(&self) -> f64 {
        1.0 - self.config.user_sectors as f64 / self.usable_sectors(self.config.overhead_bands()) as f64
    }

    /// How addresses relate.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The erase blocks.
    pub fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    /// What was chosen.
    pub fn config(&self) -> &FtlConfig {
        &self.config
    }

    /// What was done since the start.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Sectors that the host can address.
    pub fn user_sectors(&self) -> u64 {
        self.config.user_sectors
    }

    /// Sectors that are written and not trimmed, the card's own lists of holes among them. Looks at all bands.
    pub fn valid_sectors(&self) -> u64 {
        self.bands.valid.iter().map(|&valid| u64::from(valid)).sum()
    }

    /// Free bands, the reserve among them.
    pub fn free_bands(&self) -> u32 {
        self.bands.free_count()
    }

    /// Bands in SLC mode.
    pub fn slc_bands(&self) -> u32 {
        self.bands.slc_in_use()
    }

    /// State of a band.
    pub fn band_state(&self, band: BandId) -> BandState {
        self.bands.get(band).state
    }

    /// Where a sector lies; `None` when it was never written or was trimmed.
    #[inline]
    pub fn lookup(&self, lba: Lba) -> Option<Ppa> {
        match self.map[lba.0 as usize] {
            NONE => None,
            ppa => Some(Ppa(ppa)),
        }
    }

    /// Starts to fetch the map entry of a sector that will be asked for soon.
    #[inline]
    pub fn prefetch(&self, lba: Lba) {
        crate::prefetch::prefetch(&self.map, lba.0 as usize);
    }

    /// Starts to fetch what overwriting a sector will touch, once its map entry is there.
    #[inline]
    pub fn prefetch_overwrite(&self, lba: Lba) {
        if let Some(ppa) = self.lookup(lba) {
            self.valid.prefetch(ppa.0);
        }
    }

    /// How the cells of an address are used.
    #[inline]
    pub fn cell_mode(&self, band: BandId) -> CellMode {
        self.bands.get(band).mode
    }

    /// The unit is on flash; before that its data are in the buffer.
    #[inline]
    pub fn is_programmed(&self, unit: UnitAddress) -> bool {
        self.blocks.is_programmed(unit.band.0, unit.die, unit.row)
    }

    /// Room for one more sector of the host. `false`: collection has to free space first, or the card is full for good
    /// ([`Ftl::is_read_only`]).
    #[inline]
    pub fn can_write(&self) -> bool {
        let least_free = if self.streams[StreamId::Host as usize].needs_band() {
            self.config.reserve_bands + 1
        } else if self.config.separate_streams {
            0
        } else {
            // Below it, collection has opened a band of the reserve, and the host must not fill that one.
            self.config.reserve_bands
        };
        !self.gc.collecting && self.bands.free_worth() >= least_free
    }

    /// Host writes have stopped so that collection can free space.
    pub fn stopped_for_gc(&self) -> bool {
        self.gc.collecting
    }

    /// Nothing can be freed any more: bad blocks have used up the spare. Data stay readable.
    pub fn is_read_only(&mut self) -> bool {
        let moves = !self.gc_is_idle() || self.stale_bands_wait() || self.closing.iter().any(|bands| !bands.is_empty());
        !self.can_write() && !moves && !self.gc_demand(false)
    }

    /// The host writes a sector; returns where it will lie. [`Ftl::can_write`] said that there is room.
    #[inline]
    pub fn write(&mut self, lba: Lba) -> Ppa {
        let old = self.map[lba.0 as usize];
        if old != NONE {
            self.invalidate(old);
        }
        let ppa = self.append(StreamId::Host, lba, false);
        self.counters.host_sectors += 1;
        self.gc.pacing.earn();
        ppa
    }

    /// The host needs a sector no more.
    pub fn trim(&mut self, lba: Lba) {
        self.map_changes(lba.0);
        let old = std::mem::replace(&mut self.map[lba.0 as usize], NONE);
        if old != NONE {
            self.invalidate(old);
        }
    }

    #[inline]
    pub(crate) fn invalidate(&mut self, ppa: u32) {
        self.valid.clear(ppa);
        let band = self.layout.band_of(Ppa(ppa));
        let valid = &mut self.bands.valid[band.0 as usize];
        *valid -= 1;
        self.victims.lowered(band, *valid);
    }

    /// Gives a sector the next place of a stream.
    #[inline]
    pub(crate) fn append(&mut self, stream: StreamId, lba: Lba, relocated: bool) -> Ppa {
        if self.streams[stream as usize].needs_band() {
            self.open_band(stream);
        }
        let s = &mut self.streams[stream as usize];
        let band = s.band().expect("just opened");
        let taken = s.take(relocated, &self.layout, &self.bands);
        self.reverse[taken.ppa as usize] = lba.0;
        self.valid.set(taken.ppa);
        self.map_changes(lba.0);
        self.map[lba.0 as usize] = taken.ppa;
        self.bands.valid[band.0 as usize] += 1;
        if let Some(sealed) = taken.sealed {
            self.seal(sealed, taken.closed);
        }
        Ppa(taken.ppa)
    }

    #[cold]
    pub(crate) fn open_band(&mut self, stream: StreamId) -> BandId {
        let mode = match self.config.slc_cache {
            Some(cache)
                if stream == StreamId::Host
                    && self.bands.slc_in_use() < cache.bands
                    && self.free_space_bands() > self.gc.pacing.ceiling_bands() =>
            {
                CellMode::Slc
            }
            _ => CellMode::Native,
        };
        let cold = stream == StreamId::Relocation && self.moves_cold_data();
        let band = self.bands.open(stream as u8, mode, cold);
        let band = band.expect("collection never runs out of bands: the reserve is its own");
        let (stripes, data_stripes) = self.band_stripes(band);
        let cell_stripes = self.cell_stripes(mode);
        self.streams[stream as usize].start_band(band, mode, stripes, data_stripes, cell_stripes);
        self.checkpoints.opened += u64::from(stream != StreamId::Checkpoint);
        self.update_collecting();
        band
    }

    /// Consecutive stripes of a band that share cells, and are safe from a cut only together.
    fn cell_stripes(&self, mode: CellMode) -> u32 {
        match (mode, self.config.persistence) {
            (CellMode::Native, Some(persistence)) if persistence.cell_rows > 1 => {
                persistence.cell_rows * self.layout.groups
            }
            _ => 1,
        }
    }

    /// The first stripe of a band after this one that shares no cells with it.
    pub fn cells_end(&self, stripe: StripeId) -> u32 {
        (stripe.index + 1).next_multiple_of(self.cell_stripes(self.cell_mode(stripe.band)))
    }

    /// The first stripe of a band that shares cells with this one.
    pub fn cells_begin(&self, stripe: StripeId) -> u32 {
        stripe.index - stripe.index % self.cell_stripes(self.cell_mode(stripe.band))
    }

    /// Stripes of a band before this one are still to be filled.
    pub fn will_fill_before(&self, end: StripeId) -> bool {
        self.streams.iter().any(|stream| stream.band() == Some(end.band) && stream.stripe() < end.index)
    }

    pub(crate) fn seal(&mut self, sealed: SealedStripe, closed: Option<BandId>) {
        let parity = self.stripe_units(sealed.stripe).parity;
        self.counters.parity_sectors += u64::from(parity.count_ones() * self.layout.unit_sectors);
        self.counters.padding_sectors += u64::from(sealed.padding_sectors);
        self.sealed.push_back(sealed);
        if let Some(band) = closed {
            let stream = sealed.stream as usize;
            while let Some(summary) = self.streams[stream].next_summary(&self.layout, &self.bands) {
                let units = self.stripe_units(summary.stripe);
                self.counters.metadata_sectors += u64::from(units.data.count_ones() * self.layout.unit_sectors);
                self.counters.parity_sectors += u64::from(units.parity.count_ones() * self.layout.unit_sectors);
                self.sealed.push_back(summary);
                self.bands.set_summary(band);
            }
            self.close(sealed.stream, band);
        }
        if sealed.stream == StreamId::Host {
            self.adjust_pace();
        }
    }

    /// A band takes no more: it is a victim like others as soon as all of it is on flash.
    fn close(&mut self, stream: StreamId, band: BandId) {
        self.bands.set_state(band, BandState::Open, BandState::Closed);
        let barrier = self.streams[stream as usize].barrier();
        self.closing[stream as usize].push_back((band, barrier));
        // Of a band that is abandoned all may be on flash already: nothing else would come to settle it.
        self.settle_closed(stream);
    }

    /// A block of a stream's open band failed: the band takes no more.
    pub fn abandon_band(&mut self, stream: StreamId) {
        // What shares cells with the last of it is padded: somebody may wait for that.
        self.seal_for_durability(stream);
        if let Some(band) = self.streams[stream as usize].abandon_band() {
            self.close(stream, band);
        }
    }

    /// The band that a stream is filling.
    pub fn open_band_of(&self, stream: StreamId) -> Option<BandId> {
        self.streams[stream as usize].band()
    }

    /// Closes the open stripe of a stream, and pads those that share its cells and come later: what the stream holds is
    /// safe once they are on flash.
    pub fn seal_for_durability(&mut self, stream: StreamId) {
        self.seal_early(stream);
        while self.streams[stream as usize].shares_cells_with_later() {
            self.streams[stream as usize].open_padding(&self.layout, &self.bands);
            self.seal_early(stream);
        }
    }

    /// Closes the open stripe of a stream with padding, so that what it holds can be programmed.
    pub fn seal_early(&mut self, stream: StreamId) {
        let s = &mut self.streams[stream as usize];
        if let Some((sealed, closed)) = s.seal_early(&self.layout, &self.bands) {
            self.seal(sealed, closed);
        }
    }

    /// The next stripe whose units are to be programmed, in each stream's order.
    #[inline]
    pub fn pop_sealed(&mut self) -> Option<SealedStripe> {
        self.sealed.pop_front()
    }

    /// Which units of a stripe are used.
    #[inline]
    pub fn stripe_units(&self, stripe: StripeId) -> StripeUnits {
        units_of(stripe, &self.layout, &self.bands)
    }

    /// A program of a unit has begun; units of a die's share of a band come in order.
    #[inline]
    pub fn unit_programmed(&mut self, unit: UnitAddress) {
        self.blocks.program(unit.band.0, unit.die, unit.row);
    }

    /// All units of a stripe are on flash.
    #[inline]
    pub fn stripe_durable(&mut self, stream: StreamId, sequence: u64) {
        self.streams[stream as usize].stripe_durable(sequence);
        self.settle_closed(stream);
    }

    /// Bands of which all is on flash become victims like others.
    #[inline]
    fn settle_closed(&mut self, stream: StreamId) {
        let s = stream as usize;
        while let Some(&(band, barrier)) = self.closing[s].front()
            && self.streams[s].is_durable(barrier)
        {
            self.closing[s].pop_front();
            if stream == StreamId::Checkpoint {
                // It is never collected, and may have been given up by now.
                continue;
            }
            let missing = self.full_band_sectors - self.bands.get(band).data_sectors;
            self.victims.insert(band, self.bands.valid[band.0 as usize], missing, self.counters.host_sectors);
        }
    }

    /// The number that [`Ftl::host_is_durable`] must be asked for everything that the host has written so far; the open
    /// stripe counts too, so it may have to be sealed early.
    pub fn host_barrier(&self) -> u64 {
        self.streams[StreamId::Host as usize].barrier()
    }

    /// All that the host wrote before the barrier is on flash.
    pub fn host_is_durable(&self, barrier: u64) -> bool {
        self.streams[StreamId::Host as usize].is_durable(barrier)
    }
}
