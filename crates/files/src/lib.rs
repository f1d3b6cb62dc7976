//! How does a module lie in a file?
//!
//! [`Files`] is a card's modules in files or on block devices, one each, as a [`media::Media`]. What is begun on it goes to
//! all of them at once through one io_uring ([`ring`]); nothing has to be begun, and then each operation waits for itself.
//! `docs/module-files.md` is the format.
//!
//! What holds of a file of which nobody but this program writes:
//! - A block's erase is durable when it has ended: no unit of before reads as programmed again, whatever becomes of one
//!   of the two copies of the table in which erases are noted. Headers and marks of bad blocks are durable likewise.
//! - A program is durable after the next sync of its module. One that was cut, or that the disk's cache lost in part,
//!   reads as erased, or as uncorrectable, or the checksums of the layer above find what is wrong.
//! - What lies in a file never panics. Damage reads as uncorrectable, or a copy stands for what is damaged; a module
//!   whose superblocks are both damaged counts as none. Only zeroes where a unit was are taken for a unit that was never
//!   programmed.
//! - What is only looked at ([`Files::look`]) stays as it is, to the byte.
//! - At most one process has a file (`flock`; block devices also `O_EXCL`).
//!
//! Where the bytes go is behind a trait ([`Disks`]), so that tests can cut a disk's power.

mod ahead;
mod buffer;
mod disks;
mod erase;
mod error;
mod files;
mod frame;
mod layout;
mod look;
mod medium;
mod module;
mod open;
mod record;
mod ring;
mod superblock;
mod sync;
mod table;

pub use buffer::Buffer;
pub use disks::{Disks, Done, Handle, Io, Make, Opened, What};
pub use error::FilesError;
pub use files::{Files, Note, Options};
pub use layout::{Layout, PAGE_BYTES};
