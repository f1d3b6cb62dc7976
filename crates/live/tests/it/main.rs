//! A card by the clock.

mod bytes;
mod files;
mod shards;
mod volumes;
