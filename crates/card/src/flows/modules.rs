//! Modules and dies go, and modules come, while the card is at work. `contents/modules.rs` has the invariants.

use crate::card::{Card, Done};
use crate::contents::Storage;
use crate::contents::modules::{Gone, InsertError, Inserted, PullCost};
use crate::contents::store::Headers;
use device::Time;
use format::SlotState;
use ftl::canary::{Canary, planted};
use ftl::recover::{Joins, join};
use ftl::{BandId, BandState, FoundBlock, Lba, StreamId, UnitAddress};
use media::{MediaError, Module, ReadReport, Shape};

impl Card<Storage> {
    /// Until when the card waits for a die whose module does not answer at all: its operation ends when that is over.
    pub(crate) fn unanswered_until(&self, now: Time, die: usize) -> Option<Time> {
        let store = &self.contents.store;
        let modules = store.slots.len();
        let is_stuck = store.slots[die % modules].is_some_and(|slot| store.media.is_stuck(slot));
        let op = self.core.dies.current(die).filter(|_| is_stuck && !self.core.phase.is_draining())?;
        let until = op.started + self.core.config.care.module_timeout_ns;
        (until > now).then_some(until)
    }

    /// How fast a die's module is now.
    pub(crate) fn set_pace(&mut self, die: u32) {
        let store = &self.contents.store;
        let slot = store.slots[die as usize % store.slots.len()];
        self.core.dies.set_pace(die, slot.map_or(100, |slot| store.media.slow_percent(slot)));
    }

    /// Looks at how a read ended; true when the card can't go on.
    pub(crate) fn read_ended(&mut self, now: Time, at: UnitAddress, read: Result<ReadReport, MediaError>) -> bool {
        let Err(error) = read else { return false };
        let store = &self.contents.store;
        if error == MediaError::NoPower {
            self.core.phase.halt();
        } else if error == MediaError::Fenced {
            self.core.phase.halt_without_headers();
        } else if store.place(at).is_some() {
            match error {
                MediaError::Host => self.give_up_module_of(now, at.die),
                _ => self.die_is_dead(now, at.die),
            }
        }
        self.core.phase.is_halted()
    }

    /// Something can't be read. Has another controller the modules, which has moved it? Then the card stops: what it knows
    /// of them is not so any more.
    pub(crate) fn finds_itself_fenced(&mut self) -> bool {
        let store = &mut self.contents.store;
        let crate::contents::store::Store { media, headers, slots, .. } = &mut *store;
        let is_later =
            slots.iter().flatten().any(|slot| Headers::generation_in(&mut **media, *slot) > headers.common.generation);
        if is_later {
            self.core.phase.halt_without_headers();
        }
        is_later
    }

    /// A die answers no more. Stripes that are written from now on do without it.
    pub(crate) fn die_is_dead(&mut self, now: Time, die: u32) {
        if self.core.ftl.blocks().is_dead(die) {
            return;
        }
        let store = &mut self.contents.store;
        let logical = die % store.slots.len() as u32;
        let header = store.slots[logical as usize].map(|slot| media::persist(|| store.media.read_header(slot, 0)));
        match header {
            None | Some(Ok(_) | Err(MediaError::NoPower)) => {}
            Some(Err(MediaError::Host | MediaError::NoSpace)) => return self.give_up_module(now, logical),
            Some(Err(_)) => return self.lose_module(now, logical),
        }
        self.close_open_bands(now);
        self.core.ftl.set_die_dead(die, true);
        self.program_sealed(now);
        if self.is_beyond_writing() {
            self.core.phase.halt();
        }
    }

    /// Too many dies are gone for any stripe to hold data. The card stops, and what is on its modules stays as it
    /// is.
    pub(crate) fn is_beyond_writing(&self) -> bool {
        let layout = self.core.ftl.layout();
        let answers = |group: u32, unit: &u32| !self.core.ftl.blocks().is_dead(group * layout.width + unit);
        let has_data =
            |group: u32| (0..layout.width).filter(|unit| answers(group, unit)).count() as u32 > layout.parity_units;
        !(0..layout.groups).any(has_data)
    }

    /// Sectors of stripes that failed have no place to go to, and nothing is under way that could make one: more is gone
    /// than room was kept for. The card stops. To be asked between events, when all that may begin has begun: a band that
    /// is stale still then waits for the very stripes that failed.
    pub(crate) fn stop_without_room(&mut self) {
        let waits_for_time = !self.core.timers.are_over();
        if self.contents.failed.has_displaced()
            && !self.core.ftl.can_rewrite()
            && self.core.dies.in_flight() == 0
            && !self.syncs()
            && !waits_for_time
        {
            self.core.phase.halt();
        }
    }

