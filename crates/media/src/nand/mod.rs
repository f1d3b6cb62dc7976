//! What is flash?
//!
//! Geometry, timing, the legal orders of program and erase, factory bad blocks and wear. No queues, no addresses of a
//! host: those belong to the layers above.
//!
//! Invariants:
//! - pages of an erase block are programmed in order, once, after an erase ([`Blocks`] panics otherwise: the layer
//!   above has a bug);
//! - a bad block is never programmed or erased.

mod blocks;
mod config;

pub use blocks::Blocks;
pub use config::{CellMode, Endurance, Geometry, NandConfig, OpTiming, Timing};
