//! Reports on whole media, and on damaged ones.

mod cards;
mod common;
mod mutations;
