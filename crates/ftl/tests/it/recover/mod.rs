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
mod report;
mod watermark;
mod whole;
mod writer;
