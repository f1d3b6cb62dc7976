//! The flows of a card: each takes what has happened from the core and the contents, and says what goes on.

mod checkpoint;
mod contents;
mod direct_reads;
mod durable;
mod energy;
mod events;
mod health;
mod holes;
mod hooks;
mod host;
mod log;
mod lost_writes;
mod modules;
pub mod open;
mod patrol;
mod power;
mod read_ahead;
mod read_only;
mod read_rebuilds;
mod rebuild;
mod relocation;
mod repair;
mod rescue;
mod scrub;
mod settings;
mod waiting;
mod watermark;
