//! A situation, as data.

use crate::Kind;
use crate::sim::{FaultKind, HostStep, What};

/// One situation in which the power may go.
#[derive(Clone, Copy, Debug)]
pub struct Situation {
    /// The name of the situation.
    pub name: &'static str,
    /// The point that no other situation has.
    pub because: &'static str,
    /// The cards that it is for.
    pub kinds: &'static [Kind],
    /// How the card came there.
    pub past: &'static [Past],
    /// Requests of the host while power is cut.
    pub script: &'static [HostStep],
    /// Steps after the last answer at which power is cut too.
    pub steps_after: u32,
}

/// One event of a card's past.
#[derive(Clone, Copy, Debug)]
pub enum Past {
    /// Requests of a usual host, drawn from a seed.
    Use {
        /// Requests that are submitted.
        asks: u32,
        /// The seed of the script.
        seed: u64,
    },
    /// Every sector was written, and flushed.
    Full,
    /// The same few sectors were overwritten, so often.
    Hot(u32),
    /// The host asked so, and got its answers.
    Asked(&'static [HostStep]),
    /// The host has asked so: what was in flight then, is so still.
    Asks(&'static [HostStep]),
    /// The card took this many steps.
    Steps(u32),
    /// The host writes until the card collects.
    UntilItCollects,
    /// Nothing was asked until the card was at rest.
    Rested,
    /// Power went, however: a seed.
    Cut(u64),
    /// Power came back, and went after so many operations; then again after so many.
    Recovered(&'static [u64]),
    /// Power came back.
    Started,
    /// A module was pulled: its slot.
    Pulled(u32),
    /// Without power, a module was put into a slot.
    Inserted(u32, What),
    /// Without power, modules changed places.
    Permuted(&'static [u32]),
    /// Something went wrong: what, and a seed for where.
    Fault(FaultKind, u64),
    /// The same went wrong, wherever it could: so often at most.
    Faults(FaultKind, u32),
    /// The newest copy of each module's header was damaged.
    NewestHeaders,
    /// All of the stripe with the newest version of an LBA can't be read any more: that is beyond the redundancy.
    LostStripe(u32),
    /// The card began to look at all that it holds.
    Scrubs,
    /// The card began a checkpoint.
    Checkpoints,
    /// The host reads until the checkpoint that is being written is complete.
    UntilCheckpointed,
}
