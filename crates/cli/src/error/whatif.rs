//! Errors of `flashrig whatif`.

use crate::quoted::Quoted;
use std::path::PathBuf;
use thiserror::Error;

/// A grid or a search that can't be made.
#[derive(Debug, Error)]
pub enum WhatifFailure {
    /// A point of the grid can't exist.
    #[error(transparent)]
    Whatif(#[from] study::whatif::Refusal),
    /// The name of the page is not that of a page.
    #[error("{}: a page's name ends in .html", .path.display())]
    NotAPage { path: PathBuf },
    /// The grid has more points than anybody waits for.
    #[error("the grid has {given} points, at most {max} are possible: use fewer values")]
    TooManyPoints { given: usize, max: usize },
    /// One key stands on two axes.
    #[error("{key} is varied twice")]
    VariedTwice { key: Quoted },
    /// The search has no axis, or several.
    #[error("--target-p99 and --min-mb-s search along one range, {given} are given: --fill 20..100, for instance")]
    NotOneRange { given: usize },
    /// A range is given and no bound to search for.
    #[error("a range is searched for a bound: add --target-p99 or --min-mb-s, or give a list")]
    RangeWithoutBound,
    /// The ends of a range are fractions.
    #[error("a range has whole numbers at its ends")]
    RangeNotWhole,
}
