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
    pub operation: Operation,
    pub fua: bool,
    pub range: ByteRange,
    pub submitted: Time,
    /// What of it was not submitted to the device.
    pub pieces: Pieces,
    pub in_flight: u32,
    pub result: Result<(), ReplyError>,
    /// Of a write until it is submitted, of a read from its completion on.
    pub data: D,
}
