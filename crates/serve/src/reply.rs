//! Replies of what is exported, a card or a raw disk, and the bytes that reads bring.

use crate::shelf::Lent;
use live::{ReadData, ReplyError};

/// The reply to a request.
#[derive(Debug)]
pub(crate) struct Reply {
    /// The request's tag.
    pub tag: u64,
    /// The bytes of a read (of all else nothing), or the reason why the request did not work.
    pub result: Result<Data, Failed>,
}

impl From<live::Reply> for Reply {
    fn from(reply: live::Reply) -> Reply {
        let live::Reply { tag, result, .. } = reply;
        Reply { tag, result: result.map(Data::OfCard).map_err(Failed::OfCard) }
    }
}

/// Bytes that were read.
#[derive(Debug)]
pub(crate) enum Data {
    OfCard(ReadData),
    OfDisk(Lent),
}

impl Data {
    /// The number of bytes.
    pub fn len(&self) -> usize {
        match self {
            Data::OfCard(data) => data.len(),
            Data::OfDisk(data) => data.bytes().len(),
        }
    }

    /// The bytes, in order, in pieces.
    pub fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        let (of_card, of_disk) = match self {
            Data::OfCard(data) => (Some(data), None),
            Data::OfDisk(data) => (None, Some(data.bytes())),
        };
        of_card.into_iter().flat_map(ReadData::pieces).chain(of_disk)
    }
}

/// The reason why a request did not work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Failed {
    #[error(transparent)]
    OfCard(#[from] ReplyError),
    /// The disk has not read it.
    #[error("the disk can't read it")]
    Read,
    /// The disk has not written it, or not made it durable.
    #[error("the disk can't write it")]
    Write,
}
