//! Models that answer: grids, lives and fits.

mod fit_cache;
mod fit_published;
mod fit_stops;
mod grid;
mod lives;
mod twin;
