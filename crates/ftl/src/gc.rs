//! Garbage collection: the choice of victims, the relocation of their valid sectors, and the erase of their bands.

use crate::bands::BandState;
use crate::canary::{Canary, planted};
use crate::config::{GcMode, VictimPolicy};
use crate::ftl::Ftl;
use crate::gc_state::{MAX_VICTIMS, Relocation, StaleBand, Victim};
use crate::layout::{BandId, Lba, NONE, Ppa};
use crate::stream::StreamId;
use media::nand::CellMode;

impl Ftl {
    /// The free space above the reserve, in bands, counted smoothly: free and stale bands, room in the open ones, and
    /// for each victim the share of its gain that its cleaning has reached.
    pub(crate) fn free_space_bands(&self) -> f64 {
        let full = f64::from(self.bands.full_sectors());
        let mut free = self.bands.free_sectors() as f64 / full - f64::from(self.config.reserve_bands);
        free += self.gc.stale.len() as f64;
        free += self.streams[0].room() + self.streams[1].room();
        free += self.placement.as_ref().map_or(0.0, |placement| placement.room());
        // Pages of the map have a number of bands to themselves, whether they take them right now or not: how these come and
        // go is no matter of what host writes have to pay for.
        free += f64::from(self.map_bands_in_use()) - self.map_bands_kept;
        for v in &self.gc.victims {
            let done = f64::from(v.next - v.start) / f64::from(v.end - v.start);
            free += done * f64::from(v.gain) / full;
        }
        free
    }

    /// Chooses a victim if relocation is due and none is being scanned; `true` if there is something to relocate. `idle`
    /// means that the host asks for nothing right now, so collection may run ahead.
    #[inline]
    pub fn prepare_relocation(&mut self, idle: bool) -> bool {
        // The usual case: a victim is being scanned, and the pace decides whether its relocation continues.
        if let Some(victim) = self.gc.scanning()
            && !victim.urgent
            && self.gc.urgent.is_empty()
            && matches!(self.config.gc, GcMode::Paced { .. })
        {
            return self.gc.pacing.is_due() || self.is_starved() || self.is_behind(idle);
        }
        self.prepare_unusual(idle)
    }

    fn is_starved(&self) -> bool {
        self.bands.free_worth() <= self.config.reserve_bands
    }

    /// Whether an idle card is below its target of free space. Without host work collection runs freely, but not beyond
    /// the target: cleaning a band earlier than needed moves sectors that the host would have overwritten.
    fn is_behind(&self, idle: bool) -> bool {
        idle && self.free_space_bands() < self.gc.pacing.target_bands()
    }

    fn prepare_unusual(&mut self, idle: bool) -> bool {
        if !self.gc.urgent.is_empty() || self.gc.scanning().is_some_and(|v| v.urgent) {
            return self.prepare_urgent() || self.prepare_ordinary(idle);
        }
        self.prepare_ordinary(idle)
    }

    /// Whether there is a victim to scan while bands have to be emptied; takes such a band as the victim if there is
    /// none.
    fn prepare_urgent(&mut self) -> bool {
        if self.gc.scanning().is_some() {
            // A victim that is being scanned is finished first.
            return true;
        }
        for _ in 0..self.gc.urgent.len() {
            let band = self.gc.urgent.pop_front().expect("counted");
            if self.bands.get(band).state != BandState::Closed {
                continue;
            }
            if self.victims.contains(band) && self.gc.victims.len() < MAX_VICTIMS && self.has_room_for(band) {
                self.begin_victim(band, false);
                self.gc.victims.back_mut().expect("just begun").urgent = true;
                return true;
            }
            // The band is not completely on flash yet, or there is no room yet.
            self.gc.urgent.push_back(band);
        }
        false
    }

    /// Whether some bands still have to be emptied, whatever the pace.
    pub(crate) fn has_urgent(&self) -> bool {
        !self.gc.urgent.is_empty() || self.gc.victims.iter().any(|v| v.urgent)
    }

    /// Demands that a band is emptied, whatever the pace.
    pub fn evacuate(&mut self, band: BandId) {
        if self.bands.get(band).stream == StreamId::Checkpoint as u8 {
            return self.flaw_checkpoint();
        }
        if let Some(victim) = self.gc.victims.iter_mut().find(|v| v.band == band) {
            // The band is being emptied already, but would stop halfway when there is enough free space.
            victim.urgent = true;
        } else if !self.gc.urgent.contains(&band) {
            self.gc.urgent.push_back(band);
        }
    }

