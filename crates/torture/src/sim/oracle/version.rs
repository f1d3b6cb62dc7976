//! One version of a sector.

use crate::sim::Sector;
use std::fmt;

/// A point in the order in which the host saw things happen. No two events share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(pub u64);

/// One version of a sector, and what is known of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// Counts from 1; 0 is the sector as it came from formatting. Losses count too.
    pub number: u32,
    /// The value that a read of it returns; [`Sector::Error`] for a loss that a fault may have caused.
    pub reads_as: Sector,
    /// Power cuts before it was issued.
    pub power_cuts: u32,
    /// When it was submitted, or the fault happened.
    pub submitted: Moment,
    /// Requests that are submitted after this moment come after it: it was acknowledged, failed, cut, or seen.
    pub ended: Option<Moment>,
    /// It took effect before this moment or never will: like `ended`, but a failure settles nothing before the next
    /// cut, and a loss is settled only by being seen.
    pub settled: Option<Moment>,
    /// It took effect before this moment: acknowledged or seen.
    pub applied: Option<Moment>,
    /// Whether it was acknowledged.
    pub acknowledged: bool,
    /// Whether it failed.
    pub failed: bool,
    /// The latest begin of a read that returned it: it came after everything that was settled then.
    pub seen_from: Option<Moment>,
    /// No power cut can take it back.
    pub durable: bool,
    /// Reads that begin later must not return it, as long as there is power.
    pub superseded: Option<Moment>,
    /// And no power cut can bring it back.
    pub gone: bool,
}

impl Version {
    pub(super) fn new(number: u32, reads_as: Sector, power_cuts: u32, submitted: Moment) -> Version {
        Version {
            number,
            reads_as,
            power_cuts,
            submitted,
            ended: None,
            settled: None,
            applied: None,
            acknowledged: false,
            failed: false,
            seen_from: None,
            durable: false,
            superseded: None,
            gone: false,
        }
    }

    /// A loss is a version that a fault issues.
    pub fn is_loss(&self) -> bool {
        self.reads_as == Sector::Error
    }

    /// Whether a read that began at `started` may return it.
    pub fn readable(&self, started: Moment) -> bool {
        self.superseded.is_none_or(|s| s > started)
    }

    /// Whether it is known that it came before `other`.
    pub(super) fn is_before(&self, other: &Version) -> bool {
        self.ended.is_some_and(|e| e < other.submitted)
            || self.settled.is_some_and(|s| other.seen_from.is_some_and(|from| s < from))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reads_as {
            Sector::Zero if self.number == 0 => write!(f, "version 0: as formatted")?,
            Sector::Zero => write!(f, "version {}: zeroes, submitted at {}", self.number, self.submitted.0)?,
            Sector::Error => write!(f, "version {}: loss by a fault at {}", self.number, self.submitted.0)?,
            _ => write!(f, "version {}: written, submitted at {}", self.number, self.submitted.0)?,
        }
        match (self.acknowledged, self.failed, self.ended) {
            (true, _, Some(at)) => write!(f, ", acknowledged by {}", at.0)?,
            (_, true, Some(at)) => write!(f, ", failed at {}", at.0)?,
            (_, _, None) => f.write_str(", in flight")?,
            _ if self.number > 0 && !self.is_loss() => f.write_str(", cut")?,
            _ => {}
        }
        if self.seen_from.is_some() {
            f.write_str(", read")?;
        }
        if self.durable {
            f.write_str(", durable")?;
        }
        match (self.gone, self.superseded) {
            (true, _) => f.write_str(", superseded for ever"),
            (_, Some(at)) => write!(f, ", superseded at {}", at.0),
            _ => Ok(()),
        }
    }
}
