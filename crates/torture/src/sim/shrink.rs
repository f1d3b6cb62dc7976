//! Makes a failing case small.
//!
//! Delta debugging: ever smaller runs of steps and events are left out as long as the case still fails in the same way;
//! then what is left is made simpler. The number of runs is bounded.

use crate::sim::{Ask, Case, CutOutcome, Failure, FaultKind, HostStep, Life, Plan, When};
use serde::{Deserialize, Serialize};

/// Below so many steps, what does not fail any more is tried again with other details of its faults: without a step the
/// rest comes at other times, and a cut must often be drawn anew to hit the same place.
const STEPS_TO_DRAW_ANEW: usize = 64;
/// Draws of other details, at most.
const DRAWS: u64 = 4;

/// A failing case that can be run again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reproducer {
    /// [`Failure::kind`] of what is wrong.
    pub failure: String,
    /// The case to run.
    pub case: Case,
}

/// A file that is not a reproducer.
#[derive(Debug, thiserror::Error)]
#[error("not a case that can be run again: {0}")]
pub struct NotAReproducer(#[from] serde_json::Error);

impl Reproducer {
    /// The JSON that [`Reproducer::from_json`] reads.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("numbers and words can be written as JSON")
    }

    /// Reads what [`Reproducer::to_json`] wrote.
    pub fn from_json(json: &str) -> Result<Reproducer, NotAReproducer> {
        Ok(serde_json::from_str(json)?)
    }
}

/// The result of shrinking.
#[derive(Clone, Debug)]
pub struct Shrunk {
    /// The smallest case.
    pub case: Case,
    /// The failure of that case.
    pub failure: Failure,
    /// Lives that it took.
    pub runs: u32,
}

impl Shrunk {
    /// To be kept.
    pub fn reproducer(&self) -> Reproducer {
        Reproducer { failure: self.failure.kind().into(), case: self.case.clone() }
    }
}

/// Shrinks a case that fails, with at most `max_runs` runs of `run`. `None`: it does not fail.
pub fn shrink(case: &Case, max_runs: u32, run: impl FnMut(&Case) -> Life) -> Option<Shrunk> {
    let mut shrinker = Shrinker { run, best: case.clone(), life: None, runs: 0, max_runs: max_runs.max(1) };
    let life = shrinker.life_of(case);
    life.failure.as_ref()?;
    shrinker.life = Some(life);
    // Steps and events after the failure go first, in one run.
    shrinker.drop_the_end();
    loop {
        let before = shrinker.best.clone();
        shrinker.drop_events();
        shrinker.drop_steps();
        shrinker.one_at_a_time();
        shrinker.simplify();
        if shrinker.best == before || shrinker.is_spent() {
            break;
        }
    }
    let failure = shrinker.life.and_then(|life| life.failure).expect("only failing cases are kept");
    Some(Shrunk { case: shrinker.best, failure, runs: shrinker.runs })
}

struct Shrinker<R> {
    run: R,
    best: Case,
    /// The life of the best case.
    life: Option<Life>,
    runs: u32,
    max_runs: u32,
}

impl<R: FnMut(&Case) -> Life> Shrinker<R> {
    fn is_spent(&self) -> bool {
        self.runs >= self.max_runs
    }

    fn life_of(&mut self, case: &Case) -> Life {
        self.runs += 1;
        (self.run)(case)
    }

    /// Keeps a case when it fails in the same way.
    fn try_case(&mut self, case: Case) -> bool {
        if self.is_spent() || case == self.best {
            return false;
        }
        let life = self.life_of(&case);
        let kind = |life: &Life| life.failure.as_ref().map(Failure::kind);
        if kind(&life).is_none() || kind(&life) != self.life.as_ref().and_then(kind) {
            return false;
        }
        self.best = case;
        self.life = Some(life);
        true
    }

    /// The same with other details, if the case is small.
    fn try_anew(&mut self, case: Case) -> bool {
        let small = case.steps.len() <= STEPS_TO_DRAW_ANEW && !case.plan.events.is_empty();
        if self.try_case(case.clone()) {
            return true;
        }
        (1..=if small { DRAWS } else { 0 }).any(|draw| {
            let mut case = case.clone();
            for event in &mut case.plan.events {
                event.fault.seed = event.fault.seed.wrapping_add(draw);
            }
            self.try_case(case)
        })
    }

    fn drop_the_end(&mut self) {
        let Some(life) = &self.life else { return };
        let mut left = life.asks;
        let end = self.best.steps.iter().position(|step| {
            if let HostStep::Ask(_) = step {
                if left == 0 {
                    return true;
                }
                left -= 1;
            }
            false
        });
        let fired: Vec<usize> = life.fired.iter().map(|f| f.event).collect();
        let events = self.best.plan.events.iter().enumerate().filter(|(i, _)| fired.contains(i));
        let plan = Plan { events: events.map(|(_, &e)| e).collect() };
        self.try_case(Case { plan, ..self.best.clone() });
        if let Some(end) = end {
            self.try_case(without_steps(&self.best, end, self.best.steps.len()));
        }
    }

