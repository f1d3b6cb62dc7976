//! A client of a live card.

use crate::inside::Inside;
use crate::lane::{Lane, Next};
use crate::listening::{Ear, Hearer};
use crate::over::Over;
use crate::reply::Reply;
use crate::write_memory::WriteMemory;
use session::Request;
use std::sync::Arc;

/// A client of a card or of a volume of it, connected until it is dropped.
pub struct Port {
    /// The client's way to the card.
    pub(crate) card: CardPort,
    /// The way from the addresses of a volume to those of the card; a client of the whole card has none.
    pub(crate) inside: Option<Inside>,
}

/// A client's way to a card.
pub(crate) struct CardPort {
    /// The client's lane to each shard, in the order of shards.
    pub lanes: Vec<Lane>,
    /// The way to the shards; a card of one shard is asked without it.
    pub over: Option<Over>,
}

impl Port {
    /// Has a thread hear the slow media for this client, and for all others that it has: an ear for each shard. While it
    /// hears, the thread waits for it beside its bell, and when it is readable calls [`Port::hear`] of any of these clients.
    /// Empty: the medium is not slow. A client that goes to another thread listens anew.
    pub fn listen(&mut self, hearer: Hearer) -> Vec<Arc<Ear>> {
        self.card.lanes.iter_mut().map_while(|lane| lane.listen(hearer)).collect()
    }

    /// Handles what has come from the slow medium of a shard. Appends the replies that there are.
    pub fn hear(&mut self, shard: usize, replies: &mut Vec<Reply>) {
        match &mut self.inside {
            None => self.card.hear(shard, replies),
            Some(inside) => {
                self.card.hear(shard, &mut inside.came);
                inside.hand_out(&mut self.card.lanes, replies);
            }
        }
    }

    /// Submits requests, all at once, and appends the replies that there are already: to these and to earlier ones. For
    /// the others the bell rings later. Waits only while thousands of requests wait already, or while room is made for the
    /// first write to an extent of a volume.
    pub fn submit(&mut self, requests: &[Request], replies: &mut Vec<Reply>) {
        self.submit_with(requests, Next::Wait, replies);
    }

    /// As [`Port::submit`], but more requests of this thread follow at once: a slow medium is handed these with the last of
    /// them. Until then its ear owes something, which [`Port::hear`] makes good.
    pub fn submit_more(&mut self, requests: &[Request], replies: &mut Vec<Reply>) {
        self.submit_with(requests, Next::More, replies);
    }

    fn submit_with(&mut self, requests: &[Request], next: Next, replies: &mut Vec<Reply>) {
        match &mut self.inside {
            None => self.card.submit(requests, next, replies),
            Some(inside) => {
                let requests = inside.resolve(&mut self.card.lanes, requests, replies);
                if !requests.is_empty() {
                    self.card.submit(&requests, next, &mut inside.came);
                    inside.hand_out(&mut self.card.lanes, replies);
                }
            }
        }
    }

    /// Memory to receive so many bytes of a write into.
    pub fn write_memory(&self, bytes: usize) -> WriteMemory {
        let lent = self.card.lanes.iter().find_map(|lane| lane.memory(bytes));
        lent.map_or_else(|| WriteMemory::new(bytes), WriteMemory::lent)
    }

    /// Appends the replies that have come since.
    pub fn replies(&mut self, replies: &mut Vec<Reply>) {
        match &mut self.inside {
            None => self.card.replies(replies),
            Some(inside) => {
                self.card.replies(&mut inside.came);
                inside.hand_out(&mut self.card.lanes, replies);
            }
        }
    }

    /// Finds the parts of a range that hold something: pairs of length in bytes and whether it is written, at most
    /// `most` of them. The first begins at `offset_bytes`; they may end before the range does.
    pub fn extents(&self, offset_bytes: u64, len_bytes: u64, most: usize) -> Vec<(u64, bool)> {
        let of_card = |offset_bytes, len_bytes, most| self.card.extents(offset_bytes, len_bytes, most);
        match &self.inside {
            None => of_card(offset_bytes, len_bytes, most),
            Some(inside) => inside.extents(of_card, offset_bytes, len_bytes, most),
        }
    }
}

impl CardPort {
    fn hear(&mut self, shard: usize, replies: &mut Vec<Reply>) {
        match &mut self.over {
            None => self.lanes[shard].hear(replies),
            Some(over) => over.hear(&mut self.lanes, shard, replies),
        }
    }

    fn submit(&mut self, requests: &[Request], next: Next, replies: &mut Vec<Reply>) {
        match &mut self.over {
            None => self.lanes[0].submit(requests.iter().copied(), next, replies),
            Some(over) => over.submit(&mut self.lanes, requests, next, replies),
        }
    }

    fn replies(&mut self, replies: &mut Vec<Reply>) {
        match &mut self.over {
            None => self.lanes[0].replies(replies),
            Some(over) => over.replies(&mut self.lanes, replies),
        }
    }

    fn extents(&self, offset_bytes: u64, len_bytes: u64, most: usize) -> Vec<(u64, bool)> {
        match &self.over {
            None => self.lanes[0].extents(offset_bytes, len_bytes, most),
            Some(over) => over.extents(&self.lanes, offset_bytes, len_bytes, most),
        }
    }
}
