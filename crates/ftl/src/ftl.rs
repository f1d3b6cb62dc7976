//! The map, and every change of it: host writes, trims, and the stripes that they fill.

use crate::bands::{BandState, Bands};
use crate::checkpoint_state::Checkpoints;
use crate::config::{FtlConfig, SlcCache};
use crate::counters::Counters;
use crate::error::FtlError;
use crate::gc_state::Gc;
use crate::handles::Placement;
use crate::layout::{BandId, Layout, Lba, NONE, Ppa, StripeId, UnitAddress};
use crate::map_cache::{MapCache, MapCounters};
use crate::rebuild_snapshot::RebuildSnapshot;
use crate::sizes::Sizes;
use crate::stream::{SealedStripe, Stream, StreamId, units_of};
use crate::stripe_units::StripeUnits;
use crate::table::Table;
use crate::valid::ValidMap;
use crate::victims::Victims;
use crate::zone_table::ZoneTable;
use media::nand::{Blocks, CellMode, NandConfig};
use std::collections::VecDeque;
use std::ops::Range;

/// Flash management of one card.
#[derive(Clone, Debug)]
pub struct Ftl {
    pub(crate) config: FtlConfig,
    pub(crate) layout: Layout,
    /// The physical address of each LBA.
    pub(crate) map: Table<NONE>,
    /// The LBA of each physical address; meaningful where the address is valid.
    pub(crate) reverse: Table<NONE>,
    pub(crate) valid: ValidMap,
    pub(crate) blocks: Blocks,
    pub(crate) bands: Bands,
    pub(crate) victims: Victims,
    pub(crate) streams: [Stream; 4],
    pub(crate) checkpoints: Checkpoints,
    pub(crate) gc: Gc,
    pub(crate) counters: Counters,
    /// The part of the map that memory holds, where it does not hold all of it.
    pub(crate) map_cache: Option<Box<MapCache>>,
    /// Bands that pages of the map have to themselves.
    pub(crate) map_bands_kept: f64,
    /// Something has to know of changes of the map before they are made: a checkpoint, or memory for a part of it.
    pub(crate) map_is_watched: bool,
    /// Free bands that collection leaves to writes that can't wait for it; 0 for a card without contents.
    pub(crate) kept_free_bands: u32,
    /// The sectors that a rebuild has to restore, while there is one.
    pub(crate) rebuild_snapshot: Option<Box<RebuildSnapshot>>,
    /// The handles by which the host places its writes.
    pub(crate) placement: Option<Box<Placement>>,
    /// The zones of a card whose host writes zones.
    pub(crate) zones: Option<Box<ZoneTable>>,
    /// The sizes of sectors, on a card that compresses.
    pub(crate) sizes: Option<Box<Sizes>>,
    /// The addresses that a sector takes at most: one, or its granules.
    pub(crate) sector_room: u32,
    /// Data sectors of a band without bad blocks.
    pub(crate) full_band_sectors: u32,
    /// Stripes that wait to be programmed. At most a band's worth for each stream, because drivers drain it after each
    /// call.
    sealed: VecDeque<SealedStripe>,
    /// Full bands of each stream that are not yet completely on flash, with the barrier that says when they are. Before
    /// that they can't be read, so they are no victims. At most as many as the driver has stripes in flight.
    closing: [VecDeque<(BandId, u64)>; 4],
}

