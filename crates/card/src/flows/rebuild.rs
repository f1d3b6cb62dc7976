//! A module that is new, or was away, gets what belongs on it. `contents/rebuild.rs` says in which order, and when it
//! counts.

use crate::card::{Card, Done};
use crate::contents::Storage;
use crate::contents::rebuild::{ModuleRebuild, RebuildProgress, ToldRebuild};
use crate::contents::repair::Others;
use crate::contents::store::Store;
use crate::core::die_op::Work;
use crate::core::timers::Timer;
use device::{SECTOR_BYTES, Time};
use format::{SlotState, Spare};
use ftl::canary::{Canary, planted};
use ftl::{BandId, BandState, StripeId, UnitAddress};
use media::{MediaError, UnderWay, Unit};
use std::collections::VecDeque;

impl Card<Storage> {
    /// Holds rebuilds to a rate of bytes programmed; `None`: as fast as the dies are free. Counts from the next unit on.
    ///
    /// # Panics
    /// When the rate is 0.
    pub fn set_rebuild_rate(&mut self, bytes_per_s: Option<u64>) {
        assert_ne!(bytes_per_s, Some(0), "a rebuild that never ends");
        self.contents.rebuilds.rate.bytes_per_s = bytes_per_s;
    }

    /// How far the rebuild of a module is, while there is one. Looks at every stripe that is left.
    pub fn rebuild_progress(&self) -> Option<RebuildProgress> {
        let rebuild = self.contents.rebuilds.current.as_ref().filter(|rebuild| !rebuild.given_up)?;
        let (bytes_done, unit_bytes) = (rebuild.bytes_done, self.unit_bytes());
        let here = rebuild.at.map_or(0, |at| self.units_left(at));
        let left_out = &self.contents.rebuilds.left_out;
        let is_to_be_filled = |at: &&(BandId, u32)| self.is_to_be_filled(at.0, at.1) || left_out.contains_key(*at);
        let later = rebuild.todo.iter().filter(is_to_be_filled);
        let later = later.map(|&(band, die)| self.units_left(UnitAddress { band, die, row: 0 }));
        let bytes_left = (here + later.sum::<u64>()) * unit_bytes;
        let took_ns = rebuild.begun.map_or(0, |begun| rebuild.ended.since_ns(begun));
        let at_pace =
            |bytes: u64, took_ns: u64| (u128::from(bytes_left) * u128::from(took_ns) / u128::from(bytes)) as u64;
        let left_ns = match (bytes_done, self.contents.rebuilds.rate.bytes_per_s) {
            (0, Some(rate)) => Some(at_pace(rate, 1_000_000_000)),
            (0, None) => None,
            (done, _) => Some(at_pace(done, took_ns)),
        };
        Some(RebuildProgress {
            module: rebuild.logical,
            blocks_done: (rebuild.blocks - rebuild.todo.len() - usize::from(rebuild.at.is_some())) as u64,
            blocks: rebuild.blocks as u64,
            bytes_done,
            bytes_left,
            left_ns,
        })
    }

    fn unit_bytes(&self) -> u64 {
        u64::from(self.core.ftl.layout().unit_sectors) * SECTOR_BYTES
    }

    /// Units of a block, from `at` on, that somebody needs.
    fn units_left(&self, at: UnitAddress) -> u64 {
        let rows = at.row..self.core.ftl.layout().rows;
        rows.filter(|row| self.unit_is_needed(UnitAddress { row: *row, ..at })).count() as u64
    }

    fn unit_is_needed(&self, at: UnitAddress) -> bool {
        let layout = self.core.ftl.layout();
        let stripe = layout.stripe_of(at);
        if stripe.index >= self.core.ftl.band_stripes(at.band).0 {
            return false;
        }
        let units = self.core.ftl.stripe_units(stripe);
        // The first row tells of the band, whoever needs it: should the other modules that have the band go, a start knows
        // it from this module alone.
        let is_needed = at.row == 0 || self.core.ftl.stripe_is_needed(stripe);
        (units.data | units.parity) >> (at.die % layout.width) & 1 == 1 && is_needed
    }

