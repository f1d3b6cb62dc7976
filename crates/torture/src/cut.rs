//! Power cuts: what becomes of each operation under way.

use crate::CardUnderTest;
use crate::ends::{end_of, header_end};
use crate::sim::{Chooser, CutOutcome, Subject};
use device::{Device, Time};
use media::{CutOutcome as End, Media, UnderWay};

impl CardUnderTest {
    /// Cuts the power, if something is under way that can end so.
    pub(crate) fn cut_power(&mut self, how: CutOutcome, chooser: &mut dyn Chooser) -> bool {
        let Some(card) = &self.card else { return how == CutOutcome::Any };
        let protected = card.config().power_loss_protection;
        let before = card.under_way();
        let shape = *self.flash().shape();
        let (sectors, cells) = (shape.unit_sectors, shape.rows_sharing_cells);
        let program = |u: &UnderWay| matches!(u, UnderWay::Program { .. });
        let programs = if protected { 0 } else { before.iter().filter(|u| program(u)).count() };
        let erase = |u: &UnderWay| matches!(u, UnderWay::Erase { .. });
        let erases = before.iter().filter(|u| erase(u)).count();
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
            CutOutcome::CacheLost => (None, false),
        };
        let possible = match how {
            CutOutcome::Any => true,
            CutOutcome::CacheLost => self.has_unsynced(),
            CutOutcome::AnySubset => programs > 1,
            CutOutcome::TornPrefix | CutOutcome::TornSuffix | CutOutcome::TornSectors => programs > 0 && sectors > 1,
            CutOutcome::SharedCells => programs > 0 && cells > 1,
            _ if of_erase => erases > 0,
            _ => programs > 0,
        };
        if !possible {
            return false;
        }
        // With a die or a module gone, stuck (which the card need not know yet) or slow, there is not always room or
        // time: the redundancy is used up for that.
        let is_slow = (0..shape.modules).any(|slot| self.flash().slow_percent(slot) > 100);
        let is_harmed = !self.harmed().is_empty();
        let mut card = self.card.take().expect("looked at");
        let is_whole = !is_slow && !is_harmed && !card.health().critical_warning.reliability_degraded;
        let mut done = Vec::new();
        let (failed_at, hold_up_ns) = (self.now, card.config().hold_up_ns());
        card.power_fails(self.now);
        while !card.is_drained() {
            let next = card.next_event();
            assert_ne!(next, Time::NEVER, "the buffer never drains");
            self.now = next;
            card.advance(next, &mut done);
        }
        if let Some(hold_up_ns) = hold_up_ns.filter(|_| is_whole && !card.is_halted()) {
            let took_ns = self.now - failed_at;
            assert!(took_ns <= hold_up_ns, "the drain took {took_ns} ns, the energy lasts {hold_up_ns} ns");
        }
        let under_way = card.under_way();
        self.note_gone(&card);
        let mut media = card.into_media().expect("it has contents");
        let mut forced = forced;
        let mut ends: Vec<End> = Vec::new();
        for operation in &under_way {
            let is_forced = forced.is_some() && if of_erase { erase(operation) } else { program(operation) };
            ends.push(if is_forced { forced.take().expect("checked") } else { end_of(&shape, operation, chooser) });
        }
        self.note_cut(&under_way, &ends);
        if how == CutOutcome::CacheLost {
            media.power_cut_keeping(&under_way, &mut |i, _| ends[i], &mut |_| chooser.choose(2) == 0);
        } else {
            media.power_cut(&under_way, &mut |i, _| ends[i]);
        }
        self.media = Some(media);
        true
    }

    /// The next event, with the power cut while a header is written or a block marked within it, after `after` others.
    /// Other operations that were under way before and are so still end as the chooser decides. Capacitors bring such
    /// an operation to its end: there it is no place for a cut.
    pub(crate) fn cut_power_within(&mut self, after: u64, chooser: &mut dyn Chooser) -> bool {
        let Some(card) = self.card.as_mut().filter(|card| !card.config().power_loss_protection) else { return false };
        let next = card.next_event();
        if next == Time::NEVER {
            return false;
        }
        let before = card.under_way();
        let media = card.media_contents_mut().expect("it has contents");
        let shape = *media.shape();
        media.cut_at_record(media.records() + after, header_end(chooser));
        self.now = next;
        card.advance(next, &mut Vec::new());
        if card.media_contents().expect("it has contents").has_power() {
            return false;
        }
        let still: Vec<UnderWay> =
            card.under_way().into_iter().filter(|operation| before.contains(operation)).collect();
        let card = self.card.take().expect("looked at");
        self.note_gone(&card);
        let mut media = card.into_media().expect("it has contents");
        media.power_on();
        media.power_cut(&still, &mut |_, operation| end_of(&shape, operation, chooser));
        self.media = Some(media);
        true
    }
}