    fn prepare_ordinary(&mut self, idle: bool) -> bool {
        match self.config.gc {
            GcMode::Paced { .. } => {
                let starved = self.is_starved();
                if starved || self.is_behind(idle) || self.gc.pacing.is_due() {
                    return self.ensure_victim(starved);
                }
                // The first victim sets the pace.
                self.gc.scanning().is_none() && self.ensure_victim(false) && self.gc.pacing.is_due()
            }
            GcMode::StopTheWorld { .. } => {
                if self.gc.collecting && self.config.separate_streams {
                    // The host is stopped and can't fill its open stripe, and stale bands wait for that stripe to be
                    // durable.
                    self.seal_early(StreamId::Host);
                }
                self.gc.collecting && self.ensure_victim(true)
            }
        }
    }

    /// Begins or ends stop-the-world collection, after the number of free bands changed.
    pub(crate) fn update_collecting(&mut self) {
        let GcMode::StopTheWorld { start_free_bands, stop_free_bands } = self.config.gc else { return };
        let free = self.bands.free_worth().saturating_sub(self.config.reserve_bands);
        if free <= start_free_bands {
            self.gc.collecting = true;
        } else if free >= stop_free_bands {
            self.gc.collecting = false;
        }
        self.gc.note_reasons();
    }

    /// Whether there is a victim with something left to scan; chooses one if there is none.
    fn ensure_victim(&mut self, starved: bool) -> bool {
        if self.gc.scanning().is_some() {
            return true;
        }
        let enough = match self.config.gc {
            GcMode::Paced { .. } => !starved && self.free_space_bands() >= self.gc.pacing.ceiling_bands(),
            GcMode::StopTheWorld { stop_free_bands, .. } => {
                self.bands.free_worth() + self.gc.stale.len() as u32 >= stop_free_bands + self.config.reserve_bands
            }
        };
        if enough || self.gc.victims.len() >= MAX_VICTIMS {
            return false;
        }
        if let Some(band) = self.stale_map_band(starved)
            && self.has_room_for(band)
        {
            self.gc.map_bands.pop_front();
            self.victims.insert(band, self.bands.valid[band.0 as usize], 0, self.counters.host_sectors);
            self.begin_victim(band, false);
            // There is next to nothing to be moved, which need not wait until host writes have earned it.
            self.gc.victims.back_mut().expect("just begun").urgent = true;
            return true;
        }
        // While other victims are being moved, there is often room for none. Then the search can be skipped.
        if self.gc.wear_candidate.is_none() && self.victims.chooses_without_trace() && !self.relocates_apart() {
            let least = u64::from(self.victims.min_valid_bound());
            if self.room_for_victim().is_none_or(|room| least > room) {
                return false;
            }
        }
        let drawn = self.gc.drawn.take().filter(|&band| self.victims.contains(band));
        let Some((mut band, mut cold)) = drawn.map(|band| (band, false)).or_else(|| self.choose_victim()) else {
            return false;
        };
        if !self.has_room_for(band) {
            if matches!(self.config.victim, VictimPolicy::RandomD(_))
                && !cold
                && !(self.gc.victims.is_empty() && self.gc.stale.is_empty())
            {
                // Room comes when the present victims are done. Another draw until one fits would prefer empty bands.
                self.gc.drawn = Some(band);
                return false;
            }
            // The band with the fewest valid sectors may still fit, and frees space for the others.
            let Some(emptiest) = self.victims.emptiest(&self.bands.valid) else { return false };
            if !self.has_room_for(emptiest) {
                return false;
            }
            (band, cold) = (emptiest, false);
        }
        self.begin_victim(band, cold);
        true
    }

    /// Starts to clean a band.
    fn begin_victim(&mut self, band: BandId, cold: bool) {
        self.victims.remove(band, &self.bands.valid);
        self.bands.set_state(band, BandState::Closed, BandState::Victim);
        let start = self.layout.band_start(band);
        let valid = self.bands.valid[band.0 as usize];
        let gain = self.bands.get(band).data_sectors.saturating_sub(valid);
        self.gc.victims.push_back(Victim {
            band,
            start,
            next: start,
            end: start + self.layout.band_sectors,
            reads_out: 0,
            relocation_barrier: 0,
            valid_at_start: valid,
            gain,
            cold,
            urgent: false,
        });
        self.adjust_pace();
    }

