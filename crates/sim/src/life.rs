//! One life: a script, a plan, a card, to the end.
//!
//! After each recovery every sector is read. When the script is over the faults stop; the card must come to rest within
//! its bounds, every sector is read, power is cut once more, and every sector is read again.

use crate::bench::Recovered;
use crate::player::{Played, Player};
use crate::{
    Activity, Bench, Bounds, Contract, Coverage, CutOutcome, Event, Failure, FaultKind, HostStep, Impact, Plan,
    Refusal, Subject, When,
};
use device::{Rng, Time};
use serde::{Deserialize, Serialize};

/// Recoveries that may be asked for one cut within another before the cut is given up.
const CUT_ATTEMPTS: u32 = 4;

/// Everything that a life depends on, besides the card's code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The card is built from it.
    pub seed: u64,
    /// What the host does.
    pub steps: Vec<HostStep>,
    /// Which faults happen.
    pub plan: Plan,
    /// What the card may take.
    pub bounds: Bounds,
}

/// A fault that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fired {
    /// Its place in the plan.
    pub event: usize,
    /// Requests submitted before.
    pub asks: u32,
    /// Operations that changed the media, begun before.
    pub media_ops: u64,
    /// What the card did.
    pub activity: Activity,
}

/// What became of a life.
#[derive(Clone, Debug)]
pub struct Life {
    /// A hash of everything that happened: the same case has the same.
    pub trace: u64,
    /// `None`: the contract held.
    pub failure: Option<Failure>,
    /// The card refused to start, and the plan says that it may.
    pub halted: Option<Refusal>,
    /// Faults that happened, in their order.
    pub fired: Vec<Fired>,
    /// The same, counted by what the card did.
    pub coverage: Coverage,
    /// Requests submitted.
    pub asks: u32,
    /// Power cuts, those in recoveries too.
    pub power_cuts: u32,
    /// Sectors whose contents were checked.
    pub sectors_read: u64,
}

/// Runs a life.
pub fn run<S: Subject>(subject: S, case: &Case) -> Life {
    let mut runner = Runner {
        bench: Bench::new(subject, case.bounds),
        player: Player::new(&case.steps),
        plan: &case.plan,
        waiting: case.plan.events.iter().map(|e| Some(Runner::<S>::countdown(e))).collect(),
        faults_over: false,
        degraded: false,
        recovery_ops: 1,
        swapped: Vec::new(),
        fired: Vec::new(),
        coverage: Coverage::default(),
    };
    let end = runner.live(case.seed);
    Life {
        trace: runner.bench.trace(),
        failure: if let Err(End::Failed(failure)) = &end { Some((**failure).clone()) } else { None },
        halted: if let Err(End::Halted(refusal)) = end { Some(refusal) } else { None },
        fired: runner.fired,
        coverage: runner.coverage,
        asks: runner.player.asks(),
        power_cuts: runner.bench.oracle.power_cuts(),
        sectors_read: runner.bench.sectors_read(),
    }
}

/// Builds a card and runs a life; a panic is a failure of the life. The process's panic hook still prints it.
pub fn run_guarded<S: Subject>(build: impl FnOnce() -> S, case: &Case) -> Life {
    // Nothing of what a panic leaves half done is used again.
    let run = std::panic::AssertUnwindSafe(|| run(build(), case));
    std::panic::catch_unwind(run).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or(panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
        Life {
            trace: 0,
            failure: Some(Failure::Panicked { message: text.into() }),
            halted: None,
            fired: Vec::new(),
            coverage: Coverage::default(),
            asks: crate::host::asks(&case.steps),
            power_cuts: 0,
            sectors_read: 0,
        }
    })
}

/// Why a life ends before its time.
enum End {
    Failed(Box<Failure>),
    Halted(Refusal),
}

impl From<Failure> for End {
    fn from(failure: Failure) -> End {
        End::Failed(Box::new(failure))
    }
}

struct Runner<'a, S> {
    bench: Bench<S>,
    player: Player<'a>,
    plan: &'a Plan,
    /// For each event that has not happened: steps to go in its activity.
    waiting: Vec<Option<u32>>,
    faults_over: bool,
    /// A fault has used the redundancy.
    degraded: bool,
    /// Operations of the last recovery: where the next one can be cut.
    recovery_ops: u64,
    /// Slots whose module is not the right one.
    swapped: Vec<u32>,
    fired: Vec<Fired>,
    coverage: Coverage,
}