    /// The block is part of a band that is in use, and does not hold what belongs there.
    fn is_to_be_filled(&self, band: BandId, die: u32) -> bool {
        let is_absent = self.contents.store.blocks.absent.contains(&(band.0, die));
        let in_use = matches!(self.core.ftl.band_state(band), BandState::Closed | BandState::Victim);
        is_absent && in_use && self.is_member(band, die) && self.core.ftl.blocks().is_usable(band.0, die)
    }

    /// The band is stale, and waits to be erased: what its sectors were replaced by may not be durable yet. As long as its
    /// block is missing on the module, the module does not count: an erased block would say after a cut that the band's
    /// stripes never were whole.
    fn may_be_needed_yet(&self, band: BandId, die: u32) -> bool {
        self.core.ftl.band_state(band) == BandState::Stale && self.is_member(band, die)
    }

    /// Begins to rebuild a module that was found, nothing of which counts but what the headers say was rebuilt.
    pub(crate) fn rebuild_all_of(&mut self, logical: u32) {
        let rebuilt = self.contents.store.headers.common.slots[logical as usize].rebuilt;
        for die in self.dies_of(logical) {
            for band in (0..self.core.ftl.bands()).map(BandId) {
                let in_use = matches!(self.core.ftl.band_state(band), BandState::Closed | BandState::Victim);
                let holds = in_use && self.is_member(band, die) && self.core.ftl.opening(band).sequence <= rebuilt;
                if !holds {
                    self.contents.store.blocks.absent.insert((band.0, die));
                }
            }
        }
        self.begin_rebuild(logical);
    }

    /// All bands whose last opening is this one or an earlier one hold on the module what belongs there.
    fn rebuilt_upto(&self, logical: u32, last_opening: u64) -> u64 {
        let modules = self.contents.store.slots.len() as u32;
        let absent = self.contents.store.blocks.absent.iter().map(|&(band, die)| (BandId(band), die));
        let lacking = absent.chain(self.contents.rebuilds.left_out.keys().copied()).filter(|&(band, die)| {
            let is_in_use = !matches!(self.core.ftl.band_state(band), BandState::Free | BandState::Retired);
            die % modules == logical && is_in_use && self.is_member(band, die)
        });
        let first = lacking.map(|(band, _)| self.core.ftl.opening(band).sequence).min();
        first.map_or(last_opening, |first| last_opening.min(first.saturating_sub(1)))
    }

    /// A block is done: tells the headers once in a while how far the rebuild is, when that is durable.
    fn note_rebuilt(&mut self, now: Time) {
        let Some(rebuild) = &mut self.contents.rebuilds.current else { return };
        let done = rebuild.blocks - rebuild.todo.len().min(rebuild.blocks);
        if !rebuild.told.is_due(done, rebuild.blocks) {
            return;
        }
        let (logical, last_opening) = (rebuild.logical, rebuild.told.last_opening);
        let opening = self.rebuilt_upto(logical, last_opening);
        if opening <= self.contents.store.headers.common.slots[logical as usize].rebuilt {
            return;
        }
        let rebuild = self.contents.rebuilds.current.as_mut().expect("it goes on");
        rebuild.told.programmed(opening);
        let syncs_later = self.contents.syncs.is_under_way() || self.contents.syncs.has_unsynced();
        if self.contents.store.media.is_volatile() && syncs_later {
            return;
        }
        rebuild.told.sync_begins();
        let Store { media, slots, .. } = &mut self.contents.store;
        slots.iter().flatten().for_each(|slot| media.begin_sync(*slot));
        media.submit();
        self.sync_media(now);
        if !self.core.phase.is_halted() {
            self.tell_rebuilt();
        }
    }

