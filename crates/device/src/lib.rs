//! What does a host ask of a device, and when?
//!
//! The vocabulary that every layer shares: virtual time, requests and completions, where a request's
//! time went, the table of pending events, lists in order of use, and named random streams. Nothing here knows about flash.
//!
//! Invariants:
//! - time never runs backwards: a device is handed events in non-decreasing time;
//! - every submitted request completes exactly once;
//! - the [`Parts`] of a completion add up to the time between its submission and its completion.

mod compressible;
mod events;
mod host;
mod lists;
mod parts;
mod request;
mod rng;
mod time;

pub use compressible::Compressible;
pub use events::EventTable;
pub use host::HostConfig;
pub use lists::{Links, List};
pub use parts::{Cause, Parts};
pub use request::{ByteRange, Completion, Device, Operation, Request, RequestError, RequestId};
pub use rng::Rng;
pub use time::Time;

/// The unit of addresses in flash management: 4 KiB. Smaller or misaligned requests cost a read-modify-write.
pub const SECTOR_BYTES: u64 = 4096;
