//! Requests, completions, and the one trait of a device in virtual time.

use crate::{Parts, Time};

/// The kinds of requests that a host makes of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Read a range.
    Read,
    /// Write a range.
    Write,
    /// Make every write that was acknowledged before durable. The range is ignored.
    Flush,
    /// Declare a range unused.
    Trim,
}

/// A range of a device's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteRange {
    /// The offset of the first byte.
    pub offset_bytes: u64,
    /// The number of bytes.
    pub len_bytes: u32,
}

impl ByteRange {
    /// The byte behind the last one.
    pub fn end_bytes(&self) -> u64 {
        self.offset_bytes + u64::from(self.len_bytes)
    }
}

/// One request of a host. Offsets and lengths are multiples of 512 bytes, unless the device says otherwise. The request
/// owns its data until it completes; a device without contents has requests without data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<D = ()> {
    /// The kind of request.
    pub operation: Operation,
    /// The range that is meant.
    pub range: ByteRange,
    /// Force unit access: the write is durable before it is acknowledged.
    pub fua: bool,
    /// The data of a write; a read brings its own back.
    pub data: D,
}

impl Request {
    fn new(operation: Operation, offset_bytes: u64, len_bytes: u32) -> Request {
        Request { operation, range: ByteRange { offset_bytes, len_bytes }, fua: false, data: () }
    }
    /// A read of a range, without data until it completes.
    pub fn read(offset_bytes: u64, len_bytes: u32) -> Request {
        Request::new(Operation::Read, offset_bytes, len_bytes)
    }
    /// A write to a range that need not be durable when it is acknowledged.
    pub fn write(offset_bytes: u64, len_bytes: u32) -> Request {
        Request::new(Operation::Write, offset_bytes, len_bytes)
    }
    /// A flush, which covers every write that was acknowledged before.
    pub fn flush() -> Request {
        Request::new(Operation::Flush, 0, 0)
    }
    /// A trim, which declares a range unused.
    pub fn trim(offset_bytes: u64, len_bytes: u32) -> Request {
        Request::new(Operation::Trim, offset_bytes, len_bytes)
    }
    /// The request with its data.
    pub fn with<D>(self, data: D) -> Request<D> {
        let Request { operation, range, fua, data: () } = self;
        Request { operation, range, fua, data }
    }
}

/// Chosen by the host, below [`Device::submit`]'s stated limit; free for reuse after its completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestId(pub u32);

/// A request failed as a whole. The sectors of a write may hold the old or the new data: some may have been written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// Bad blocks have used up the spare.
    #[error("the card is read-only: bad blocks have used up its spare")]
    ReadOnly,
    /// A write covers a sector in part, and the rest of it can't be read. Nothing was written.
    #[error("the rest of a sector that is written in part can't be read")]
    EdgeUnreadable,
}

/// A finished request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion<D = ()> {
    /// The id that the host chose.
    pub id: RequestId,
    /// Whether the request worked as a whole.
    pub result: Result<(), RequestError>,
    /// The data that the request owned; of a read, what was found.
    pub data: D,
    /// Where its time went, from submission to completion; all zero unless the device was told to explain.
    pub parts: Parts,
}

/// A device in virtual time: requests and the passing of time go in, completions come out.
///
/// The driver calls [`submit`](Device::submit) and [`advance`](Device::advance) in order of time. `advance(now)` is
/// called with `now == next_event()`, handles everything due at `now`, and appends what finished.
/// `submit` may also finish a request at once by appending to `done`.
pub trait Device {
    /// The data that a request carries: `()` where the device has no contents.
    type Data;
    /// Hands over a request. Ids are small integers below the number of outstanding requests that the device was
    /// built for.
    fn submit(
        &mut self,
        now: Time,
        id: RequestId,
        request: Request<Self::Data>,
        done: &mut Vec<Completion<Self::Data>>,
    );
    /// When something happens next inside the device; [`Time::NEVER`] when it waits for the host.
    fn next_event(&self) -> Time;
    /// Handles what is due at `now`.
    fn advance(&mut self, now: Time, done: &mut Vec<Completion<Self::Data>>);
    /// Bytes that a host can address.
    fn capacity_bytes(&self) -> u64;
    /// Requests submitted and not finished.
    fn in_flight(&self) -> u64;
}
