//! How does a module lie in a file?
//!
//! [`Files`] is the modules of a card as a [`media::Media`], each in one file or on one block device. One io_uring
//! ([`ring`]) serves all of them: operations that are begun run at the same time, and an operation that was not begun
//! waits for its own end. `docs/module-files.md` defines the format.
//!
//! Invariants, as long as no other program writes to the file:
//! - The erase of a block is durable when it has ended: no earlier unit reads as programmed again, even if one of the
//!   two copies of the table of blocks is lost. Headers and marks of bad blocks are durable likewise.
//! - A program is durable after the next sync of its module. A program that was cut, or that the disk's cache lost in
//!   part, reads as erased or as uncorrectable, or the checksums of the layer above find the damage.
//! - Bytes from a file never cause a panic. Damage reads as uncorrectable, or the other copy of the damaged structure
//!   counts. A file whose superblocks are both damaged holds no module. Only zeroes in the place of a unit count as a
//!   unit that was never programmed.
//! - [`Files::look`] changes no byte of a file.
//! - At most one process has a file (`flock`; block devices also `O_EXCL`).
//!
//! A trait ([`Disks`]) stands between the format and the files, so that tests can cut a disk's power.

mod ahead;
mod arena;
mod buffer;
pub mod canary;
mod counted;
mod discard;
mod disks;
mod erase;
mod error;
mod files;
mod frame;
mod frames;
mod gather;
mod layout;
mod lender;
mod locked;
mod log;
mod look;
mod marks;
mod medium;
mod module;
mod open;
mod queue;
mod raw;
mod record;
mod ring;
mod sectors;
mod sizes;
mod spares;
mod superblock;
mod sync;
mod table;

pub use arena::Arena;
pub use buffer::Buffer;
pub use disks::{Disks, Done, Handle, Io, IoKind, Make, Opened};
pub use error::{FilesError, NoModuleReason};
pub use files::{Files, Note, Options};
pub use layout::{Layout, MAX_SHARDS};
pub use lender::Lender;
pub use raw::RawFile;
pub use sizes::PAGE_BYTES;
pub use superblock::NoSuperblock;
