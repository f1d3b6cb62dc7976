//! Flash that is emulated keeps the laws of flash.

mod common;
mod faults;
mod image;
mod operations;
mod power;
mod wear;
