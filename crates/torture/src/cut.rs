//! Power cuts: what becomes of each operation under way.

use crate::CardUnderTest;
use device::{Device, Time};
use media::{CutOutcome as End, Media, UnderWay};
use sim::{Chooser, CutOutcome};

impl CardUnderTest {
    /// Ways in which a program can end, the mildest first.
    fn program_ends(&self) -> Vec<End> {
        let shape = *self.flash().shape();
        let mut ends = vec![End::Done, End::NotBegun, End::Garbage { spoil_earlier: false }];
        if shape.unit_sectors > 1 {
            ends.extend([End::prefix(1), End::suffix(1)]);
        }
        if shape.rows_sharing_cells > 1 {
            ends.push(End::Garbage { spoil_earlier: true });
        }
        ends
    }

    fn end_of(&self, operation: &UnderWay, chooser: &mut dyn Chooser) -> End {
        const ERASES: [End; 4] = [End::Done, End::NotBegun, End::PartlyErased, End::Weak];
        match operation {
            UnderWay::Program { .. } => {
                let ends = self.program_ends();
                ends[chooser.choose(ends.len() as u64) as usize]
            }
            UnderWay::Erase { .. } => ERASES[chooser.choose(4) as usize],
        }
    }

    /// An end for an operation of which nothing is known.
    pub(crate) fn any_outcome(&self, chooser: &mut dyn Chooser) -> End {
        const ENDS: [End; 5] =
            [End::Done, End::NotBegun, End::Garbage { spoil_earlier: false }, End::PartlyErased, End::Weak];
        ENDS[chooser.choose(5) as usize]
    }

    /// Cuts the power, if something is under way that can end so.
    pub(crate) fn cut_power(&mut self, how: CutOutcome, chooser: &mut dyn Chooser) -> bool {
        let Some(card) = &self.card else { return how == CutOutcome::Any };
        let protected = card.config().power_loss_protection;
        let before = card.under_way();
        let sectors = self.flash().shape().unit_sectors;
        let cells = self.flash().shape().rows_sharing_cells;
        let program = |u: &UnderWay| matches!(u, UnderWay::Program { .. });
        let programs = if protected { 0 } else { before.iter().filter(|u| program(u)).count() };
        let erases = before.iter().filter(|u| !program(u)).count();
        // The end of the first operation that can end so.
        let (forced, of_erase) = match how {
            CutOutcome::Any | CutOutcome::AnySubset => (None, false),
            CutOutcome::NotBegun => (Some(End::NotBegun), programs == 0),
            CutOutcome::DoneUnreported => (Some(End::Done), programs == 0),
            CutOutcome::PartlyDone if programs == 0 => (Some(End::PartlyErased), true),
            CutOutcome::PartlyDone | CutOutcome::TornGarbage => (Some(End::Garbage { spoil_earlier: false }), false),
            CutOutcome::TornPrefix => (Some(End::prefix(1)), false),
            CutOutcome::TornSuffix => (Some(End::suffix(1)), false),
            CutOutcome::TornSectors => {
                (Some(End::Torn { good: 1 << chooser.choose(sectors.into()), blank: 0, spoil_earlier: false }), false)
            }
            CutOutcome::SharedCells => (Some(End::Garbage { spoil_earlier: true }), false),
            CutOutcome::WeakErase => (Some(End::Weak), true),
            CutOutcome::CacheLost => return false,
        };
        let possible = match how {
            CutOutcome::Any => true,
            CutOutcome::AnySubset => programs > 1,
            CutOutcome::TornPrefix | CutOutcome::TornSuffix | CutOutcome::TornSectors => programs > 0 && sectors > 1,
            CutOutcome::SharedCells => programs > 0 && cells > 1,
            _ if of_erase => erases > 0,
            _ => programs > 0,
        };
        if !possible {
            return false;
        }
        let mut card = self.card.take().expect("looked at");
        let mut done = Vec::new();
        card.power_fails(self.now);
        while !card.is_drained() {
            let next = card.next_event();
            assert_ne!(next, Time::NEVER, "the buffer never drains");
            self.now = next;
            card.advance(next, &mut done);
        }
        let under_way = card.under_way();
        let mut media = card.into_media().expect("it has contents");
        self.media = Some(media.clone());
        let mut forced = forced;
        media.power_cut(&under_way, &mut |_, operation| {
            if forced.is_some() && program(operation) != of_erase {
                return forced.take().expect("checked");
            }
            self.end_of(operation, chooser)
        });
        self.media = Some(media);
        true
    }
}
