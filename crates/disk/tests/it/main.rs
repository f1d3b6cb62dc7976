//! Disks and arrays of them.

mod common;
mod contract;
mod one_disk;
mod raid;
mod volume;
