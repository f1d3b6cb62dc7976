//! Errors of `flashrig compare`.

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
}
