//! What is a real device being asked?
//!
//! A trace of a device's requests, by blktrace and blkparse, as `flashrig run --trace` reads it: of all events only the
//! issue to the drive is recorded. This module adds what the two leave out: it says what is missing on this machine
//! before anything begins; a recording ends in order, however it comes to end; the file is there whole or not at all.
//!
//! Invariants:
//! - when a recording is over, for whatever reason, neither program runs and the kernel no longer traces the device;
//! - the file that was named is replaced only by a whole trace; until then it lies beside it.

mod error;
mod session;
mod system;

pub use error::RecordError;
pub use session::{Recording, record};
pub use system::System;
