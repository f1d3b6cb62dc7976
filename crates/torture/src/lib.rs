//! Can any fault make it lie?
//!
//! [`sim`] plays the lives of any card and judges them; the rest of the crate is the card that is put to the test.
//! [`CardUnderTest`] is a card with contents on emulated flash as a [`sim::Subject`]: requests with stamps for
//! payloads, power that is cut with whatever is under way, modules that are pulled, and the faults that flash knows. A
//! [`campaign`] is many lives of such cards, with all faults. [`tiny`] is a card small enough for millions of lives,
//! with everything that a large one has. [`takeovers`] are lives of another kind: those of an array that several
//! controllers share.

pub mod campaign;
mod controllers;
mod cut;
mod derived;
mod ends;
mod fading;
mod faults;
mod host_errors;
mod latent;
mod logs;
mod modules;
mod powered;
mod sharded;
pub mod sim;
pub mod situations;
mod subject;
pub mod takeovers;
mod tiny;
mod versions;
mod wear;

pub use derived::config_of;
pub use fading::{FADING, RATED_CYCLES, short_lived};
pub use sharded::ShardedUnderTest;
pub use subject::CardUnderTest;
pub use tiny::{Kind, host_of, physics, tiny};
pub use wear::wearing;