    /// A sync of all modules has ended: what it covered of the rebuild is durable.
    pub(crate) fn tell_rebuilt(&mut self) {
        let Some(rebuild) = &mut self.contents.rebuilds.current else { return };
        if let Some(opening) = rebuild.told.synced().filter(|_| !rebuild.given_up) {
            let logical = rebuild.logical as usize;
            self.contents.store.headers.set_rebuilt(logical, opening);
            self.save_totals();
        }
    }

    /// Begins to rebuild what is absent of a module, after the rebuild that is under way.
    pub(crate) fn begin_rebuild(&mut self, logical: u32) {
        if self.contents.rebuilds.current.is_some() {
            self.contents.rebuilds.waiting.push_back(logical);
            return;
        }
        let left_out = &self.contents.rebuilds.left_out;
        let mut todo = VecDeque::new();
        for band in (0..self.core.ftl.bands()).map(BandId) {
            for die in self.dies_of(logical) {
                if self.contents.store.blocks.absent.contains(&(band.0, die)) || left_out.contains_key(&(band, die)) {
                    todo.push_back((band, die));
                }
            }
        }
        // First those that make room.
        let is_to_be_filled = |at: &(BandId, u32)| self.is_to_be_filled(at.0, at.1) || left_out.contains_key(at);
        let opening = |at: &(BandId, u32)| self.core.ftl.opening(at.0).sequence;
        todo.make_contiguous().sort_by_key(|at| (is_to_be_filled(at), opening(at)));
        let blocks = todo.len();
        let rebuild = ModuleRebuild {
            logical,
            todo,
            blocks,
            snapshot_taken: false,
            at: None,
            waits: false,
            unit: None,
            begun: None,
            ended: Time::ZERO,
            bytes_done: 0,
            given_up: false,
            told: ToldRebuild::new(self.core.ftl.last_band_sequence()),
        };
        self.contents.rebuilds.current = Some(Box::new(rebuild));
    }

    /// Goes on with the rebuild, if nothing of it is under way.
    pub(crate) fn advance_rebuild(&mut self, now: Time) {
        if self.core.phase.is_draining() || self.core.phase.is_halted() {
            return;
        }
        while let Some(rebuild) = &mut self.contents.rebuilds.current {
            if rebuild.at.is_some() {
                return;
            }
            rebuild.begun.get_or_insert(now);
            if !std::mem::replace(&mut rebuild.snapshot_taken, true) {
                self.core.ftl.take_rebuild_snapshot();
                self.program_sealed(now);
            }
            let may_fill = self.core.ftl.rebuild_snapshot_is_durable();
            // Each that is left is looked at once.
            for _ in 0..self.contents.rebuilds.current.as_ref().map_or(0, |rebuild| rebuild.todo.len()) {
                let rebuild = self.contents.rebuilds.current.as_mut().expect("it goes on");
                let Some((band, die)) = rebuild.todo.pop_front() else { break };
                let is_absent = self.contents.store.blocks.absent.contains(&(band.0, die));
                let is_again = !is_absent && self.was_left_out(band, die);
                if !(is_absent || is_again) || !self.core.ftl.blocks().is_usable(band.0, die) {
                    continue;
                }
                // The stripes that have to be restored may not be known yet; but blocks that are erased until then make room
                // for those writes on which that knowledge waits.
                let is_filled_later = !may_fill && (is_again || self.is_to_be_filled(band, die));
                let must_wait = self.must_wait_for_band(band, die) || is_filled_later;
                let rebuild = self.contents.rebuilds.current.as_mut().expect("it goes on");
                if must_wait {
                    rebuild.todo.push_back((band, die));
                    continue;
                }
                if is_again && !self.may_be_done_again(band, die) {
                    continue;
                }
                let rebuild = self.contents.rebuilds.current.as_mut().expect("it goes on");
                if planted(Canary::RebuildDoneEarly) {
                    rebuild.todo.clear();
                }
                let at = UnitAddress { band, die, row: 0 };
                rebuild.at = Some(at);
                let mode = self.core.ftl.cell_mode(band);
                return self.start(now, Work::RebuildErase, at, mode, 0);
            }
            let rebuild = self.contents.rebuilds.current.as_ref().expect("it goes on");
            if !rebuild.todo.is_empty() {
                if self.lets_another_make_room() {
                    continue;
                }
                // The stripe it waits for may be in a cache that is written by itself only when it is full, and the host may
                // be at rest.
                return self.sync_soon(now);
            }
            let logical = rebuild.logical;
            if self.log_is_exposed(now) {
                return self.sync_soon(now);
            }
            if planted(Canary::RebuildDoneEarly) {
                self.contents.store.blocks.absent.clear();
            }
            self.contents.rebuilds.current = None;
            self.module_is_complete(now, logical);
            self.next_rebuild();
        }
    }

