//! The messages between controllers, modules and hosts.

use session::ownership::{Answer, Claim, Command};

/// Sectors of the array: few, so that hosts meet.
pub const SECTORS: usize = 3;

/// The order of stripes: the claim under which one was written, and its number in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp {
    pub claim: Claim,
    pub number: u32,
}

/// Places for stripes on each module. One that is free is written over.
pub const SLOTS: usize = 12;

/// A stripe: its sector, its place in the order, and the value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stripe {
    pub stamp: Stamp,
    pub sector: u8,
    pub value: u32,
}

/// Modules, one bit each.
pub type Set = u16;

/// The bytes of a module, as an array uses them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// The unit at each place.
    pub slots: [Option<Stripe>; SLOTS],
    /// The header: when it was written, and the modules that lack something.
    pub header: (Stamp, Set),
}

/// A message to a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// A command of reservations, on a connection for them.
    Reserve(Command),
    /// One unit of a stripe.
    Write { slot: u8, stripe: Stripe },
    /// Everything, as recovery reads it.
    Read,
    /// A new header.
    Header { stamp: Stamp, stale: Set },
    /// Erase all, before a rebuild.
    Clear,
}

/// The answer of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    Reserved(Answer),
    Done,
    Conflict,
    Contents(Box<Contents>),
}

/// The two connections of a controller to a module: their order to each other is not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    Reservations,
    Data,
}

/// A request of a host: its number is the value that a write has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    pub host: u8,
    pub number: u32,
    pub sector: u8,
    pub is_write: bool,
}

/// The answer to a host; a controller that must not answer gives none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The request was carried out, with this value.
    Value(u32),
    /// It was not even begun: the controller is not the owner.
    NotOwner,
}
