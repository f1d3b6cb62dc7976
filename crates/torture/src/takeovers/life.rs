//! Many lives, and the smallest set of faults of one that goes wrong.

use super::flaw::Flaw;
use super::met::Met;
use super::plan::Plan;
use super::world::{World, Wrong};
use crate::campaign::Limits;
use crate::sim::parallel::{self, Parallel};
use device::Rng;
use std::time::Instant;

/// Lives whose results are held at once.
const BATCH: u64 = 4096;

/// Everything that the lives follow from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Campaign {
    /// The seed that all lives are drawn from.
    pub seed: u64,
    /// A bug that each of them has.
    pub flaw: Option<Flaw>,
}

/// One life, and how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Life {
    /// Counts of what happened.
    pub met: Met,
    /// Steps of the simulation.
    pub events: u64,
    /// The way in which it was wrong.
    pub wrong: Option<Wrong>,
}

/// The results of many lives, summed up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Lives that are counted here.
    pub lives: u64,
    /// Faults of their plans.
    pub faults: u64,
    /// Steps of the simulation.
    pub events: u64,
    /// Counts of what happened.
    pub met: Met,
}

/// A life that went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The number of the life.
    pub life: u64,
    /// The way in which it was wrong.
    pub wrong: Wrong,
    /// The faults without which nothing is wrong.
    pub smallest: Plan,
}

impl Campaign {
    /// The plan of a life.
    #[must_use]
    pub fn plan(&self, life: u64) -> Plan {
        Plan::draw(&mut self.rng(life, "plan"), self.flaw)
    }

    fn rng(&self, life: u64, stream: &str) -> Rng {
        Rng::stream(self.seed ^ life.wrapping_mul(0x9E37_79B9_7F4A_7C15), stream)
    }

    /// Lives a life with a plan, which may be another one than its own.
    #[must_use]
    pub fn live(&self, life: u64, plan: &Plan) -> Life {
        let mut world = World::new(plan, self.rng(life, "world"), self.flaw);
        let wrong = world.live().err();
        Life { met: world.met, events: world.events, wrong }
    }

    /// Lives many of them, until one is wrong.
    #[must_use]
    pub fn run(&self, limits: &Limits<'_>) -> (Tally, Option<Found>) {
        let mut tally = Tally::default();
        let is_over = || (limits.cancelled)() || limits.until.is_some_and(|until| Instant::now() >= until);
        let parallel = Parallel { threads: limits.threads, cancel: &is_over };
        while tally.lives < limits.lives && !is_over() {
            let before = tally.lives;
            let batch = BATCH.min(limits.lives - before);
            let lives = parallel::run(
                parallel,
                limits.first + before,
                batch,
                |life| {
                    let plan = self.plan(life);
                    (plan.faults.len(), self.live(life, &plan))
                },
                |(_, life)| life.wrong.is_some(),
                |progress| (limits.progress)(before + progress.done),
            );
            for (number, (faults, life)) in lives {
                tally.lives += 1;
                tally.faults += faults as u64;
                tally.events += life.events;
                tally.met.add(&life.met);
                if let Some(wrong) = life.wrong {
                    let smallest = self.smallest(number);
                    return (tally, Some(Found { life: number, wrong, smallest }));
                }
            }
        }
        (tally, None)
    }

    /// Leaves out one fault after the other, as long as the life goes wrong all the same.
    fn smallest(&self, life: u64) -> Plan {
        let mut plan = self.plan(life);
        let mut at = 0;
        while at < plan.faults.len() {
            let mut without = plan.clone();
            without.faults.remove(at);
            if self.live(life, &without).wrong.is_some() {
                plan = without;
                at = 0;
            } else {
                at += 1;
            }
        }
        plan
    }
}