    /// There is a rebuild, and nothing of it is under way.
    pub(crate) fn rebuild_waits(&self) -> bool {
        self.contents.rebuilds.current.as_ref().is_some_and(|rebuild| rebuild.at.is_none())
    }

    /// Nothing can be done for the block yet: the erase of its band may have begun without this module, or is to come.
    fn must_wait_for_band(&self, band: BandId, die: u32) -> bool {
        self.core.erasing.iter().any(|erasing| erasing.band == band) || self.may_be_needed_yet(band, die)
    }

    /// The blocks left wait for something to be written, for which there may be no room on the modules that there are: a
    /// module that waits for its turn goes first if blocks of it can be erased. `false`: there is none.
    fn lets_another_make_room(&mut self) -> bool {
        let makes_room = |logical: &u32| {
            let Store { blocks, slots, .. } = &self.contents.store;
            let modules = slots.len() as u32;
            blocks.absent.iter().any(|&(band, die)| {
                let is_usable = die % modules == *logical && self.core.ftl.blocks().is_usable(band, die);
                let band = BandId(band);
                is_usable && !self.is_to_be_filled(band, die) && !self.must_wait_for_band(band, die)
            })
        };
        let Some(next) = self.contents.rebuilds.waiting.iter().position(makes_room) else { return false };
        let Some(next) = self.contents.rebuilds.waiting.remove(next) else { return false };
        let waits = self.contents.rebuilds.current.take().expect("it goes on");
        self.contents.rebuilds.waiting.push_back(waits.logical);
        self.core.ftl.drop_rebuild_snapshot();
        self.begin_rebuild(next);
        true
    }

    fn next_rebuild(&mut self) {
        self.core.ftl.drop_rebuild_snapshot();
        if let Some(logical) = self.contents.rebuilds.waiting.pop_front() {
            return self.begin_rebuild(logical);
        }
        if !self.lacks_any()
            && let Some(logical) = self.contents.rebuilds.unfinished.pop_first()
        {
            self.begin_rebuild(logical);
        }
    }

    /// A module or a die is missing.
    fn lacks_any(&self) -> bool {
        let mut dies = 0..self.core.ftl.layout().dies;
        self.contents.store.slots.contains(&None) || dies.any(|die| self.core.ftl.blocks().is_dead(die))
    }

    /// The block holds part of what belongs there, as its band is used now. Otherwise that is not asked for again.
    fn was_left_out(&mut self, band: BandId, die: u32) -> bool {
        let Some(&opening) = self.contents.rebuilds.left_out.get(&(band, die)) else { return false };
        let in_use = !matches!(self.core.ftl.band_state(band), BandState::Free | BandState::Open | BandState::Retired);
        let is_same = in_use && self.is_member(band, die) && self.core.ftl.opening(band).sequence == opening;
        if !is_same {
            self.contents.rebuilds.left_out.remove(&(band, die));
        }
        is_same
    }

