//! What a card that holds contents needs besides: where sectors go when something goes wrong, and the sectors that say
//! which others are unmapped.

use crate::FoundBlock;
use crate::ftl::{Ftl, NONE};
use crate::layout::{BandId, Lba, Ppa, StripeId};
use crate::recover::Opening;
use crate::stream::StreamId;
use crate::valid::ValidMap;
use media::nand::CellMode;

/// What a rebuild has to restore: what was valid when it began. What was not valid then is needed no more as soon as all
/// that was written before is on flash; what becomes stale later may be needed again should the power go.
#[derive(Clone, Debug)]
pub(crate) struct Needed {
    valid: ValidMap,
    /// By stream.
    barriers: [u64; 2],
}

impl Ftl {
    /// LBAs whose holes one sector describes.
    pub fn hole_segment_lbas(&self) -> u32 {
        self.config.hole_segment_lbas()
    }

    /// The sector that describes the holes of a segment, as an address of the map beyond those of the host.
    pub fn holes_lba(&self, segment: u32) -> Lba {
        Lba(self.config.user_sectors as u32 + segment)
    }

    /// The segment that an address of the map beyond those of the host describes.
    pub fn segment_of(&self, lba: Lba) -> Option<u32> {
        lba.0.checked_sub(self.config.user_sectors as u32)
    }

    /// The card writes the holes of a segment; returns where they will lie. They count as relocated: they take none of the
    /// host's room in the buffer.
    pub fn write_holes(&mut self, segment: u32) -> Ppa {
        let lba = self.holes_lba(segment);
        let old = self.map[lba.0 as usize];
        if old != NONE {
            self.invalidate(old);
        }
        self.counters.metadata_sectors += 1;
        self.append(StreamId::Host, lba, true)
    }

    /// There is room for so many sectors that describe holes.
    pub fn has_room_for_holes(&self, count: usize) -> bool {
        let open = self.streams[StreamId::Host as usize].room_sectors(&self.layout, &self.bands);
        u64::from(open) + self.bands.free_sectors() >= count as u64
    }

    /// The sector that an address was written for; the address holds its newest version if [`Ftl::is_current`].
    pub fn written_for(&self, ppa: Ppa) -> Lba {
        Lba(self.reverse[ppa.0 as usize])
    }

    /// The address holds the newest version of a sector.
    pub fn is_current(&self, ppa: Ppa) -> bool {
        self.valid.is_valid(ppa.0)
    }

    /// There is room for one more sector that has to be written again because its stripe failed. The last free band is
    /// for holes: nothing may be erased before those are durable.
    pub fn can_rewrite(&self) -> bool {
        !self.streams[StreamId::Relocation as usize].needs_band() || self.bands.free_count() > 1
    }

    /// There is room for so many more relocated sectors, at most a unit's. There was when their victim was chosen; but
    /// bands are narrower when a die has gone.
    pub fn can_relocate(&self, sectors: u32) -> bool {
        let stream = &self.streams[self.relocation_stream() as usize];
        self.bands.free_count() > self.own_bands || stream.room_sectors(&self.layout, &self.bands) >= sectors
    }

    /// Moves one sector: what lies at its address can't be relied on. The caller has its contents.
    pub fn rewrite(&mut self, ppa: Ppa) -> Ppa {
        let lba = Lba(self.reverse[ppa.0 as usize]);
        self.invalidate(ppa.0);
        self.counters.relocated_sectors += 1;
        self.append(StreamId::Relocation, lba, true)
    }

    /// Writes an older version of a sector, which has to be on flash until a newer one is durable.
    pub fn write_outdated(&mut self, lba: Lba) -> Ppa {
        let newest = self.map[lba.0 as usize];
        let ppa = self.append(StreamId::Relocation, lba, true);
        self.counters.relocated_sectors += 1;
        self.invalidate(ppa.0);
        self.map[lba.0 as usize] = newest;
        ppa
    }

    /// Stripes of a band as it is used, and how many of them take data.
    pub fn band_stripes(&self, band: BandId) -> (u32, u32) {
        let rows = match (self.bands.get(band).mode, self.config.slc_cache) {
            (CellMode::Slc, Some(cache)) => self.layout.rows / cache.bits_per_cell,
            _ => self.layout.rows,
        };
        let stripes = rows * self.layout.groups;
        (stripes, self.layout.data_stripes(stripes, |group| self.bands.units_in_use(band, group, &self.layout)))
    }

    /// Units of a band on a group of dies that are in use, as bits.
    pub fn units_in_use(&self, band: BandId, group: u32) -> u64 {
        self.bands.units_in_use(band, group, &self.layout)
    }

    /// The stripe has to be there: a sector of it is valid, or was when the rebuild began, or it tells what others hold.
    /// Without a summary each stripe tells that of itself.
    pub fn stripe_is_needed(&self, stripe: StripeId) -> bool {
        let (_, data_stripes) = self.band_stripes(stripe.band);
        let of_band = self.bands.get(stripe.band);
        if !of_band.has_summary || of_band.stream == StreamId::Checkpoint as u8 || stripe.index >= data_stripes {
            return true;
        }
        let start = self.layout.stripe_start(stripe);
        let valid = self.needed.as_ref().map_or(&self.valid, |needed| &needed.valid);
        valid.first_in(start, start + self.layout.stripe_sectors).is_some()
    }