    /// Chooses a victim in the SLC cache if none is being scanned, to make room there for the next burst; `true` if there
    /// is something to relocate. The host has been idle for a while, so the sectors in the cache go to native bands.
    pub fn prepare_fold(&mut self) -> bool {
        if self.gc.scanning().is_some() {
            return true;
        }
        let Some(band) = self.fold_candidate() else { return false };
        if self.gc.victims.len() >= MAX_VICTIMS || !self.has_room_for(band) {
            return false;
        }
        self.begin_victim(band, false);
        true
    }

    /// Whether the SLC cache holds data that can be folded.
    pub fn can_fold(&self) -> bool {
        self.fold_candidate().is_some()
    }

    fn fold_candidate(&self) -> Option<BandId> {
        if self.bands.slc_in_use() == 0 {
            return None;
        }
        let cached = self.victims.closed().iter().filter(|&&b| self.bands.get(b).mode == CellMode::Slc);
        cached.min_by_key(|&&b| (self.bands.valid[b.0 as usize], b)).copied()
    }

    /// Whether there is room for the valid sectors of one more victim beside the present ones, without counting on
    /// erases that are yet to come. Among the free bands only the reserve counts, because the host may take the others.
    /// In the open band only unopened stripes count, because an open stripe may be closed early; where the host writes
    /// into the same band, none of them counts.
    fn has_room_for(&self, band: BandId) -> bool {
        if self.relocates_apart() {
            return self.has_room_apart(band);
        }
        let needed = self.room_to_move(band);
        self.room_for_victim().is_some_and(|room| needed <= room)
    }

    /// The room that [`Ftl::has_room_for`] counts, in sectors; `None` if it is less than the present victims need.
    fn room_for_victim(&self) -> Option<u64> {
        let under_way = self.gc.victims.iter().map(|v| self.room_to_move(v.band)).sum::<u64>();
        let reserve = self.reserve_for_victims();
        let room = match self.relocation_stream() {
            StreamId::Host => 0,
            stream => self.streams[stream as usize].unopened_sectors(&self.layout, &self.bands),
        };
        (reserve + u64::from(room)).checked_sub(under_way)
    }

    /// The sectors of free bands that one more victim may count on.
    pub(crate) fn reserve_for_victims(&self) -> u64 {
        let full = u64::from(self.bands.full_sectors());
        // A card with contents keeps a part for writes that can't wait for collection: stripes whose programs failed,
        // and the card's own sectors that must be written before anything can be erased.
        let count = u64::from(self.bands.free_count());
        let own = (self.bands.free_sectors() * u64::from(self.kept_free_bands)).checked_div(count).unwrap_or(0);
        let reserve = self.bands.free_sectors().saturating_sub(own).min(u64::from(self.config.reserve_bands) * full);
        // As long as other bands come free, one band stays in hand.
        let alone = self.gc.victims.is_empty() && self.gc.stale.is_empty();
        let in_hand = if alone { 0 } else { full };
        reserve.saturating_sub(in_hand)
    }

    /// The stream that relocated sectors go to.
    pub(crate) fn relocation_stream(&self) -> StreamId {
        if self.config.separate_streams { StreamId::Relocation } else { StreamId::Host }
    }

    fn choose_victim(&mut self) -> Option<(BandId, bool)> {
        if let Some(band) = self.gc.wear_candidate.take()
            // The band may have been cleaned since, and be closing again.
            && self.victims.contains(band)
        {
            return Some((band, true));
        }
        let now = self.counters.host_sectors;
        let band = self.victims.choose(&self.bands.valid, self.full_band_sectors, now)?;
        // While a module is away, bands that are opened take less than those from before, and what is moved fills more.
        let gains = |b: BandId| {
            let takes = self.bands.get(b).data_sectors.min(self.bands.full_sectors());
            self.bands.valid[b.0 as usize] < takes
        };
        // Cleaning a full victim gains nothing. FIFO and random may still pass over one, but if all are full, stop.
        if !gains(band) && !self.victims.closed().iter().any(|&b| gains(b)) {
            return None;
        }
        Some((band, false))
    }

