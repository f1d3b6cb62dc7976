//! NVMe over TCP without sockets: the transport, Connect, and all commands.

mod access;
mod admin;
mod authentication;
mod common;
mod connect;
mod initiator;
mod io;
mod reservations;
mod shelf;
mod sockets;
mod takeover;
mod transport;
