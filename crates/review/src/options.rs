//! The options of a review, and why there may be no plan for them.

use crate::phase::Phase;

/// Options of a review.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Root seed of the loads.
    pub seed: u64,
    /// Share of the device's size that is modelled; 1 for real ones.
    pub scale: f64,
    /// Share of the device in use in all phases but the fill sweep.
    pub fill: f64,
    /// Fewer and shorter points.
    pub quick: bool,
    /// Seconds that the review may take; real devices only.
    pub budget_s: Option<f64>,
    /// Phases; empty: all.
    pub only: Vec<Phase>,
    /// A plan that can't keep its budget is made all the same, to be looked at.
    pub shown_over_budget: bool,
}

impl Options {
    pub(crate) fn includes(&self, phase: Phase) -> bool {
        self.only.is_empty() || self.only.contains(&phase)
    }
}

/// An error that keeps a plan from being made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs)]
pub enum PlanError {
    /// It can't be done in that time.
    #[error(
        "a budget of {budget_s:.0} s is too short: the plan takes at least {min_s:.0} s; \
         give more time, or fewer phases with --only"
    )]
    Budget { budget_s: f64, min_s: f64 },
    /// The target is too small for the loads.
    #[error("a target of {capacity_bytes} bytes is too small to review: at least {min_bytes} bytes are needed")]
    TooSmall { capacity_bytes: u64, min_bytes: u64 },
    /// A share of the device that is none.
    #[error("fill {fill} is not above 0 and at most 1 (100 %)")]
    Fill { fill: f64 },
}
