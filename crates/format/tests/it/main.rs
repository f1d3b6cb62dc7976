//! The structures on media, byte for byte.

mod common;
mod damage;
mod golden;
mod round_trips;
mod volumes;
