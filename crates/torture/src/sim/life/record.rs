//! The record of a life that is over.

use crate::sim::{Activity, Coverage, Failure, LogMet, Met, Refusal};

/// A fault that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fired {
    /// Its place in the plan.
    pub event: usize,
    /// Requests submitted before.
    pub asks: u32,
    /// Operations that changed the media, begun before.
    pub media_ops: u64,
    /// The activity of the card that it met.
    pub activity: Activity,
}

/// The result of a life.
#[derive(Clone, Debug)]
pub struct Life {
    /// A hash of everything that happened: the same case has the same.
    pub trace: u64,
    /// `None`: the contract held.
    pub failure: Option<Failure>,
    /// The card refused to start, and the plan says that it may.
    pub halted: Option<Refusal>,
    /// Faults that happened, in their order.
    pub fired: Vec<Fired>,
    /// The same, counted by what the card did.
    pub coverage: Coverage,
    /// Requests that were submitted.
    pub asks: u32,
    /// Power cuts, those in recoveries too.
    pub power_cuts: u32,
    /// Those in recoveries.
    pub nested_cuts: u32,
    /// Times that the redundancy was restored, so that the next fault could use it.
    pub mends: u32,
    /// Longest virtual time from the last answer to rest.
    pub rest_ns: u64,
    /// Sectors whose contents were checked.
    pub sectors_read: u64,
    /// Counts of the events among clients that share the card.
    pub met: Met,
    /// Counts of what happened to the card's log.
    pub log: LogMet,
}
