//! Drives that are files and block devices.

mod common;
mod devices;
mod files;
mod recording;
mod sweep;
