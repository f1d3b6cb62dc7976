//! Errors of `flashrig compare`.

use report::conditions::{Condition, Unmatched};
use std::path::PathBuf;
use thiserror::Error;

/// Results that can't stand side by side.
#[derive(Debug, Error)]
pub enum CompareFailure {
    /// The result of another tool can't be read.
    #[error(transparent)]
    Import(#[from] import::ImportError),
    /// A page can't show so many devices.
    #[error("{given} results are too many to compare: at most {max}")]
    TooMany { given: usize, max: usize },
    /// The page would take the place of something else.
    #[error("{}: a page's name ends in .html, and it is none of the results", .path.display())]
    NoPage { path: PathBuf },
    /// The JUnit file would take the place of a result.
    #[error("{}: a JUnit file takes the place of none of the results", .path.display())]
    JunitIsResult { path: PathBuf },
    /// A folder of repeats without any.
    #[error("{}: this directory has no results (.json) in it", .path.display())]
    EmptyFolder { path: PathBuf },
    /// A condition that nothing could ever meet.
    #[error("--fail-if '{condition}': {source}")]
    Unmatched { condition: Box<Condition>, source: Unmatched },
    /// A picture has one device.
    #[error("--svg and --png show one device, and there are {devices}: name the reviews of one, or write a page (-o)")]
    SeveralDevices { devices: usize },
    /// A picture that can't be made.
    #[error(transparent)]
    Picture(report::history::RasterError),
    /// The result of another tool says neither of what nor when.
    #[error("{}: no review of Flashrig, which alone says of what device it is", .path.display())]
    NoReview { path: PathBuf },
}
