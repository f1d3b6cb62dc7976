//! Whether a flush can have been one.

use serde::{Deserialize, Serialize};

/// A verdict on flushes in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SyncJudgement {
    /// As slow as a flush to this medium must be.
    Plausible,
    /// Nothing to flush: writes are durable when they are acknowledged.
    NothingToFlush,
    /// Faster than a program of flash or a turn of a disk, by a device that says its cache is volatile.
    TooFast,
    /// Can't be told.
    Unknown,
}

/// Verdict on flushes: whether they are what they claim to be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SyncVerdict {
    /// The judgement in one word.
    pub judgement: SyncJudgement,
    /// In words, with the figures that led to it.
    pub text: String,
}
