//! How long does it last?
//!
//! A card is worn out, without time, under the writes of a load: until its first block has its rated cycles, and until
//! its spare is used up. A small card is worn out whose flash bears fewer cycles; [`miniature`] says what it stands for
//! and how far it can be believed, and a closed form checks it.
//!
//! Sizes are in bytes of the whole card, cycles in those that its file rates.

mod closed;
pub mod miniature;
mod simulate;
mod spread;

pub use closed::{endurance_bytes, retired_share, wear_at_retired};
pub use simulate::{LifetimeError, Wearing, lifetime};
pub use spread::spread;