    fn close_open_bands(&mut self, now: Time) {
        for stream in StreamId::ALL {
            self.abandon_band(now, stream);
        }
        self.program_sealed(now);
    }

    pub(crate) fn give_up_module_of(&mut self, now: Time, die: u32) {
        let modules = self.contents.store.slots.len() as u32;
        self.give_up_module(now, die % modules);
    }

    /// The file, drive or shelf of a module fails whenever it is asked, and may answer again later. The card goes on
    /// without the module where it can be opened without it. Else it stops, and no header calls stale what is needed: it
    /// can be opened as soon as enough of its modules answer.
    pub(crate) fn give_up_module(&mut self, now: Time, logical: u32) {
        let store = &self.contents.store;
        if store.slots[logical as usize].is_none() {
            return;
        }
        match store.headers.can_do_without(&store.slots, logical) {
            true => self.lose_module(now, logical),
            false => self.core.phase.halt(),
        }
    }

    /// All of a module is gone, or can't be believed any more. The others are told before anything counts as durable
    /// without it: should it come back, it is known to be stale.
    pub(crate) fn lose_module(&mut self, now: Time, logical: u32) {
        let store = &mut self.contents.store;
        if store.slots[logical as usize].is_none() {
            return;
        }
        store.slots[logical as usize] = None;
        self.contents.log.module_went(logical);
        self.contents.direct_reads.ahead.forget_all();
        self.wait_no_longer_for(now, logical);
        let store = &mut self.contents.store;
        let generation = store.headers.common.generation;
        let mut gone = vec![logical];
        if !planted(Canary::GenerationNotRaised) {
            store.headers.set_state(logical as usize, SlotState::Missing);
            self.advance_watermarks();
            gone.extend(self.tell_headers());
            if self.core.phase.is_halted() {
                return;
            }
        }
        // The open stripes lose a unit, and what they hold goes elsewhere.
        self.close_open_bands(now);
        for logical in gone {
            self.forget_module(now, logical, generation);
        }
        self.program_sealed(now);
    }

    /// Writes a new generation to the headers, as they are said to be; the modules that this has lost.
    fn tell_headers(&mut self) -> Vec<u32> {
        let crate::contents::store::Store { media, headers, slots, .. } = &mut self.contents.store;
        let told = headers.tell(&mut **media, slots);
        if told.is_err() {
            self.core.phase.halt();
        }
        told.unwrap_or_default()
    }

    /// As [`Card::tell_headers`], and does without the modules that were lost.
    pub(crate) fn tell_modules(&mut self, now: Time) {
        let gone = self.tell_headers();
        if gone.is_empty() {
            return;
        }
        let generation = self.contents.store.headers.common.generation;
        self.close_open_bands(now);
        for logical in gone {
            self.forget_module(now, logical, generation);
        }
        self.program_sealed(now);
    }

    fn forget_module(&mut self, now: Time, logical: u32, generation: u64) {
        self.contents.log.module_went(logical);
        self.wait_no_longer_for(now, logical);
        let last_band_sequence = self.core.ftl.last_band_sequence();
        let dies = self.dies_of(logical);
        let is_rebuilt = self.rebuild_ends_for(logical);
        let store = &mut self.contents.store;
        if store.blocks.filled.is_some_and(|to| to.die % store.slots.len() as u32 == logical) {
            store.blocks.filled = None;
        }
        store.fail_programs_on(logical);
        // Units that were not rebuilt yet are not there, and those that a cache held may not be.
        let is_known = !is_rebuilt && !store.media.is_volatile();
        store.history.gone.remove(&logical);
        if is_known {
            store.history.gone.insert(logical, Gone { generation, last_band_sequence });
        }
        for die in dies {
            self.core.ftl.set_die_dead(die, true);
            // A module that comes before the erase of a band is over was not asked to erase it.
            self.core.erasing.iter_mut().for_each(|erasing| erasing.dies.retain(|of| *of != die));
        }
        if self.is_beyond_writing() {
            self.core.phase.halt();
        }
    }

    /// The state of one of its modules, as the headers have it.
    pub fn module_state(&self, module: u32) -> Option<SlotState> {
        Some(self.contents.store.headers.common.slots.get(module as usize)?.state)
    }

    /// Slot of a die's module, while there is one.
    pub fn slot_of(&self, die: u32) -> Option<u32> {
        let store = &self.contents.store;
        store.slots[die as usize % store.slots.len()]
    }

    /// Where a unit lies on the media, if its module is there.
    pub fn place_of(&self, at: UnitAddress) -> Option<media::UnitAt> {
        self.contents.store.place_for_rebuild(at)
    }

