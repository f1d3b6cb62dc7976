//! The method on a real PostgreSQL, and its end.

mod common;
mod crash;
mod life;
mod review;
