//! An operator's requests over the socket.

mod common;
mod control;
mod metrics;
mod openapi;
mod socket;
