//! The members of a card: its places, and the modules in them.

use format::ModuleId;

/// How far a module of a card can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemberState {
    /// The contents of the module count.
    Trusted,
    /// The module was away while the card continued, so its contents do not count.
    Stale,
    /// The module is new and its rebuild was not complete, so its contents do not count.
    Rebuilding,
    /// The place is free, and there is a blank module to take it.
    Blank,
    /// The module is not there, or does not answer.
    Missing,
}

/// A place of a card, and the module in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// The module that the newest header lists in this place.
    pub module: ModuleId,
    /// The slot of that module, or of a blank module that can take its place.
    pub slot: Option<u32>,
    /// How far the module in the slot can be trusted.
    pub state: MemberState,
}