    /// The unit is being rebuilt: what it is made from may have been read already.
    pub fn rebuilds(&self, at: UnitAddress) -> bool {
        self.contents.rebuilds.current.as_ref().is_some_and(|rebuild| rebuild.at() == Some(at))
    }

    /// The unit's die answers, as far as is known, and its block holds what belongs there.
    pub fn holds(&self, at: UnitAddress) -> bool {
        self.contents.store.place(at).is_some() && !self.core.ftl.blocks().is_dead(at.die)
    }

    pub(crate) fn dies_of(&self, logical: u32) -> impl Iterator<Item = u32> + use<> {
        let modules = self.contents.store.slots.len();
        (logical..self.core.ftl.layout().dies).step_by(modules)
    }

    /// Puts a module into an empty slot of the card at work. One that is new takes the place of one that is missing; one
    /// that was there before has missed something. Either is rebuilt while the host works. All others are refused, and
    /// handed back.
    pub fn insert_module(
        &mut self,
        now: Time,
        slot: u32,
        module: Module,
        done: &mut Done<Storage>,
    ) -> Result<Inserted, Box<(InsertError, Module)>> {
        if let Err(error) = self.slot_is_free(slot, module.shape()) {
            return Err(Box::new((error, module)));
        }
        let flash =
            self.contents.store.media.flash_mut().expect("a module of emulated flash belongs on emulated flash");
        flash.insert(slot, module);
        self.module_came(now, slot, done).map_err(|error| {
            let flash = self.contents.store.media.flash_mut().expect("as before");
            Box::new((error, flash.pull(slot).expect("it was just put in")))
        })
    }

    /// A module may be put into a slot: the card has it, it is empty, and the module has the shape of the others.
    pub fn slot_is_free(&self, slot: u32, module: &Shape) -> Result<(), InsertError> {
        let store = &self.contents.store;
        let shape = *store.media.shape();
        if self.core.phase.is_halted() {
            return Err(InsertError::Halted);
        }
        if slot >= shape.modules {
            return Err(InsertError::NoSlot { slot, slots: shape.modules });
        }
        if store.media.has_module(slot) {
            return Err(InsertError::SlotTaken { slot });
        }
        if *module != (Shape { modules: 1, ..shape }) {
            return Err(InsertError::Shape { slot });
        }
        Ok(())
    }

    /// A module was put into a slot of the medium that was free ([`Card::slot_is_free`]): as [`Card::insert_module`]. With
    /// an error it is to be taken out again.
    pub fn module_came(&mut self, now: Time, slot: u32, done: &mut Done<Storage>) -> Result<Inserted, InsertError> {
        self.notice_it_went(now, slot)?;
        let inserted = self.take_module(now, slot)?;
        self.begin_rebuild(inserted.module);
        self.resume(now, done);
        self.stop_without_room();
        Ok(inserted)
    }

    /// The price of pulling the module in a slot; `None` while parity stands for all that would be missing. Looks at
    /// every sector of the host.
    pub fn cost_of_pull(&self, slot: u32) -> Option<PullCost> {
        let layout = *self.core.ftl.layout();
        let store = &self.contents.store;
        let pulled = store.slots.iter().position(|of| *of == Some(slot))? as u32;
        let blocks = self.core.ftl.blocks();
        let is_whole = |module: &u32| {
            self.module_state(*module) == Some(SlotState::Active)
                && store.slots[*module as usize].is_some_and(|slot| store.media.has_module(slot))
                && !self.dies_of(*module).any(|die| blocks.is_dead(die))
        };
        let modules = store.slots.len() as u32;
        let lacking = (0..modules).filter(|module| *module == pulled || !is_whole(module)).count() as u32;
        if lacking <= layout.parity_units {
            return None;
        }
        let stays = |at: UnitAddress| at.die % modules != pulled && self.holds(at);
        let is_lost = |lba: &u32| {
            let Some(ppa) = self.core.ftl.lookup(Lba(*lba)) else { return false };
            let at = layout.locate(ppa);
            if !self.core.ftl.is_programmed(at) || stays(at) {
                return false;
            }
            let stripe = layout.stripe_of(at);
            let units = self.core.ftl.stripe_units(stripe);
            let members = (0..layout.width).filter(|unit| (units.data | units.parity) >> unit & 1 == 1);
            let gone = members.filter(|unit| !stays(layout.unit_address(stripe, *unit))).count() as u32;
            gone > units.parity.count_ones()
        };
        let lost_sectors = (0..self.core.ftl.user_sectors() as u32).filter(is_lost).count() as u64;
        Some(PullCost { lacking, parity: layout.parity_units, lost_sectors })
    }

