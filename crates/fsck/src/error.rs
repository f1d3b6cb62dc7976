//! Why there is nothing to explain.

use ftl::recover::{AssembleError, ScanError};
use media::{MediaError, UnitAt};

/// Why there is nothing to explain: what was given is no card, or the question is not about this one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum FsckError {
    /// No module has a header that can be read.
    #[error("no module of a card: {why}")]
    NoCard {
        /// What is wrong with the first header.
        why: String,
    },
    /// Written by a newer or an older version.
    #[error(transparent)]
    OtherVersion(AssembleError),
    /// Larger than can be looked at in memory.
    #[error("a card of {sectors} sectors: at most {most} can be looked at")]
    TooLarge { sectors: u64, most: u64 },
    /// The card can't be put together, so there are no bands to be asked about.
    #[error("the card refuses to start, so nothing is known of its sectors: {0}")]
    Refuses(AssembleError),
    /// A number beyond the card's.
    #[error("there is no {what} {asked}: the card has {count}, from 0")]
    NoSuch { what: &'static str, asked: u64, count: u64 },
    /// More sectors than one answer has.
    #[error("{asked} sectors are too many for one answer: at most {most}")]
    TooMany { asked: u64, most: u64 },
    /// The medium can't be read now, which says nothing of what lies there.
    #[error("slot {} die {} block {} row {}: {error}", .at.block.module, .at.block.die, .at.block.block, .at.row)]
    Media { at: UnitAt, error: MediaError },
    /// A band can't be identified.
    #[error(transparent)]
    Scan(#[from] ScanError),
}
