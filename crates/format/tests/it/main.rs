//! What lies on the media, byte for byte.

mod common;
mod damage;
mod golden;
mod round_trips;
