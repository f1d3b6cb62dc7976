//! How long does it last?
//!
//! A card is worn out, without time, under the writes of a load: until its first block has its rated cycles, and until its
//! spare is used up. What is worn out is a small card whose flash bears fewer cycles; what that stands for, and how far it
//! can be believed, is said in [`miniature`] and held against a closed form.
//!
//! Sizes are in bytes of the whole card, cycles in those that its file rates.

mod closed;
pub mod miniature;
mod simulate;
mod spread;

pub use closed::{endurance_bytes, retired_share};
pub use simulate::{LifetimeError, Wearing, lifetime};
pub use spread::spread;
