//! Sectors of different sizes, on a card that compresses what the host writes.
//!
//! Such a card counts its space in granules: addresses name them, bands and stripes have room for so many, and a band's valid
//! count is theirs. A sector takes as many as it was compressed to, one behind the other in its stripe: on from the end of one unit
//! to the next, as controllers of this kind have it (US patent 9,495,288), but never from one stripe to the next, so that it
//! becomes durable with one stripe. Its address is that of its first granule, which alone is marked as valid.
//!
//! A sector that does not fit into what is left of a stripe begins the next one, and the rest stays unused. The host can
//! address no more than fits without compression: stripes hold at least as many sectors as if none were compressed, whatever
//! their sizes are, so its data fit as well when they become incompressible.

use crate::bands::BandState;
use crate::ftl::Ftl;
use crate::gc_state::Relocation;
use crate::layout::{BandId, Lba, NONE, Ppa, UnitAddress};
use crate::sizes::CompressionCounters;
use crate::stream::StreamId;
use device::Compressible;

/// Granules whose marks are looked at together.
const MOST_MARKS: u32 = 64;

/// Granules of a unit that follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The unit that holds them.
    pub unit: UnitAddress,
    /// The first of them.
    pub first: Ppa,
    /// How many there are.
    pub granules: u32,
}

impl Ftl {
    /// The host's writes are as compressible as this from now on; a card that does not compress keeps them as they are.
    pub fn compress(&mut self, compressible: Compressible) {
        if let Some(sizes) = &mut self.sizes {
            sizes.compress(compressible);
        }
    }

    /// Whether the card compresses what the host writes.
    #[inline]
    pub fn compresses(&self) -> bool {
        self.sizes.is_some()
    }

    /// The room that a mapped sector takes on flash and in the buffer, in addresses: one, or as many granules as it was
    /// compressed to.
    #[inline]
    pub fn room_of(&self, lba: Lba) -> u32 {
        match &self.sizes {
            None => 1,
            Some(sizes) => sizes.of(lba.0),
        }
    }

    /// The mean size of what the host writes, in sectors.
    pub fn mean_size(&self) -> f64 {
        self.sizes.as_ref().map_or(1.0, |sizes| sizes.mean())
    }

    /// The work of compression since the start; `None` on a card that does not compress.
    pub(crate) fn compression_counters(&self) -> Option<CompressionCounters> {
        self.sizes.as_ref().map(|sizes| sizes.counters)
    }

    #[inline(never)]
    pub(crate) fn write_compressed(&mut self, lba: Lba) -> Ppa {
        let old = self.map.get(lba.0 as usize);
        if old != NONE {
            self.invalidate_compressed(lba, old);
        }
        let sizes = self.sizes.as_mut().expect("the card compresses");
        let granules = sizes.draw(lba.0);
        let ppa = self.append_compressed(StreamId::Host, lba, granules, false);
        self.counters.host_sectors += 1;
        self.gc.pacing.earn_by(granules);
        ppa
    }

    pub(crate) fn invalidate_compressed(&mut self, lba: Lba, ppa: u32) {
        let band = self.layout.band_of(Ppa(ppa));
        let sizes = self.sizes.as_mut().expect("the card compresses");
        sizes.left(band);
        let granules = sizes.of(lba.0);
        self.valid.clear(ppa);
        let valid = &mut self.bands.valid[band.0 as usize];
        *valid -= granules;
        self.victims.lowered(band, *valid);
    }

    fn append_compressed(&mut self, stream: StreamId, lba: Lba, granules: u32, relocated: bool) -> Ppa {
        let room = self.streams[stream as usize].stripe_room(&self.layout);
        if (1..granules).contains(&room) {
            self.leave_unused(stream, room);
        }
        if self.streams[stream as usize].needs_band() {
            self.open_band(stream);
        }
        let s = &mut self.streams[stream as usize];
        let band = s.band().expect("just opened");
        let taken = s.take_run(granules, relocated, &self.layout, &self.bands);
        self.reverse.set(taken.ppa as usize, lba.0);
        self.valid.set(taken.ppa);
        self.map.set(lba.0 as usize, taken.ppa);
        self.bands.valid[band.0 as usize] += granules;
        self.sizes.as_mut().expect("the card compresses").came(band);
        if let Some(sealed) = taken.sealed {
            self.seal(sealed, taken.closed);
        }
        // A stream that has a band has room in it for a sector of any size: the host is asked for no less before it writes.
        let s = &self.streams[stream as usize];
        let room = s.stripe_room(&self.layout);
        if (1..self.sector_room).contains(&room) && s.fills_last_stripe(&self.layout, &self.bands) {
            self.leave_unused(stream, room);
        }
        Ppa(taken.ppa)
    }

    /// Closes the open stripe, in which the next sector has no room.
    fn leave_unused(&mut self, stream: StreamId, granules: u32) {
        let sizes = self.sizes.as_mut().expect("the card compresses");
        sizes.counters.unused_granules += u64::from(granules);
        if stream == StreamId::Host {
            self.gc.pacing.earn_by(granules);
        }
        self.seal_early(stream);
    }

