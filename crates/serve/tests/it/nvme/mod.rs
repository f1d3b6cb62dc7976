//! NVMe over TCP without sockets: the transport, Connect, and all commands.

mod admin;
mod common;
mod connect;
mod io;
mod reservations;
mod sockets;
mod transport;