    /// The address held the newest version of a sector when the rebuild began, or does now.
    pub fn is_needed(&self, ppa: Ppa) -> bool {
        self.is_current(ppa) || self.needed.as_ref().is_some_and(|needed| needed.valid.is_valid(ppa.0))
    }

    /// A rebuild begins. Closes the open stripes.
    pub fn note_needed(&mut self) {
        self.seal_for_durability(StreamId::Relocation);
        self.seal_for_durability(StreamId::Host);
        self.needed = Some(Box::new(Needed { valid: self.valid.clone(), barriers: self.barriers() }));
    }

    /// [`Ftl::stripe_is_needed`] may be asked: what made the rest stale is on flash.
    pub fn needed_is_known(&self) -> bool {
        self.needed.as_deref().is_none_or(|needed| self.is_durable(needed.barriers))
    }

    /// The rebuild is over.
    pub fn forget_needed(&mut self) {
        self.needed = None;
    }

    /// How many sectors of its band's summary lie before a stripe.
    pub fn summary_ordinal(&self, stripe: StripeId) -> u32 {
        let (_, data_stripes) = self.band_stripes(stripe.band);
        let units = |index| self.stripe_units(StripeId { band: stripe.band, index }).data.count_ones();
        (data_stripes..stripe.index).map(units).sum::<u32>() * self.layout.unit_sectors
    }

    /// All of a closed band is on flash.
    pub fn is_settled(&self, band: BandId) -> bool {
        self.victims.contains(band)
    }

    /// The last stripes of a band tell what it holds.
    pub fn has_summary(&self, band: BandId) -> bool {
        self.bands.get(band).has_summary
    }

    /// What the sectors of a band have in common since it was opened last.
    pub fn opening(&self, band: BandId) -> Opening {
        let band = self.bands.get(band);
        Opening { sequence: band.sequence, slc: band.mode == CellMode::Slc, stream: band.stream }
    }

    /// Units of a stripe that are in use, parity's among them, as bits.
    pub fn stripe_members(&self, stripe: StripeId) -> u64 {
        self.units_in_use(stripe.band, self.layout.group_of(stripe.index))
    }

    /// Number of the last opening of any band.
    pub fn last_band_sequence(&self) -> u64 {
        self.bands.last_sequence
    }

    /// The numbers that [`Ftl::is_durable`] must be asked for everything that was written so far, by the host and by
    /// collection; the open stripes count too, so they may have to be sealed early.
    pub fn barriers(&self) -> [u64; 2] {
        [StreamId::Host, StreamId::Relocation].map(|stream| self.streams[stream as usize].barrier())
    }

    /// All that a stream wrote before the barrier is on flash.
    pub fn stream_is_durable(&self, stream: StreamId, barrier: u64) -> bool {
        self.streams[stream as usize].is_durable(barrier)
    }

    /// All that was written before these barriers is on flash.
    pub fn is_durable(&self, barriers: [u64; 2]) -> bool {
        self.streams.iter().zip(barriers).all(|(stream, barrier)| stream.is_durable(barrier))
    }

    /// Collection leaves so many free bands to what can't wait for it: sectors of stripes that failed, and holes.
    pub fn keep_free(&mut self, bands: u32) {
        self.own_bands = bands;
    }

    /// A fresh card on a medium that says which blocks are bad.
    pub fn take_over_blocks(&mut self, is_bad: impl Fn(u32, u32) -> bool) {
        for band in 0..self.bands.count() {
            for die in (0..self.layout.dies).filter(|&die| is_bad(band, die)) {
                self.blocks.retire(band, die);
            }
        }
        self.bands.recount_free(&self.layout, &self.blocks);
    }

    /// How often a band was erased.
    pub fn band_cycles(&self, band: BandId) -> u32 {
        self.bands.get(band).cycles
    }

    /// How many bands there are.
    pub fn bands(&self) -> u32 {
        self.bands.count()
    }

    /// A module has come while the card is at work; `block` says what the medium knows of its blocks. Nobody knows what
    /// they hold: bands go on without each until it is erased, with its band or by [`Ftl::block_erased`].
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

    /// A block that its band, as it is used now, does without was erased: it belongs to the band from its next opening
    /// on.
    pub fn block_erased(&mut self, band: BandId, die: u32) {
        self.counters.erases += 1;
        let cycles = self.blocks.cycles(band.0, die) + 1;
        self.blocks.set(band.0, die, 0, cycles);
        self.bands.recount(band, &self.layout, &self.blocks);
        self.update_collecting();
    }

    /// A die answers no more, or again. Bands that are opened from now on are without it, or with it.
    pub fn set_die_dead(&mut self, die: u32, dead: bool) {
        self.blocks.set_dead(die, dead);
        self.bands.recount_free(&self.layout, &self.blocks);
        self.update_collecting();
    }
}
