//! Modules in files.

mod card;
mod common;
mod damage;
mod docs;
mod look;
mod lying;
mod power;
mod real;
mod shards;
