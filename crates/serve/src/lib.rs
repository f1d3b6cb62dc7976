//! How does a host attach it?
//!
//! An NBD server for live cards, on unix and TCP sockets, with or without TLS. The module [`wire`] knows what clients say
//! and what the right answer is, without any I/O; the rest moves the bytes. A [`Server`] has a thread for each listener and
//! one for each connection; a connection's thread asks the card itself and answers, so that a request in memory crosses no
//! other thread.
//!
//! Invariants:
//! - a client has [`Limits::handshake`] to choose an export, and [`Limits::stall`] to go on with what it has begun to send or
//!   to take what it was answered;
//! - what a connection holds is bounded: [`wire::MAX_IN_FLIGHT_BYTES`] of requests, [`connection::MOST_UNSENT_BYTES`] of
//!   answers before it takes no more requests;
//! - a connection that ends in any way leaves nothing of its own behind but what it had written;
//! - a flush covers what other connections were answered: the card has one buffer for all. So clients may have several.

mod connection;
mod patience;
mod registry;
mod server;
mod stream;
mod tls;
pub mod wire;

pub use registry::ClientStatus;
pub use server::{Address, AddressError, Export, Limits, ServeError, Server};
pub use tls::{Security, TlsError, TlsFiles};
