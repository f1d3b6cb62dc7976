//! The SLOB method on PostgreSQL: what a device does for a database, with as little database around it as possible.
//!
//! Each session (or each THREADS_PER_SCHEMA of them) has a table of its own with one row in each 8 KiB block, and touches
//! random blocks, one after the other, through a small buffer cache. The rows are found by an index in whose order they
//! don't lie, so an execution of WORK_UNIT rows is as many random single-block reads. A row takes not quite half a block
//! and the rest is kept free (fillfactor 50): an update finds room beside the old version, and pruning makes room for the
//! next, so tables neither grow nor need a vacuum. Nothing here is SLOB's code.

mod config;
mod session;
mod table;

pub use config::SlobConfig;
pub(crate) use session::{SlobOf, point};
pub(crate) use table::{drop_tables, load};
