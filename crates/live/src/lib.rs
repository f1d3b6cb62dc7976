//! How does a card run by the clock?
//!
//! A [`Live`] card is the card of the simulator with real bytes, driven by the wall clock. A
//! client has a [`Port`]: it submits [`Request`]s and gets [`Reply`]s, in any order.
//!
//! The `session` decides what happens to requests; this crate has the lock, the clock, the threads and the bells. There is
//! one engine, and one thread at a time has it: whoever has something for it to do. A request that the medium
//! answers at once is done by the thread that submitted it, without handing anything over to another and back; that is
//! what makes a card in memory as fast as a copy. A request that takes time (files, modelled flash) is brought to its
//! end by a thread of the card's own, which sleeps until the next event is due.
//!
//! A card may be divided over shards by address. Each of them is a card of its own, with an engine, a lock and a thread,
//! so that clients on several cores ask at the same time.
//!
//! Disks are run the same way, to be compared with: they hold bytes as well, and take as long as disks do.
//!
//! Invariants:
//! - the invariants of the session;
//! - a card that is behind the clock replies late, and says so ([`Pace`]), but decides as it would have in time.

mod clock;
mod control;
mod disks;
mod engine;
mod error;
mod extents;
mod inbox;
mod inside;
mod lane;
mod listening;
mod live;
mod memory;
mod on_files;
mod over;
mod pace;
mod packing;
mod port;
mod reply;
mod settings;
mod shared;
mod start_status;
mod state;
mod stats;
mod status;
mod timing;
mod together;
mod volume_control;
mod volumes;
mod write_memory;

pub use control::Action;
pub use engine::Start;
pub use error::ControlError;
pub use files::MAX_SHARDS;
pub use listening::{Ear, Hearer};
pub use live::{Live, LiveError, id_of_shard};
pub use memory::memory_bytes;
pub use on_files::on_files;
pub use pace::Pace;
pub use port::Port;
pub use reply::{Bell, ReadData, Reply};
pub use session::{
    CHUNK_BYTES, Division, ReplyError, Request, TableDamage, TableDisk, VolumeError, VolumeName, VolumeTable,
};
pub use settings::{Change, Gc, Settings};
pub use start_status::{StartPart, StartStatus};
pub use stats::{BOUNDS_NS, Buckets, Explained, Explanation, Kind, Latency, Stats};
pub use status::{LogStatus, ModuleState, ModuleStatus, Snapshot, Status};
pub use timing::{Timing, without_timing};
pub use volume_control::{VolumeChange, VolumeStatus, VolumesStatus};
pub use write_memory::WriteMemory;
