//! Flash as the cache of a larger device (dm-cache, bcache, FlashCache), in virtual time.
//!
//! [`Directory`] knows which blocks lie on the flash and which of them the device behind has not got yet; it has no
//! time. [`Cached`] moves the data. [`Device`](device::Device)s on both sides are whatever they are.
//!
//! Invariants:
//! - every request finishes exactly once: submitted = finished + in flight;
//! - reads and writes are hits or misses: hits + misses = reads + writes;
//! - a block that became dirty is written back once before it leaves: dirtied = written back + dropped + still dirty.

mod counts;
mod device;
mod directory;
mod ghost;
mod policy;
mod report;
mod streams;
mod warm;

#[cfg(test)]
mod tests;

pub use counts::Counts;
pub use device::{Cached, Instant};
pub use directory::Directory;
pub use warm::{WarmUp, warm_cache};
