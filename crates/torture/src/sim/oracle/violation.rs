//! How the contract can be broken.

use super::version::{Moment, Version};
use crate::sim::{Lba, OpError, OpId, Refusal, Sector};
use std::fmt;

/// The way in which a sector read wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wrong {
    /// A version that a later one has superseded.
    Older,
    /// A version that a read after a recovery had shown to be gone.
    Returned,
    /// A version of another sector.
    AnotherSector(Lba),
    /// Nothing that was ever written: parts of several versions, or garbage.
    NeverWritten,
    /// An error where no fault accounts for one.
    UnexplainedError,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wrong::Older => f.write_str("a superseded version"),
            Wrong::Returned => f.write_str("a version that was gone and came back"),
            Wrong::AnotherSector(lba) => write!(f, "what was written to {lba}"),
            Wrong::NeverWritten => f.write_str("what was never written"),
            Wrong::UnexplainedError => f.write_str("an error that no fault accounts for"),
        }
    }
}

/// A sector that read wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongSector {
    /// The sector that read wrong.
    pub lba: Lba,
    /// The value that was read.
    pub read: Sector,
    /// The way in which that is wrong.
    pub wrong: Wrong,
    /// When the read was submitted.
    pub started: Moment,
    /// When it was answered.
    pub at: Moment,
    /// Power cuts before that.
    pub power_cuts: u32,
    /// The values that it might have read as.
    pub allowed: Vec<Sector>,
    /// The last versions of the sector, oldest first.
    pub history: Vec<Version>,
}

impl fmt::Display for WrongSector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} reads as {}: {} (read submitted at {}, answered at {}, after {} power cuts); allowed: ",
            self.lba, self.read, self.wrong, self.started.0, self.at.0, self.power_cuts
        )?;
        for (i, allowed) in self.allowed.iter().enumerate() {
            write!(f, "{}{allowed}", if i == 0 { "" } else { ", " })?;
        }
        for version in &self.history {
            write!(f, "\n  {version}")?;
        }
        Ok(())
    }
}

/// How the contract was broken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// A sector read wrong.
    #[error("{0}")]
    Sector(Box<WrongSector>),
    /// A request failed, and no fault accounts for that.
    #[error("request {} failed ({error}), and no fault accounts for that", id.0)]
    Failed {
        /// The request that failed.
        id: OpId,
        /// The error that it ended with.
        error: OpError,
    },
    /// The card does not start, and no fault accounts for that.
    #[error("the card refuses to start ({0}), and no fault accounts for that")]
    Refused(Refusal),
    /// An answer to no request.
    #[error("request {} was answered and is not in flight", id.0)]
    NotInFlight {
        /// The name it gave.
        id: OpId,
    },
    /// A new request has the name of one in flight.
    #[error("the name of request {}, which is in flight, was given to another", id.0)]
    NameInUse {
        /// The name of both requests.
        id: OpId,
    },
    /// An answer that does not fit its request.
    #[error("the answer to request {} does not fit it: {expected} sectors were to be read, {got} were", id.0)]
    Misfit {
        /// The request that was answered.
        id: OpId,
        /// Sectors that it was to read.
        expected: u32,
        /// Sectors that were answered.
        got: u32,
    },
}