impl Ftl {
    /// Flash management of a new card with `bands` erased bands.
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
        // The stream of the map's pages opens a band just before the host does, and collection needs the others.
        let least_reserve = if config.writes_map() { 3 } else { 2 };
        if config.reserve_bands < least_reserve {
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
            .saturating_mul(u64::from(bands))
            .saturating_mul(u64::from(config.sector_room()));
        if sectors >= u64::from(NONE) || config.user_sectors >= u64::from(NONE) {
            return Err(FtlError::TooLarge { sectors: sectors.max(config.user_sectors) });
        }
        if let Some(compression) = config.compression {
            let apart = config.placement.is_some() || config.map_cache.is_some() || config.slc_cache.is_some();
            let apart = apart || config.zones.is_some();
            if !compression.is_possible() || apart || config.mapping_sectors > 1 {
                return Err(FtlError::Compression { granule_bytes: compression.granule_bytes });
            }
        }
        let layout = config.layout(geometry).in_parts(config.sector_room());
        let mut blocks = Blocks::new(nand, bands, seed);
        if config.zones.is_some() {
            blocks.gather_bad();
        }
        let bands = Bands::new(&layout, bands, &blocks);
        let full_band_sectors = layout.band_data_sectors(|_| layout.all_units());
        let placement = Placement::of(config, bands.count())?;
        let zones = ZoneTable::of(config, full_band_sectors)?;
        let sizes = config
            .compression
            .map(|compression| Box::new(Sizes::new(compression, config.map_entries(), bands.count(), seed)));
        let mut ftl = Ftl {
            config: *config,
            layout,
            map: Table::new(config.map_entries() as usize),
            reverse: Table::new(sectors as usize),
            valid: ValidMap::new(sectors as u32),
            blocks,
            victims: Victims::new(config.victim, bands.count(), seed),
            bands,
            streams: StreamId::ALL.map(Stream::new),
            checkpoints: Checkpoints::default(),
            gc: Gc::new(config),
            counters: Counters::default(),
            map_cache: config
                .map_cache
                .map(|cache| Box::new(MapCache::new(cache, config.user_sectors, config.first_map_page_entry() as u32))),
            map_bands_kept: config.map_bands(full_band_sectors.into()),
            map_is_watched: config.map_cache.is_some(),
            kept_free_bands: 0,
            rebuild_snapshot: None,
            placement,
            zones,
            sizes,
            sector_room: config.sector_room(),
            full_band_sectors,
            sealed: VecDeque::new(),
            closing: Default::default(),
        };
        let usable_sectors = ftl.usable_data_sectors();
        if config.user_sectors >= usable_sectors && config.zones.is_none() {
            return Err(FtlError::NoSpare { user_sectors: config.user_sectors, usable_sectors });
        }
        ftl.set_narrow_bands_aside();
        if let (Some(states), Some(zones)) = (ftl.zones(), config.zones) {
            let (zones, needed) = (states.limits().zones, states.limits().zones * zones.bands);
            let bands = ftl.free_bands();
            if zones == 0 || bands <= needed {
                return Err(FtlError::ZonesBeyondBands { zones, needed, bands });
            }
        }
        Ok(ftl)
    }

    /// Data sectors that collection can use: all of them without bad blocks, checkpoints, and `kept_bands` more bands. Sectors
    /// that are not compressed, where others may be.
    pub(crate) fn usable_sectors(&self, kept_bands: u32) -> u64 {
        let bands = u64::from(kept_bands) + u64::from(self.checkpoint_bands());
        let full = u64::from(self.full_band_sectors);
        let room = self.bands.data_sectors().saturating_sub(bands * full + self.config.map_sectors(full));
        room / u64::from(self.sector_room)
    }

    /// Data sectors that collection can use.
    pub fn usable_data_sectors(&self) -> u64 {
        self.usable_sectors(self.config.overhead_bands())
    }

    /// Share of the data capacity that the host can't address, counting only space that collection can use; on a card that
    /// compresses, what is left when all that it can address is as compressible as what it writes. None of it on a card with
    /// zones, which collects nothing.
    pub fn effective_spare_factor(&self) -> f64 {
        if self.zones.is_some() {
            return 0.0;
        }
        if self.compresses() {
            let band = f64::from(self.full_band_sectors) / f64::from(self.sector_room);
            let resting = self.user_sectors() as f64 * self.mean_size() - self.config.moving_data_bands() * band;
            return 1.0 - resting.max(0.0) / self.usable_data_sectors() as f64;
        }
        let resting = self.config.resting_sectors(u64::from(self.full_band_sectors));
        1.0 - resting / self.usable_data_sectors() as f64
    }

    /// The division of addresses into bands, stripes and units.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The state of the erase blocks.
    pub fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    /// The configuration, with the settings that were changed since.
    pub fn config(&self) -> &FtlConfig {
        &self.config
    }

    /// The work since the start.
    pub fn counters(&self) -> Counters {
        let map = self.map_cache.as_deref().map_or(MapCounters::default(), |cache| cache.counters);
        Counters { map, compression: self.compression_counters(), ..self.counters }
    }

