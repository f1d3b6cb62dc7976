//! How does the kernel hand the requests of a disk to a process?
//!
//! The driver ublk of Linux (from 6.5 on): `/dev/ublkbN` is a disk whose requests a process answers. [`Control`] adds,
//! starts, stops and removes disks; a [`Queue`] takes requests and gives results back, on an io_uring of the thread that
//! made it. `words` is the layout of what both exchange with the driver.
//!
//! The crate `libublk` is not used because it makes its bindings at build time, which needs libclang wherever this is built.
//!
//! Invariants:
//! - each request is answered once, and its payload can be reached only between the two;
//! - a disk that waits for its server is told from others by its mark, which the kernel keeps.

mod control;
mod error;
mod queue;
mod ring;
mod words;

pub use control::Control;
pub use error::{Step, UblkError};
pub use queue::{Event, Place, Queue, places};
pub use words::{Cache, DeviceInfo, DeviceState, Limits, Op, Requested, Wanted, block_path};
