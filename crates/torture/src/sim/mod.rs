//! Lives of a card, and what they prove.
//!
//! A *life* is one seeded run of a storage card in virtual time: a host's script ([`host`]), a plan of faults
//! ([`plan`]), the card ([`Subject`]), and an [`Oracle`] that knows what every sector may read as. The
//! differences between cards stand behind the trait; nothing here knows how a card works.
//!
//! - [`life`] runs a script and a plan to the end, to rest, and through a full read-back. The same case has the same
//!   trace.
//! - [`exhaustive`] takes every step of a short script as a cut point and every outcome that a cut can have.
//! - [`shrink`] makes a failing case small; [`coverage`] says which fault has met which activity.
//! - [`parallel`] runs lives on all cores; results don't depend on how many there are.
//!
//! Invariants:
//! - nothing here imports anything of the crate around it;
//! - the oracle's knowledge is private to [`oracle`], and no method of [`Subject`] is given any of it: a card can't
//!   make its judge agree with it.

pub mod activity;
pub mod ask;
pub mod bench;
pub mod chooser;
pub mod coverage;
pub mod exhaustive;
pub mod host;
pub mod life;
pub mod met;
pub mod oracle;
mod panic_message;
pub mod parallel;
pub mod plan;
pub mod player;
pub mod shrink;
pub mod stamp;
pub mod subject;

pub use activity::Activity;
pub use ask::Ask;
pub use bench::{Bench, Bounds, Failure};
pub use chooser::{Chooser, Paths};
pub use coverage::Coverage;
pub use host::{HostConfig, HostStep};
pub use life::{Case, Life};
pub use met::{LogMet, Met};
pub use oracle::{Oracle, Violation};
pub use panic_message::PanicMessage;
pub use plan::{Contract, CutOutcome, Event, FaultKind, FaultSpec, Plan, What, When};
pub use stamp::{Lba, PARTS, Stamp};
pub use subject::{
    Done, Durability, HostOp, Impact, Lost, NotRecovered, OpError, OpId, Outcome, RecoveryReport, Refusal, Sector,
    Subject,
};
