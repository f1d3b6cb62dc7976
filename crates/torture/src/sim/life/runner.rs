//! The course of a life: its host's script, its faults, and when they strike.

use super::case::Case;
use super::record::{Fired, Life};
use crate::sim::player::{Played, Player};
use crate::sim::{
    Activity, Bench, Contract, Coverage, CutOutcome, Event, Failure, FaultKind, Impact, Refusal, Subject, When,
};
use device::{Rng, Time};

/// Requests that a card serves at least without redundancy, and how many more at most.
const PATIENCE: (u32, u32) = (20, 400);

/// Why a life ends before its time.
pub(super) enum End {
    Failed(Box<Failure>),
    Halted(Refusal),
}

impl From<Failure> for End {
    fn from(failure: Failure) -> End {
        End::Failed(Box::new(failure))
    }
}

/// Faults that parity can still make up for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Redundancy {
    /// One more fault.
    Whole,
    /// None, until the card is mended; so many requests later that may be done.
    Used { mend_from: u32 },
    /// More was lost than it makes up for.
    Exceeded,
}

pub(super) struct Runner<'a, S> {
    pub bench: Bench<S>,
    pub player: Player<'a>,
    pub case: &'a Case,
    /// For each event that has not happened: steps to go in its activity.
    pub waiting: Vec<Option<u32>>,
    pub faults_over: bool,
    pub redundancy: Redundancy,
    /// The redundancy is being restored.
    pub mending: bool,
    /// Operations of the last recovery: where the next one can be cut.
    pub recovery_ops: u64,
    /// Slots whose module is not the right one.
    pub swapped: Vec<u32>,
    pub fired: Vec<Fired>,
    pub coverage: Coverage,
    pub nested_cuts: u32,
    pub mends: u32,
    pub rest_ns: u64,
}