impl<S: Subject> Runner<'_, S> {
    fn countdown(event: &Event) -> u32 {
        if let When::During { after, .. } = event.when { after } else { 0 }
    }

    fn live(&mut self, seed: u64) -> Result<(), End> {
        while self.player.play(&mut self.bench)? != Played::Over {
            self.fire()?;
        }
        self.faults_over = true;
        self.rest()?;
        self.read_back()?;
        self.bench.cut(CutOutcome::Any, &mut Rng::stream(seed, "last cut"));
        self.restart(0, &mut Rng::stream(seed, "last start"))?;
        self.rest()?;
        self.read_back()
    }

    fn rest(&mut self) -> Result<(), End> {
        self.bench.rest_from_now();
        while !self.bench.at_rest()? {
            if !self.bench.step(Time::NEVER)? && !self.bench.subject.idle() {
                let activity = self.bench.subject.activity();
                return Err(Failure::NoRest { activity, steps: 0, ns: 0 }.into());
            }
        }
        Ok(())
    }

    /// Reads every sector. Faults go on meanwhile.
    fn read_back(&mut self) -> Result<(), End> {
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
        for i in 0..self.plan.events.len() {
            let Some(left) = &mut self.waiting[i] else { continue };
            if let When::During { activity: a, .. } = self.plan.events[i].when
                && a == activity
                && *left > 0
            {
                *left -= 1;
                continue;
            }
            // What came before it may have changed what the card does.
            if self.is_due(i) {
                self.waiting[i] = None;
                if !self.happen(i)? {
                    self.waiting[i] = Some(0);
                }
            }
        }
        Ok(())
    }

    fn is_due(&self, i: usize) -> bool {
        match self.plan.events[i].when {
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
        let fault = self.plan.events[i].fault;
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
            kind if kind.needs_power_off() => {
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
    fn damage(&mut self, i: usize, fired: Fired) -> bool {
        let event = &self.plan.events[i];
        let mut rng = event.fault.chooser("slot");
        let subject = &mut self.bench.subject;
        let slots = subject.slots();
        let slot = rng.below(u64::from(slots)) as u32;
        let kind = event.fault.kind;
        let impact = match kind {
            FaultKind::PulledModule => subject.pull(slot),
            FaultKind::Swapped(what) => subject.insert(slot, what),
            FaultKind::PermutedSlots => {
                let mut order: Vec<u32> = (0..slots).collect();
                for i in (1..order.len()).rev() {
                    order.swap(i, rng.below(i as u64 + 1) as usize);
                }
                subject.permute(&order).then(Impact::default)
            }
            _ => subject.inject(&event.fault),
        };
        let Some(impact) = impact else { return false };
        if matches!(kind, FaultKind::PulledModule | FaultKind::Swapped(_)) {
            self.swapped.push(slot);
        }
        let degraded = self.degraded || fired.activity == Activity::Rebuild;
        let contract = event.contract.unwrap_or(if degraded { kind.contract_degraded() } else { kind.contract() });
        let accepted = match contract {
            Contract::Repaired => Impact::default(),
            Contract::Error => Impact { may_refuse: false, ..impact },
            Contract::Halt => impact,
        };
        if accepted != Impact::default() {
            self.bench.oracle.allow(&accepted);
        }
        self.degraded |= kind.uses_redundancy();
        self.note(fired);
        true
    }

    fn fired(&self, event: usize) -> Fired {
        let subject = &self.bench.subject;
        Fired { event, asks: self.player.asks(), media_ops: subject.media_ops(), activity: subject.activity() }
    }

    fn note(&mut self, fired: Fired) {
        let kind = match self.plan.events[fired.event].fault.kind {
            FaultKind::Cut(_) if fired.activity == Activity::Recovery => FaultKind::NestedCut { depth: 1 },
            kind => kind,
        };
        self.coverage.count(kind, fired.activity);
        self.fired.push(fired);
    }

    /// Starts the card, with so many cuts on the way, and reads every sector. Whether all cuts came about.
    fn restart(&mut self, depth: u32, chooser: &mut Rng) -> Result<bool, End> {
        let mut cuts = 0;
        let events = self.happen_without_power();
        let deepest = depth.max(events.iter().map(|e| e.1).max().unwrap_or(0));
        let mut attempts = 0;
        while cuts < deepest && attempts < deepest * CUT_ATTEMPTS {
            attempts += 1;
            let cut_after = chooser.below(self.recovery_ops);
            match self.bench.recover(Some(cut_after), chooser)? {
                Recovered::CutAgain => cuts += 1,
                Recovered::Serves(report) => {
                    self.recovery_ops = report.media_ops.max(1);
                    self.bench.cut(CutOutcome::Any, chooser);
                }
                Recovered::Refuses(_) => break,
            }
        }
        for (fired, wanted) in events {
            if cuts >= wanted {
                self.note(fired);
            }
        }
        let mut recovered = self.bench.recover(None, chooser)?;
        if let Recovered::Refuses(_) = recovered {
            // What is beyond the redundancy may be undone: the data must then be there.
            for slot in std::mem::take(&mut self.swapped) {
                self.bench.subject.insert(slot, crate::What::Same);
            }
            recovered = self.bench.recover(None, chooser)?;
        }
        match recovered {
            Recovered::Serves(report) => self.recovery_ops = report.media_ops.max(1),
            Recovered::Refuses(refusal) => return Err(End::Halted(refusal)),
            Recovered::CutAgain => unreachable!("the recovery was not to be cut"),
        }
        self.read_back()?;
        Ok(cuts >= depth)
    }

    /// Events that are to happen in recovery: damage is done now; of cuts, how many the recovery must meet.
    fn happen_without_power(&mut self) -> Vec<(Fired, u32)> {
        let mut cuts = Vec::new();
        if self.faults_over {
            return cuts;
        }
        for i in 0..self.plan.events.len() {
            let event = &self.plan.events[i];
            let (Some(left), When::During { activity: Activity::Recovery, .. }) = (self.waiting[i], event.when) else {
                continue;
            };
            if left > 0 {
                self.waiting[i] = Some(left - 1);
                continue;
            }
            let fired = Fired { activity: Activity::Recovery, ..self.fired(i) };
            let happened = match event.fault.kind {
                FaultKind::Cut(_) => {
                    cuts.push((fired, 1));
                    true
                }
                FaultKind::NestedCut { depth } => {
                    cuts.push((fired, u32::from(depth)));
                    true
                }
                _ => self.damage(i, fired),
            };
            if happened {
                self.waiting[i] = None;
            }
        }
        cuts
    }
}
