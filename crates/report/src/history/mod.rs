//! Reviews of the same devices over time: is a device still what it was?

mod canvas;
mod markdown;
mod page;
mod picture;
mod raster;
mod svg;
mod trend;

pub use markdown::markdown;
pub use page::page;
pub use picture::{picture, raster};
pub use raster::RasterError;
pub use trend::{CHANGED, DeviceHistory, Trend, histories};