    /// Sectors that the host can address.
    pub fn user_sectors(&self) -> u64 {
        self.config.user_sectors
    }

    /// Sectors that are written and not trimmed, the card's own lists of holes included; granules of them on a card that
    /// compresses. Sums over all bands.
    pub fn valid_sectors(&self) -> u64 {
        self.bands.valid.iter().map(|&valid| u64::from(valid)).sum()
    }

    /// Free bands, including the reserve.
    pub fn free_bands(&self) -> u32 {
        self.bands.free_count()
    }

    /// Bands that are in SLC mode now.
    pub fn slc_bands(&self) -> u32 {
        self.bands.slc_in_use()
    }

    /// The state of a band.
    pub fn band_state(&self, band: BandId) -> BandState {
        self.bands.get(band).state
    }

    /// The address of a sector; `None` if it was never written or was trimmed.
    #[inline]
    pub fn lookup(&self, lba: Lba) -> Option<Ppa> {
        match self.map.get(lba.0 as usize) {
            NONE => None,
            ppa => Some(Ppa(ppa)),
        }
    }

    /// Prefetches the map entry of a sector that will be looked up soon.
    #[inline]
    pub fn prefetch(&self, lba: Lba) {
        self.map.prefetch(lba.0 as usize);
    }

    /// Prefetches the memory that overwriting a sector will touch; its map entry should be in the cache.
    #[inline]
    pub fn prefetch_overwrite(&self, lba: Lba) {
        if let Some(ppa) = self.lookup(lba) {
            self.valid.prefetch(ppa.0);
        }
    }

    /// How the cells of a band are used.
    #[inline]
    pub fn cell_mode(&self, band: BandId) -> CellMode {
        self.bands.get(band).mode
    }

    /// Whether the unit is on flash. Before that its data are in the buffer.
    #[inline]
    pub fn is_programmed(&self, unit: UnitAddress) -> bool {
        self.blocks.is_programmed(unit.band.0, unit.die, unit.row)
    }

    /// Whether there is room for one more sector of the host. Otherwise collection has to free space first, or the card
    /// is full for good ([`Ftl::is_read_only`]).
    #[inline]
    pub fn can_write(&self) -> bool {
        let min_free = if self.streams[StreamId::Host as usize].needs_band() {
            if self.zones.is_some() {
                return self.bands.free_count() > 0;
            }
            self.config.reserve_bands + 1
        } else if self.config.separate_streams {
            0
        } else {
            // Below the reserve, collection has opened a band of it, and the host must not fill that band.
            self.config.reserve_bands
        };
        !self.gc.holds_host && self.bands.free_worth() >= min_free
    }

    /// Whether host writes are stopped so that collection can free space.
    pub fn stopped_for_gc(&self) -> bool {
        self.gc.collecting
    }

    /// The host writes a sector. Returns the sector's new address. The caller has asked [`Ftl::can_write`].
    #[inline]
    pub fn write(&mut self, lba: Lba) -> Ppa {
        if self.compresses() {
            return self.write_compressed(lba);
        }
        let old = self.map.get(lba.0 as usize);
        if old != NONE {
            self.invalidate(old);
        }
        let ppa = self.append(StreamId::Host, lba, false);
        self.counters.host_sectors += 1;
        self.gc.pacing.earn();
        ppa
    }

    /// The card writes a sector that the host did not, with others of its mapping unit that the host did write.
    pub fn write_rest(&mut self, lba: Lba) -> Ppa {
        let ppa = self.write(lba);
        self.counters.host_sectors -= 1;
        self.counters.relocated_sectors += 1;
        ppa
    }

    /// The sectors of the mapping units of which the host writes these.
    #[inline]
    pub fn whole_units(&self, sectors: Range<u64>) -> Range<u64> {
        let unit = u64::from(self.config.mapping_sectors);
        let end = sectors.end.next_multiple_of(unit).min(self.config.user_sectors);
        sectors.start - sectors.start % unit..end
    }

