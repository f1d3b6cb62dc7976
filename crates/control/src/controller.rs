//! A controller of a shared card, as operators see it.

use serde::{Deserialize, Serialize};

/// The part of a controller in a shared card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// It looks on.
    Standby,
    /// It takes modules.
    Claiming,
    /// It opens the card, or waits for the lease of the owner before.
    Opening,
    /// It answers hosts.
    Owner,
    /// It comes to an orderly end.
    Releasing,
}

/// How a controller of a shared card stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ownership {
    /// The number of this controller.
    pub controller: u8,
    /// The part of this controller.
    pub part: Part,
    /// The generation of the highest claim that a module has; 0: nobody has ever claimed the card.
    pub generation: u32,
    /// The controller that this claim is of; `None` before the first claim.
    pub claimant: Option<u8>,
    /// Modules of the card.
    pub modules: u32,
    /// Those whose shelf answers this controller.
    pub reached: u32,
    /// Those that this controller holds.
    pub held: u32,
    /// Milliseconds until its lease ends; 0 unless it is the owner.
    pub lease_left_ms: u64,
}

/// The controller that a server is, for the control plane.
pub trait Controller: Send + Sync {
    /// As of now.
    fn ownership(&self) -> Ownership;
    /// The card is to be owned here, whether its owner lives or not.
    fn take_over(&self);
    /// Another controller is to own the card.
    fn release(&self);
}

/// The answer to the question who owns a card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnershipReply {
    /// `None` of a card that is not shared.
    pub ownership: Option<Ownership>,
}
