//! Which card would have measured like this?
//!
//! Results in, a card's file out: the model's parameters are changed until it measures like the device did, and each is
//! handed over with how well the results determine it. A parameter that they say nothing of is said to be undetermined,
//! and stays as it was.
//!
//! Invariants:
//! - the same results, options and seed give the same card, on any number of cores;
//! - nothing is fitted to points that are held out;
//! - a figure that is undetermined never changes.

mod base;
mod bounds;
mod burst;
mod cache;
mod cache_choice;
mod cache_settings;
mod candidate;
mod card_file;
mod choice;
mod choices;
mod choose;
mod chooser;
mod condition;
mod cross;
mod cycles;
mod error;
mod exchange;
mod first;
mod input;
mod knob;
mod linear;
mod observation;
mod observe;
mod outcome;
mod refine;
mod relevant;
mod rough;
mod search;
mod simulate;
mod space;
mod start;
mod state;
mod stop_settings;
mod stops;
mod tables;
mod twin;

pub use base::Base;
pub use burst::Bursts;
pub use condition::Condition;
pub use error::{FitError, Missing, TableProblem};
pub use exchange::Exchange;
pub use input::Input;
pub use observation::{Figure, Measured, Observation};
pub use observe::{Assumed, MIN_POINTS, Observed, observe};
pub use outcome::{Errors, Fit, FittedFigure, FittedPoint, Parameter, Status, distance};
pub use search::{Options, fit, fit_with_others};
pub use simulate::Seen;

pub use tables::{is_table, read_table};
pub use twin::{advise_device, advise_model};
