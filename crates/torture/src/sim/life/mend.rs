//! Restoring redundancy, so that the next fault may use it.
//!
//! The module that was harmed is replaced while the power is off, what is on the others is looked at, and whatever the
//! card does about it comes to its end. Then redundancy is whole: from here on the card has no excuse any more.

use super::runner::{End, Redundancy, Runner};
use crate::sim::{Activity, CutOutcome, FaultKind, Subject, What, When};
use device::{Rng, Time};

impl<S: Subject> Runner<'_, S> {
    /// Whether a fault may strike now. One that uses the redundancy may when there is some, when it concerns only the
    /// module that is harmed already, when the plan means it for a rebuild, or says what it may cost.
    pub(super) fn may_strike(&self, i: usize) -> bool {
        let event = &self.case.plan.events[i];
        let kind = event.fault.kind;
        if !kind.uses_redundancy() || self.case.beyond || event.contract.is_some() || kind == FaultKind::LatentError {
            return true;
        }
        match self.redundancy {
            _ if self.mending => false,
            Redundancy::Whole | Redundancy::Exceeded => true,
            Redundancy::Used { .. } => {
                let for_rebuild = matches!(event.when, When::During { activity: Activity::Rebuild, .. });
                for_rebuild || self.replaces(kind).is_some()
            }
        }
    }

    /// The slot whose harmed module a fault replaces, so that it costs nothing more.
    pub(super) fn replaces(&self, kind: FaultKind) -> Option<u32> {
        match kind {
            FaultKind::Swapped(_) => self.bench.subject.only_harmed(),
            _ => None,
        }
    }

    /// A fault waits for redundancy, and the one that used it was lived with long enough.
    pub(super) fn wants_mending(&self) -> bool {
        let Redundancy::Used { mend_from } = self.redundancy else { return false };
        let waits = |i: usize| {
            let event = &self.case.plan.events[i];
            self.waiting[i] == Some(0)
                && match event.when {
                    When::HostOp(n) => self.player.asks() >= n,
                    When::MediaOp(n) => self.bench.subject.media_ops() >= n,
                    When::During { .. } => true,
                }
                && !self.may_strike(i)
        };
        !self.mending && self.player.asks() >= mend_from && (0..self.waiting.len()).any(waits)
    }

    /// Does what an operator does. A card that does not get well stays as it is.
    pub(super) fn mend(&mut self) -> Result<(), End> {
        self.mending = true;
        while self.bench.in_flight() > 0 {
            self.bench.step(Time::NEVER)?;
        }
        let mut chooser = Rng::stream(self.case.seed ^ u64::from(self.mends), "mend");
        let harmed = self.bench.subject.harmed();
        if harmed.len() == 1 && self.bench.subject.only_harmed().is_none() {
            // A part of the card may still rebuild another module from this one.
            self.rest()?;
        }
        self.bench.cut(CutOutcome::Any, &mut chooser);
        if let [slot] = harmed[..] {
            self.bench.subject.insert(slot, What::Blank);
        }
        // The module that was there before is nobody's spare any more.
        self.swapped.clear();
        self.restart(0, &mut chooser)?;
        self.rest()?;
        self.bench.subject.scrub();
        self.rest()?;
        self.mends += 1;
        self.mending = false;
        self.redundancy = match self.redundancy {
            // A card that has stopped meanwhile, as for another controller, goes on with its rebuild after the next start.
            Redundancy::Used { .. } if self.bench.subject.activity() == Activity::Rebuild => {
                Redundancy::Used { mend_from: self.player.asks() + 1 }
            }
            Redundancy::Used { .. } if self.bench.subject.harmed().is_empty() => Redundancy::Whole,
            // Not again and again.
            Redundancy::Used { .. } => Redundancy::Used { mend_from: u32::MAX },
            other => other,
        };
        Ok(())
    }
}
