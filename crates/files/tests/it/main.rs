//! Modules in files.

mod card;
mod common;
mod damage;
mod docs;
mod look;
mod power;
mod real;
