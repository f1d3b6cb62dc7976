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
    /// Offers to hear a slow medium: a descriptor for each shard, which becomes readable when the shard's medium has done
    /// something. While [`Port::hears`] says so, the caller waits for it beside its bell, and calls [`Port::hear`] then.
    /// Empty: the medium is not slow.
    pub fn listen(&mut self) -> Vec<OwnedFd> {
        self.lanes.iter_mut().map_while(Lane::listen).collect()
    }

    /// Whether this client has to hear the medium of a shard now: a reply is outstanding, and nobody else hears it.
    pub fn hears(&self, shard: usize) -> bool {
        self.lanes[shard].hears()
    }

    /// Handles what has come from the slow medium of a shard. Appends the replies that there are.
    pub fn hear(&mut self, shard: usize, replies: &mut Vec<Reply>) {
        match &mut self.over {
            None => self.lanes[shard].hear(replies),
            Some(over) => over.hear(&mut self.lanes, shard, replies),
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