    /// Adjusts the pace to the present victim and free space.
    pub(crate) fn adjust_pace(&mut self) {
        // Bands of the map's pages come free for next to nothing, and say nothing of what host writes have to pay for.
        let of_data = |v: &&Victim| self.bands.get(v.band).stream != StreamId::Map as u8;
        if let Some(v) = self.gc.victims.iter().rev().find(of_data) {
            let (valid, gain) = (v.valid_at_start, v.gain);
            let free = self.free_space_bands();
            self.gc.pacing.adjust(valid, gain, free);
        }
    }

    /// The next sectors to move, after [`Ftl::prepare_relocation`] said that some are due; their read is in flight from now on.
    /// `None` if the victim has nothing left.
    pub fn next_relocation(&mut self) -> Option<Relocation> {
        if self.compresses() {
            return self.next_compressed_relocation();
        }
        let victim = self.gc.victims.back_mut()?;
        let unit_sectors = self.layout.unit_sectors;
        let found = self.valid.first_in(victim.next, victim.end);
        let Some(ppa) = found else {
            victim.next = victim.end;
            self.retire_finished_victims();
            return None;
        };
        let offset = ppa - victim.start;
        let first = victim.start + offset / unit_sectors * unit_sectors;
        let mask = self.valid.mask(first, unit_sectors);
        victim.next = first + unit_sectors;
        victim.reads_out += 1;
        let band = victim.band;
        // Their map entries are in the cache by the time these sectors are read.
        let mut left = mask;
        while left != 0 {
            let lba = self.reverse.get((first + left.trailing_zeros()) as usize);
            self.map.prefetch(lba as usize);
            left &= left - 1;
        }
        let room = mask.count_ones();
        self.gc.pacing.spend(room);
        Some(Relocation {
            unit: self.layout.locate(Ppa(first)),
            first: Ppa(first),
            mask,
            mode: self.bands.get(band).mode,
            room,
        })
    }

    /// Moves the sectors of a relocation that was read and that are still valid to the relocation stream. `moved` gets
    /// the old and the new address of each.
    pub fn relocate(&mut self, relocation: Relocation, mut moved: impl FnMut(Ppa, Ppa)) {
        let stream = self.relocation_stream();
        let moved_before = self.counters.relocated_sectors;
        let mut mask = if self.compresses() {
            self.move_compressed(&relocation, &mut moved);
            0
        } else {
            relocation.mask & self.valid.mask(relocation.first.0, self.layout.unit_sectors)
        };
        if self.placement.is_some() {
            self.count_relocated(relocation.first, mask);
        }
        if self.has_map_cache() {
            mask = self.move_map_pages(relocation.first, mask);
        }
        while mask != 0 {
            let ppa = relocation.first.0 + mask.trailing_zeros();
            mask &= mask - 1;
            let lba = self.reverse.get(ppa as usize);
            debug_assert_ne!(lba, NONE);
            self.invalidate(ppa);
            let to = self.append(stream, Lba(lba), true);
            moved(Ppa(ppa), to);
            self.counters.relocated_sectors += 1;
        }
        let band = relocation.unit.band;
        let victim = self.gc.victims.iter_mut().find(|v| v.band == band).expect("a relocation belongs to a victim");
        victim.reads_out -= 1;
        if self.counters.relocated_sectors > moved_before {
            victim.relocation_barrier = self.streams[StreamId::Relocation as usize].barrier();
        }
        if self.has_map_cache() {
            self.let_map_pages_leave();
        }
        self.retire_finished_victims();
    }

    /// Makes victims stale that are scanned to the end and have no reads in flight: nothing valid is left in them.
    pub(crate) fn retire_finished_victims(&mut self) {
        while let Some(v) = self.gc.victims.front()
            && v.next == v.end
            && v.reads_out == 0
        {
            let (band, relocation_barrier) = (v.band, v.relocation_barrier);
            self.gc.victims.pop_front();
            self.bands.set_state(band, BandState::Victim, BandState::Stale);
            self.gc.stale.push_back(StaleBand {
                band,
                host_barrier: self.streams[StreamId::Host as usize].barrier(),
                relocation_barrier,
                checkpoint_barrier: 0,
            });
        }
    }

    /// Whether the present victim was chosen to level wear: its cold data go to the most worn band.
    pub(crate) fn moves_cold_data(&self) -> bool {
        self.gc.victims.back().is_some_and(|v| v.cold)
    }

