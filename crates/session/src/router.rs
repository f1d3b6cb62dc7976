//! The way of a client's requests to the shards of a card, and of their replies back.
//!
//! A request that lies in one chunk goes to its shard as it is, and nothing is kept of it. Any other request is divided
//! into parts, and the client is told when all of them have a reply. A flush goes to each shard.
//!
//! Invariants:
//! - a flush is answered when each shard has answered it, and no shard gets it before it was submitted: so it covers each
//!   write that was acknowledged before, wherever that lies;
//! - a request is answered once, with the data of all its parts in the order of their addresses, or with an error.

use crate::canary::{Canary, planted};
use crate::division::Division;
use crate::joints::{Joined, Joints};
use crate::request::{ReplyError, Request};
use device::{ByteRange, Operation, Time};

/// A request of a client to one shard.
pub type ToShard<'a> = (u32, Request<'a>);

/// See the module. Each client has its own.
#[derive(Clone, Debug)]
pub struct Router<D> {
    division: Division,
    joints: Joints<D>,
}

impl<D: Default> Router<D> {
    /// A router for a client of a card that is divided so.
    pub fn new(division: Division) -> Router<D> {
        Router { division, joints: Joints::default() }
    }

    /// The way in which the card is divided.
    pub fn division(&self) -> &Division {
        &self.division
    }

    /// The shard that takes all of a request, and the request as this shard takes it. `None`: it has to be divided.
    pub fn whole<'a>(&self, request: &Request<'a>) -> Option<ToShard<'a>> {
        let range = request.range;
        if self.division.shards() == 1 {
            return Some((0, *request));
        }
        if request.operation == Operation::Flush {
            return None;
        }
        let end_bytes = range.offset_bytes.checked_add(u64::from(range.len_bytes));
        if end_bytes.is_none_or(|end| end > self.division.size_bytes()) {
            // The first shard refuses it, as a card of one shard does: no device has such an address.
            return Some((0, Request { range: ByteRange { offset_bytes: u64::MAX, ..range }, ..*request }));
        }
        let (shard, offset_bytes) = self.division.inner(range.offset_bytes);
        let within_chunk = range.offset_bytes % self.division.chunk_bytes();
        (within_chunk + u64::from(range.len_bytes) <= self.division.chunk_bytes())
            .then_some((shard, Request { range: ByteRange { offset_bytes, ..range }, ..*request }))
    }

    /// Divides a request that no shard takes as a whole, and appends its parts.
    pub fn divide<'a>(&mut self, request: &Request<'a>, now: Time, parts: &mut Vec<ToShard<'a>>) {
        let range = request.range;
        let first = parts.len();
        let shards = self.division.shards();
        match request.operation {
            Operation::Flush => {
                let flushed = if planted(Canary::ShardLeftOut) { shards - 1 } else { shards };
                parts.extend((0..flushed).map(|shard| (shard, *request)));
            }
            Operation::Trim => {
                let of_shard = |shard| (shard, Request { range: self.division.within(shard, range), ..*request });
                parts.extend((0..shards).map(of_shard).filter(|(_, part)| part.range.len_bytes > 0));
            }
            // Their bytes lie one after the other: each chunk has its own.
            Operation::Read | Operation::Write => self.divide_by_chunks(request, parts),
        }
        let tag = self.joints.begin(request, now, (parts.len() - first) as u32);
        for (index, (_, part)) in (0..).zip(&mut parts[first..]) {
            (part.tag, part.is_part) = (tag + index, true);
        }
    }

    fn divide_by_chunks<'a>(&self, request: &Request<'a>, parts: &mut Vec<ToShard<'a>>) {
        let (range, chunk_bytes) = (request.range, self.division.chunk_bytes());
        // The bytes of a payload may stand for more bytes than they are.
        let bytes_before = |end: u64| {
            let share = u128::from(end - range.offset_bytes) * request.bytes.len() as u128;
            (share / u128::from(range.len_bytes)) as usize
        };
        let mut at = range.offset_bytes;
        while at < range.end_bytes() {
            let end = ((at / chunk_bytes + 1) * chunk_bytes).min(range.end_bytes());
            let (shard, offset_bytes) = self.division.inner(at);
            let range = ByteRange { offset_bytes, len_bytes: (end - at) as u32 };
            let bytes = &request.bytes[bytes_before(at)..bytes_before(end)];
            parts.push((shard, Request { range, bytes, ..*request }));
            at = end;
        }
    }

    /// Takes the reply of a shard to a part. When it was the last one, the request has its reply.
    pub fn join(&mut self, shard: u32, tag: u64, result: Result<(), ReplyError>, data: D) -> Option<Joined<D>> {
        let result = self.outer(shard, result);
        self.joints.join(tag, result, data)
    }

    /// The result of a shard, with the address of the card.
    pub fn outer(&self, shard: u32, result: Result<(), ReplyError>) -> Result<(), ReplyError> {
        result.map_err(|error| match error {
            ReplyError::Unreadable { offset_bytes } => {
                ReplyError::Unreadable { offset_bytes: self.division.outer(shard, offset_bytes) }
            }
            other => other,
        })
    }

    /// No request waits for parts.
    pub fn is_idle(&self) -> bool {
        self.joints.is_empty()
    }
}
