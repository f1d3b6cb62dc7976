//! Errors of `flashrig review` and `flashrig validate`.

use crate::quoted::Quoted;
use profile::ProfileError;
use std::path::PathBuf;
use thiserror::Error;

/// A review that can't be made.
#[derive(Debug, Error)]
pub enum ReviewFailure {
    /// The word names neither a card nor a file.
    #[error("{source}; a file is named with a slash (./{name}), a new one with --size")]
    NoTarget { name: Quoted, source: Box<ProfileError> },
    /// A review overwrites at random.
    #[error(
        "a review overwrites at random, and the zones of {name} are written in order: measure it with flashrig run"
    )]
    Zones { name: Quoted },
    /// A directory is named, and no database to run in it.
    #[error("{} is a directory: --database postgres runs a database in it", .path.display())]
    DirectoryAlone { path: PathBuf },
    /// No plan satisfies the options.
    #[error(transparent)]
    Plan(#[from] review::PlanError),
    /// The result of a real device would be lost.
    #[error("{} is there already: name another with --out, go on with --resume, or replace it with --overwrite", .path.display())]
    ResultExists { path: PathBuf },
    /// A file that is no review would be lost.
    #[error("{} is there and is no review: name another with --out", .path.display())]
    NoResult { path: PathBuf },
    /// The partial result can't be gone on from.
    #[error("can't resume {}: {source}", .path.display())]
    Resume { path: PathBuf, source: review::ResumeError },
    /// The device ended the review.
    #[error("{source}; what was measured until then is in {}, --resume goes on", .partial.display())]
    Target { partial: PathBuf, source: target::TargetError },
    /// A point of the comparison can't be measured.
    #[error(transparent)]
    Point(#[from] review::PointError),
    /// The comparison with a published table can't be made.
    #[error(transparent)]
    Validate(#[from] review::ValidateError),
    /// A drive can't be held against its data sheet.
    #[error(transparent)]
    Datasheet(#[from] study::datasheets::DatasheetError),
}
