//! What does a real database make of the device?
//!
//! PostgreSQL, in a cluster of its own on the device that is under review: an 80/20 mix against sessions, the SLOB
//! method, the commit path, and power cuts under load; or MariaDB, by sysbench and the same power cuts. The caller hands over a directory that lies on the device
//! ([`Request::dir`]) and what else is known of it as a [`Device`]: where the kernel counts its requests, whether its
//! write cache is protected, how its power is cut. [`Mounted`] is the device of a directory of which nothing else is known;
//! [`mounted`] makes such a directory on a modelled card.
//!
//! - Nothing that was there before is touched: everything lies in one new directory, which goes when the run ends, however
//!   it ends; no process outlives the run.
//! - The server runs without privileges, listens on a unix socket in a private directory and nowhere else.
//! - Figures that were measured until a failure or Ctrl-C are kept: [`Reviewed::ended`] says why it ended.

mod account;
mod activity;
mod binaries;
mod clients;
mod cluster;
mod commit;
mod crash;
mod device;
mod error;
mod guard;
mod memory;
mod mix;
pub mod mounted;
mod mysql;
mod page_cache;
mod parameters;
mod place;
mod processes;
mod request;
mod run;
mod settings;
mod slob;
mod verdict;

pub use crate::device::{Device, Mounted, Power};
pub use binaries::{Binaries, OLDEST_MAJOR};
pub use cluster::{Cluster, GUARDED, undo};
pub use crash::CrashConfig;
pub use error::DatabaseError;
pub use guard::{GUARD_WORD, Guard, wait_for_the_end};
pub use mix::MixConfig;
pub use page_cache::Evictor;
pub use processes::{end_all_in, processes_in};
pub use request::{Engine, Part, Request, Sizes};
pub use run::{Plan, Reviewed, available_memory_bytes, check_device_memory, prepare, review};
pub use slob::SlobConfig;
