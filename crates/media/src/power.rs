//! Power cuts, and their effects.
//!
//! An operation in flight may not have begun, may be complete without having been reported, or may have stopped in
//! between. With a volatile cache, any subset of the operations that were reported and not synced may be lost too. A
//! later operation need not be lost because an earlier one is, so a block may hold row 2 and not row 1. Operations at
//! one place keep their order, as in a drive. Operations at different places commute, so no other order can leave more
//! than these subsets.

use crate::flash::{Flash, place, traced};
use crate::module::{Erased, Header, Put};
use crate::outcome::{CacheLoss, CutOutcome, UnderWay, coin};
use crate::place::{BlockAt, UnitAt};
use crate::slot::Unsynced;
use crate::unit::Unit;

impl Flash {
    /// Cuts the power. `choose` gives the outcome of each operation that is `under_way`, which means begun and not
    /// called yet. [`Flash::set_cache_loss`] decides on operations that were reported and not synced.
    pub fn power_cut(&mut self, under_way: &[UnderWay], choose: &mut dyn FnMut(usize, &UnderWay) -> CutOutcome) {
        self.settle_all(under_way, choose);
        self.lose_power();
    }

    /// Cuts the power like [`Flash::power_cut`]. `keep` decides on operations that were reported and not synced; it is
    /// asked module by module, in the order in which they were reported.
    pub fn power_cut_keeping(
        &mut self,
        under_way: &[UnderWay],
        choose: &mut dyn FnMut(usize, &UnderWay) -> CutOutcome,
        keep: &mut dyn FnMut(&Unsynced) -> bool,
    ) {
        self.settle_all(under_way, choose);
        self.powered = false;
        for (number, slot) in (0..).zip(&mut self.slots) {
            if let Some(slot) = slot {
                slot.lose(number, keep);
            }
        }
        self.cuts += 1;
    }

    fn settle_all(&mut self, under_way: &[UnderWay], choose: &mut dyn FnMut(usize, &UnderWay) -> CutOutcome) {
        if self.powered {
            for (index, operation) in under_way.iter().enumerate() {
                let outcome = choose(index, operation);
                self.settle(operation, outcome);
            }
        }
    }

    /// Turns the power on. Stuck modules answer again, dead ones do not.
    pub fn power_on(&mut self) {
        self.powered = true;
        self.never_cut();
        for slot in self.slots.iter_mut().flatten().filter(|slot| slot.live.stuck) {
            slot.physical(|module| module.stuck = false);
        }
    }

    /// Whether the power is on.
    pub fn has_power(&self) -> bool {
        self.powered
    }

    /// Plans a power cut during the operation before which [`Flash::ops`] counts `op`, with this outcome. One cut waits
    /// at a time; [`Flash::power_on`] and [`Flash::never_cut`] remove it.
    pub fn cut_at(&mut self, op: u64, outcome: CutOutcome) {
        self.cut = Some((op, outcome));
    }

    /// Plans a power cut as [`Flash::cut_at`] does, counted by [`Flash::records`].
    pub fn cut_at_record(&mut self, record: u64, outcome: CutOutcome) {
        self.cut_record = Some((record, outcome));
    }

    /// Removes the cuts that [`Flash::cut_at`] and [`Flash::cut_at_record`] planned.
    pub fn never_cut(&mut self) {
        self.cut = None;
        self.cut_record = None;
    }

    /// Sets the loss of reported operations that were not synced, for the next cuts.
    pub fn set_cache_loss(&mut self, loss: CacheLoss) {
        self.cache_loss = loss;
    }

    /// The number of reported operations of a module that were not synced.
    pub fn unsynced(&self, module: u32) -> usize {
        self.slots[module as usize].as_ref().map_or(0, |slot| slot.unsynced())
    }

    /// Ends an operation that was begun and is not called, because its module alone loses power, is pulled, or gives
    /// up.
    pub fn settle(&mut self, operation: &UnderWay, outcome: CutOutcome) {
        match operation {
            UnderWay::Program { at, unit } => {
                self.settle_program(*at, unit, outcome);
                let contents = unit.contents().crc();
                self.note_settled(traced::PROGRAM, place(at.block, at.row), contents, outcome);
            }
            UnderWay::Erase { at } => {
                self.settle_erase(*at, outcome);
                self.note_settled(traced::ERASE, place(*at, 0), 0, outcome);
            }
            UnderWay::Log { module, offset_bytes, bytes } => {
                self.settle_log(*module, *offset_bytes, bytes, outcome);
                self.note_settled(traced::LOG, [u64::from(*module), *offset_bytes], crc32c::crc32c(bytes), outcome);
            }
        }
    }

    pub(crate) fn settle_program(&mut self, at: UnitAt, unit: &Unit, outcome: CutOutcome) {
        let BlockAt { module, die, block } = at.block;
        if outcome == CutOutcome::NotBegun || self.writable(module, Some(die)).is_err() {
            return;
        }
        let rows = self.shape.earlier_rows_sharing_cells(at.row);
        let Some(slot) = &mut self.slots[module as usize] else { return };
        let state = slot.live.block(die, block);
        if state.bad || state.broken {
            return;
        }
        slot.live.assert_legal(die, block, at.row);
        let (good, blank, spoil_earlier) = match outcome {
            CutOutcome::NotBegun => return,
            CutOutcome::Done => (u64::MAX, 0, false),
            CutOutcome::Torn { good, blank, spoil_earlier } => (good, blank, spoil_earlier),
            CutOutcome::Garbage { spoil_earlier } => (0, 0, spoil_earlier),
            CutOutcome::PartlyErased | CutOutcome::Weak => (0, 0, false),
        };
        slot.put(Put { die, block, row: at.row, good, blank, commanded: true }, unit.contents());
        if spoil_earlier {
            slot.physical(|module| module.spoil(die, block, rows.clone()));
        }
    }

    pub(crate) fn settle_erase(&mut self, at: BlockAt, outcome: CutOutcome) {
        let BlockAt { module, die, block } = at;
        let how = match outcome {
            CutOutcome::NotBegun => return,
            CutOutcome::Done => Erased::Fully,
            CutOutcome::Weak => Erased::Weakly,
            CutOutcome::Torn { .. } | CutOutcome::Garbage { .. } | CutOutcome::PartlyErased => Erased::Partly,
        };
        if self.writable(module, Some(die)).is_err() {
            return;
        }
        let Some(slot) = &mut self.slots[module as usize] else { return };
        let state = slot.live.block(die, block);
        if !state.bad && !state.broken {
            slot.erase(die, block, how, &mut self.freed.0);
        }
    }

    pub(crate) fn settle_header(&mut self, module: u32, copy: u32, bytes: &[u8], outcome: CutOutcome) {
        if outcome == CutOutcome::NotBegun || self.writable(module, None).is_err() {
            return;
        }
        let Some(slot) = &mut self.slots[module as usize] else { return };
        slot.physical(|module| match outcome {
            CutOutcome::Done => module.set_header(copy, bytes),
            _ => module.headers[copy as usize] = Header::Unreadable,
        });
    }

    /// Turns the power off; operations that are not durable may be lost.
    pub(crate) fn lose_power(&mut self) {
        self.powered = false;
        let (loss, seed, cuts) = (self.cache_loss, self.seed, self.cuts);
        self.cuts += 1;
        for (number, slot) in (0..).zip(&mut self.slots) {
            if let Some(slot) = slot {
                slot.lose(number, &mut coin(loss, seed, cuts, number));
            }
        }
    }
}
