//! One life, as data: to be lived again, made smaller, and kept.

use super::strike::Strike;
use crate::sim::{Ask, Case, Failure, HostStep, Lba, Life, PARTS, life, shrink};
use crate::{CardUnderTest, Kind, ShardedUnderTest, physics, tiny};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A card and a case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trial {
    /// The kind of card that is tried.
    pub card: Kind,
    /// Everything else that the life depends on.
    pub case: Case,
}

impl Trial {
    /// The faults that struck in a life of it, in their order.
    pub fn faults(&self, life: &Life) -> Vec<Strike> {
        let events = &self.case.plan.events;
        let strike = |fired: &life::Fired| Strike {
            asks: fired.asks,
            kind: events[fired.event].fault.kind,
            activity: fired.activity,
        };
        life.fired.iter().map(strike).collect()
    }

    /// Requests of the host.
    pub fn requests(&self) -> u32 {
        crate::sim::host::asks(&self.case.steps)
    }

    fn card(&self, shard: u32) -> CardUnderTest {
        CardUnderTest::new(tiny(self.card), physics(self.card), self.case.seed.wrapping_add(shard.into()))
    }

    fn subject(&self) -> CardUnderTest {
        self.card(0).shared_by(self.case.clients)
    }

    fn sharded(&self) -> ShardedUnderTest {
        ShardedUnderTest::new((0..self.case.shards).map(|shard| self.card(shard)).collect(), self.case.clients)
    }

    /// Lives the life.
    pub fn run(&self) -> Life {
        match self.case.shards {
            ..=1 => life::run_guarded(|| self.subject(), &self.case),
            _ => life::run_guarded(|| self.sharded(), &self.case),
        }
    }

    /// Lives the life, and saves what lies on the card's media then as a folder of images, with a folder in it for each
    /// shard where there are several. A life that ends in a panic leaves nothing, and panics here.
    pub fn save_image(&self, dir: &Path) -> std::io::Result<()> {
        if self.case.shards <= 1 {
            let (_, subject) = life::run_and_keep(self.subject(), &self.case);
            return subject.save_image(dir);
        }
        let (_, subject) = life::run_and_keep(self.sharded(), &self.case);
        std::fs::create_dir_all(dir)?;
        let mut shards = (0..).zip(subject.shards());
        shards.try_for_each(|(number, shard): (u32, _)| shard.save_image(&dir.join(format!("shard-{number}"))))
    }

    /// The same without what its failure does not need. `None`: it does not fail.
    pub fn shrink(&self, max_runs: u32, cancelled: impl Fn() -> bool) -> Option<(Trial, Failure)> {
        let mut last = None;
        let shrunk = shrink::shrink(&self.case, max_runs, |case| {
            match &last {
                // A caller in a hurry gets what there is: nothing smaller fails any more.
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
    /// The kind of card that is tried.
    pub card: Kind,
    /// Everything else that the life depends on.
    pub case: Case,
}

/// A file that is not a trial.
#[derive(Debug, thiserror::Error)]
pub enum NotAReproducer {
    /// Not the JSON that it should be.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// A request of sectors that the card does not have.
    #[error("step {step}: the card has {sectors} sectors, and a request has from 1 to all of them")]
    Sectors {
        /// The step's number in the script, from 0.
        step: usize,
        /// Sectors of the card.
        sectors: u32,
    },
    /// A client that the life does not have.
    #[error("step {step}: the life has no such client")]
    Client {
        /// The step's number in the script, from 0.
        step: usize,
    },
    /// More clients than a life can have.
    #[error("a life has at most {MAX_CLIENTS} clients")]
    Clients,
    /// More shards than a life can have.
    #[error("a life has a card of 1 to {MAX_SHARDS} shards")]
    Shards,
    /// A pause that is too long.
    #[error("step {step}: a pause is at most an hour")]
    Pause {
        /// The step's number in the script, from 0.
        step: usize,
    },
}

/// Clients of a life at most.
const MAX_CLIENTS: u32 = 64;
/// Shards of a life's card at most.
const MAX_SHARDS: u32 = 8;
const LONGEST_PAUSE_NS: u64 = 3_600_000_000_000;

impl Reproducer {
    /// To be kept: what fails, and how.
    pub fn new(trial: Trial, failure: &str) -> Reproducer {
        Reproducer { failure: failure.into(), card: trial.card, case: trial.case }
    }

    /// The JSON that [`Reproducer::from_json`] reads.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("numbers and words can be written as JSON") + "\n"
    }

    /// From JSON that anybody may have written.
    pub fn from_json(json: &str) -> Result<Reproducer, NotAReproducer> {
        let reproducer: Reproducer = serde_json::from_str(json)?;
        let sectors = tiny(reproducer.card).ftl.user_sectors as u32;
        if reproducer.case.clients > MAX_CLIENTS {
            return Err(NotAReproducer::Clients);
        }
        if !(1..=MAX_SHARDS).contains(&reproducer.case.shards) {
            return Err(NotAReproducer::Shards);
        }
        for (step, what) in reproducer.case.steps.iter().enumerate() {
            let within = |lba: Lba, first: u32, parts: u32| {
                (first < PARTS && parts > 0)
                    .then(|| (lba, first.saturating_add(parts).div_ceil(PARTS)))
                    .or(Some((lba, 0)))
            };
            let asked = match *what {
                HostStep::Ask(
                    Ask::WriteParts { lba, first, parts, .. }
                    | Ask::ZeroParts { lba, first, parts, .. }
                    | Ask::TrimParts { lba, first, parts },
                ) => within(lba, first, parts),
                HostStep::Client(client) | HostStep::Disconnect(client) if client >= reproducer.case.clients.max(1) => {
                    return Err(NotAReproducer::Client { step });
                }
                HostStep::Ask(
                    Ask::Write { lba, count, .. }
                    | Ask::Trim { lba, count }
                    | Ask::WriteZeroes { lba, count, .. }
                    | Ask::Read { lba, count },
                ) => Some((lba, count)),
                HostStep::Pause { ns } if ns > LONGEST_PAUSE_NS => return Err(NotAReproducer::Pause { step }),
                _ => None,
            };
            if asked.is_some_and(|(lba, count)| count == 0 || u64::from(lba.0) + u64::from(count) > sectors.into()) {
                return Err(NotAReproducer::Sectors { step, sectors });
            }
        }
        Ok(reproducer)
    }

    /// The trial that failed.
    pub fn trial(&self) -> Trial {
        Trial { card: self.card, case: self.case.clone() }
    }
}