    /// The next band that may be erased: nothing in it is valid, and everything that made it so is durable.
    pub fn next_erase(&mut self) -> Option<BandId> {
        self.next_erase_but(usize::MAX, [None, None])
    }

    /// As [`Ftl::next_erase`], from the first `count` bands that wait, without the bands in `but`.
    pub fn next_erase_but(&mut self, count: usize, but: [Option<BandId>; 2]) -> Option<BandId> {
        let [host, relocation, checkpoint, _] = &self.streams;
        let is_ready = |s: &StaleBand| {
            !but.contains(&Some(s.band))
                && (host.is_durable(s.host_barrier) || planted(Canary::EraseBeforeOverwrite))
                && (relocation.is_durable(s.relocation_barrier) || planted(Canary::EraseBeforeRelocation))
                && checkpoint.is_durable(s.checkpoint_barrier)
        };
        let first = self.gc.stale.iter().take(count).position(is_ready)?;
        self.gc.stale.remove(first).map(|s| s.band)
    }

    /// The number of bands that wait for their erase.
    pub fn stale_bands(&self) -> usize {
        self.gc.stale.len()
    }

    /// Whether bands wait for their erase. They may wait for stripes that are not full, and without more writes they
    /// would wait for ever.
    pub fn stale_bands_wait(&self) -> bool {
        !self.gc.stale.is_empty()
    }

    /// Whether no band is being cleaned.
    pub fn gc_is_idle(&self) -> bool {
        self.gc.victims.is_empty()
    }

    /// Makes a band without valid sectors wait for its erase. Only programs of checkpoints can hold this erase back.
    pub(crate) fn put_aside_stale(&mut self, band: BandId, checkpoint_barrier: u64) {
        self.gc.stale.push_back(StaleBand { band, host_barrier: 0, relocation_barrier: 0, checkpoint_barrier });
    }

    /// Reports that the blocks of a band were erased on their medium, and frees the band. `usable` says whether a block
    /// can be used again; `None` for a block that was not erased, because its module came after the erase began.
    pub fn erased_on_medium(&mut self, band: BandId, usable: impl Fn(u32) -> Option<bool>) {
        for die in 0..self.layout.dies {
            if !self.blocks.is_usable(band.0, die) {
                continue;
            }
            let Some(usable) = usable(die) else { continue };
            self.counters.erases += 1;
            // The medium alone counts the erases of a block that failed.
            let cycles = self.blocks.cycles(band.0, die) + u32::from(usable);
            self.blocks.set(band.0, die, 0, cycles);
            if !usable {
                self.blocks.retire(band.0, die);
                self.counters.retired_blocks += 1;
            }
        }
        self.freed(band);
    }

    /// Erases all blocks of a band and frees it; blocks whose erase fails are retired.
    pub fn erased(&mut self, band: BandId) {
        for die in 0..self.layout.dies {
            if self.blocks.is_usable(band.0, die) {
                self.counters.erases += 1;
                if !self.blocks.erase(band.0, die) {
                    self.counters.retired_blocks += 1;
                }
            }
        }
        if self.zones.is_some() {
            self.mend(band);
        }
        self.freed(band);
        if self.zones.is_some() {
            self.settle_mended(band);
        }
    }

    fn freed(&mut self, band: BandId) {
        self.bands.erased(band, &self.layout, &self.blocks);
        self.update_collecting();
        self.gc.erased_since_wear_check += 1;
        self.level_wear();
    }

    /// Checks the wear of all bands once in a while. When the spread is too large, the least worn band is moved.
    fn level_wear(&mut self) {
        let limit = self.config.static_wear_spread_cycles;
        // One check per sixteenth of the number of bands makes the scan over all bands cost next to nothing.
        if limit == 0 || self.gc.erased_since_wear_check < (self.bands.count() / 16).clamp(1, 64) {
            return;
        }
        self.gc.erased_since_wear_check = 0;
        let most = (0..self.bands.count()).map(|b| self.bands.get(BandId(b)).cycles).max().unwrap_or(0);
        let least = self.victims.closed().iter().map(|&b| (self.bands.get(b).cycles, b)).min();
        if let Some((cycles, band)) = least
            && most - cycles > limit
        {
            self.gc.wear_candidate = Some(band);
        }
    }
}
