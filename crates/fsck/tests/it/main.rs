//! What is said of media that are whole, and of damaged ones.

mod cards;
mod common;
mod mutations;
