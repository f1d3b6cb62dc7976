//! The activities of a card that a fault can meet.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The work that a card is doing; of several, the last in this order that applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Activity {
    /// Nothing that changes the media.
    Idle,
    /// Writes the host's data.
    HostWrite,
    /// Relocates or erases.
    Gc,
    /// Reads its media to find what goes bad. The host may write meanwhile, and collection goes on.
    Scrub,
    /// Writes a checkpoint.
    Checkpoint,
    /// Restores redundancy. So may they then.
    Rebuild,
    /// Starts, or is without power.
    Recovery,
}

impl Activity {
    /// All of them, in the order of columns of a table.
    pub const ALL: [Activity; 7] = [
        Activity::Idle,
        Activity::HostWrite,
        Activity::Gc,
        Activity::Checkpoint,
        Activity::Recovery,
        Activity::Rebuild,
        Activity::Scrub,
    ];
}

impl fmt::Display for Activity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Activity::Idle => "idle",
            Activity::HostWrite => "write",
            Activity::Gc => "GC",
            Activity::Checkpoint => "ckpt",
            Activity::Recovery => "recover",
            Activity::Rebuild => "rebuild",
            Activity::Scrub => "scrub",
        })
    }
}