    /// As [`Ftl::next_relocation`]: the sectors that begin in the next granules of the victim.
    pub(crate) fn next_compressed_relocation(&mut self) -> Option<Relocation> {
        let victim = self.gc.victims.back_mut()?;
        let Some(ppa) = self.valid.first_in(victim.next, victim.end) else {
            victim.next = victim.end;
            self.retire_finished_victims();
            return None;
        };
        let unit_granules = self.layout.unit_sectors;
        let in_unit = (ppa - victim.start) % unit_granules;
        let from = in_unit / MOST_MARKS * MOST_MARKS;
        let first = ppa - in_unit + from;
        let count = MOST_MARKS.min(unit_granules - from);
        let mask = self.valid.mask(first, count);
        victim.next = first + count;
        victim.reads_out += 1;
        let band = victim.band;
        let sizes = self.sizes.as_ref().expect("the card compresses");
        let mut room = 0;
        let mut left = mask;
        while left != 0 {
            let lba = self.reverse.get((first + left.trailing_zeros()) as usize);
            self.map.prefetch(lba as usize);
            room += sizes.of(lba);
            left &= left - 1;
        }
        self.gc.pacing.spend(room);
        let unit = self.layout.locate(Ppa(first));
        Some(Relocation { unit, first: Ppa(first), mask, mode: self.bands.get(band).mode, room })
    }

    /// As the end of [`Ftl::relocate`]: moves what is still valid of a relocation.
    pub(crate) fn move_compressed(&mut self, relocation: &Relocation, moved: &mut impl FnMut(Ppa, Ppa)) {
        let stream = self.relocation_stream();
        let mut mask = relocation.mask & self.valid.mask(relocation.first.0, MOST_MARKS);
        while mask != 0 {
            let ppa = relocation.first.0 + mask.trailing_zeros();
            mask &= mask - 1;
            let lba = Lba(self.reverse.get(ppa as usize));
            let granules = self.room_of(lba);
            self.invalidate_compressed(lba, ppa);
            let to = self.append_compressed(stream, lba, granules, true);
            moved(Ppa(ppa), to);
            self.counters.relocated_sectors += u64::from(granules);
        }
    }

    /// The granules of a mapped sector, of which the last may lie in another unit than the first.
    pub fn extents_of(&self, lba: Lba) -> Option<[Option<Extent>; 2]> {
        let ppa = self.lookup(lba)?;
        let granules = self.room_of(lba);
        let unit_granules = self.layout.unit_sectors;
        let here = granules.min(unit_granules - ppa.0 % unit_granules);
        let first = Extent { unit: self.layout.locate(ppa), first: ppa, granules: here };
        let rest = granules - here;
        if rest == 0 {
            return Some([Some(first), None]);
        }
        let next = self.next_unit_start(ppa);
        Some([Some(first), Some(Extent { unit: self.layout.locate(next), first: next, granules: rest })])
    }

    /// The address at which the data of a stripe go on after the unit of another.
    fn next_unit_start(&self, ppa: Ppa) -> Ppa {
        let unit = self.layout.locate(ppa);
        let stripe = self.layout.stripe_of(unit);
        let number = unit.die % self.layout.width;
        let later = self.stripe_units(stripe).data & (u64::MAX << number << 1);
        debug_assert_ne!(later, 0, "a sector ends in its stripe");
        Ppa(self.layout.stripe_start(stripe) + later.trailing_zeros() * self.layout.unit_sectors)
    }

    /// The granules of a relocation's last sector that lie in the unit after its own.
    pub fn tail_of(&self, relocation: &Relocation) -> Option<Extent> {
        let last = relocation.first.0 + 63_u32.checked_sub(relocation.mask.leading_zeros())?;
        self.extents_of(Lba(self.reverse.get(last as usize)))?[1]
    }

    /// The room that the valid sectors of a band take at most where they are moved to.
    pub(crate) fn room_to_move(&self, band: BandId) -> u64 {
        let valid = self.bands.valid[band.0 as usize];
        match &self.sizes {
            None => valid.into(),
            Some(sizes) => {
                // Stripes over bad blocks are narrower.
                let units = (self.layout.width - self.layout.parity_units - 1).max(1);
                sizes.room_for(band, valid, units * self.layout.unit_sectors)
            }
        }
    }

    /// Valid room of a band, counted sector by sector.
    pub(crate) fn count_valid(&self, band: BandId) -> (u32, u32) {
        let start = self.layout.band_start(band);
        let end = start + self.layout.band_sectors;
        let Some(sizes) = &self.sizes else {
            let sectors = self.valid.count_in(start, end);
            return (sectors, sectors);
        };
        let (mut sectors, mut granules, mut at) = (0, 0, start);
        while let Some(ppa) = self.valid.first_in(at, end) {
            sectors += 1;
            granules += sizes.of(self.reverse.get(ppa as usize));
            at = ppa + 1;
        }
        debug_assert!(sectors == 0 || self.bands.get(band).state != BandState::Free);
        (sectors, if sectors == sizes.valid_of(band) { granules } else { u32::MAX })
    }
}
