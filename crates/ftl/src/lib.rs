//! Where does this sector live, and why is it safe to believe that?
//!
//! Flash management as a pure state machine: a page map over bands and stripes, garbage collection, wear levelling. It
//! knows no clock, file, thread or queue. Its driver reports the writes of the host and the programs, reads and erases
//! that are done, and asks for the next actions:
//!
//! - [`Ftl::write`] gives a sector its place in the open stripe. [`Ftl::pop_sealed`] hands out a full stripe, whose
//!   units the driver programs; [`Ftl::unit_programmed`] and [`Ftl::stripe_durable`] report that this is done.
//! - [`Ftl::prepare_relocation`] says whether relocation is due, and chooses a victim for it. [`Ftl::next_relocation`]
//!   names the sectors to read, and [`Ftl::relocate`] moves the sectors that were read. [`Ftl::next_erase`] names a band whose contents are safe
//!   elsewhere, and [`Ftl::erased`] returns that band to the free pool.
//! - [`Ftl::write_now`] does all of it at once, for preconditioning and for studies without time.
//!
//! Invariants (checked by [`Ftl::check`]):
//! - Every mapped LBA has exactly one valid physical address, which maps back to it.
//! - The valid count of a band is the number of its valid addresses.
//! - A band is erased only when nothing in it is valid and everything that made its sectors stale is durable.
//! - The host never opens a band of the reserve, so collection can always continue.

mod adopt;
mod bands;
pub mod canary;
mod check;
mod checkpoint;
mod checkpoint_state;
mod compressed;
mod compression_config;
mod config;
mod content;
mod counters;
mod error;
mod ftl;
mod gc;
mod gc_state;
mod handles;
mod layout;
mod map_cache;
mod map_pages;
mod now;
mod opening;
mod pacing;
mod placement;
mod placement_config;
mod prefetch;
mod rebuild_snapshot;
pub mod recover;
mod room;
mod settings;
mod sizes;
mod stream;
mod stripe_units;
mod table;
mod valid;
mod victims;
mod zone_config;
mod zone_states;
mod zone_table;
mod zones;

pub use adopt::FoundBlock;
pub use bands::BandState;
pub use check::Inconsistency;
pub use compressed::Extent;
pub use compression_config::CompressionConfig;
pub use config::{FtlConfig, GcMode, Persistence, SlcCache, VictimPolicy};
pub use counters::Counters;
pub use error::FtlError;
pub use ftl::Ftl;
pub use gc_state::Relocation;
pub use handles::{AllHandles, HandleCounters};
pub use layout::{BandId, Layout, Lba, Ppa, StripeId, UnitAddress};
pub use map_cache::{MapCacheConfig, MapCounters};
pub use map_pages::MapLookup;
pub use now::ReadOnly;
pub use placement_config::{Isolation, MAX_HANDLES, PlacementConfig};
pub use sizes::CompressionCounters;
pub use stream::{SealedStripe, StreamId, StripeKind};
pub use stripe_units::{StripeUnits, split_units};
pub use table::Table;
pub use zone_config::{MAX_ACTIVE_ZONES, ZoneConfig};
pub use zone_states::{ZoneCounters, ZoneError, ZoneLimits, ZoneState, ZoneStates};
pub use zones::{ZonePadding, ZoneReset};
