//! The page: its text, its pictures, and what a person can do with it.

mod advantage;
mod browser;
mod common;
mod first_screen;
mod page;
mod pictures;
mod whatif;
