//! The reasons why there is nothing to explain.

use format::HeaderError;
use ftl::recover::{AssembleError, ScanError, SectorError};
use media::{MediaError, UnitAt};

/// The reason why there is nothing to explain: the media hold no card, or the question is not about this card.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum FsckError {
    /// No module has a header that can be read.
    #[error("no module of a card: {reason}")]
    NoCard { reason: NoHeader },
    /// A newer or an older version of the format was written.
    #[error(transparent)]
    OtherVersion(AssembleError),
    /// The card is too large to be examined in memory.
    #[error("a card of {sectors} sectors: at most {max} can be looked at")]
    TooLarge { sectors: u64, max: u64 },
    /// The card can't be put together, so there are no bands to be asked about.
    #[error("the card refuses to start, so nothing is known of its sectors: {0}")]
    Refuses(AssembleError),
    /// The card has no band, stripe or sector of this number.
    #[error("there is no {thing} {asked}: the card has {count}, from 0")]
    NoSuch { thing: &'static str, asked: u64, count: u64 },
    /// The question is about more sectors than one answer has.
    #[error("{asked} sectors are too many for one answer: at most {max}")]
    TooMany { asked: u64, max: u64 },
    /// A sector can be neither read nor rebuilt.
    #[error("sector {lba} can't be read: {error}")]
    Sector { lba: u32, error: SectorError },
    /// A sector of another address lies where the map says that this one is.
    #[error("sector {lba} is lost")]
    NotThere { lba: u32 },
    /// The medium can't be read now, which tells nothing of its contents.
    #[error("slot {} die {} block {} row {}: {error}", .at.block.module, .at.block.die, .at.block.block, .at.row)]
    Media { at: UnitAt, error: MediaError },
    /// The scan of a band failed.
    #[error(transparent)]
    Scan(#[from] ScanError),
}

/// The reason why no module has a header that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum NoHeader {
    /// A copy of a header is damaged; it is the first of them.
    #[error("slot {slot} copy {copy}: {error}")]
    Damaged { slot: u32, copy: u32, error: HeaderError },
    /// No header was ever written.
    #[error("none has a header; was it ever formatted?")]
    Absent,
}
