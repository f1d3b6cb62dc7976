//! How do modules and flash management make one device?
//!
//! A [`Card`] is a [`device::Device`] in virtual time: the host link and its command processor, the write buffer, the
//! scheduler of dies and channels, around the flash management of `ftl`. Requests and the passing of time go in,
//! completions come out. A [`ModelCard`] has times and amounts of everything and no bytes; a [`StorageCard`] holds bytes
//! on media.
//!
//! Invariants, asserted in every build:
//! - requests submitted = finished + in flight;
//! - the buffer never holds more host sectors than it has room for, and frees them only when their whole stripe,
//!   parity and all, is on flash;
//! - a die does one thing at a time, in an order that flash allows;
//! - the parts of an explained request add up to its latency.
//!
//! Imports run downward: `core` and `contents` are types that know nothing of the card; `card` puts them together; `flows`
//! are what a card does.

mod card;
mod contents;
mod core;
mod flows;
#[cfg(test)]
mod tiny;

pub use card::{Card, Contents, IDLE_NS, ModelCard, NoContents};
pub use contents::Storage;
pub use contents::health::{CriticalWarning, Health};
pub use contents::log::LogCounters;
pub use contents::modules::{InsertError, Inserted, PullCost};
pub use contents::rebuild::RebuildProgress;
pub use contents::scrub::ScrubProgress;
pub use contents::store::StoreCounters;
pub use core::array_times::TimeSpread;
pub use core::capacitors::Capacitors;
pub use core::config::{
    CardConfig, Care, Housekeeping, LinkConfig, MODULE_TIMEOUT_NS, ModelState, PlacedBy, RelocationPath,
};
pub use core::counters::MediaCounters;
pub use core::patrol_config::PatrolConfig;
pub use core::thermal::{LEVELS, ThermalAccount, ThermalConfig, Throttle};
pub use core::zone_commands::ZoneCommand;
pub use core::zone_host::{ZoneHost, ZoneWrites};
pub use flows::open::{OpenError, Unopened, can_do_without, examine, is_made_so, may_adopt, shape, spared_modules};

/// A card that holds bytes.
pub type StorageCard = Card<Storage>;
