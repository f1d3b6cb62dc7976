//! How a result looks on a terminal: at most 80 columns, no colour, one subject a block.

mod oltp;
mod result;
mod rounding;
mod tail;

pub use result::{Asked, result};
