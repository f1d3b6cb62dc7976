//! A client of a live card.

use crate::inside::Inside;
use crate::lane::Lane;
use crate::over::Over;
use crate::reply::Reply;
use crate::write_memory::WriteMemory;
use session::Request;
use std::os::fd::OwnedFd;

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
    /// Offers to hear a slow medium: a descriptor for each shard, which becomes readable when the shard's medium has done
    /// something. While [`Port::hears`] says so, the caller waits for it beside its bell, and calls [`Port::hear`] then.
    /// Empty: the medium is not slow.
    pub fn listen(&mut self) -> Vec<OwnedFd> {
        self.card.lanes.iter_mut().map_while(Lane::listen).collect()
    }

    /// Whether this client has to hear the medium of a shard now: a reply is outstanding, and nobody else hears it.
    pub fn hears(&self, shard: usize) -> bool {
        self.card.lanes[shard].hears()
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
        match &mut self.inside {
            None => self.card.submit(requests, replies),
            Some(inside) => {
                let requests = inside.resolve(&mut self.card.lanes, requests, replies);
                if !requests.is_empty() {
                    self.card.submit(&requests, &mut inside.came);
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

    fn submit(&mut self, requests: &[Request], replies: &mut Vec<Reply>) {
        match &mut self.over {
            None => self.lanes[0].submit(requests.iter().copied(), replies),
            Some(over) => over.submit(&mut self.lanes, requests, replies),
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
