//! The phases of a card: they say what it may do, and a table says which follow each.
//!
//! Invariants:
//! - a phase is left only along [`LEGAL`];
//! - a card that has halted does nothing more; only its headers may still be told why.
//!
//! Two facts outlive a phase. A card that has run once has brought all that its start found to safety, and its headers say
//! so. A card whose spare is used up takes no more writes, whatever else it does; the headers keep that over the power.

/// The phase that a card is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It serves, and moves the sectors that the start found in stripes that are not whole.
    Starting,
    /// It serves, and nothing is left to do of its start.
    Running,
    /// Power fails: it puts on flash what it has acknowledged, and takes nothing more.
    Draining,
    /// It is shut down in order. Slow media are waited for, one operation after the other.
    ShuttingDown,
    /// Its media answer no more, there is no room for what it holds, or it has been shut down.
    Halted,
    /// It has halted, and its headers were told why, or belong to another controller.
    HaltedAndTold,
}

/// The phases that may follow each phase.
const LEGAL: [(Phase, &[Phase]); 6] = [
    (Phase::Starting, &[Phase::Running, Phase::Draining, Phase::ShuttingDown, Phase::Halted, Phase::HaltedAndTold]),
    (Phase::Running, &[Phase::Draining, Phase::ShuttingDown, Phase::Halted, Phase::HaltedAndTold]),
    (Phase::Draining, &[Phase::ShuttingDown, Phase::Halted, Phase::HaltedAndTold]),
    (Phase::ShuttingDown, &[Phase::Halted, Phase::HaltedAndTold]),
    (Phase::Halted, &[Phase::HaltedAndTold]),
    (Phase::HaltedAndTold, &[]),
];

impl Phase {
    fn may_become(self, next: Phase) -> bool {
        LEGAL.iter().any(|(from, to)| *from == self && to.contains(&next))
    }

    fn is_halted(self) -> bool {
        matches!(self, Phase::Halted | Phase::HaltedAndTold)
    }
}

/// The phase of a card, and what outlives it.
#[derive(Clone, Copy, Debug)]
pub struct Lifecycle {
    phase: Phase,
    /// The phase that a halt ended, or that was asked for since: what was begun in it is ended in its way.
    begun: Phase,
    has_run: bool,
    read_only: bool,
}

impl Lifecycle {
    /// A card that has nothing to bring to safety.
    pub fn running() -> Lifecycle {
        Lifecycle { phase: Phase::Running, begun: Phase::Running, has_run: true, read_only: false }
    }

    /// A card that was found.
    pub fn starting() -> Lifecycle {
        Lifecycle { phase: Phase::Starting, begun: Phase::Starting, has_run: false, read_only: false }
    }

    fn go_to(&mut self, next: Phase) {
        assert!(self.phase.may_become(next), "a card that is {:?} can't become {next:?}", self.phase);
        self.phase = next;
        if !next.is_halted() {
            self.begun = next;
        }
        self.has_run |= next == Phase::Running;
    }

    /// All that the start found is whole again, and the headers will say so.
    pub fn end_start(&mut self) {
        self.go_to(Phase::Running);
    }

    /// Power fails: from now on the card only puts on flash what it has acknowledged.
    pub fn drain(&mut self) {
        self.end_with(Phase::Draining);
    }

    /// The card is being shut down.
    pub fn shut_down(&mut self) {
        self.end_with(Phase::ShuttingDown);
    }

    fn end_with(&mut self, ending: Phase) {
        match self.phase.is_halted() {
            true => self.begun = ending,
            false => self.go_to(ending),
        }
    }

    /// The card does nothing more.
    #[cold]
    pub fn halt(&mut self) {
        if !self.phase.is_halted() {
            self.go_to(Phase::Halted);
        }
    }

    /// The card does nothing more, and its headers are another's.
    #[cold]
    pub fn halt_without_headers(&mut self) {
        if self.phase != Phase::HaltedAndTold {
            self.go_to(Phase::HaltedAndTold);
        }
    }

    /// The headers are to be told why the card halted, once.
    pub fn headers_to_be_told(&self) -> bool {
        self.phase == Phase::Halted
    }

    /// The headers are told why the card halted.
    pub fn tell_headers(&mut self) {
        self.go_to(Phase::HaltedAndTold);
    }

    /// The spare is used up.
    pub fn turn_read_only(&mut self) {
        self.read_only = true;
    }

    pub fn is_halted(&self) -> bool {
        self.phase.is_halted()
    }

    /// Only what is in the buffer, or owed, matters.
    pub fn is_draining(&self) -> bool {
        matches!(self.begun, Phase::Draining | Phase::ShuttingDown)
    }

    /// Each operation of a slow medium waits for itself.
    pub fn waits_at_once(&self) -> bool {
        self.begun == Phase::ShuttingDown
    }

    /// Nothing that the start found lies in a stripe that is not whole any more.
    pub fn start_is_over(&self) -> bool {
        self.has_run
    }

    pub fn is_read_only(&self) -> bool {
        self.read_only
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::catch_unwind;

    const ALL: [Phase; 6] =
        [Phase::Starting, Phase::Running, Phase::Draining, Phase::ShuttingDown, Phase::Halted, Phase::HaltedAndTold];

    fn in_phase(phase: Phase) -> Lifecycle {
        Lifecycle { phase, begun: phase, has_run: phase != Phase::Starting, read_only: false }
    }

    #[test]
    fn a_phase_is_left_only_along_the_table() {
        assert_eq!(LEGAL.map(|(from, _)| from), ALL);
        for (from, to) in LEGAL {
            for next in ALL {
                let went = catch_unwind(|| {
                    let mut lifecycle = in_phase(from);
                    lifecycle.go_to(next);
                    lifecycle.phase
                });
                assert_eq!(went.ok(), to.contains(&next).then_some(next), "{from:?} to {next:?}");
            }
        }
    }

    #[test]
    fn no_phase_comes_twice() {
        // Each row leads only to phases behind its own.
        for (i, (_, to)) in LEGAL.iter().enumerate() {
            assert!(to.iter().all(|next| ALL.iter().position(|of| of == next) > Some(i)));
        }
    }

    #[test]
    fn a_halt_is_told_once_and_what_was_begun_is_ended_in_its_way() {
        for phase in &ALL[..4] {
            let mut lifecycle = in_phase(*phase);
            let (drains, at_once) = (lifecycle.is_draining(), lifecycle.waits_at_once());
            lifecycle.halt();
            lifecycle.halt();
            assert!(lifecycle.is_halted() && lifecycle.headers_to_be_told());
            assert_eq!((lifecycle.is_draining(), lifecycle.waits_at_once()), (drains, at_once));
            lifecycle.tell_headers();
            lifecycle.halt_without_headers();
            assert!(lifecycle.is_halted() && !lifecycle.headers_to_be_told());
            lifecycle.shut_down();
            assert!(lifecycle.is_draining() && lifecycle.waits_at_once() && lifecycle.is_halted());
        }
    }

    #[test]
    fn a_start_that_power_ends_is_not_over() {
        let mut lifecycle = Lifecycle::starting();
        lifecycle.drain();
        assert!(!lifecycle.start_is_over());
        let mut lifecycle = Lifecycle::starting();
        lifecycle.end_start();
        lifecycle.drain();
        assert!(lifecycle.start_is_over());
    }
}
