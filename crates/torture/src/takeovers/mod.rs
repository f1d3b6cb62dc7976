//! Lives of an array that several controllers share: whoever owns it, hosts see one register for each sector.
//!
//! The ownership is the one that serves ([`session::ownership`]), and the reservations are those of the NVMe target
//! ([`serve::nvme::Reservations`]). The rest is modelled: two or three controllers with clocks of their own, five to seven
//! modules, a network between them, and hosts that write and read through whichever controller answers. Controllers stand
//! still, are killed and start again; modules lose power; connections are cut with whatever is on the way, and a part of
//! that arrives later; clocks are fast, slow, or stand still for a while.
//!
//! A life is wrong when the answers have no order ([`history`]), when two controllers could answer at once, or when long
//! after the last fault nobody serves.

mod array;
mod clock;
mod flaw;
pub mod history;
mod life;
mod met;
mod plan;
mod process;
mod shelf;
mod words;
mod world;

pub use flaw::Flaw;
pub use life::{Campaign, Found, Life, Tally};
pub use met::Met;
pub use plan::{Fault, Kind, Plan, Who};
pub use world::Wrong;
