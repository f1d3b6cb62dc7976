//! Where does this sector live, and why is it safe to believe that?
//!
//! Flash management as a pure state machine: a page map over bands and stripes, garbage collection, wear levelling.
//! It knows no clock, file, thread or queue. Whoever drives it tells it what the host wrote and which programs, reads
//! and erases are done, and asks it what to do next:
//!
//! - [`Ftl::write`] gives a sector its place in the open stripe; a full stripe comes out of [`Ftl::pop_sealed`] and its
//!   units are to be programmed; [`Ftl::unit_programmed`] and [`Ftl::stripe_durable`] report that this happened;
//! - [`Ftl::gc_demand`] says whether relocation is due, [`Ftl::next_relocation`] what to read, and [`Ftl::relocate`]
//!   moves what was read; [`Ftl::next_erase`] names a band whose contents are safe elsewhere, [`Ftl::erased`] takes it
//!   back into the free pool;
//! - [`Ftl::write_now`] does all of it at once, for preconditioning and for studies without time.
//!
//! Invariants (checked by [`Ftl::check`]):
//! - every mapped LBA has exactly one valid physical address, which maps back to it;
//! - a band's valid count is the number of its valid addresses;
//! - a band is erased only when nothing in it is valid and everything that made its sectors stale is durable;
//! - the host never opens a band of the reserve, so collection can always go on.

mod adopt;
mod bands;
pub mod canary;
mod check;
mod checkpoint;
mod config;
mod content;
mod ftl;
mod gc;
mod layout;
mod now;
mod pacing;
mod prefetch;
pub mod recover;
mod room;
mod settings;
mod stream;
mod table;
mod valid;
mod victims;

pub use adopt::FoundBlock;
pub use bands::BandState;
pub use check::Inconsistency;
pub use config::{FtlConfig, GcMode, Persistence, SlcCache, VictimPolicy};
pub use ftl::{Counters, Ftl, FtlError, StripeUnits};
pub use gc::Relocation;
pub use layout::{BandId, Layout, Lba, Ppa, StripeId, UnitAddress};
pub use now::ReadOnly;
pub use stream::{SealedStripe, StreamId, StripeKind, split_units};
