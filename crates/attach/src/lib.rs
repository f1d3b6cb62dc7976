//! How does a card become a disk of this machine, and how is that undone?
//!
//! With [`ublk`] a server makes a disk of its card itself. [`fuse`] shows a card as a file. Around them stand the kernel's
//! devices on what a server offers: a loop device on a mounted card's file, or the kernel's NBD client on a socket.
//! `losetup` and `nbd-client` do the work; this crate adds what they leave out: who uses a device, what a server that has
//! died left behind, and a record of what was made.
//!
//! Invariants:
//! - a device that is mounted or held by anything is never detached, except one that waits for its server and is given up;
//! - nothing is detached that was not attached by this program: it has a record, or lies on a card's mount;
//! - a record is believed only where the kernel says the same; a device without a record is found as well.

mod error;
mod find;
pub mod fuse;
mod make;
mod privilege;
mod program;
mod quoted;
mod record;
mod rings;
mod source;
pub mod ublk;
mod undo;

pub use error::AttachError;
pub use find::{Attached, State, list, users};
pub use make::{Made, attach};
pub use program::run;
pub use quoted::Quoted;
pub use record::{Kind, Record, Records};
pub use source::{Source, SourceError, mounted_as};
pub use undo::{Undone, detach, detach_all, give_up};
