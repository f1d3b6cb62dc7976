//! Flash management of a card that holds contents: lists of holes, sectors that are written again after a fault,
//! rebuild, and modules that come and go.

use crate::adopt::FoundBlock;
use crate::ftl::Ftl;
use crate::layout::{BandId, Lba, NONE, Ppa, StripeId};
use crate::opening::Opening;
use crate::rebuild_snapshot::RebuildSnapshot;
use crate::stream::StreamId;
use media::nand::CellMode;

impl Ftl {
    /// The number of LBAs whose holes one sector describes.
    pub fn hole_segment_lbas(&self) -> u32 {
        self.config.hole_segment_lbas()
    }

    /// The map entry of the sector that describes the holes of a segment. It lies beyond the LBAs of the host.
    pub fn holes_lba(&self, segment: u32) -> Lba {
        Lba(self.config.user_sectors as u32 + segment)
    }

    /// The segment that a map entry beyond the LBAs of the host describes; `None` for an LBA of the host.
    pub fn segment_of(&self, lba: Lba) -> Option<u32> {
        lba.0.checked_sub(self.config.user_sectors as u32)
    }

    /// The card writes the list of holes of a segment. Returns the list's new address. The list counts as relocated,
    /// because it takes none of the host's room in the buffer.
    pub fn write_holes(&mut self, segment: u32) -> Ppa {
        let lba = self.holes_lba(segment);
        let old = self.map.get(lba.0 as usize);
        if old != NONE {
            self.invalidate(old);
        }
        self.counters.metadata_sectors += 1;
        self.append(StreamId::Host, lba, true)
    }

    /// Whether there is room for `count` lists of holes.
    pub fn has_room_for_holes(&self, count: usize) -> bool {
        let open = self.streams[StreamId::Host as usize].room_sectors(&self.layout, &self.bands);
        u64::from(open) + self.bands.free_sectors() >= count as u64
    }

    /// The LBA that an address was written for. The address holds its newest version if [`Ftl::is_current`] says so.
    pub fn written_for(&self, ppa: Ppa) -> Lba {
        Lba(self.reverse.get(ppa.0 as usize))
    }

    /// Whether the address holds the newest version of a sector.
    pub fn is_current(&self, ppa: Ppa) -> bool {
        self.valid.is_valid(ppa.0)
    }

    /// Whether there is room for one more sector that has to be written again because its stripe failed. The last free
    /// band is kept for lists of holes, because nothing may be erased before these are durable.
    pub fn can_rewrite(&self) -> bool {
        !self.streams[StreamId::Relocation as usize].needs_band() || self.bands.free_count() > 1
    }

    /// Whether there is room for one more sector that a start has found in the log only, which takes room before
    /// anything of the host does.
    pub fn can_replay(&self) -> bool {
        !self.streams[StreamId::Host as usize].needs_band() || self.bands.free_count() > 1
    }

    /// Whether there is room for `sectors` more relocated sectors, at most those of a unit. There was room when their
    /// victim was chosen, but bands are narrower after a die has gone.
    pub fn can_relocate(&self, sectors: u32) -> bool {
        let stream = &self.streams[self.relocation_stream() as usize];
        self.bands.free_count() > self.kept_free_bands || stream.room_sectors(&self.layout, &self.bands) >= sectors
    }

    /// Moves one sector, because its address can't be trusted any more. The caller has the contents.
    pub fn rewrite(&mut self, ppa: Ppa) -> Ppa {
        let lba = Lba(self.reverse.get(ppa.0 as usize));
        self.invalidate(ppa.0);
        self.counters.relocated_sectors += 1;
        self.append(StreamId::Relocation, lba, true)
    }

    /// Writes an older version of a sector, which must be on flash until a newer version is durable.
    pub fn write_outdated(&mut self, lba: Lba) -> Ppa {
        let newest = self.map.get(lba.0 as usize);
        let ppa = self.append(StreamId::Relocation, lba, true);
        self.counters.relocated_sectors += 1;
        self.invalidate(ppa.0);
        self.map.set(lba.0 as usize, newest);
        ppa
    }

    /// The number of stripes of a band in its present mode, and how many of them take data.
    pub fn band_stripes(&self, band: BandId) -> (u32, u32) {
        let rows = match (self.bands.get(band).mode, self.config.slc_cache) {
            (CellMode::Slc, Some(cache)) => self.layout.rows / cache.bits_per_cell,
            _ => self.layout.rows,
        };
        let stripes = rows * self.layout.groups;
        (stripes, self.layout.data_stripes(stripes, |group| self.bands.units_in_use(band, group, &self.layout)))
    }

    /// The units of a band that are in use on a group of dies, as bits.
    pub fn units_in_use(&self, band: BandId, group: u32) -> u64 {
        self.bands.units_in_use(band, group, &self.layout)
    }

    /// Whether the stripe must be restored: a sector of it is valid, or was valid when the rebuild began, or the stripe
    /// belongs to a summary or a checkpoint. In a band without a summary every stripe is needed, because only its own
    /// spare areas describe it.
    pub fn stripe_is_needed(&self, stripe: StripeId) -> bool {
        let (_, data_stripes) = self.band_stripes(stripe.band);
        let of_band = self.bands.get(stripe.band);
        if !of_band.has_summary || of_band.stream == StreamId::Checkpoint as u8 || stripe.index >= data_stripes {
            return true;
        }
        let start = self.layout.stripe_start(stripe);
        let valid = self.rebuild_snapshot.as_ref().map_or(&self.valid, |needed| &needed.valid);
        valid.first_in(start, start + self.layout.stripe_sectors).is_some()
    }

