//! Placement: writes for which the host names a handle fill bands of their own.
//!
//! This is NVMe's flexible data placement, with bands as reclaim units, and its streams before that. The host names a handle
//! for each region of its sectors, as namespaces have one by default; relocation keeps data of different handles apart for
//! good, or lets them mix ([`Isolation`]).
//!
//! The streams of handles stand beside those of a card without: while there are handles, the stream of the host never has
//! a band, and each of its sectors takes the way that opens one. So a card without handles does nothing for them.
//!
//! An erase waits for no stripe of a handle: a stripe of a handle that is seldom written may stay open for long. The
//! sectors that make the band stale lie in a buffer that capacitors put on flash: such a card needs them.

use crate::ftl::Ftl;
use crate::handles::AllHandles;
use crate::layout::{BandId, Lba, Ppa};
use crate::placement_config::MAX_HANDLES;
use crate::stream::StreamId;
use media::nand::CellMode;

impl Ftl {
    /// The host writes the sectors before the first end with the first handle, those before the second end with the second, and
    /// so on; those after the last end with the handle that follows.
    ///
    /// # Panics
    /// When the card has fewer handles: a bug of the caller.
    pub fn place(&mut self, ends: &[u64]) {
        let placement = self.placement.as_mut().expect("the card has handles");
        assert!(ends.len() < placement.host.len(), "a handle for each region");
        assert!(ends.is_sorted(), "regions follow each other");
        placement.ends = ends.iter().map(|&end| end.min(u64::from(u32::MAX)) as u32).collect();
    }

    /// The handles of the card; 1 where it has none.
    pub fn handles(&self) -> u32 {
        self.config.placement.map_or(1, |placement| placement.handles)
    }

    /// The work by handle since the start; all zero on a card without.
    pub fn handle_counters(&self) -> AllHandles {
        self.placement.as_ref().map_or(AllHandles::default(), |placement| placement.counters)
    }

    /// Gives a sector the next address of its handle's stream, or of its zone; `None` where the stream is not divided.
    #[inline(never)]
    pub(crate) fn append_apart(&mut self, id: StreamId, lba: Lba, relocated: bool) -> Option<Ppa> {
        if self.zones.is_some() {
            return Some(self.append_to_zone(lba));
        }
        let placement = self.placement.as_mut().filter(|placement| placement.divides(id))?;
        let index = placement.handle_of(lba);
        placement.counters[index].host_sectors += u64::from(!relocated);
        if placement.frontiers(id)[index].stream.needs_band() {
            self.open_band_apart(id, index);
        }
        let stream = &mut self.placement.as_mut()?.frontiers(id)[index].stream;
        let band = stream.band().expect("just opened");
        let taken = stream.take(relocated, &self.layout, &self.bands);
        self.lies_at(lba, taken.ppa, band);
        if let Some(sealed) = taken.sealed {
            self.seal(sealed, taken.closed);
        }
        Some(Ppa(taken.ppa))
    }

    fn open_band_apart(&mut self, id: StreamId, index: usize) {
        let cold = id == StreamId::Relocation && self.moves_cold_data();
        let band = self.bands.open(id as u8, CellMode::Native, cold);
        let band = band.expect("collection never runs out of bands: the reserve is its own");
        let (stripes, data_stripes) = self.band_stripes(band);
        let placement = self.placement.as_mut().expect("a handle opens it");
        placement.of_band[band.0 as usize] = index as u8;
        placement.frontiers(id)[index].stream.start_band(band, CellMode::Native, stripes, data_stripes, 1);
        self.checkpoints.opened += 1;
        self.update_collecting();
    }

    /// Counts the sectors of a unit that are about to be moved, with the handles that they are written with.
    pub(crate) fn count_relocated(&mut self, first: Ppa, mut mask: u64) {
        let Some(placement) = &mut self.placement else { return };
        while mask != 0 {
            let lba = Lba(self.reverse.get((first.0 + mask.trailing_zeros()) as usize));
            mask &= mask - 1;
            let index = placement.handle_of(lba);
            placement.counters[index].relocated_sectors += 1;
        }
    }

    /// Whether what is moved goes to bands of its handle.
    #[inline]
    pub(crate) fn relocates_apart(&self) -> bool {
        self.placement.as_ref().is_some_and(|placement| placement.divides(StreamId::Relocation))
    }

    /// Whether there is room for the valid sectors of one more victim beside the present ones: each handle needs bands of its
    /// own for what its open one has no room for.
    pub(crate) fn has_room_apart(&self, band: BandId) -> bool {
        let Some(placement) = &self.placement else { return false };
        let mut left = [0_u64; MAX_HANDLES];
        for band in self.gc.victims.iter().map(|victim| victim.band).chain([band]) {
            let handle = usize::from(placement.of_band[band.0 as usize]);
            left[handle] += u64::from(self.bands.valid[band.0 as usize]);
        }
        let full = u64::from(self.bands.full_sectors());
        let opened: u64 = left
            .iter()
            .zip(&placement.relocation)
            .map(|(sectors, frontier)| {
                let room = frontier.stream.unopened_sectors(&self.layout, &self.bands);
                sectors.saturating_sub(u64::from(room)).next_multiple_of(full)
            })
            .sum();
        opened <= self.reserve_for_victims()
    }

    /// Closes the open stripes of all handles with padding.
    pub fn seal_handles(&mut self) {
        for index in 0..self.placement.as_ref().map_or(0, |placement| placement.host.len()) {
            for id in [StreamId::Relocation, StreamId::Host] {
                let Some(placement) = &mut self.placement else { return };
                let Some(frontier) = placement.frontiers(id).get_mut(index) else { continue };
                if let Some((sealed, closed)) = frontier.stream.seal_early(&self.layout, &self.bands) {
                    self.seal(sealed, closed);
                }
            }
        }
    }
}
