//! Errors of `flashrig fit`.

use std::path::PathBuf;
use thiserror::Error;

/// A card that can't be fitted, or not written.
#[derive(Debug, Error)]
pub enum FitFailure {
    /// No card fits the results.
    #[error(transparent)]
    Fit(#[from] study::fit::FitError),
    /// The name of the file is not that of a card.
    #[error("{}: a card's name ends in .toml, and a host's is another", .path.display())]
    NoCardFile { path: PathBuf },
    /// The file of a card is there already.
    #[error(
        "{} is there already{}", .path.display(),
        if *.ours { ": name another, or replace it with --overwrite" } else { " and no fit has written it: name another" }
    )]
    CardFileExists { path: PathBuf, ours: bool },
}