    /// A block that was left out in part is done again from its first unit, when all other members of its stripes are
    /// there: units of it may be all that a module that was lost meanwhile can be made from. From then on it is absent.
    fn may_be_done_again(&mut self, band: BandId, die: u32) -> bool {
        let layout = *self.core.ftl.layout();
        let group = die / layout.width;
        let others = self.core.ftl.units_in_use(band, group) & !(1 << (die % layout.width));
        let all_hold = (0..layout.width)
            .filter(|unit| others >> unit & 1 == 1)
            .all(|unit| self.holds(UnitAddress { band, die: group * layout.width + unit, row: 0 }));
        let may_hold_later = self.lacks_any() || !self.contents.rebuilds.waiting.is_empty();
        if all_hold || !may_hold_later {
            self.contents.rebuilds.left_out.remove(&(band, die));
        }
        if all_hold {
            self.contents.direct_reads.ahead.forget_all();
            self.contents.store.blocks.absent.insert((band.0, die));
        }
        all_hold
    }

    /// Tells the headers, unless another module or a die of one is missing, or was when units were to be made: then part
    /// of what belongs on this one may not be there, and it must not be believed before that was done again.
    fn module_is_complete(&mut self, now: Time, logical: u32) {
        self.sync_media(now);
        if self.core.phase.is_halted() {
            return;
        }
        let modules = self.contents.store.slots.len() as u32;
        let left_out = self.contents.rebuilds.left_out.keys().any(|(_, die)| die % modules == logical);
        if left_out || self.lacks_any() {
            self.contents.rebuilds.unfinished.insert(logical);
            return;
        }
        self.contents.store.headers.set_state(logical as usize, SlotState::Active);
        // Records that are not needed any more may have one copy.
        self.tell_headers_of_log();
        self.tell_modules(now);
    }

    /// A module is gone: true when it was being rebuilt, or was to be.
    pub(crate) fn rebuild_ends_for(&mut self, logical: u32) -> bool {
        let waiting = self.contents.rebuilds.waiting.len();
        self.contents.rebuilds.waiting.retain(|of| *of != logical);
        let mut ended = waiting > self.contents.rebuilds.waiting.len();
        ended |= self.contents.rebuilds.unfinished.remove(&logical);
        let modules = self.contents.store.slots.len() as u32;
        self.contents.rebuilds.left_out.retain(|(_, die), _| die % modules != logical);
        if let Some(rebuild) = &mut self.contents.rebuilds.current
            && rebuild.logical == logical
        {
            ended = true;
            rebuild.given_up = true;
            rebuild.todo.clear();
            if rebuild.at.is_none() || rebuild.waits {
                self.contents.rebuilds.current = None;
                self.core.timers.clear(Timer::Rebuild);
                self.next_rebuild();
            }
        }
        ended
    }

    /// The operation that has ended was the last of a rebuild that was given up.
    fn rebuild_was_given_up(&mut self, now: Time, done: &mut Done<Storage>) -> bool {
        if !self.contents.rebuilds.current.as_ref().is_some_and(|rebuild| rebuild.given_up) {
            return false;
        }
        self.contents.rebuilds.current = None;
        self.next_rebuild();
        self.erase_stale(now);
        self.resume(now, done);
        true
    }

    /// The time of the next unit has come.
    pub(crate) fn resume_rebuild(&mut self, now: Time, done: &mut Done<Storage>) {
        if let Some(rebuild) = &mut self.contents.rebuilds.current
            && std::mem::take(&mut rebuild.waits)
            && let Some(at) = rebuild.at
        {
            self.rebuild_row(now, at, done);
        }
    }

