//! The device as a session sees it.

use device::{Completion, Operation, Parts, RequestId, Time};

/// Whether a device takes requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// It takes requests.
    Serving,
    /// It has stopped for good. Requests in flight will never complete.
    Halted,
    /// It has no power.
    NoPower,
}

/// The piece of a request that the device has completed last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastPiece<'a> {
    /// When the device got it.
    pub since: Time,
    /// Where its time went, if the device explains that.
    pub parts: &'a Parts,
}

/// A request that has ended, for statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finished<'a> {
    /// The operation; zeroes that were written count as a trim.
    pub operation: Operation,
    /// Length of the request.
    pub len_bytes: u32,
    /// When it was submitted.
    pub submitted: Time,
    /// Whether it worked.
    pub is_ok: bool,
    /// It was a part of a request, which ends with its last part.
    pub is_part: bool,
    /// The piece that the request waited for at the end; `None`: the device has completed nothing of it.
    pub last: Option<LastPiece<'a>>,
}

/// A device that holds bytes. Its ids, and its time, are the session's.
pub trait Backend {
    /// Bytes of a request, as the device takes them and hands them out.
    type Data: Default;

    /// Whether it takes requests.
    fn condition(&self) -> Condition;
    /// Everything that its last start found is whole again. No request is submitted before.
    fn is_ready(&self) -> bool;
    /// Bytes that a client can address.
    fn size_bytes(&self) -> u64;

    /// Copies the bytes of a write: the first one lies so far within its sector. They are not copied again.
    fn pack(&mut self, within_first_sector: usize, bytes: &[u8]) -> Self::Data;
    /// As [`Backend::pack`], for zeroes.
    fn pack_zeroes(&mut self, within_first_sector: usize, len_bytes: u32) -> Self::Data {
        self.pack(within_first_sector, &vec![0; len_bytes as usize])
    }
    /// The first sector, counted from the request's first one, that a read could not read.
    fn first_unreadable(&self, data: &Self::Data) -> Option<u64>;

    /// Takes a piece of a request; may complete it at once, and then also others.
    fn submit(
        &mut self,
        now: Time,
        id: RequestId,
        request: device::Request<Self::Data>,
        completions: &mut Vec<Completion<Self::Data>>,
    );
    /// When something happens next by itself; [`Time::NEVER`] when it waits.
    fn next_event(&self) -> Time;
    /// Handles what is due at `now`, which is [`Backend::next_event`].
    fn advance(&mut self, now: Time, completions: &mut Vec<Completion<Self::Data>>);

    /// A request has ended, whether its client is still there or not.
    fn finished(&mut self, _request: &Finished) {}
}
