//! One life of a campaign, and how it ended.

use crate::sim::{Failure, Life};

/// The way in which a life was wrong.
#[derive(Clone, Debug)]
pub enum Wrong {
    /// The contract was broken.
    Failed(Failure),
    /// Lived twice, it went two ways.
    TwoWays,
}

impl std::fmt::Display for Wrong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Wrong::Failed(failure) => failure.fmt(f),
            Wrong::TwoWays => f.write_str("the same life went two ways"),
        }
    }
}

/// A life of a campaign.
#[derive(Clone, Debug)]
pub(super) struct Lived {
    pub life: Life,
    /// It was lived twice.
    pub twice: bool,
    pub wrong: Option<Wrong>,
}
