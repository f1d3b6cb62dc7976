//! How does a card look as a file?
//!
//! A live card as a FUSE file system with one file, [`FILE`], of the card's size. A loop device on that file is a disk, on
//! any machine, without a block driver of our own.
//!
//! A request is handed to the card by the thread that read it from the kernel. The same thread replies
//! to a request that the card answers at once, as a card in memory nearly always does; a reply that takes time is sent
//! by another thread, when the card's bell rings or its medium has answered. The kernel sends further requests meanwhile.
//!
//! Invariants:
//! - no page cache lies in between: a file is always opened for direct I/O;
//! - each request is replied exactly once, also when power goes, the card stops, or the file system is unmounted;
//! - the file's size never changes;
//! - a file system that was mounted is unmounted when [`Mounted`] is dropped, also while a panic unwinds.

mod answers;
mod bell;
mod disk;
mod error;
mod lane;
mod mount;
mod range;

pub use error::FuseError;
pub use mount::{Mounted, Options, mount};

/// The name of the file.
pub const FILE: &str = "disk";
/// The type of the file system in `/proc/mounts`.
pub const KIND: &str = "fuse.flashrig";
