//! A card by the clock.

mod bytes;
mod files;
mod long_writes;
mod shards;
mod volumes;
