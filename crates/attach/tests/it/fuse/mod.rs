//! A card as a file.

mod common;
mod file;
mod file_systems;
