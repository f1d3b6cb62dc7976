//! What is a disk, an array of them, or a volume of a cloud?
//!
//! Spinning disks and a RAID controller in virtual time: what flash is compared with. [`Array`] is a
//! [`device::Device`]; it carries no payload, only time. So does a [`Volume`], which is known by its limits alone.
//!
//! One disk is a state machine: a firmware that takes commands one after another, an interface that moves their data,
//! and an arm over a turning platter that serves the command it can reach first. The model and its formulas follow
//! Ruemmler and Wilkes, "An introduction to disk drive modeling", IEEE Computer 27(3), 1994. The array maps requests to
//! disks and keeps the controller's battery-backed cache.
//!
//! Invariants:
//! - the same configuration, seed and requests give the same completions at the same nanoseconds;
//! - every submitted request finishes exactly once: submitted = finished + in flight, asserted in every build;
//! - every queue has a limit, which stands at the queue;
//! - in an array, the head is where the platter and the seek curve put it: no service time is drawn from a distribution.
//!
//! Addresses inside are numbers of logical blocks (LBA) of 512 bytes.

mod array;
mod cache;
mod config;
mod controller;
mod disk;
mod error;
mod extents;
mod geometry;
mod locks;
mod mapping;
mod mechanism;
mod op;
mod read_ahead;
mod scheduler;
mod seek;
mod server;
mod span;
mod spent;
mod volume;

pub use array::{Array, Counters};
pub use config::{ArrayConfig, DiskConfig, Limit, RaidLevel, VolumeConfig};
pub use error::DiskError;
pub use volume::Volume;
