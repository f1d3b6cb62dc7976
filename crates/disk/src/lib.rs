//! What is a disk, and what is an array of them?
mod config;
pub use config::{ArrayConfig, DiskConfig, RaidLevel};
