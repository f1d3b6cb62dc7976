//! Where does this sector live, and why is it safe to believe that?
mod config;
pub use config::{FtlConfig, GcMode, SlcCache, VictimPolicy};
