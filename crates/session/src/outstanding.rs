//! A request between its submission and its reply.

use crate::client::ClientId;
use crate::piece::Pieces;
use crate::request::ReplyError;
use device::{ByteRange, Operation, Time};

/// A request that has no reply yet.
#[derive(Clone, Debug)]
pub(crate) struct Outstanding<D> {
    pub client: ClientId,
    pub tag: u64,
    pub is_part: bool,
    pub operation: Operation,
    pub fua: bool,
    pub range: ByteRange,
    pub submitted: Time,
    /// The pieces of it that were not submitted to the device yet.
    pub pieces: Pieces,
    pub in_flight: u32,
    pub result: Result<(), ReplyError>,
    /// Data of a write until it is submitted, or of a read from its completion on.
    pub data: D,
}
