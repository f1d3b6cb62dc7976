//! Everything that decides a life, as data.

use crate::sim::{Bounds, HostStep, Plan};
use serde::{Deserialize, Serialize};

/// Everything that a life depends on, besides the card's code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The card is built from it.
    pub seed: u64,
    /// The script of the host.
    pub steps: Vec<HostStep>,
    /// The faults, and when they happen.
    pub plan: Plan,
    /// Limits on the steps and the time of the card.
    pub bounds: Bounds,
    /// Clients that share the card; 0 for one that asks for nothing but whole sectors.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub clients: u32,
    /// Shards that the card is divided over.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub shards: u32,
    /// Faults pile up, whatever the redundancy.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub beyond: bool,
}

fn one() -> u32 {
    1
}

fn is_one(shards: &u32) -> bool {
    *shards == one()
}

fn is_zero(clients: &u32) -> bool {
    *clients == 0
}