    /// A module was taken out of a slot of the medium.
    pub fn module_went(&mut self, now: Time, slot: u32, done: &mut Done<Storage>) {
        // A card that has stopped knows already.
        let _stopped = self.notice_it_went(now, slot);
        self.resume(now, done);
        self.stop_without_room();
    }

    /// The module that was in a slot was pulled, and nobody may have asked it since.
    fn notice_it_went(&mut self, now: Time, slot: u32) -> Result<(), InsertError> {
        let store = &self.contents.store;
        if let Some(logical) = store.slots.iter().position(|of| *of == Some(slot)) {
            self.lose_module(now, logical as u32);
        }
        if self.core.phase.is_halted() { Err(InsertError::Halted) } else { Ok(()) }
    }

    /// Finds the place of the module in a slot, and tells all modules of it.
    pub(crate) fn take_module(&mut self, now: Time, slot: u32) -> Result<Inserted, InsertError> {
        let store = &mut self.contents.store;
        let crate::contents::store::Store { media, headers, slots, history, .. } = &mut *store;
        let joins = join(&mut **media, slot, &headers.common, |place| slots[place as usize].is_some())?;
        let (place, kept) = match joins {
            Joins::New { place } => (place, None),
            Joins::Again { place, generation } => (
                place,
                history
                    .gone
                    .get(&place)
                    .copied()
                    .filter(|gone| Some(gone.generation) == generation || planted(Canary::ReturnedAsItWent)),
            ),
        };
        // Another controller that has the module is told first, and refuses us if it has claimed it since.
        media::persist(|| media.claim(slot, headers.common.generation + 1))
            .map_err(|error| InsertError::Claim { slot, error })?;
        let before = headers.common.slots[place as usize];
        match joins {
            Joins::New { .. } => headers.set_new_module(place as usize),
            Joins::Again { .. } => headers.set_state(place as usize, SlotState::Rebuilding),
        }
        slots[place as usize] = Some(slot);
        history.refused[place as usize] = 0;
        let told = headers.tell(&mut **media, slots);
        let lost = match told {
            Ok(lost) => lost,
            Err(failed) => {
                self.core.phase.halt();
                return Err(InsertError::Claim { slot, error: failed.error });
            }
        };
        if lost.contains(&place) {
            headers.common.slots[place as usize] = format::Slot { state: SlotState::Missing, ..before };
            return Err(InsertError::Claim { slot, error: MediaError::Host });
        }
        history.gone.remove(&place);
        self.take_in(slot, place, kept);
        if !lost.is_empty() {
            let generation = self.contents.store.headers.common.generation;
            // As when a module goes by itself: what its open stripes hold goes elsewhere.
            self.close_open_bands(now);
            for logical in lost {
                self.forget_module(now, logical, generation);
            }
            self.program_sealed(now);
        }
        Ok(Inserted { module: place, kept: kept.is_some() })
    }

    /// The module's dies answer. Blocks of it that do not count are absent.
    fn take_in(&mut self, slot: u32, place: u32, kept: Option<Gone>) {
        let modules = self.contents.store.slots.len() as u32;
        let media = &&self.contents.store.media;
        let block = |band, die: u32| {
            let at = media::BlockAt { module: slot, die: die / modules, block: band };
            FoundBlock { bad: media.is_bad(at), cycles: media.cycles(at) }
        };
        self.core.ftl.dies_came((place..self.core.ftl.layout().dies).step_by(modules as usize), block);
        for die in self.dies_of(place) {
            for band in (0..self.core.ftl.bands()).map(BandId) {
                let holds = kept.is_some_and(|gone| {
                    let in_use = matches!(self.core.ftl.band_state(band), BandState::Closed | BandState::Victim);
                    in_use
                        && self.is_member(band, die)
                        && self.core.ftl.opening(band).sequence <= gone.last_band_sequence
                });
                let absent = &mut self.contents.store.blocks.absent;
                // Blocks that were absent when the module went are so still.
                if !holds && !planted(Canary::ModuleBelieved) {
                    absent.insert((band.0, die));
                }
            }
        }
    }

    /// A bad block that a band has used, of which nobody has erased what it holds.
    pub(crate) fn is_bad_and_not_erased(&self, band: BandId, die: u32) -> bool {
        let blocks = self.core.ftl.blocks();
        blocks.is_bad(band.0, die) && !blocks.is_dead(die) && self.is_member(band, die)
    }

    /// A band, as it is used now, has a unit of each of its stripes there on a die.
    pub(crate) fn is_member(&self, band: BandId, die: u32) -> bool {
        let width = self.core.ftl.layout().width;
        self.core.ftl.units_in_use(band, die / width) >> (die % width) & 1 == 1
    }
}
