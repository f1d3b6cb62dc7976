//! A client of a live card.

use crate::lane::Lane;
use crate::over::Over;
use crate::reply::Reply;
use session::Request;
use std::os::fd::OwnedFd;

/// A client of a card, connected until it is dropped.
pub struct Port {
    /// The client's lane to each shard, in the order of shards.
    pub(crate) lanes: Vec<Lane>,
    /// The way to the shards; a card of one shard is asked without it.
    pub(crate) over: Option<Over>,
}

impl Port {
    /// Offers to hear a slow medium. The descriptor becomes readable when the medium has done something: while
    /// [`Port::hears`] says so, the caller waits for it beside its bell, and calls [`Port::hear`] then. `None`: the
    /// medium is not slow, or each shard's own thread hears it.
    pub fn listen(&mut self) -> Option<OwnedFd> {
        match &mut self.lanes[..] {
            [lane] => lane.listen(),
            _ => None,
        }
    }

    /// Whether this client has to hear the medium now: a reply is outstanding, and nobody else hears it.
    pub fn hears(&self) -> bool {
        self.lanes.iter().any(Lane::hears)
    }

    /// Handles what has come from a slow medium. Appends the replies that there are.
    pub fn hear(&mut self, replies: &mut Vec<Reply>) {
        // A client of several shards was not offered to hear.
        if let [lane] = &mut self.lanes[..] {
            lane.hear(replies);
        }
    }

    /// Submits requests, all at once, and appends the replies that there are already: to these and to earlier ones. For
    /// the others the bell rings later. Waits only while thousands of requests wait already.
    pub fn submit(&mut self, requests: &[Request], replies: &mut Vec<Reply>) {
        match &mut self.over {
            None => self.lanes[0].submit(requests.iter().copied(), replies),
            Some(over) => over.submit(&mut self.lanes, requests, replies),
        }
    }

    /// Appends the replies that have come since.
    pub fn replies(&mut self, replies: &mut Vec<Reply>) {
        match &mut self.over {
            None => self.lanes[0].replies(replies),
            Some(over) => over.replies(&mut self.lanes, replies),
        }
    }

    /// Finds the parts of a range that hold something: pairs of length in bytes and whether it is written, at most
    /// `most` of them. The first begins at `offset_bytes`; they may end before the range does.
    pub fn extents(&self, offset_bytes: u64, len_bytes: u64, most: usize) -> Vec<(u64, bool)> {
        match &self.over {
            None => self.lanes[0].extents(offset_bytes, len_bytes, most),
            Some(over) => over.extents(&self.lanes, offset_bytes, len_bytes, most),
        }
    }
}
