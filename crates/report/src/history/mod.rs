//! Reviews of the same devices over time: is a device still what it was?

mod markdown;
mod page;
mod picture;
mod trend;

pub use markdown::markdown;
pub use page::page;
pub use picture::picture;
pub use trend::{CHANGED, DeviceHistory, Trend, histories};
