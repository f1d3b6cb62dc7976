//! A host and a server without sockets.

pub mod host;
pub mod server;
pub mod wire;
