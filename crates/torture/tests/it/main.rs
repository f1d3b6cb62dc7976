//! No fault makes a card lie.

mod common;
mod cuts;
mod hot_swap;
mod lives;
mod logged;
mod module_lives;
mod modules;
mod proof;
mod regressions;
mod sharded;
mod slow_modules;
mod takeovers;
mod wear;
