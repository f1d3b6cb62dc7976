//! How does a person see it?
//!
//! Reviews in, one HTML page out: no file beside it, no network, no build step. All that is decided about a figure is
//! decided here, in Rust, and tested without a browser; the script in `page/` draws what it is given.
//!
//! - All text of a file goes through maud, which escapes it, or through [`embed::json`], which can't end its element.
//! - A page has at most [`MAX_PAGE_BYTES`], whatever a file holds: `embed::Detail` says what is left out first.
//! - Nothing runs or styles the page but what the content security policy names by its hash.

pub mod advantage;
mod anchor;
mod assets;
mod buffered;
pub mod conditions;
mod database_rows;
mod devices;
mod embed;
mod figures;
mod heat;
pub mod history;
mod html;
mod limits;
mod outstanding;
mod plot;
mod ratios;
pub mod repeats;
mod row;
mod sections;
mod unit;
pub mod winners;
mod xml;

use results::{ReviewResult, WhatifResult};

pub use buffered::is_buffered;
pub use limits::{MAX_DEVICES, MAX_PAGE_BYTES};
pub use outstanding::line_up;
pub use unit::Unit;
pub use xml::escaped_xml;

/// The page of one device.
pub fn review_page(result: &ReviewResult) -> String {
    html::fitting_page(&[result])
}

/// The page of a grid of questions: heat maps over two axes, curves over one, and what a search found.
pub fn whatif_page(result: &WhatifResult) -> String {
    html::whatif_page(result)
}

/// The page of several devices: the same charts with a line for each, and what they have over the first. Those beyond
/// [`MAX_DEVICES`] are left out.
pub fn compare_page(results: &[ReviewResult]) -> String {
    html::fitting_page(&results.iter().collect::<Vec<_>>())
}
