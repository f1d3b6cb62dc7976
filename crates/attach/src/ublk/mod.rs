//! How does a server make a disk of its card?
//!
//! With the driver ublk the kernel hands each request to a thread of the server, which has a [`live::Port`] as any client
//! has: a request that the card answers at once crosses no other thread and no socket. There is one queue for each shard of
//! the card.
//!
//! A card whose contents outlive its server makes a disk that does so as well. When the server is killed the disk waits,
//! and what is asked of it waits; the next server takes it back, and repeats what the dead one had answered and not made
//! durable (`journal`). The kernel asks again what was not answered.
//!
//! Invariants:
//! - a change that was answered is never lost with the server, only with the machine's power, as in any volatile write cache;
//! - a disk is taken back only for the card or volume that it was made of.

mod disk;
mod error;
mod found;
mod journal;
mod lane;
mod limits;
mod mark;
mod translate;

pub use disk::{Disk, Options, serve};
pub use error::DiskError;
pub use found::{Found, Standing, all, give_up, missing, of_card, remove};
