//! How a result looks on a terminal: at most 80 columns, no colour, one subject a block.

mod advantage;
mod comparison;
mod oltp;
mod result;
mod review;
mod rounding;
mod tail;
mod words;

pub use advantage::advantage;
pub use comparison::comparisons;
pub use result::{Asked, result};
pub use review::{plan, review};
pub use words::{device_words, load_words};
