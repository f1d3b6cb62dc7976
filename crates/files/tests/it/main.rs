//! Modules in files.

mod card;
mod common;
mod damage;
mod docs;
mod fallen;
mod look;
mod lying;
mod power;
mod real;
mod shards;
