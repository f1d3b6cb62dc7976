//! Requests, completions, and the one trait of a device in virtual time.

use crate::{Parts, Time};

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Read a range.
    Read,
    /// Write a range.
    Write,
    /// Make every write that was acknowledged before durable. Offset and length are ignored.
    Flush,
    /// Declare a range unused.
    Trim,
}

/// One request of a host. Offsets and lengths are bytes and multiples of 512.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// What is asked.
    pub op: Op,
    /// Force unit access: the write is durable before it is acknowledged.
    pub fua: bool,
    /// First byte.
    pub offset_bytes: u64,
    /// Length.
    pub len_bytes: u32,
}

impl Request {
    /// A read.
    pub fn read(offset_bytes: u64, len_bytes: u32) -> Request {
        Request { op: Op::Read, fua: false, offset_bytes, len_bytes }
    }
    /// A write.
    pub fn write(offset_bytes: u64, len_bytes: u32) -> Request {
        Request { op: Op::Write, fua: false, offset_bytes, len_bytes }
    }
    /// A flush.
    pub fn flush() -> Request {
        Request { op: Op::Flush, fua: false, offset_bytes: 0, len_bytes: 0 }
    }
    /// A trim.
    pub fn trim(offset_bytes: u64, len_bytes: u32) -> Request {
        Request { op: Op::Trim, fua: false, offset_bytes, len_bytes }
    }
}

/// Chosen by the host, below [`Device::submit`]'s stated limit; free for reuse after its completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestId(pub u32);

/// A finished request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Which.
    pub id: RequestId,
    /// Where its time went, from submission to completion; all zero unless the device was told to explain.
    pub parts: Parts,
}

/// A device in virtual time: requests and the passing of time go in, completions come out.
///
/// The driver calls [`submit`](Device::submit) and [`advance`](Device::advance) in order of time. `advance(now)` is
/// called with `now == next_event()`, handles everything due at `now`, and appends what finished.
/// `submit` may also finish a request at once by appending to `done`.
pub trait Device {
    /// Hands over a request. Ids are small integers below the number of outstanding requests that the device was
    /// built for.
    fn submit(&mut self, now: Time, id: RequestId, request: Request, done: &mut Vec<Completion>);
    /// When something happens next inside the device; [`Time::NEVER`] when it waits for the host.
    fn next_event(&self) -> Time;
    /// Handles what is due at `now`.
    fn advance(&mut self, now: Time, done: &mut Vec<Completion>);
    /// Bytes that a host can address.
    fn capacity_bytes(&self) -> u64;
    /// Requests submitted and not finished.
    fn in_flight(&self) -> u64;
}
