//! How far cutting goes, how far it came, and the cut that made the card lie.

use crate::sim::{Failure, HostStep};

/// How far to go.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Outcomes of one cut that are all taken. If a cut has more, this many are drawn.
    pub outcomes: u64,
    /// If a cut has more, each end of each operation is taken as well, while all others are done and while none has
    /// begun.
    pub each_end: bool,
    /// One outcome in this many is looked at further: with cuts in its recovery, and with a cut later.
    pub nested_every: u64,
    /// Cuts in the recovery after such an outcome. All are taken when a recovery has no more operations than this.
    pub nested: u64,
    /// Cuts in one recovery after the other, at most.
    pub depth: u64,
    /// Steps that a recovered card takes before power is cut again, at most: collection and rebuilds go on meanwhile.
    pub linger: u64,
    /// Steps of the card after the last answer at which power is cut.
    pub steps_after: u32,
    /// When the card has recovered from a nested cut, a module is pulled, and every sector is read once more: what a
    /// cut left torn must not use the redundancy up. Not where something else does.
    pub loses: bool,
    /// The seed of everything that is drawn.
    pub seed: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            outcomes: 256,
            each_end: true,
            nested_every: 1,
            nested: 3,
            depth: 3,
            linger: 24,
            steps_after: 64,
            loses: false,
            seed: 0,
        }
    }
}

/// Counts of what was tried. Each of the cuts was followed by a recovery; that of outcomes, and the last of nested
/// ones, by a look at every sector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cuts {
    /// Places where power was cut.
    pub points: u64,
    /// Ways in which it was, no two of them the same.
    pub outcomes: u64,
    /// Ways that were the same as one before, and were not tried.
    pub same: u64,
    /// Points that have more outcomes than the limit.
    pub sampled_points: u64,
    /// Cuts in recoveries, and in what recovered cards did next.
    pub nested: u64,
    /// Modules that recovered cards lost afterwards.
    pub losses: u64,
}

impl Cuts {
    /// Adds the counts of another run.
    pub fn add(&mut self, other: Cuts) {
        self.points += other.points;
        self.outcomes += other.outcomes;
        self.same += other.same;
        self.sampled_points += other.sampled_points;
        self.nested += other.nested;
        self.losses += other.losses;
    }

    /// Cuts that were made.
    pub fn total(&self) -> u64 {
        self.outcomes + self.nested
    }
}

/// A cut that made the card lie.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cut at point {point} with choices {choices:?}, nested {nested:?}, of {script:?}: {failure}")]
pub struct CutFailure {
    /// The script that was cut.
    pub script: Vec<HostStep>,
    /// The number of the point, from 0.
    pub point: u64,
    /// The choices taken at that point.
    pub choices: Vec<u64>,
    /// Operations of each recovery before it was cut too.
    pub nested: Vec<u64>,
    /// Cuts before this one.
    pub cuts: u64,
    /// The failure that the cut led to.
    pub failure: Failure,
}
