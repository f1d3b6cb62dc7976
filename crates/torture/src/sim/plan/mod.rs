//! Which faults, and when?
//!
//! A plan is data: events, each with its trigger, its fault and its own seed, so that events can be taken out of a plan
//! without changing what the others do.

mod kind;

pub use kind::{Area, Contract, CutOutcome, FaultKind, Flips, HostError, Metadata, Stray, What};

use crate::sim::Activity;
use device::Rng;
use serde::{Deserialize, Serialize};

/// A fault, with what decides its details.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultSpec {
    /// The kind of fault.
    pub kind: FaultKind,
    /// The seed of its details: die, page, byte.
    pub seed: u64,
}

impl FaultSpec {
    /// The source of the fault's details; each use has its own name.
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
        /// The activity that it waits for.
        activity: Activity,
        /// Steps of it before.
        after: u32,
    },
}

/// A fault and its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// The time at which it happens.
    pub when: When,
    /// The fault that happens.
    pub fault: FaultSpec,
    /// The contract that the card must keep; `None`: that of [`FaultKind::contract`], or of
    /// [`FaultKind::contract_degraded`] when a fault before it has used the redundancy.
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

/// Bounds within which plans are drawn.
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
    /// For lives beyond the redundancy.
    pub beyond: bool,
}

impl Plan {
    /// A plan without faults.
    pub fn none() -> Plan {
        Plan::default()
    }

    /// A plan of one fault.
    pub fn one(when: When, kind: FaultKind, seed: u64) -> Plan {
        Plan { events: vec![Event { when, fault: FaultSpec { kind, seed }, contract: None }] }
    }

    /// The plan of a seed. Each fault is as likely as any other, and so is each activity that it means something in. Only
    /// modules out of reach are drawn apart, beside others: a card that they have stopped meets nothing before its next start.
    ///
    /// A fault that may halt the card comes once at most, and so does, except beyond the redundancy, one that
    /// uses the redundancy while it is being restored. Beyond the redundancy one module at most comes back as it was
    /// some time ago: of several, no card could tell that they are not the present.
    pub fn draw(config: &PlanConfig, seed: u64) -> Plan {
        let mut rng = Rng::stream(seed, "fault plan");
        let mut plan = Plan::none();
        let mut kinds = config.kinds.clone();
        kinds.retain(|kind| *kind != FaultKind::OutOfReach);
        if kinds.is_empty() {
            return plan;
        }
        let may_exceed = config.beyond || rng.below(EXCEEDING_LIVES) == 0;
        let (mut exceeds, mut halts, mut comes_back) = (false, false, false);
        for _ in 0..rng.below(u64::from(config.events) + 1) {
            let kind = kinds[rng.below(kinds.len() as u64) as usize];
            let when = When::draw(&mut rng, kind, config);
            let seed = rng.bits();
            let in_rebuild = matches!(when, When::During { activity: Activity::Rebuild, .. });
            let exceeding = in_rebuild && kind.uses_redundancy() && kind != FaultKind::LatentError && !config.beyond;
            let halting = kind.contract() == Contract::Halt;
            let old = matches!(kind, FaultKind::Swapped(What::Same | What::Stale)) && config.beyond;
            if exceeding && (exceeds || !may_exceed) || halting && halts || old && comes_back {
                continue;
            }
            exceeds |= exceeding;
            halts |= halting;
            comes_back |= old;
            plan.events.push(Event { when, fault: FaultSpec { kind, seed }, contract: None });
        }
        let mut reach = Rng::stream(seed, "reach");
        if kinds.len() < config.kinds.len() && reach.below(OUT_OF_REACH_LIVES) == 0 && !halts {
            let kind = FaultKind::OutOfReach;
            let when = When::draw(&mut reach, kind, config);
            plan.events.push(Event { when, fault: FaultSpec { kind, seed: reach.bits() }, contract: None });
        }
        let blank = FaultKind::Swapped(What::Blank);
        let for_rebuild = |e: &Event| matches!(e.when, When::During { activity: Activity::Rebuild, .. });
        if plan.events.iter().any(for_rebuild) && config.kinds.contains(&blank) {
            let when = When::HostOp(rng.below(u64::from(config.asks / 2) + 1) as u32);
            plan.events.push(Event { when, fault: FaultSpec { kind: blank, seed: rng.bits() }, contract: None });
        }
        plan
    }
}

/// One life in so many may exceed the redundancy: it holds the card to less than the others do.
const EXCEEDING_LIVES: u64 = 3;

/// In one life of so many modules are out of reach at once.
const OUT_OF_REACH_LIVES: u64 = 6;

impl When {
    fn draw(rng: &mut Rng, kind: FaultKind, config: &PlanConfig) -> When {
        match rng.below(8) {
            0 => When::HostOp(rng.below(u64::from(config.asks)) as u32),
            1 => When::MediaOp(rng.below(config.media_ops)),
            _ => {
                let mut meaningful = Activity::ALL.to_vec();
                meaningful.retain(|&activity| crate::sim::coverage::meaningless(kind, activity).is_none());
                let activity = meaningful[rng.below(meaningful.len() as u64) as usize];
                // Small numbers as often as large ones: some activities have few steps.
                let most = if activity == Activity::Recovery { 3 } else { 12 };
                let magnitude = rng.below(most);
                let after = rng.below(1 << magnitude) as u32;
                When::During { activity, after }
            }
        }
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
    fn a_drawn_plan_exceeds_the_redundancy_once_at_most_and_halts_once_at_most() {
        let config = PlanConfig { kinds: FaultKind::all(), events: 20, asks: 5000, media_ops: 20_000, beyond: false };
        let mut exceeding = 0;
        for seed in 0..500 {
            let plan = Plan::draw(&config, seed);
            assert_eq!(plan, Plan::draw(&config, seed));
            let in_rebuild = |e: &&Event| matches!(e.when, When::During { activity: Activity::Rebuild, .. });
            let kinds = plan.events.iter().filter(in_rebuild).map(|e| e.fault.kind);
            // Modules that are out of reach come back with all that they hold.
            let takes_nothing = |k: &FaultKind| matches!(k, FaultKind::LatentError | FaultKind::OutOfReach);
            let exceed = kinds.filter(|k| k.uses_redundancy() && !takes_nothing(k)).count();
            assert!(exceed <= 1);
            exceeding += exceed;
            assert!(plan.events.iter().filter(|e| e.fault.kind.contract() == Contract::Halt).count() <= 1);
        }
        assert!(exceeding > 50);
    }
}
