//! What is flash?
//!
//! This module has geometry, timing, the legal orders of program and erase, factory bad blocks and wear. Queues and
//! addresses of a host belong to the layers above.
//!
//! Invariants:
//! - The pages of an erase block are programmed in order, once, after an erase. Otherwise [`Blocks`] panics, because
//!   the layer above has a bug.
//! - A bad block is never programmed or erased.

mod blocks;
mod config;

pub use blocks::Blocks;
pub use config::{CellMode, Endurance, Geometry, NandConfig, OpTiming, Timing};
