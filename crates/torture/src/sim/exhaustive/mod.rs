//! Every cut of a short script.
//!
//! From a snapshot, a script is played one thing at a time. Before each, power is cut in every way that the card's
//! operations under way allow, and during what a step writes at once; the card recovers, with cuts in the recovery and
//! in what follows it, and every sector is read.
//!
//! A cut that leaves the same media to a host that has seen the same as one before it is not made again, and not
//! counted.

mod explorer;
mod limits;
mod outcomes;
mod sequences;

pub use explorer::cut_everywhere;
pub use limits::{CutFailure, Cuts, Limits};
pub use sequences::{cut_sequences, script, sequences};
