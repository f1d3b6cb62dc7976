//! A card is found again on its media.

mod adoption;
mod assembly;
mod checkpoints;
mod cuts;
mod geometry;
mod given_up;
mod histories;
mod identity;
mod losses;
mod noted;
mod report;
mod whole;
mod writer;
