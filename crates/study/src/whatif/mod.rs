//! What would this card do?
//!
//! A grid of questions about a modelled card, answered in virtual time on all cores; and searches for the value of one
//! axis that still holds a bound.
//!
//! Invariants:
//! - each answer is what a single run of that card, state and load with that seed gives;
//! - so nothing depends on how many threads worked, nor on what else was asked;
//! - a point that can't exist is refused before anything runs, and named by the axis that asked for it.

mod answer;
mod axis;
mod grid;
mod question;
mod search;
mod setup;
mod units;

pub use axis::Axis;
pub use grid::{Answers, grid};
pub use question::{Question, Refusal, Why};
pub use search::{Bound, Range, RangeAxis, Search, search};
pub use units::{answer_units, search_unit, units};