    /// The block was erased, to be programmed anew.
    pub(crate) fn rebuild_erased(&mut self, now: Time, at: UnitAddress, done: &mut Done<Storage>) {
        if self.rebuild_was_given_up(now, done) {
            return;
        }
        let erased = self.contents.store.erase_for_rebuild(at.die, at.band.0);
        match erased {
            Ok(()) if self.is_to_be_filled(at.band, at.die) => self.rebuild_row(now, at, done),
            Ok(()) => {
                // Its band does without it: it is ready for the next opening.
                if !self.is_member(at.band, at.die) {
                    self.core.ftl.block_erased(at.band, at.die);
                    self.contents.store.blocks.absent.remove(&(at.band.0, at.die));
                } else if self.may_be_needed_yet(at.band, at.die)
                    && let Some(rebuild) = &mut self.contents.rebuilds.current
                {
                    // Its band became stale meanwhile.
                    rebuild.todo.push_back((at.band, at.die));
                }
                self.rebuild_next(now, done);
            }
            Err(error) => self.rebuild_failed(now, at, error, done),
        }
    }

    /// Rebuilds the next unit of the block that is needed, from `at` on.
    fn rebuild_row(&mut self, now: Time, mut at: UnitAddress, done: &mut Done<Storage>) {
        if self.core.phase.is_draining() || self.core.phase.is_halted() {
            return;
        }
        while at.row < self.core.ftl.layout().rows && !self.unit_is_needed(at) {
            at.row += 1;
        }
        if at.row == self.core.ftl.layout().rows {
            self.contents.store.blocks.absent.remove(&(at.band.0, at.die));
            return self.rebuild_next(now, done);
        }
        let rebuild = self.contents.rebuilds.current.as_mut().expect("it is under way");
        rebuild.at = Some(at);
        let waits = self.contents.rebuilds.rate.bytes_per_s.is_some() && now < self.contents.rebuilds.rate.next;
        rebuild.waits = waits;
        self.contents.store.blocks.filled = Some(at);
        if waits {
            return self.core.timers.set(Timer::Rebuild, self.contents.rebuilds.rate.next);
        }
        self.contents.rebuilds.rate.unit_begun = now;
        self.repair_for_rebuild(now, at, done);
    }

    fn rebuild_next(&mut self, now: Time, done: &mut Done<Storage>) {
        if let Some(rebuild) = &mut self.contents.rebuilds.current {
            rebuild.at = None;
            rebuild.unit = None;
        }
        self.contents.store.blocks.filled = None;
        self.note_rebuilt(now);
        // Erases and relocations may have waited for the block.
        self.erase_stale(now);
        self.resume(now, done);
    }

    /// The others of the stripe are read: programs the unit.
    pub(crate) fn rebuild_read(&mut self, now: Time, others: &Others, at: UnitAddress, done: &mut Done<Storage>) {
        if self.rebuild_was_given_up(now, done) {
            return;
        }
        let (unit, is_whole) = self.rebuilt_unit(others, at);
        if !is_whole && self.lacks_any() {
            let opening = self.core.ftl.opening(at.band).sequence;
            self.contents.rebuilds.left_out.insert((at.band, at.die), opening);
        }
        let Some(unit) = unit else {
            // The stripe was never written, or nothing can be made of it.
            return self.rebuild_row(now, UnitAddress { row: at.row + 1, ..at }, done);
        };
        if let Some(bytes_per_s) = self.contents.rebuilds.rate.bytes_per_s {
            let ns = u128::from(self.unit_bytes()) * 1_000_000_000 / u128::from(bytes_per_s);
            // A unit for which there was nothing to be programmed costs nothing.
            self.contents.rebuilds.rate.next =
                self.contents.rebuilds.rate.unit_begun + u64::try_from(ns).unwrap_or(u64::MAX / 4);
        }
        self.contents.rebuilds.current.as_mut().expect("it is under way").unit = Some(unit);
        let mode = self.core.ftl.cell_mode(at.band);
        self.start(now, Work::RebuildProgram, at, mode, 0);
    }

