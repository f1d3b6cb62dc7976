//! How do modules and flash management make one device?
//!
//! A [`Card`] is a [`device::Device`] in virtual time: the host link and its command processor, the write buffer, the
//! scheduler of dies and channels, around the flash management of `ftl`. Requests and the passing of time go in,
//! completions come out.
//!
//! Invariants, asserted in every build:
//! - requests submitted = finished + in flight;
//! - the buffer never holds more host sectors than it has room for, and frees them only when their whole stripe,
//!   parity and all, is on flash;
//! - a die does one thing at a time, in an order that flash allows;
//! - the parts of an explained request add up to its latency.

mod bus;
mod card;
mod checkpoint;
mod config;
mod contents;
mod dies;
mod durable;
mod energy;
mod explain;
mod health;
mod holes;
mod host_side;
mod link;
mod lost_writes;
mod modules;
mod noted;
mod occupancy;
mod open;
mod patrol;
mod power;
mod read_only;
mod rebuild;
mod recovery_time;
mod relocation;
mod repair;
mod rescue;
mod scrub;
mod settings;
mod store;
#[cfg(test)]
mod tiny;
mod waiting;

pub use card::{Card, IDLE_NS, MediaCounters};
pub use config::{CardConfig, LinkConfig, MODULE_TIMEOUT_NS, RelocationPath};
pub use energy::Capacitors;
pub use health::{CriticalWarning, Health};
pub use modules::{InsertError, Inserted};
pub use open::{OpenError, shape};
pub use patrol::PatrolConfig;
pub use rebuild::RebuildProgress;
pub use scrub::ScrubProgress;
pub use store::{SectorData, StoreCounters};
