//! What does a shelf export?
//!
//! Files and drives as they are: a [`RawDisk`] knows nothing of cards. Its [`ShelfState`] is what a host must find again
//! after any end of the shelf: the name of the module, and its reservations.

mod disk;
mod disk_port;
mod lent;
mod state;

pub use disk::{RawDisk, RawDiskError};
pub(crate) use disk_port::DiskPort;
pub(crate) use lent::Lent;
pub use state::{ShelfState, ShelfStateError};