    /// Whether the address holds the newest version of a sector, or held it when the rebuild began.
    pub fn is_needed(&self, ppa: Ppa) -> bool {
        self.is_current(ppa) || self.rebuild_snapshot.as_ref().is_some_and(|needed| needed.valid.is_valid(ppa.0))
    }

    /// Takes the snapshot of a rebuild that begins: closes the open stripes and remembers the sectors that are valid now.
    pub fn take_rebuild_snapshot(&mut self) {
        self.seal_for_durability(StreamId::Relocation);
        self.seal_for_durability(StreamId::Host);
        self.rebuild_snapshot =
            Some(Box::new(RebuildSnapshot { valid: self.valid.clone(), barriers: self.barriers() }));
    }

    /// Whether everything that was written before the snapshot is on flash, or there is no snapshot. Only then may
    /// [`Ftl::stripe_is_needed`] be asked: those writes made the other sectors stale.
    pub fn rebuild_snapshot_is_durable(&self) -> bool {
        self.rebuild_snapshot.as_deref().is_none_or(|needed| self.is_durable(needed.barriers))
    }

    /// Drops the snapshot: the rebuild has ended.
    pub fn drop_rebuild_snapshot(&mut self) {
        self.rebuild_snapshot = None;
    }

    /// The number of sectors of the band's summary that lie before a stripe.
    pub fn summary_ordinal(&self, stripe: StripeId) -> u32 {
        let (_, data_stripes) = self.band_stripes(stripe.band);
        let units = |index| self.stripe_units(StripeId { band: stripe.band, index }).data.count_ones();
        (data_stripes..stripe.index).map(units).sum::<u32>() * self.layout.unit_sectors
    }

    /// Whether all of a closed band is on flash.
    pub fn is_settled(&self, band: BandId) -> bool {
        self.victims.contains(band)
    }

    /// Whether the last stripes of a band hold its summary.
    pub fn has_summary(&self, band: BandId) -> bool {
        self.bands.get(band).has_summary
    }

    /// The last opening of a band, which all its sectors have in common.
    pub fn opening(&self, band: BandId) -> Opening {
        let band = self.bands.get(band);
        Opening { sequence: band.sequence, slc: band.mode == CellMode::Slc, stream: band.stream }
    }

    /// The units of a stripe that are in use, including parity, as bits.
    pub fn stripe_members(&self, stripe: StripeId) -> u64 {
        self.units_in_use(stripe.band, self.layout.group_of(stripe.index))
    }

    /// The number of the last opening of any band.
    pub fn last_band_sequence(&self) -> u64 {
        self.bands.last_sequence
    }

    /// The barriers of everything that the host and collection have written so far, for [`Ftl::is_durable`]. The open
    /// stripes count too, so they may have to be sealed early.
    pub fn barriers(&self) -> [u64; 2] {
        [StreamId::Host, StreamId::Relocation].map(|stream| self.streams[stream as usize].barrier())
    }

    /// Whether everything that a stream wrote before the barrier is on flash.
    pub fn stream_is_durable(&self, stream: StreamId, barrier: u64) -> bool {
        self.streams[stream as usize].is_durable(barrier)
    }

    /// Whether everything that was written before these barriers is on flash.
    pub fn is_durable(&self, barriers: [u64; 2]) -> bool {
        self.streams.iter().zip(barriers).all(|(stream, barrier)| stream.is_durable(barrier))
    }

    /// Makes collection leave so many free bands to writes that can't wait for it: sectors of stripes that failed, and
    /// lists of holes.
    pub fn keep_free(&mut self, bands: u32) {
        self.kept_free_bands = bands;
    }

    /// Retires the blocks of a new card that its medium reports as bad.
    pub fn take_over_blocks(&mut self, is_bad: impl Fn(u32, u32) -> bool) {
        for band in 0..self.bands.count() {
            for die in (0..self.layout.dies).filter(|&die| is_bad(band, die)) {
                self.blocks.retire(band, die);
            }
        }
        self.bands.recount_free(&self.layout, &self.blocks);
    }

    /// The number of times that a band was erased.
    pub fn band_cycles(&self, band: BandId) -> u32 {
        self.bands.get(band).cycles
    }

    /// The number of bands.
    pub fn bands(&self) -> u32 {
        self.bands.count()
    }

    /// Adds the dies of a module that has come while the card runs; `block` has the state of its blocks on the medium.
    /// The contents of these blocks are unknown, so bands continue without each block until it is erased, with its band
    /// or by [`Ftl::block_erased`].
    pub fn dies_came(&mut self, dies: impl Iterator<Item = u32>, block: impl Fn(u32, u32) -> FoundBlock) {
        for die in dies {
            self.blocks.set_dead(die, false);
            for band in 0..self.bands.count() {
                let FoundBlock { bad, cycles } = block(band, die);
                self.blocks.set(band, die, self.layout.rows, cycles);
                if bad {
                    self.blocks.retire(band, die);
                }
            }
        }
        self.bands.recount_free(&self.layout, &self.blocks);
        self.update_collecting();
    }

    /// Reports the erase of a block that its band does not use now. The block belongs to the band from the band's next
    /// opening on.
    pub fn block_erased(&mut self, band: BandId, die: u32) {
        self.counters.erases += 1;
        let cycles = self.blocks.cycles(band.0, die) + 1;
        self.blocks.set(band.0, die, 0, cycles);
        self.bands.recount(band, &self.layout, &self.blocks);
        self.update_collecting();
    }

    /// Reports that a die does not answer any more, or answers again. This holds for bands that are opened from now on.
    pub fn set_die_dead(&mut self, die: u32, dead: bool) {
        self.blocks.set_dead(die, dead);
        self.bands.recount_free(&self.layout, &self.blocks);
        self.update_collecting();
    }
}
