//! What is the method?
//!
//! A review of a device: throughput against space in use, threads, a timeline that shows stalls; and the comparison of
//! the model with what others published, point by point.
//!
//! Invariant: the figures of a review depend on the card, the host, the scale and the seed, not on how many threads
//! worked on it.

mod parallel;
mod point;
mod published;
mod review;
mod setups;
mod validate;

pub use point::PointError;
pub use review::{ReviewOptions, review};
pub use validate::{TABLES, ValidateError, tables_of_card, validate, validate_table};