    /// A unit from the others of its stripe. Sectors that can't be rebuilt are left without a spare area: they read as
    /// errors; `None` when all of it is so and nothing that is lost of the stripe counts. And whether all sectors could
    /// be rebuilt.
    fn rebuilt_unit(&mut self, others: &Others, at: UnitAddress) -> (Option<Unit>, bool) {
        let layout = *self.core.ftl.layout();
        let stripe = layout.stripe_of(at);
        let number = at.die % layout.width;
        let is_parity = self.core.ftl.stripe_units(stripe).parity >> number & 1 == 1;
        let store = &self.contents.store;
        let place = store.spare_of(&self.core.ftl, stripe);
        let mut unit = Unit::new(store.media.shape());
        let mut made = 0;
        for sector in 0..layout.unit_sectors {
            let Some(folded) = others.fold(store, &self.core.ftl, stripe, number, sector) else { continue };
            let place = Spare { unit: number as u8, sector: sector as u8, ..place };
            let spare = if is_parity { Ok(folded.parity(&place)) } else { folded.member(&place) };
            let Ok(spare) = spare else { continue };
            unit.write_payload(sector as usize, folded.payload());
            spare.encode(unit.spare_mut(sector as usize));
            made += 1;
        }
        // A unit that reads as erased would say that the stripe was never whole.
        let counts = made > 0 || self.has_lost_needed(others, stripe, number);
        (counts.then_some(unit), made == layout.unit_sectors)
    }

    /// The map points at a sector of the stripe that can't be read any more, or did when the rebuild began.
    fn has_lost_needed(&self, others: &Others, stripe: StripeId, missing: u32) -> bool {
        let layout = self.core.ftl.layout();
        let store = &self.contents.store;
        let data = self.core.ftl.stripe_units(stripe).data;
        (0..layout.width).filter(|unit| data >> unit & 1 == 1).any(|unit| {
            let at = layout.unit_address(stripe, unit);
            let first = layout.stripe_start(stripe) + unit * layout.unit_sectors;
            let is_lost = unit == missing || others.flaws(store, &self.core.ftl, at) > 0;
            is_lost && (first..first + layout.unit_sectors).any(|ppa| self.core.ftl.is_needed(ftl::Ppa(ppa)))
        })
    }

    /// The unit was programmed.
    pub(crate) fn rebuild_programmed(&mut self, now: Time, at: UnitAddress, done: &mut Done<Storage>) {
        if self.rebuild_was_given_up(now, done) {
            return;
        }
        let unit_bytes = self.unit_bytes();
        let rebuild = self.contents.rebuilds.current.as_mut().expect("it is under way");
        let unit = rebuild.unit.take().expect("it was being programmed");
        rebuild.bytes_done += unit_bytes;
        rebuild.ended = now;
        match self.contents.store.program_for_rebuild(at, &unit) {
            Ok(()) => self.rebuild_row(now, UnitAddress { row: at.row + 1, ..at }, done),
            Err(error) => self.rebuild_failed(now, at, error, done),
        }
    }

    /// The block can't take what belongs there: its band is emptied.
    fn rebuild_failed(&mut self, now: Time, at: UnitAddress, error: MediaError, done: &mut Done<Storage>) {
        self.media_failed(now, at.band.0, at.die, error);
        if !self.core.phase.is_halted() && !self.rebuild_was_given_up(now, done) {
            self.rebuild_next(now, done);
        }
    }

    /// The operation that the rebuild has under way.
    pub(crate) fn rebuild_under_way(&self, work: Work, at: UnitAddress) -> Option<UnderWay> {
        let store = &self.contents.store;
        if self.contents.rebuilds.current.as_ref().is_none_or(|rebuild| rebuild.given_up) {
            return None;
        }
        match work {
            Work::RebuildErase => Some(UnderWay::Erase { at: store.block_at(at.die, at.band.0)? }),
            Work::RebuildProgram => {
                let unit = self.contents.rebuilds.current.as_ref()?.unit.clone()?;
                Some(UnderWay::Program { at: store.place_for_rebuild(at)?, unit })
            }
            _ => None,
        }
    }
}
