//! The protocol without sockets.

mod commands;
mod common;
mod exports;
mod flood;
mod handshake;
mod hostile;
mod meta;
mod replies;
mod splitting;
mod tls;
