//! A module that is new, or was away, gets what belongs on it.
//!
//! Block by block, front to back, one stripe at a time: the unit is made from the others of its stripe and programmed at
//! its place. Stripes that nobody needs are passed over. Bands that are erased meanwhile need nothing more; bands
//! opened meanwhile use the new module as any other. What was rebuilt counts at once, but the headers say that the module
//! is complete only at the end: after a cut all of it is done again.

use crate::card::Card;
use crate::dies::Work;
use crate::repair::Others;
use device::{Completion, Time};
use format::{SlotState, Spare};
use ftl::canary::{Canary, planted};
use ftl::{BandId, BandState, StripeId, UnitAddress};
use media::{MediaError, UnderWay, Unit};
use std::collections::VecDeque;

/// A module being rebuilt.
#[derive(Clone, Debug)]
pub struct ModuleRebuild {
    /// Its number within the card.
    pub logical: u32,
    /// Blocks to be rebuilt.
    todo: VecDeque<(BandId, u32)>,
    blocks: usize,
    /// Flash management knows what has to be rebuilt.
    is_noted: bool,
    at: Option<UnitAddress>,
    /// The unit being programmed.
    unit: Option<Unit>,
}

impl ModuleRebuild {
    /// The band of which a block is being rebuilt: it is not erased meanwhile.
    pub fn band(&self) -> Option<BandId> {
        self.at.map(|at| at.band)
    }
}

/// How far a rebuild is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RebuildProgress {
    /// The module, by its number within the card.
    pub module: u32,
    /// Blocks that are done.
    pub blocks_done: u64,
    /// Blocks in all.
    pub blocks: u64,
}

impl Card {
    /// How far the rebuild of a module is, while there is one.
    pub fn rebuild_progress(&self) -> Option<RebuildProgress> {
        self.rebuild.as_ref().map(|rebuild| RebuildProgress {
            module: rebuild.logical,
            blocks_done: (rebuild.blocks - rebuild.todo.len()) as u64,
            blocks: rebuild.blocks as u64,
        })
    }

    /// Begins to rebuild a module.
    pub(crate) fn begin_rebuild(&mut self, logical: u32) {
        let modules = self.contents().slots.len() as u32;
        let dies = (logical..self.ftl.layout().dies).step_by(modules as usize);
        let mut todo = VecDeque::new();
        for band in (0..self.ftl.bands()).map(BandId) {
            for die in dies.clone() {
                self.contents().absent.insert((band.0, die));
                todo.push_back((band, die));
            }
        }
        let blocks = todo.len();
        self.rebuild = Some(Box::new(ModuleRebuild { logical, todo, blocks, is_noted: false, at: None, unit: None }));
    }

    /// Goes on with the rebuild, if nothing of it is under way.
    pub(crate) fn rebuild_on(&mut self, now: Time) {
        if self.draining || self.halted {
            return;
        }
        let Some(rebuild) = &mut self.rebuild else { return };
        if rebuild.at.is_some() {
            return;
        }
        if !std::mem::replace(&mut rebuild.is_noted, true) {
            self.ftl.note_needed();
            self.program_sealed(now);
        }
        if !self.ftl.needed_is_known() {
            return;
        }
        let Some(rebuild) = &mut self.rebuild else { return };
        while let Some((band, die)) = rebuild.todo.pop_front() {
            let store = self.store.as_ref().expect("the card has contents");
            let in_use = matches!(self.ftl.band_state(band), BandState::Closed | BandState::Victim);
            let width = self.ftl.layout().width;
            let member = self.ftl.units_in_use(band, die / width) >> (die % width) & 1 == 1;
            if !in_use || !member || !store.absent.contains(&(band.0, die)) || !self.ftl.blocks().is_usable(band.0, die)
            {
                continue;
            }
            if planted(Canary::RebuildDoneEarly) {
                rebuild.todo.clear();
            }
            let at = UnitAddress { band, die, row: 0 };
            rebuild.at = Some(at);
            let mode = self.ftl.cell_mode(band);
            return self.start(now, Work::RebuildErase, at, mode, 0);
        }
        if planted(Canary::RebuildDoneEarly) {
            self.contents().absent.clear();
        }
        self.rebuild = None;
        self.ftl.forget_needed();
        self.module_is_complete();
    }

    /// Tells the headers, unless another module or a die of one was lost meanwhile: then part of what belongs on this one
    /// could not be made, and it must not be believed.
    fn module_is_complete(&mut self) {
        let lacks_another = self.contents().slots.contains(&None);
        if lacks_another || (0..self.ftl.layout().dies).any(|die| self.ftl.blocks().is_dead(die)) {
            return;
        }
        let store = self.store.as_mut().expect("the card has contents");
        let crate::store::Store { media, headers, slots, .. } = &mut **store;
        for logical in 0..slots.len() {
            if headers.common.slots[logical].state == SlotState::Rebuilding {
                headers.set_state(logical, SlotState::Active);
            }
        }
        if headers.claim(media, slots).and_then(|()| headers.write(media, slots)).is_err() {
            self.halted = true;
        }
    }

