//! Runs and their figures.

mod accounts;
mod cached;
mod common;
mod compression;
mod few_dies;
mod lost_requests;
mod pace;
mod placement;
mod preconditioning;
mod queueing;
mod raid5;
mod redo;
mod scale;
mod steady;
mod thermal;
mod worn_out;
mod zones;