impl<'a, S: Subject> Runner<'a, S> {
    pub fn new(subject: S, case: &'a Case) -> Runner<'a, S> {
        let countdown = |event: &Event| if let When::During { after, .. } = event.when { after } else { 0 };
        Runner {
            bench: Bench::new(subject, case.bounds),
            player: Player::new(&case.steps),
            case,
            waiting: case.plan.events.iter().map(|event| Some(countdown(event))).collect(),
            faults_over: false,
            redundancy: Redundancy::Whole,
            mending: false,
            recovery_ops: 1,
            swapped: Vec::new(),
            fired: Vec::new(),
            coverage: Coverage::default(),
            nested_cuts: 0,
            mends: 0,
            rest_ns: 0,
        }
    }

    pub fn life(self, end: Result<(), End>) -> Life {
        let (failure, halted) = match end {
            Ok(()) => (None, None),
            Err(End::Failed(failure)) => (Some(*failure), None),
            Err(End::Halted(refusal)) => (None, Some(refusal)),
        };
        Life {
            trace: self.bench.trace(),
            failure,
            halted,
            fired: self.fired,
            coverage: self.coverage,
            asks: self.player.asks(),
            power_cuts: self.bench.oracle.power_cuts(),
            nested_cuts: self.nested_cuts,
            mends: self.mends,
            rest_ns: self.rest_ns,
            sectors_read: self.bench.sectors_read(),
            met: self.bench.met(),
            log: self.bench.subject.log_met(),
        }
    }

    pub fn live(&mut self) -> Result<(), End> {
        while self.player.play(&mut self.bench)? != Played::Over {
            self.fire()?;
        }
        self.faults_over = true;
        self.rest()?;
        self.read_back()?;
        self.bench.cut(CutOutcome::Any, &mut Rng::stream(self.case.seed, "last cut"));
        self.restart(0, &mut Rng::stream(self.case.seed, "last start"))?;
        self.rest()?;
        self.read_back()
    }

    /// Until the card has nothing left to do. Faults wait.
    pub fn rest(&mut self) -> Result<(), End> {
        self.bench.rest_from_now();
        let begun = self.bench.subject.now();
        while !self.bench.at_rest()? {
            if !self.bench.step(Time::NEVER)? && !self.bench.subject.idle() {
                let activity = self.bench.subject.activity();
                return Err(Failure::NoRest { activity, steps: 0, ns: 0 }.into());
            }
        }
        self.rest_ns = self.rest_ns.max(self.bench.subject.now().since_ns(begun));
        Ok(())
    }

    /// Reads every sector. Faults go on meanwhile.
    pub fn read_back(&mut self) -> Result<(), End> {
        for ask in self.bench.read_back_asks() {
            self.bench.submit(&ask)?;
            while self.bench.in_flight() > 0 {
                self.bench.step(Time::NEVER)?;
                self.fire()?;
            }
        }
        Ok(())
    }

    /// Lets happen what is due.
    fn fire(&mut self) -> Result<(), End> {
        if self.faults_over {
            return Ok(());
        }
        let activity = self.bench.subject.activity();
        for i in 0..self.case.plan.events.len() {
            let Some(left) = &mut self.waiting[i] else { continue };
            if let When::During { activity: a, .. } = self.case.plan.events[i].when
                && a == activity
                && *left > 0
            {
                *left -= 1;
                continue;
            }
            // A fault before it may have changed what the card does.
            if self.is_due(i) && self.may_strike(i) {
                self.waiting[i] = None;
                if !self.happen(i)? {
                    self.waiting[i] = Some(0);
                }
            }
        }
        if self.wants_mending() {
            self.mend()?;
        }
        Ok(())
    }

    fn is_due(&self, i: usize) -> bool {
        match self.case.plan.events[i].when {
            When::HostOp(n) => self.player.asks() >= n,
            When::MediaOp(n) => self.bench.subject.media_ops() >= n,
            When::During { activity, .. } => {
                self.waiting[i] == Some(0)
                    && activity == self.bench.subject.activity()
                    && activity != Activity::Recovery
            }
        }
    }

    /// An event, with the power on. `false`: not applicable now.
    fn happen(&mut self, i: usize) -> Result<bool, End> {
        let fault = self.case.plan.events[i].fault;
        let mut chooser = fault.chooser("cut");
        let fired = self.fired(i);
        match fault.kind {
            FaultKind::Cut(how) => {
                if !self.bench.cut(how, &mut chooser) {
                    return Ok(false);
                }
                self.note(fired);
                self.restart(0, &mut chooser)?;
            }
            FaultKind::NestedCut { depth } => {
                self.bench.cut(CutOutcome::Any, &mut chooser);
                if self.restart(u32::from(depth), &mut chooser)? {
                    self.note(Fired { activity: Activity::Recovery, ..fired });
                }
            }
            // A card that takes no modules while it serves gets them while the power is off.
            FaultKind::Swapped(_) if self.damage(i, fired) => {}
            kind if kind.needs_power_off() || matches!(kind, FaultKind::Swapped(_)) => {
                self.bench.cut(CutOutcome::Any, &mut chooser);
                // Not applicable is over too: power is not cut again and again for it.
                self.damage(i, Fired { activity: Activity::Recovery, ..fired });
                self.restart(0, &mut chooser)?;
            }
            _ => return Ok(self.damage(i, fired)),
        }
        Ok(true)
    }

    /// Damage that is not a cut, with or without power. `false`: not applicable now.
    pub fn damage(&mut self, i: usize, fired: Fired) -> bool {
        // The cut before it may have changed what the card can take.
        if !self.may_strike(i) {
            return false;
        }
        let event = self.case.plan.events[i];
        let kind = event.fault.kind;
        let mut rng = event.fault.chooser("slot");
        let replaced = self.replaces(kind);
        let subject = &mut self.bench.subject;
        let slots = subject.slots();
        let slot = replaced.unwrap_or(rng.below(u64::from(slots)) as u32);
        let impact = match kind {
            FaultKind::PulledModule => subject.pull(slot),
            FaultKind::Swapped(what) => subject.insert(slot, what),
            FaultKind::PermutedSlots => {
                let mut order: Vec<u32> = (0..slots).collect();
                for i in (1..order.len()).rev() {
                    order.swap(i, rng.below(i as u64 + 1) as usize);
                }
                let permuted = subject.permute(&order);
                if permuted {
                    self.swapped.iter_mut().for_each(|slot| *slot = order[*slot as usize]);
                }
                permuted.then(Impact::default)
            }
            _ => subject.inject(&event.fault),
        };
        let Some(impact) = impact else { return false };
        if matches!(kind, FaultKind::PulledModule | FaultKind::Swapped(_)) {
            self.swapped.push(slot);
        }
        let degraded = self.redundancy != Redundancy::Whole || fired.activity == Activity::Rebuild;
        let degraded = degraded && replaced.is_none();
        let contract = event.contract.unwrap_or(if degraded { kind.contract_degraded() } else { kind.contract() });
        // Where faults pile up, some of them not met yet, what one more costs can't be told by what the card knows.
        let unknown = impact.lost == crate::sim::Lost::None || self.case.beyond;
        if kind.uses_redundancy() && degraded && unknown && event.contract.is_none() {
            self.redundancy = Redundancy::Exceeded;
            self.bench.oracle.beyond();
        }
        let accepted = match contract {
            Contract::Repaired => Impact::default(),
            Contract::Error => Impact { may_refuse: false, ..impact },
            Contract::Halt => impact,
        };
        if accepted != Impact::default() {
            self.bench.oracle.allow(&accepted);
        }
        if kind.uses_redundancy() && self.redundancy == Redundancy::Whole {
            let patience = PATIENCE.0 + rng.below(u64::from(PATIENCE.1)) as u32;
            self.redundancy = Redundancy::Used { mend_from: self.player.asks() + patience };
        }
        self.note(fired);
        true
    }

    pub fn fired(&self, event: usize) -> Fired {
        let subject = &self.bench.subject;
        Fired { event, asks: self.player.asks(), media_ops: subject.media_ops(), activity: subject.activity() }
    }

    pub fn note(&mut self, fired: Fired) {
        let kind = match self.case.plan.events[fired.event].fault.kind {
            FaultKind::Cut(_) if fired.activity == Activity::Recovery => FaultKind::NestedCut { depth: 1 },
            kind => kind,
        };
        self.coverage.count(kind, fired.activity);
        self.fired.push(fired);
    }
}
