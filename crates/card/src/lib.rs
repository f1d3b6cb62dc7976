//! How do modules and flash management make one device?
mod config;
pub use config::{CardConfig, LinkConfig, RelocationPath};
