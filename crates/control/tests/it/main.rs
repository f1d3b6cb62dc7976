//! What an operator asks over the socket.

mod common;
mod control;
mod metrics;
mod openapi;
mod socket;
