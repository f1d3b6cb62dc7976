//! Many lives of tiny cards, with all faults that they can be given.
//!
//! What a life is follows from the campaign and its number: which card, what the host does, which faults. Results are
//! summed up in the order of numbers, so that they don't depend on the number of threads.

use crate::{CardUnderTest, Kind, tiny};
use device::Rng;
use media::Physics;
use serde::{Deserialize, Serialize};
use sim::plan::PlanConfig;
use sim::{Bounds, Case, Coverage, Failure, FaultKind, HostConfig, Life, Plan, Refusal, life, shrink};
use std::collections::BTreeMap;
use std::time::Instant;

/// One life in so many is lived twice.
const TWICE: u64 = 20;
/// Events of a plan, at most, for so many operations, and how many more at least.
const OPERATIONS_OF_AN_EVENT: u32 = 200;
const EVENTS: u32 = 6;
/// Lives whose results are held at once.
const BATCH: u64 = 1024;
/// Far above what a tiny card takes, far below what a person would wait for.
const BOUNDS: Bounds =
    Bounds { answer_steps: 100_000, answer_ns: 10_000_000_000, rest_steps: 200_000, rest_ns: 60_000_000_000 };

/// Which lives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Campaign {
    /// What all is drawn from.
    pub seed: u64,
    /// The cards, in turn.
    pub cards: Vec<Kind>,
    /// Requests of the host in each life.
    pub operations: u32,
    /// Faults pile up: what is promised is only that nothing reads as what it must not be.
    pub beyond: bool,
}

/// A card and a case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trial {
    /// The card.
    pub card: Kind,
    /// What happens to it.
    pub case: Case,
}

impl Trial {
    /// Lives the life.
    pub fn run(&self) -> Life {
        let config = tiny(self.card);
        life::run_guarded(|| CardUnderTest::new(config, Physics::IDEAL, self.case.seed), &self.case)
    }

    /// The same without what its failure does not need. `None`: it does not fail.
    pub fn shrink(&self, max_runs: u32, cancelled: impl Fn() -> bool) -> Option<(Trial, Failure)> {
        let mut last = None;
        let shrunk = shrink::shrink(&self.case, max_runs, |case| {
            match &last {
                // Whoever is in a hurry gets what there is: nothing smaller fails any more.
                Some(life) if cancelled() => Life { failure: None, ..Life::clone(life) },
                _ => {
                    let life = Trial { card: self.card, case: case.clone() }.run();
                    last = Some(life.clone());
                    life
                }
            }
        })?;
        Some((Trial { card: self.card, case: shrunk.case }, shrunk.failure))
    }
}

/// A trial that failed, to be kept and run again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reproducer {
    /// [`Failure::kind`] of what is wrong.
    pub failure: String,
    /// The card.
    pub card: Kind,
    /// What happens to it.
    pub case: Case,
}

/// A file that is not a trial.
#[derive(Debug, thiserror::Error)]
#[error("not a life that can be lived again: {0}")]
pub struct NotAReproducer(#[from] serde_json::Error);

impl Reproducer {
    /// To be kept.
    pub fn new(trial: Trial, failure: &Failure) -> Reproducer {
        Reproducer { failure: failure.kind().into(), card: trial.card, case: trial.case }
    }

    /// As JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("numbers and words can be written as JSON") + "\n"
    }

    /// From JSON.
    pub fn from_json(json: &str) -> Result<Reproducer, NotAReproducer> {
        Ok(serde_json::from_str(json)?)
    }

    /// What failed.
    pub fn trial(&self) -> Trial {
        Trial { card: self.card, case: self.case.clone() }
    }
}

/// What was wrong with a life.
#[derive(Clone, Debug)]
pub enum Wrong {
    /// The contract was broken.
    Failed(Failure),
    /// Lived twice, it went two ways.
    TwoWays,
}

impl std::fmt::Display for Wrong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Wrong::Failed(failure) => failure.fmt(f),
            Wrong::TwoWays => f.write_str("the same life went two ways"),
        }
    }
}

/// What became of the lives.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Lives.
    pub lives: u64,
    /// Those that were lived twice, and went the same way.
    pub twice: u64,
    /// Requests of the host.
    pub operations: u64,
    /// Power cuts, those in recoveries too.
    pub power_cuts: u64,
    /// Those in recoveries.
    pub nested_cuts: u64,
    /// Times that the redundancy was restored.
    pub mends: u64,
    /// Sectors whose contents were checked.
    pub sectors_read: u64,
    /// Faults, by what the card did.
    pub coverage: Coverage,
    /// Lives at whose end the card came to rest.
    pub rested: u64,
    /// Lives at whose end the card refused to start, as it may.
    pub halted: BTreeMap<String, u64>,
    /// Longest virtual time that a card took to come to rest.
    pub rest_ns: u64,
    /// A hash of all that happened.
    pub trace: u64,
}

