//! A card by the clock.

mod bytes;
mod files;
mod hearing;
mod long_writes;
mod shards;
mod volumes;
