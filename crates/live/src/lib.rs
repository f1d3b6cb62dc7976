//! How does a card run by the clock?
//!
//! A [`Live`] card is the card of the simulator with real bytes, asked by many at once and driven by the wall clock. Who
//! asks has a [`Port`]: it hands over [`Ask`]s and gets [`Done`]s, in any order.
//!
//! There is one engine, and one thread at a time has it: whoever has something for it to do. What the medium answers at
//! once is done by the thread that asked, without handing anything over to another and back; that is what makes a card in
//! memory as fast as a copy. What takes time (files, modelled flash) is brought to its end by a thread of the card's own,
//! which sleeps until the next event is due.
//!
//! Disks are run the same way, to be compared with: they hold bytes as well, and take as long as disks do.
//!
//! Invariants:
//! - each ask is answered exactly once, also when power goes or the card stops;
//! - the card's time never runs backwards, and never passes an event that is due: a card that is behind the clock answers
//!   late, and says so ([`Pace`]), but decides as it would have in time;
//! - parts of one sector that are written at the same time do not undo each other: they go one after the other.

mod ask;
mod clock;
mod control;
mod disks;
mod engine;
mod extents;
mod memory;
mod on_files;
mod pace;
mod port;
mod settings;
mod stats;
mod status;
mod timing;

pub use ask::{Ask, AskError, Done, Op, ReadData};
pub use control::{Action, ControlError};
pub use engine::Start;
pub use memory::memory_bytes;
pub use on_files::on_files;
pub use pace::Pace;
pub use port::{Bell, Live, LiveError, Port};
pub use settings::{Change, Gc, Settings};
pub use stats::{BOUNDS_NS, Buckets, Kind, Latency, Stats};
pub use status::{ModuleState, ModuleStatus, Snapshot, Status};
pub use timing::{Timing, without_timing};
