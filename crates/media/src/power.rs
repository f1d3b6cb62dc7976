//! What is left when power goes.
//!
//! An operation that was under way may not have begun, may be done without anybody knowing, or may have stopped
//! somewhere between. With a volatile cache, operations that were reported may be gone too, unless they were synced:
//! any subset of them. Later ones need not be gone because earlier ones are, so a block may hold row 2 and not row 1.
//! Operations at one place keep their order, as in a drive; those at different places commute, so subsets are all that
//! another order could bring.

use crate::flash::{place, traced};
use crate::hash::{hash, purpose};
use crate::module::{Erased, Header, Put};
use crate::{BlockAt, Flash, Unit, UnitAt, Unsynced};

/// An operation that has begun when power goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnderWay {
    /// A program.
    Program {
        /// Where.
        at: UnitAt,
        /// Of what.
        unit: Unit,
    },
    /// An erase.
    Erase {
        /// Of which block.
        at: BlockAt,
    },
}

/// What became of an operation that was under way.
///
/// Every outcome can be given for every operation, so that a plan need not know what it hits: an outcome that belongs
/// to the other kind means the worst of this kind. For a header copy [`CutOutcome::NotBegun`] is the old one,
/// [`CutOutcome::Done`] the new one, and everything else leaves it unreadable. For marking a block bad everything but
/// [`CutOutcome::NotBegun`] is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CutOutcome {
    /// Nothing happened.
    NotBegun,
    /// All happened; nobody was told.
    Done,
    /// A program came through for some sectors.
    Torn {
        /// Sectors that hold what was to be programmed: bit n is sector n.
        good: u64,
        /// Sectors that still read as erased. All others are uncorrectable. When all read as erased the unit is not: what
        /// is programmed into it before the block's next erase is lost.
        blank: u64,
        /// What was programmed earlier into the same cells is lost, see [`crate::Shape::rows_sharing_cells`].
        spoil_earlier: bool,
    },
    /// A program left nothing that can be read.
    Garbage {
        /// As in [`CutOutcome::Torn`].
        spoil_earlier: bool,
    },
    /// An erase left nothing that can be read. The block must be erased again.
    PartlyErased,
    /// An erase was almost done: the block reads as erased, and about half of the sectors that are programmed into it
    /// before it is erased again are lost.
    Weak,
}

impl CutOutcome {
    /// A program came through for the first `sectors`.
    pub fn prefix(sectors: u32) -> CutOutcome {
        CutOutcome::Torn { good: low_bits(sectors), blank: 0, spoil_earlier: false }
    }
    /// A program came through for all but the first `sectors`.
    pub fn suffix(sectors: u32) -> CutOutcome {
        CutOutcome::Torn { good: !low_bits(sectors), blank: 0, spoil_earlier: false }
    }
}

fn low_bits(count: u32) -> u64 {
    1u64.checked_shl(count).map_or(u64::MAX, |bit| bit - 1)
}

/// What becomes of reported operations that were not synced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CacheLoss {
    /// Each is kept or lost by a coin that the medium's seed throws.
    #[default]
    Seeded,
    /// All are lost.
    All,
    /// None are lost.
    None,
}

impl Flash {
    /// Power goes. Of each operation that is `under_way`, that is begun and not called yet, becomes what `choose` says.
    /// What was reported and not synced is decided by [`Flash::set_cache_loss`].
    pub fn power_cut(&mut self, under_way: &[UnderWay], choose: &mut dyn FnMut(usize, &UnderWay) -> CutOutcome) {
        self.settle_all(under_way, choose);
        self.lose_power();
    }

    /// Like [`Flash::power_cut`]; of what was reported and not synced, asked module by module in the order in which it
    /// was reported, stays what `keep` says.
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

    /// Power is back. Stuck modules answer again, dead ones do not.
    pub fn power_on(&mut self) {
        self.powered = true;
        self.never_cut();
        for slot in self.slots.iter_mut().flatten().filter(|slot| slot.live.stuck) {
            slot.physical(|module| module.stuck = false);
        }
    }

    /// Whether there is power.
    pub fn has_power(&self) -> bool {
        self.powered
    }

    /// Power goes during the operation that [`Flash::ops`] will have counted `op` others before, with this outcome. One
    /// cut waits at a time; [`Flash::power_on`] and [`Flash::never_cut`] forget it.
    pub fn cut_at(&mut self, op: u64, outcome: CutOutcome) {
        self.cut = Some((op, outcome));
    }

    /// As [`Flash::cut_at`], counted by [`Flash::records`].
    pub fn cut_at_record(&mut self, record: u64, outcome: CutOutcome) {
        self.cut_record = Some((record, outcome));
    }

    /// Forgets [`Flash::cut_at`] and [`Flash::cut_at_record`].
    pub fn never_cut(&mut self) {
        self.cut = None;
        self.cut_record = None;
    }

    /// What becomes of reported operations that were not synced, from now on.
    pub fn set_cache_loss(&mut self, loss: CacheLoss) {
        self.cache_loss = loss;
    }

    /// Reported operations of a module that were not synced.
    pub fn unsynced(&self, module: u32) -> usize {
        self.slots[module as usize].as_ref().map_or(0, |slot| slot.unsynced())
    }

    /// Ends an operation that has begun and is not called: its module loses power alone, is pulled, or gives up.
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

    /// The end of power: what is not durable is gone, or not.
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

/// Whether to keep the next of a module's unsynced operations.
pub(crate) fn coin(loss: CacheLoss, seed: u64, cuts: u64, module: u32) -> impl FnMut(&Unsynced) -> bool {
    let mut index = 0u64;
    move |_| {
        index += 1;
        match loss {
            CacheLoss::All => false,
            CacheLoss::None => true,
            CacheLoss::Seeded => hash(&[seed, purpose::CACHE, cuts, u64::from(module), index]) & 1 == 1,
        }
    }
}
