//! Cards and hosts in their files.

mod cards;
mod errors;
mod no_panic;
mod scale;
mod set;
