//! Requests that were divided into parts, until all of their parts have a reply.

use crate::canary::{Canary, planted};
use crate::request::{ReplyError, Request};
use device::{ByteRange, Operation, Time};
use slab::Slab;

/// A request whose parts have all been answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joined<D> {
    /// The request's tag.
    pub tag: u64,
    /// The operation of the request.
    pub operation: Operation,
    /// The range of the request.
    pub range: ByteRange,
    /// When it was submitted.
    pub submitted: Time,
    /// Whether all of it worked.
    pub result: Result<(), ReplyError>,
    /// The data of its parts, in the order of their addresses.
    pub data: Vec<D>,
}

#[derive(Clone, Debug)]
struct Joint<D> {
    joined: Joined<D>,
    /// Parts without a reply.
    left: u32,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Joints<D>(Slab<Joint<D>>);

impl<D> Default for Joints<D> {
    fn default() -> Self {
        Joints(Slab::new())
    }
}

impl<D: Default> Joints<D> {
    /// Begins a request of so many parts. The tag of its first part; those of the others follow it.
    pub fn begin(&mut self, request: &Request, now: Time, parts: u32) -> u64 {
        let Request { tag, operation, range, .. } = *request;
        let mut joined = Joined { tag, operation, range, submitted: now, result: Ok(()), data: Vec::new() };
        if operation == Operation::Read {
            joined.data.resize_with(parts as usize, D::default);
        }
        (self.0.insert(Joint { joined, left: parts }) as u64) << 32
    }

    /// Takes the reply to a part. When it was the last one, the request has its reply.
    pub fn join(&mut self, tag: u64, result: Result<(), ReplyError>, data: D) -> Option<Joined<D>> {
        let (key, index) = ((tag >> 32) as usize, tag as u32 as usize);
        let joint = &mut self.0[key];
        joint.left -= 1;
        let by_turn = || joint.joined.data.len().saturating_sub(1 + joint.left as usize);
        let index = if planted(Canary::PartsOutOfOrder) { by_turn() } else { index };
        joint.joined.result = worse(joint.joined.result, result);
        if let Some(place) = joint.joined.data.get_mut(index) {
            *place = data;
        }
        let is_last = joint.left == 0;
        is_last.then(|| self.0.remove(key).joined)
    }

    /// No request waits for parts.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The result of a request of which two parts ended so: sectors that can't be read count less than a card that does not
/// answer, and the first of them is named.
fn worse(one: Result<(), ReplyError>, other: Result<(), ReplyError>) -> Result<(), ReplyError> {
    match (one, other) {
        (Err(ReplyError::Unreadable { offset_bytes: a }), Err(ReplyError::Unreadable { offset_bytes: b })) => {
            Err(ReplyError::Unreadable { offset_bytes: a.min(b) })
        }
        (Ok(()) | Err(ReplyError::Unreadable { .. }), Err(_)) => other,
        _ => one,
    }
}
