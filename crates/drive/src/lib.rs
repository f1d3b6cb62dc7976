//! How is a real drive asked?
//!
//! An I/O engine on io_uring that drives any [`load::Load`] against a file or a block device in real time, with direct
//! I/O, and [`Drive`], which puts it behind the one trait of everything that can be reviewed ([`target::Target`]).
//!
//! Invariants:
//! - nothing is in flight any more when a call returns, with whatever result, and rings and buffers are gone;
//! - all that is written is payload ([`payload`]): it can't be compressed or deduplicated, and it proves itself;
//! - a request's latency begins when its session asked for it, or was due to;
//! - `unsafe` is in `ring` alone.

mod arena;
mod common;
mod drive;
mod empty;
mod engine;
mod error;
mod file;
mod host;
mod nvme;
pub mod payload;
mod prepare;
pub mod record;
mod ring;
mod sequence;
mod size;
pub mod sweep;
mod worker;

pub use drive::{Drive, DriveOptions, assumed_write_bw_bytes};
pub use error::DriveError;
pub use nvme::{PurgeBy, PurgeError};