impl Tally {
    fn add(&mut self, lived: &Lived) {
        let life = &lived.life;
        self.lives += 1;
        self.twice += u64::from(lived.twice);
        self.operations += u64::from(life.asks);
        self.power_cuts += u64::from(life.power_cuts);
        self.nested_cuts += u64::from(life.nested_cuts);
        self.mends += u64::from(life.mends);
        self.sectors_read += life.sectors_read;
        self.coverage.merge(&life.coverage);
        self.rest_ns = self.rest_ns.max(life.rest_ns);
        self.trace = (self.trace.rotate_left(23) ^ life.trace).wrapping_mul(0x0100_0000_01b3);
        if lived.wrong.is_some() {
            return;
        }
        match life.halted {
            None => self.rested += 1,
            Some(refusal) => *self.halted.entry(Refusal::to_string(&refusal)).or_default() += 1,
        }
    }
}

/// A life of a campaign.
#[derive(Clone, Debug)]
struct Lived {
    life: Life,
    twice: bool,
    wrong: Option<Wrong>,
}

/// When to stop, and who is told.
pub struct Limits<'a> {
    /// So many lives.
    pub lives: u64,
    /// No life is begun after this.
    pub until: Option<Instant>,
    /// Threads; 0 for as many as there are cores.
    pub threads: usize,
    /// When it says so, no life is begun any more.
    pub cancelled: &'a (dyn Fn() -> bool + Sync),
    /// Told after each life how many there were, in any order.
    pub progress: &'a (dyn Fn(u64) + Sync),
}

/// A life that ended badly.
#[derive(Clone, Debug)]
pub struct Violation {
    /// Its number.
    pub life: u64,
    /// Which faults struck, and when.
    pub faults: Vec<String>,
    /// What happened.
    pub trial: Trial,
    /// What was wrong.
    pub wrong: Wrong,
}

impl Campaign {
    /// The faults that it has.
    pub fn kinds(&self) -> Vec<FaultKind> {
        CardUnderTest::supported_kinds()
    }

    /// What happens in a life.
    pub fn trial(&self, life: u64) -> Trial {
        let card = self.cards[(life % self.cards.len() as u64) as usize];
        let seed = Rng::stream(self.seed ^ life.wrapping_mul(0x9e37_79b9_7f4a_7c15), "life").bits();
        let operations = self.operations;
        let host = HostConfig { asks: operations, ..HostConfig::life(tiny(card).ftl.user_sectors as u32) };
        let plan = PlanConfig {
            kinds: self.kinds(),
            events: EVENTS + operations / OPERATIONS_OF_AN_EVENT,
            asks: operations.max(1),
            media_ops: u64::from(operations) * 2 + 1,
            beyond: self.beyond,
        };
        let case =
            Case { seed, steps: host.script(seed), plan: Plan::draw(&plan, seed), bounds: BOUNDS, beyond: self.beyond };
        Trial { card, case }
    }

    fn live(&self, number: u64) -> Lived {
        let trial = self.trial(number);
        let life = trial.run();
        let twice = number.is_multiple_of(TWICE);
        let wrong = match &life.failure {
            Some(failure) => Some(Wrong::Failed(failure.clone())),
            None if twice && trial.run().trace != life.trace => Some(Wrong::TwoWays),
            None => None,
        };
        Lived { life, twice, wrong }
    }

    /// Runs lives, until one ends badly.
    pub fn run(&self, limits: &Limits<'_>) -> (Tally, Option<Violation>) {
        let mut tally = Tally::default();
        let over = || (limits.cancelled)() || limits.until.is_some_and(|until| Instant::now() >= until);
        let mut first = 0;
        while first < limits.lives && !over() {
            let count = BATCH.min(limits.lives - first);
            let parallel = sim::parallel::Parallel { threads: limits.threads, cancel: &over };
            let progress = |p: sim::parallel::Progress| (limits.progress)(first + p.done);
            let lives = sim::parallel::run(parallel, first, count, |n| self.live(n), |l| l.wrong.is_some(), progress);
            let done = lives.len() as u64;
            for (number, lived) in lives {
                tally.add(&lived);
                if let Some(wrong) = lived.wrong {
                    let trial = self.trial(number);
                    let word = |fired: &life::Fired| {
                        let kind = trial.case.plan.events[fired.event].fault.kind;
                        format!("request {}: {kind} ({})", fired.asks, fired.activity)
                    };
                    let faults = lived.life.fired.iter().map(word).collect();
                    return (tally, Some(Violation { life: number, faults, trial, wrong }));
                }
            }
            if done < count {
                break;
            }
            first += count;
        }
        (tally, None)
    }
}
