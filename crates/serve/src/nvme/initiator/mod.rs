//! What does a host ask of a controller, and is the answer possible?
//!
//! The host's side of NVMe over TCP, for modules that lie on shelves. A [`HostQueue`] is one connection: it makes PDUs of
//! commands, gets the received bytes, and returns what has arrived ([`Arrival`]).
//!
//! # Invariants
//!
//! - No bytes of a controller cause a panic: each ends as an [`Arrival`] or as a [`Broken`], after which the connection is
//!   of no use.
//! - A controller has this side hold no memory: it is sent data only of commands that have some, each byte once, and it
//!   sends data only to commands that wait for them, in their order and in their length.
//! - A late answer to an earlier command is not taken for one to a later command of the same slot.
//! - The same bytes give the same arrivals, however they are cut into pieces.

mod arrival;
mod broken;
mod chap;
mod commands;
mod discovered;
mod host_queue;
mod identity;
mod report;

pub use arrival::{Arrival, Completion};
pub use broken::Broken;
pub use chap::{ChapError, HostDialog};
pub use commands::{Ask, Names, PROPERTY_CONFIGURATION, PROPERTY_STATUS};
pub use discovered::{Discovered, DiscoveryPage};
pub use host_queue::{DEPTH, HostQueue, MAX_INPUT_BYTES};
pub use identity::{ACCESS_BYTES, ControllerFacts, NamespaceFacts, is_optimized, namespaces};
pub use report::{Registered, Report};
