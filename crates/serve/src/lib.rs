//! How does a host attach it?
//!
//! An NBD server for live cards, on unix and TCP sockets, with or without TLS, and an NVMe target on TCP, which also exports
//! raw disks ([`RawDisk`]). The modules
//! [`wire`] and [`nvme`] are the protocols without any I/O; the rest of the crate moves the bytes. A [`Server`] has a thread
//! for each listener and one for each connection; when there are more connections than processors, those of slow media share
//! threads (`crew`). A connection's thread submits requests to the card itself and sends the replies, so that a request in
//! memory crosses no other thread.
//!
//! Invariants:
//! - A client has [`Limits::handshake`] to choose an export, and [`Limits::stall`] to continue a message that it has
//!   begun to send, or to take its replies. For the whole of a message it has [`Limits::request`], and more for more
//!   bytes.
//! - The memory of all connections is bounded by [`Limits::memory_bytes`]; a client that needs more waits, and others are
//!   served.
//! - The memory of a connection is bounded: [`wire::MAX_IN_FLIGHT_BYTES`] of requests, and [`stream::MAX_UNSENT_BYTES`]
//!   of replies before it takes no more requests.
//! - An NVMe host is asked for data only as they are wanted; at most 512 KiB of a connection, parts of blocks, wait for
//!   their rest.
//! - A connection that ends in any way leaves nothing behind but the data that it has written.
//! - A flush covers the writes that were answered on other connections, because the card has one buffer for all. So a
//!   client may have several connections.

mod address;
mod budget;
mod client_bell;
mod connection;
mod conversation;
mod crew;
mod crew_bell;
mod crews;
mod deadlines;
mod export;
mod exported;
mod hub;
mod kept;
mod lease;
mod line;
pub mod nvme;
mod nvme_connection;
mod patience;
mod port;
mod registry;
pub mod remote;
mod reply;
mod server;
mod shared;
mod shelf;
mod stream;
mod tls;
mod turned_away;
mod waker;
pub mod wire;

pub use address::{Address, AddressError, AddressText};
pub use budget::MIN_MEMORY_BYTES;
pub use export::{Backing, Elsewhere, Export};
pub use kept::KeptError;
pub use lease::Lease;
pub use registry::{ClientStatus, Protocol};
pub use server::{ServeError, Server, Services};
pub use shared::Limits;
pub use shelf::{RawDisk, RawDiskError, ShelfState, ShelfStateError};
pub use tls::{Security, TlsError, TlsFiles};
