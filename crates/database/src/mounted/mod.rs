//! How does a database get a directory on a card, and how is all of that undone?
//!
//! A card in memory is served by a process of its own, looked at as a file, made a disk by a loop device, formatted with
//! XFS and mounted: [`Mounted`]. It is what a database is reviewed on, and its power can be cut through the server's
//! control socket.
//!
//! All of it lies in one new directory, from whose name alone everything can be undone: [`undo`]. A second process, the
//! guard, waits for the end of this one and undoes what is left then, so that a crash leaves no more than Ctrl-C does.
//!
//! Invariants:
//! - nothing is unmounted, detached, ended or removed that does not lie in that directory;
//! - the server is a process of its own: one that served itself could wait for itself for ever when it is killed;
//! - undoing can be repeated, and goes on after an error with what comes next.

mod card;
mod error;
mod programs;
mod undo;
mod work;

pub use card::{GUARDED, Mounted, Options};
pub use error::MountedError;
pub use undo::undo;
pub use work::{WORK_DIR, undo_stale};

/// The smallest card that XFS is made on.
pub const MIN_BYTES: u64 = 512 << 20;
