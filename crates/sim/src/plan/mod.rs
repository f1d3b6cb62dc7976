//! Which faults, and when?
//!
//! A plan is data: events, each with its trigger, its fault and its own seed, so that events can be taken out of a plan
//! without changing what the others do.

mod kind;

pub use kind::{Area, Contract, CutOutcome, FaultKind, Flips, HostError, Metadata, Stray};

use crate::Activity;
use device::Rng;
use serde::{Deserialize, Serialize};

/// A fault, with what decides its details.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultSpec {
    /// Which.
    pub kind: FaultKind,
    /// Which die, which page, which byte.
    pub seed: u64,
}

impl FaultSpec {
    /// What decides the fault's details; each use has its own name.
    pub fn chooser(&self, name: &str) -> Rng {
        Rng::stream(self.seed, name)
    }
}

/// When a fault happens: at the first step from there on at which it is applicable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// After so many requests of the host were submitted.
    HostOp(u32),
    /// After so many operations that change the media were begun.
    MediaOp(u64),
    /// While the card does this, after so many steps of it.
    During {
        /// What it does.
        activity: Activity,
        /// Steps of it before.
        after: u32,
    },
}

/// A fault and its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Its time.
    pub when: When,
    /// The fault.
    pub fault: FaultSpec,
    /// What the card must make of it; `None`: what [`FaultKind::contract`] says, or [`FaultKind::contract_degraded`]
    /// when a fault before it has used the redundancy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contract: Option<Contract>,
}

/// The faults of a life.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Plan {
    /// In any order.
    pub events: Vec<Event>,
}

/// What plans are drawn from.
#[derive(Clone, Debug)]
pub struct PlanConfig {
    /// Faults that a plan may have; empty for none.
    pub kinds: Vec<FaultKind>,
    /// Events of a plan, at most.
    pub events: u32,
    /// Requests of the host.
    pub asks: u32,
    /// Operations that change the media, about.
    pub media_ops: u64,
}

impl Plan {
    /// No faults.
    pub fn none() -> Plan {
        Plan::default()
    }

    /// One fault.
    pub fn one(when: When, kind: FaultKind, seed: u64) -> Plan {
        Plan { events: vec![Event { when, fault: FaultSpec { kind, seed }, contract: None }] }
    }

    /// The plan of a seed. At most one of its faults uses the redundancy, and one may halt the card.
    pub fn draw(config: &PlanConfig, seed: u64) -> Plan {
        let mut rng = Rng::stream(seed, "fault plan");
        let mut plan = Plan::none();
        let (mut used, mut halted) = (false, false);
        if config.kinds.is_empty() {
            return plan;
        }
        for _ in 0..rng.below(u64::from(config.events) + 1) {
            let kind = config.kinds[rng.below(config.kinds.len() as u64) as usize];
            let when = match rng.below(4) {
                0 => When::HostOp(rng.below(u64::from(config.asks)) as u32),
                1 => When::MediaOp(rng.below(config.media_ops)),
                _ => {
                    let mut meaningful = Activity::ALL.to_vec();
                    meaningful.retain(|&activity| crate::coverage::meaningless(kind, activity).is_none());
                    let activity = meaningful[rng.below(meaningful.len() as u64) as usize];
                    // Small numbers as often as large ones: some activities have few steps.
                    let magnitude = rng.below(12);
                    let after = rng.below(1 << magnitude) as u32;
                    When::During { activity, after }
                }
            };
            let seed = rng.bits();
            let halts = kind.contract() == Contract::Halt;
            if (kind.uses_redundancy() && used) || (halts && halted) {
                continue;
            }
            used |= kind.uses_redundancy();
            halted |= halts;
            plan.events.push(Event { when, fault: FaultSpec { kind, seed }, contract: None });
        }
        plan
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_fault_has_its_own_name_and_survives_json() {
        let all = FaultKind::all();
        let names: BTreeSet<String> = all.iter().map(|k| k.to_string()).collect();
        assert_eq!(names.len(), all.len());
        assert!(names.iter().all(|n| n.len() <= 24), "{names:?}");
        for kind in all {
            let json = serde_json::to_string(&kind).unwrap();
            assert_eq!(serde_json::from_str::<FaultKind>(&json).unwrap(), kind, "{json}");
        }
    }

    #[test]
    fn a_drawn_plan_stays_within_the_redundancy() {
        let config = PlanConfig { kinds: FaultKind::all(), events: 12, asks: 5000, media_ops: 20_000 };
        for seed in 0..500 {
            let plan = Plan::draw(&config, seed);
            assert_eq!(plan, Plan::draw(&config, seed));
            assert!(plan.events.iter().filter(|e| e.fault.kind.uses_redundancy()).count() <= 1);
        }
    }
}
