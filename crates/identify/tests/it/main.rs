//! Devices of this machine.

mod common;
mod real_devices;
