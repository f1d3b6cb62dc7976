//! Errors of `flashrig fsck` and `flashrig torture`.

use std::path::PathBuf;
use thiserror::Error;

/// Media, or a failed life, that can't be examined.
#[derive(Debug, Error)]
pub enum MediaFailure {
    /// The media of the card can't be opened.
    #[error(transparent)]
    Source(#[from] fsck::SourceError),
    /// The contents of the media can't be examined.
    #[error("{}: {source}", .card.display())]
    Fsck { card: PathBuf, source: fsck::FsckError },
    /// The file holds no life.
    #[error("{} holds no life that can be lived again: {source}", .path.display())]
    NoLife { path: PathBuf, source: Box<torture::campaign::NotAReproducer> },
}
