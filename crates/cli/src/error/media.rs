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
    /// The card has fewer shards.
    #[error("--shard {shard}: the card has shards 0 to {}", .shards - 1)]
    NoShard { shard: u32, shards: u32 },
    /// Each shard has such a band.
    #[error("the card has {shards} shards, each with bands of its own: name one with --shard")]
    ShardNotNamed { shards: u32 },
    /// The file holds no life.
    #[error("{} holds no life that can be lived again: {source}", .path.display())]
    NoLife { path: PathBuf, source: Box<torture::campaign::NotAReproducer> },
}