    /// The host trims a sector.
    pub fn trim(&mut self, lba: Lba) {
        self.map_changes(lba.0, false);
        let old = self.map.get(lba.0 as usize);
        self.map.set(lba.0 as usize, NONE);
        if old != NONE {
            if self.compresses() { self.invalidate_compressed(lba, old) } else { self.invalidate(old) }
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

    /// Gives a sector the next address of a stream.
    #[inline]
    pub(crate) fn append(&mut self, stream: StreamId, lba: Lba, relocated: bool) -> Ppa {
        self.map_changes(lba.0, relocated);
        if self.streams[stream as usize].needs_band() {
            if let Some(ppa) = self.append_apart(stream, lba, relocated) {
                return ppa;
            }
            self.open_band(stream);
        }
        let s = &mut self.streams[stream as usize];
        let band = s.band().expect("just opened");
        let taken = s.take(relocated, &self.layout, &self.bands);
        self.lies_at(lba, taken.ppa, band);
        if let Some(sealed) = taken.sealed {
            self.seal(sealed, taken.closed);
        }
        Ppa(taken.ppa)
    }

    /// A sector lies at an address of a band from now on.
    #[inline(always)]
    pub(crate) fn lies_at(&mut self, lba: Lba, ppa: u32, band: BandId) {
        self.reverse.set(ppa as usize, lba.0);
        self.valid.set(ppa);
        self.map.set(lba.0 as usize, ppa);
        self.bands.valid[band.0 as usize] += 1;
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

    /// The number of consecutive stripes that share cells. A cut spoils such stripes together, so they are durable
    /// together.
    fn cell_stripes(&self, mode: CellMode) -> u32 {
        match (mode, self.config.persistence) {
            (CellMode::Native, Some(persistence)) if persistence.cell_rows > 1 => {
                // Where the rows of a word line follow each other, no other die's come between.
                persistence.cell_rows * if self.layout.run == 1 { self.layout.groups } else { 1 }
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

    /// Whether stripes before this one in its band are still to be filled.
    pub fn will_fill_before(&self, end: StripeId) -> bool {
        self.streams.iter().any(|stream| stream.band() == Some(end.band) && stream.stripe() < end.index)
    }

    pub(crate) fn seal(&mut self, sealed: SealedStripe, closed: Option<BandId>) {
        let parity = self.stripe_units(sealed.stripe).parity;
        self.counters.parity_sectors += u64::from(parity.count_ones() * self.layout.unit_sectors);
        self.counters.padding_sectors += u64::from(sealed.padding_sectors);
        self.sealed.push_back(sealed);
        if let Some(band) = closed {
            while let Some(summary) = self.next_summary(&sealed) {
                let units = self.stripe_units(summary.stripe);
                self.counters.metadata_sectors += u64::from(units.data.count_ones() * self.layout.unit_sectors);
                self.counters.parity_sectors += u64::from(units.parity.count_ones() * self.layout.unit_sectors);
                self.sealed.push_back(summary);
                self.bands.set_summary(band);
            }
            self.close(sealed.stream, sealed.handle, band);
        }
        if sealed.stream == StreamId::Host {
            self.adjust_pace();
        }
    }

    /// Closes a band: it becomes a possible victim as soon as all of it is on flash.
    fn close(&mut self, stream: StreamId, handle: u8, band: BandId) {
        self.bands.set_state(band, BandState::Open, BandState::Closed);
        let (s, closing) = self.stream_and_closing(stream, handle);
        closing.push_back((band, s.barrier()));
        // An abandoned band may be completely on flash already, and then no later event would settle it.
        self.settle_closed(stream, handle);
    }

    /// A stream, and its full bands that are not yet completely on flash.
    #[inline]
    fn stream_and_closing(&mut self, stream: StreamId, handle: u8) -> (&mut Stream, &mut VecDeque<(BandId, u64)>) {
        match (&mut self.placement, &mut self.zones) {
            (Some(placement), _) if handle > 0 => placement.stream_and_closing(stream, handle),
            (_, Some(zones)) if handle > 0 => zones.stream_and_closing(handle),
            _ => (&mut self.streams[stream as usize], &mut self.closing[stream as usize]),
        }
    }

    /// The next stripe of the summary of the band that a sealed stripe has filled.
    fn next_summary(&mut self, sealed: &SealedStripe) -> Option<SealedStripe> {
        let stream = match (&mut self.placement, &mut self.zones) {
            (Some(placement), _) if sealed.handle > 0 => placement.stream_and_closing(sealed.stream, sealed.handle).0,
            (_, Some(zones)) if sealed.handle > 0 => zones.stream_and_closing(sealed.handle).0,
            _ => &mut self.streams[sealed.stream as usize],
        };
        stream.next_summary(&self.layout, &self.bands)
    }

    /// Closes a stream's open band early, because a block of it failed.
    pub fn abandon_band(&mut self, stream: StreamId) {
        // The stripes that share cells with the last one are padded, because a flush may wait for them.
        self.seal_for_durability(stream);
        if let Some(band) = self.streams[stream as usize].abandon_band() {
            self.close(stream, 0, band);
        }
    }

    /// The band that a stream is filling.
    pub fn open_band_of(&self, stream: StreamId) -> Option<BandId> {
        self.streams[stream as usize].band()
    }

    /// Closes the open stripe of a stream, and pads the later stripes that share its cells. The sectors of the stream
    /// are durable once all these are on flash.
    pub fn seal_for_durability(&mut self, stream: StreamId) {
        let before = self.counters.padding_sectors;
        self.seal_early(stream);
        while self.streams[stream as usize].shares_cells_with_earlier() {
            self.streams[stream as usize].open_padding(&self.layout, &self.bands);
            self.seal_early(stream);
        }
        if stream == StreamId::Host {
            self.gc.pacing.earn_by((self.counters.padding_sectors - before) as u32);
        }
    }

    /// Closes the open stripe of a stream with padding, so that the stripe can be programmed.
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

    /// The units of a stripe that are in use, for data and for parity.
    #[inline]
    pub fn stripe_units(&self, stripe: StripeId) -> StripeUnits {
        units_of(stripe, &self.layout, &self.bands)
    }

    /// Reports that the program of a unit has begun. The units of a die's share of a band come in order.
    #[inline]
    pub fn unit_programmed(&mut self, unit: UnitAddress) {
        self.blocks.program(unit.band.0, unit.die, unit.row);
    }

    /// Reports that all units of a stripe are on flash.
    #[inline]
    pub fn stripe_durable(&mut self, stream: StreamId, sequence: u64) {
        self.streams[stream as usize].stripe_durable(sequence);
        self.settle_closed(stream, 0);
    }

    /// Reports that all units of a stripe of a handle's stream are on flash.
    pub fn handle_stripe_durable(&mut self, stream: StreamId, handle: u8, sequence: u64) {
        self.stream_and_closing(stream, handle).0.stripe_durable(sequence);
        self.settle_closed(stream, handle);
    }

    /// Makes the closed bands that are completely on flash possible victims.
    #[inline]
    pub(crate) fn settle_closed(&mut self, stream: StreamId, handle: u8) {
        loop {
            let (s, closing) = self.stream_and_closing(stream, handle);
            let Some(&(band, barrier)) = closing.front() else { return };
            if !s.is_durable(barrier) {
                return;
            }
            closing.pop_front();
            if let Some(zones) = &mut self.zones {
                // It is erased when its zone is reset.
                if zones.is_given_up(band) {
                    self.bands.set_state(band, BandState::Closed, BandState::Stale);
                    self.put_aside_stale(band, 0);
                }
                continue;
            }
            if stream == StreamId::Checkpoint {
                // A checkpoint's band is never collected, and may have been given up by now.
                continue;
            }
            if stream == StreamId::Map {
                self.gc.map_bands.push_back(band);
                continue;
            }
            let missing = self.full_band_sectors - self.bands.get(band).data_sectors;
            self.victims.insert(band, self.bands.valid[band.0 as usize], missing, self.counters.host_sectors);
        }
    }

    /// The barrier of everything that the host has written so far, for [`Ftl::host_is_durable`]. The open stripe counts
    /// too, so it may have to be sealed early.
    pub fn host_barrier(&self) -> u64 {
        self.streams[StreamId::Host as usize].barrier()
    }

    /// Whether everything that the host wrote before the barrier is on flash.
    pub fn host_is_durable(&self, barrier: u64) -> bool {
        self.streams[StreamId::Host as usize].is_durable(barrier)
    }
}
