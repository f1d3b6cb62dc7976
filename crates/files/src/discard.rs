//! Discards: a drive is told which bands were erased, so that it need not keep what lay there.
//!
//! Nothing depends on a discard. It begins when all blocks of a band on the module are erased durably, one band at a time,
//! nobody waits for its end, and a band that is programmed before its turn is left out. A program to a band whose discard
//! is in flight begins when that has ended, because the discard would destroy it.
//!
//! The kernel is asked for zeroes (a hole), not for a discard that leaves open what is read afterwards: a unit that reads
//! as zeroes is erased, and one that reads as anything else would count as damaged.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The bands of a module that are to be discarded.
#[derive(Debug, Default)]
pub(crate) struct Discards {
    /// Dies whose block of a band was erased since it was last programmed.
    erased: BTreeMap<u32, BTreeSet<u32>>,
    /// Bands of which all blocks are erased, in that order.
    waiting: VecDeque<u32>,
    in_flight: Option<u32>,
    /// The device refuses them.
    are_refused: bool,
}

impl Discards {
    /// The block of a die in a band was erased durably.
    pub fn erased(&mut self, band: u32, die: u32, dies: u32) {
        if self.are_refused {
            return;
        }
        let erased = self.erased.entry(band).or_default();
        erased.insert(die);
        if erased.len() == dies as usize {
            self.erased.remove(&band);
            self.waiting.push_back(band);
        }
    }

    /// A block of a band is about to be programmed. `false`: its discard is in flight, and has to end first.
    pub fn may_program(&mut self, band: u32) -> bool {
        self.erased.remove(&band);
        self.waiting.retain(|waiting| *waiting != band);
        self.in_flight != Some(band)
    }

    /// The band whose discard begins now, if any.
    pub fn begin(&mut self) -> Option<u32> {
        if self.in_flight.is_some() {
            return None;
        }
        self.in_flight = self.waiting.pop_front();
        self.in_flight
    }

    /// The discard in flight has ended; a device that refused one is asked for no other.
    pub fn ended(&mut self, is_refused: bool) {
        assert!(self.in_flight.take().is_some(), "a discard ends that was not begun");
        if is_refused {
            *self = Discards { are_refused: true, ..Discards::default() };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_band_is_discarded_when_all_its_blocks_are_erased_and_one_at_a_time() {
        let mut discards = Discards::default();
        discards.erased(5, 0, 2);
        discards.erased(5, 0, 2);
        assert_eq!(discards.begin(), None, "the block of the other die is not erased");
        discards.erased(7, 1, 2);
        discards.erased(5, 1, 2);
        discards.erased(7, 0, 2);
        assert_eq!(discards.begin(), Some(5));
        assert_eq!(discards.begin(), None);
        discards.ended(false);
        assert_eq!(discards.begin(), Some(7));
    }

    #[test]
    fn a_band_that_is_programmed_is_not_discarded() {
        let mut discards = Discards::default();
        (0..2).for_each(|die| discards.erased(1, die, 2));
        (0..2).for_each(|die| discards.erased(2, die, 2));
        assert_eq!(discards.begin(), Some(1));
        assert!(!discards.may_program(1), "its discard would destroy the program");
        assert!(discards.may_program(2));
        discards.ended(false);
        assert!(discards.may_program(1));
        assert_eq!(discards.begin(), None, "the band was programmed before its turn");
        // Erases of before a program do not count.
        discards.erased(3, 0, 2);
        assert!(discards.may_program(3));
        discards.erased(3, 1, 2);
        assert_eq!(discards.begin(), None);
    }

    #[test]
    fn a_device_that_refuses_is_not_asked_again() {
        let mut discards = Discards::default();
        (0..2).for_each(|die| discards.erased(1, die, 2));
        assert_eq!(discards.begin(), Some(1));
        discards.ended(true);
        (0..2).for_each(|die| discards.erased(2, die, 2));
        assert_eq!(discards.begin(), None);
    }
}
