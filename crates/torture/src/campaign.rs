//! Many lives of tiny cards, with all faults that they can be given.
//!
//! The campaign and a life's number decide the life: its card, the requests of its host, its faults. Results are summed
//! up in the order of numbers, so that they don't depend on the number of threads.

use crate::Kind;
use crate::sim::plan::{Metadata, PlanConfig};
use crate::sim::{Bounds, Case, FaultKind, HostConfig, Plan};
use device::Rng;
use lived::Lived;
use std::time::Instant;

mod lived;
mod strike;
mod tally;
mod trial;

pub use lived::Wrong;
pub use strike::Strike;
pub use tally::{Gaps, Tally};
pub use trial::{NotAReproducer, Reproducer, Trial};

/// One life in so many is lived twice.
const TWICE: u64 = 20;
/// Events of a plan, at most, for so many operations, and how many more at least.
const OPERATIONS_OF_AN_EVENT: u32 = 200;
const EVENTS: u32 = 6;
/// Clients that share a card, in turn.
const CLIENTS: std::ops::RangeInclusive<u32> = 2..=4;
/// One life in so many is that of a card that is divided over shards, and the number of those. Cards take turns by another
/// number, so that each of them is divided sometimes.
const SHARDED: u64 = 7;
const SHARDS: u32 = 2;
/// Lives whose results are held at once.
const BATCH: u64 = 1024;
/// Far above what a tiny card takes, far below what a person would wait for.
const BOUNDS: Bounds =
    Bounds { answer_steps: 100_000, answer_ns: 10_000_000_000, rest_steps: 200_000, rest_ns: 60_000_000_000 };

/// Everything that the lives of a campaign follow from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Campaign {
    /// The seed that all lives are drawn from.
    pub seed: u64,
    /// The cards, in turn.
    pub cards: Vec<Kind>,
    /// Requests of the host in each life.
    pub operations: u32,
    /// Faults pile up: what is promised is only that nothing reads as what it must not be.
    pub beyond: bool,
}

/// When to stop, and who is told.
pub struct Limits<'a> {
    /// Number of the first life.
    pub first: u64,
    /// Lives of the campaign from there on, at most.
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
    /// The life's number in its campaign.
    pub life: u64,
    /// The faults that struck, in their order.
    pub faults: Vec<Strike>,
    /// The card and the case of the life.
    pub trial: Trial,
    /// The way in which the life was wrong.
    pub wrong: Wrong,
}

impl Campaign {
    /// The faults that it has.
    pub fn kinds(&self) -> Vec<FaultKind> {
        FaultKind::all()
    }

    /// The card and the case of a life.
    pub fn trial(&self, life: u64) -> Trial {
        let card = self.cards[(life % self.cards.len() as u64) as usize];
        let seed = Rng::stream(self.seed ^ life.wrapping_mul(0x9e37_79b9_7f4a_7c15), "life").bits();
        let operations = self.operations;
        let clients = CLIENTS.start() + (life % 3) as u32;
        let host = HostConfig { asks: operations, clients, ..crate::host_of(card) };
        let mut kinds = self.kinds();
        if card == Kind::Logged {
            // No other card has one: it comes twice as often.
            kinds.push(FaultKind::Damaged(Metadata::Log));
        }
        let plan = PlanConfig {
            kinds,
            events: EVENTS + operations / OPERATIONS_OF_AN_EVENT,
            asks: operations.max(1),
            media_ops: u64::from(operations) * 2 + 1,
            beyond: self.beyond,
        };
        let case = Case {
            seed,
            steps: host.script(seed),
            plan: Plan::draw(&plan, seed),
            bounds: BOUNDS,
            clients,
            shards: if life % SHARDED == SHARDED - 1 { SHARDS } else { 1 },
            beyond: self.beyond,
        };
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
        let mut tally = Tally { has_logs: self.cards.contains(&Kind::Logged), ..Tally::default() };
        let over = || (limits.cancelled)() || limits.until.is_some_and(|until| Instant::now() >= until);
        let mut first = 0;
        while first < limits.lives && !over() {
            let count = BATCH.min(limits.lives - first);
            let parallel = crate::sim::parallel::Parallel { threads: limits.threads, cancel: &over };
            let progress = |p: crate::sim::parallel::Progress| (limits.progress)(first + p.done);
            let lives = crate::sim::parallel::run(
                parallel,
                limits.first.saturating_add(first),
                count,
                |n| self.live(n),
                |l| l.wrong.is_some(),
                progress,
            );
            let done = lives.len() as u64;
            for (number, lived) in lives {
                tally.add(&lived);
                if let Some(wrong) = lived.wrong {
                    let trial = self.trial(number);
                    let faults = trial.faults(&lived.life);
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
