//! What do hosts ask, and what may they be told?
//!
//! A [`Session`] stands between many clients and one device. It divides requests into pieces that the device takes at
//! once, keeps writes to parts of one sector in order, holds back what the device has no room for, and replies to each
//! request once. It knows no clock, lock, thread or socket: whoever drives it says what time it is, and takes the replies.
//!
//! A card that is divided over shards has a session for each, and a client a [`Router`] in front of them. A card may be
//! divided into volumes as well, by a [`VolumeTable`].
//!
//! An array that several controllers reach is owned by one of them at a time: [`ownership`].
//!
//! The same session is driven by the server, whose device is a card or disks, and by the simulator of faults.
//!
//! Invariants:
//! - each request of a connected client gets exactly one reply, also when the device halts or loses its power;
//! - a client that has disconnected gets no reply; its requests are carried out, and nobody else's are touched;
//! - two writes that share a sector, one of which covers only a part of it, are never in flight together, and take effect
//!   in the order in which they were submitted;
//! - a flush covers each write that was acknowledged before the flush was submitted, whichever client wrote it;
//! - at most [`Limits::max_in_flight`] pieces are in flight, and at most [`Limits::max_waiting`] requests wait;
//! - the device's time never runs backwards, and never passes an event that is due.

mod backend;
pub mod canary;
mod client;
mod complete;
mod division;
mod joints;
mod limits;
mod outstanding;
pub mod ownership;
mod piece;
mod request;
mod router;
mod session;
mod slots;
mod volumes;
mod waiting;

pub use backend::{Backend, Condition, Finished, LastPiece};
pub use client::ClientId;
pub use division::{CHUNK_BYTES, Division};
pub use joints::{Joined, Joints};
pub use limits::{Limits, MAX_IN_FLIGHT, MAX_TRIM_BYTES, MAX_WAITING, MAX_ZEROES_BYTES};
pub use request::{Reply, ReplyError, Request};
pub use router::{Router, ToShard};
pub use session::Session;
pub use volumes::{Layout, TableDamage, TableDisk, VolumeError, VolumeName, VolumeStatus, VolumeTable};