    fn drop_events(&mut self) {
        self.drop_runs(
            |case| case.plan.events.len(),
            |case, from, to| {
                let mut case = case.clone();
                case.plan.events.drain(from..to);
                case
            },
        );
    }

    fn drop_steps(&mut self) {
        self.drop_runs(|case| case.steps.len(), without_steps);
    }

    /// Leaves out runs of half of all, of a quarter, … of one.
    fn drop_runs(&mut self, len: impl Fn(&Case) -> usize, without: impl Fn(&Case, usize, usize) -> Case) {
        let mut size = len(&self.best);
        while size > 0 && !self.is_spent() {
            // From the end: what comes late depends on what came before.
            let mut to = len(&self.best);
            while to > 0 {
                let from = to.saturating_sub(size);
                self.try_anew(without(&self.best, from, to));
                to = from;
            }
            size /= 2;
        }
    }

    /// One request in flight at a time, with a fault at any place: with several in flight many steps may be there only
    /// for the time that they take.
    fn one_at_a_time(&mut self) {
        let deep = |s: &HostStep| matches!(s, HostStep::Depth(depth) if *depth > 1);
        if self.best.steps.len() > STEPS_TO_DRAW_ANEW || !self.best.steps.iter().any(deep) {
            return;
        }
        let mut flat = self.best.clone();
        flat.steps.retain(|s| !deep(s));
        if self.try_case(flat.clone()) {
            return;
        }
        for i in 0..flat.plan.events.len() {
            for at in 1..=crate::sim::host::asks(&flat.steps) {
                let mut case = flat.clone();
                case.plan.events[i].when = When::HostOp(at);
                if self.try_anew(case) {
                    return;
                }
            }
        }
    }

    fn simplify(&mut self) {
        for i in 0..self.best.steps.len() {
            for simpler in simpler_steps(self.best.steps[i]) {
                let mut case = self.best.clone();
                case.steps[i] = simpler;
                if self.try_case(case) {
                    break;
                }
            }
        }
        for i in 0..self.best.plan.events.len() {
            let mut case = self.best.clone();
            let kind = &mut case.plan.events[i].fault.kind;
            if let FaultKind::Cut(_) = kind {
                *kind = FaultKind::Cut(CutOutcome::Any);
                self.try_anew(case);
            }
            let fired = self.life.as_ref().and_then(|life| life.fired.iter().find(|f| f.event == i).copied());
            let Some(fired) = fired else { continue };
            let mut case = self.best.clone();
            if !matches!(case.plan.events[i].when, When::HostOp(_)) {
                case.plan.events[i].when = When::HostOp(fired.asks);
                self.try_case(case);
            }
        }
    }
}

/// Without some steps. Faults that wait for a request keep their place among those that are left.
fn without_steps(case: &Case, from: usize, to: usize) -> Case {
    let asks = |steps: &[HostStep]| crate::sim::host::asks(steps);
    let before = asks(&case.steps[..from]);
    let left_out = asks(&case.steps[from..to]);
    let mut case = case.clone();
    case.steps.drain(from..to);
    for event in &mut case.plan.events {
        if let When::HostOp(n) = &mut event.when {
            *n -= left_out.min(n.saturating_sub(before));
        }
    }
    case
}

fn simpler_steps(step: HostStep) -> Vec<HostStep> {
    let simpler = match step {
        HostStep::Depth(depth) if depth > 1 => return vec![HostStep::Depth(1)],
        HostStep::Ask(ask) => match ask {
            Ask::Write { lba, count, fua } => {
                vec![
                    Ask::Write { lba, count: 1, fua: false },
                    Ask::Write { lba, count: 1, fua },
                    Ask::Write { lba, count, fua: false },
                ]
            }
            Ask::WriteZeroes { lba, count, fua } => {
                vec![
                    Ask::Write { lba, count: 1, fua: false },
                    Ask::WriteZeroes { lba, count: 1, fua },
                    Ask::WriteZeroes { lba, count, fua: false },
                ]
            }
            Ask::Trim { lba, .. } => vec![Ask::Write { lba, count: 1, fua: false }, Ask::Trim { lba, count: 1 }],
            Ask::Read { lba, .. } => vec![Ask::Read { lba, count: 1 }],
            Ask::WriteParts { lba, first, parts, fua } => vec![
                Ask::Write { lba, count: 1, fua },
                Ask::WriteParts { lba, first, parts: 1, fua },
                Ask::WriteParts { lba, first, parts, fua: false },
            ],
            Ask::ZeroParts { lba, first, parts, keeps_room, fua } => vec![
                Ask::WriteParts { lba, first, parts: 1, fua },
                Ask::ZeroParts { lba, first, parts: 1, keeps_room, fua },
                Ask::ZeroParts { lba, first, parts, keeps_room, fua: false },
            ],
            Ask::TrimParts { lba, first, .. } => {
                vec![Ask::Trim { lba, count: 1 }, Ask::TrimParts { lba, first, parts: 1 }]
            }
            Ask::Flush => vec![],
        },
        _ => vec![],
    };
    simpler.into_iter().map(HostStep::Ask).filter(|&s| s != step).collect()
}
