//! Requests of clients, and the replies to them.

use crate::client::ClientId;
use bytes::Bytes;
use device::{ByteRange, Operation, Time};

/// A request of a client. Offsets and lengths are bytes, of any alignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// The client's own name for it, which comes back with the reply.
    pub tag: u64,
    /// The operation; zeroes are asked for as a trim that has to read as zeroes.
    pub operation: Operation,
    /// The range that is meant; without meaning for a flush.
    pub range: ByteRange,
    /// It is durable when it is acknowledged.
    pub fua: bool,
    /// The bytes of a write; of all else none.
    pub bytes: &'a [u8],
    /// Memory that these bytes are a part of, if it may be kept in place of a copy.
    pub shared: Option<&'a Bytes>,
    /// All of a trimmed range reads as zeroes afterwards, also the parts of sectors at its edges.
    pub reads_zero: bool,
    /// The range keeps its room: zeroes are written, and nothing is trimmed.
    pub keeps_room: bool,
    /// It is a part of a request that a [`crate::Router`] has divided.
    pub is_part: bool,
}

impl<'a> Request<'a> {
    fn new(tag: u64, operation: Operation, offset_bytes: u64, len_bytes: u32) -> Request<'a> {
        let (bytes, fua, reads_zero, keeps_room, is_part) = (&[][..], false, false, false, false);
        let range = ByteRange { offset_bytes, len_bytes };
        Request { tag, operation, range, fua, bytes, shared: None, reads_zero, keeps_room, is_part }
    }

    /// A read; the device brings its bytes.
    pub fn read(tag: u64, offset_bytes: u64, len_bytes: u32) -> Request<'a> {
        Request::new(tag, Operation::Read, offset_bytes, len_bytes)
    }

    /// A write.
    ///
    /// # Panics
    /// When there are 4 GiB or more.
    pub fn write(tag: u64, offset_bytes: u64, bytes: &'a [u8]) -> Request<'a> {
        let len_bytes = u32::try_from(bytes.len()).expect("a write has less than 4 GiB");
        Request { bytes, ..Request::new(tag, Operation::Write, offset_bytes, len_bytes) }
    }

    /// Declares a range unused. The whole sectors in it read as zeroes afterwards.
    pub fn trim(tag: u64, offset_bytes: u64, len_bytes: u32) -> Request<'a> {
        Request::new(tag, Operation::Trim, offset_bytes, len_bytes)
    }

    /// Makes a range read as zeroes.
    pub fn write_zeroes(tag: u64, offset_bytes: u64, len_bytes: u32, keeps_room: bool) -> Request<'a> {
        Request { reads_zero: true, keeps_room, ..Request::new(tag, Operation::Trim, offset_bytes, len_bytes) }
    }

    /// Makes durable what was acknowledged before, to whichever client.
    pub fn flush(tag: u64) -> Request<'a> {
        Request::new(tag, Operation::Flush, 0, 0)
    }

    /// The same, whose bytes are elsewhere.
    pub fn without_bytes(self) -> Request<'static> {
        Request { bytes: &[], shared: None, ..self }
    }

    /// The same, durable when it is acknowledged.
    pub fn with_fua(self, fua: bool) -> Request<'a> {
        Request { fua, ..self }
    }
}

/// The reply to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply<D> {
    /// The client that submitted it.
    pub client: ClientId,
    /// The request's tag.
    pub tag: u64,
    /// The request is a part of one that a [`crate::Router`] has divided.
    pub is_part: bool,
    /// The operation of the request.
    pub operation: Operation,
    /// The range of the request.
    pub range: ByteRange,
    /// When it was submitted.
    pub submitted: Time,
    /// Whether it worked.
    pub result: Result<(), ReplyError>,
    /// The sectors that a read has found, also where some of them can't be read; of all else nothing.
    pub data: D,
}

/// Why a request did not work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplyError {
    /// It reaches beyond the end of the card.
    #[error("beyond the end of the card")]
    OutOfRange,
    /// The card takes no more writes.
    #[error("the card is read-only: bad blocks have used up its spare")]
    ReadOnly,
    /// The card has no extent left for the volume.
    #[error("the card has no room left for its volumes")]
    NoSpace,
    /// A sector of it can't be read.
    #[error("the sector at byte {offset_bytes} can't be read")]
    Unreadable {
        /// First byte of the first sector that can't be read.
        offset_bytes: u64,
    },
    /// The card has no power.
    #[error("the card has no power")]
    NoPower,
    /// The card has halted: more is gone than parity stands for.
    #[error("the card has stopped: more is gone than parity stands for")]
    Halted,
}
