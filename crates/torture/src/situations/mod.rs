//! Situations in which the power may go: how a card came to be as it is, and what it is asked then.
//!
//! Each is there for a reason that no other has. They are data: [`all`] has them, [`Situation::build`] brings a card
//! there.

mod build;
mod checkpoints;
mod faults;
mod logs;
mod situation;
mod words;
mod work;

pub use situation::{Past, Situation};

/// All of them.
pub fn all() -> impl Iterator<Item = &'static Situation> {
    work::SITUATIONS.iter().chain(faults::SITUATIONS).chain(checkpoints::SITUATIONS).chain(logs::SITUATIONS)
}