    /// The block was erased, to be programmed anew.
    pub(crate) fn rebuild_erased(&mut self, now: Time, at: UnitAddress, done: &mut Vec<Completion>) {
        let erased = self.contents().erase_for_rebuild(at.die, at.band.0);
        match erased {
            Ok(()) => self.rebuild_row(now, at, done),
            Err(error) => self.rebuild_failed(now, at, error, done),
        }
    }

    /// Rebuilds the next unit of the block that is needed, from `at` on.
    fn rebuild_row(&mut self, now: Time, mut at: UnitAddress, done: &mut Vec<Completion>) {
        let layout = *self.ftl.layout();
        let (stripes, _) = self.ftl.band_stripes(at.band);
        let unit = at.die % layout.width;
        loop {
            let stripe = StripeId { band: at.band, index: at.row * layout.groups + at.die / layout.width };
            if stripe.index >= stripes {
                break;
            }
            let units = self.ftl.stripe_units(stripe);
            if (units.data | units.parity) >> unit & 1 == 1 && self.ftl.stripe_is_needed(stripe) {
                self.rebuild.as_mut().expect("it is under way").at = Some(at);
                return self.repair_for_rebuild(now, at, done);
            }
            at.row += 1;
        }
        self.contents().absent.remove(&(at.band.0, at.die));
        self.rebuild_next(now, done);
    }

    fn rebuild_next(&mut self, now: Time, done: &mut Vec<Completion>) {
        if let Some(rebuild) = &mut self.rebuild {
            rebuild.at = None;
            rebuild.unit = None;
        }
        // What waited for the block.
        self.erase_stale(now);
        self.go_on(now, done);
    }

    /// The others of the stripe are read: programs the unit.
    pub(crate) fn rebuild_read(&mut self, now: Time, others: &Others, at: UnitAddress, done: &mut Vec<Completion>) {
        let Some(unit) = self.rebuilt_unit(others, at) else {
            // The stripe was never written, or nothing can be made of it.
            return self.rebuild_row(now, UnitAddress { row: at.row + 1, ..at }, done);
        };
        self.rebuild.as_mut().expect("it is under way").unit = Some(unit);
        let mode = self.ftl.cell_mode(at.band);
        self.start(now, Work::RebuildProgram, at, mode, 0);
    }

    /// A unit from the others of its stripe. Sectors that can't be rebuilt are left without a spare area: they read as
    /// errors; `None` when that is all of them.
    fn rebuilt_unit(&mut self, others: &Others, at: UnitAddress) -> Option<Unit> {
        let layout = *self.ftl.layout();
        let stripe = crate::store::stripe_of(&layout, at);
        let number = at.die % layout.width;
        let is_parity = self.ftl.stripe_units(stripe).parity >> number & 1 == 1;
        let store = self.store.as_ref().expect("the card has contents");
        let place = store.spare_of(&self.ftl, stripe);
        let mut unit = Unit::new(media::Media::shape(&store.media));
        let mut any = false;
        for sector in 0..layout.unit_sectors {
            let Some(folded) = others.fold(store, &self.ftl, stripe, number, sector) else { continue };
            let place = Spare { unit: number as u8, sector: sector as u8, ..place };
            let spare = if is_parity { Ok(folded.parity(&place)) } else { folded.member(&place) };
            let Ok(spare) = spare else { continue };
            unit.payload_mut(sector as usize).copy_from_slice(folded.payload());
            spare.encode(unit.spare_mut(sector as usize));
            any = true;
        }
        any.then_some(unit)
    }

    /// The unit was programmed.
    pub(crate) fn rebuild_programmed(&mut self, now: Time, at: UnitAddress, done: &mut Vec<Completion>) {
        let unit = self.rebuild.as_mut().and_then(|rebuild| rebuild.unit.take()).expect("it was being programmed");
        match self.contents().program_for_rebuild(at, &unit) {
            Ok(()) => self.rebuild_row(now, UnitAddress { row: at.row + 1, ..at }, done),
            Err(error) => self.rebuild_failed(now, at, error, done),
        }
    }

    /// The block can't take what belongs there: its band is emptied.
    fn rebuild_failed(&mut self, now: Time, at: UnitAddress, error: MediaError, done: &mut Vec<Completion>) {
        self.media_failed(now, at.band.0, at.die, error);
        if !self.halted {
            self.rebuild_next(now, done);
        }
    }

    /// What the rebuild has under way.
    pub(crate) fn rebuild_under_way(&self, work: Work, at: UnitAddress) -> Option<UnderWay> {
        let store = self.store.as_ref()?;
        match work {
            Work::RebuildErase => Some(UnderWay::Erase { at: store.block_at(at.die, at.band.0)? }),
            Work::RebuildProgram => {
                let unit = self.rebuild.as_ref()?.unit.clone()?;
                Some(UnderWay::Program { at: store.place_for_rebuild(at)?, unit })
            }
            _ => None,
        }
    }
}
