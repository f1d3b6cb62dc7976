//! A client's way to what it has chosen.
//!
//! A card is asked through its engine, which has a lock, a clock and an order of its own. A raw disk needs none of these:
//! the kernel is the state that all clients share, and a flush on one ring covers the writes that ended on others. So a
//! connection asks a raw disk on a ring of its own, and a request crosses no other thread and no lock. This is the place
//! where both look the same, because above it nothing differs: payloads lie in the receive buffer, and a descriptor
//! becomes readable when something has ended.

use crate::reply::Reply;
use crate::shelf::DiskPort;
use live::{Ear, Hearer, Live, Request, WriteMemory};
use std::sync::Arc;

/// See the module.
pub(crate) enum Port {
    Card {
        port: Box<live::Port>,
        /// The card itself: whoever waits to be its last owner waits for its clients' ports as well.
        _live: Arc<Live>,
        /// Replies of the card that are being turned into those of all.
        came: Vec<live::Reply>,
        /// A slow medium is handed requests when its thread hears it.
        gathers: bool,
    },
    Disk(Box<DiskPort>),
}

impl Port {
    pub fn of_card(port: live::Port, live: &Arc<Live>) -> Port {
        Port::Card { port: Box::new(port), _live: Arc::clone(live), came: Vec::new(), gathers: false }
    }

    /// Has a thread hear the slow media, as [`live::Port::listen`] does. When `gathering`, a card's media are handed requests
    /// only when the thread hears them: it has others to submit first.
    pub fn listen(&mut self, hearer: Hearer, gathering: bool) -> Vec<Arc<Ear>> {
        match self {
            Port::Card { port, gathers, .. } => {
                *gathers = gathering;
                port.listen(hearer)
            }
            Port::Disk(port) => port.listen(),
        }
    }

    /// Handles what has come from a medium, as [`live::Port::hear`] does.
    pub fn hear(&mut self, medium: usize, replies: &mut Vec<Reply>) {
        match self {
            Port::Card { port, came, .. } => {
                port.hear(medium, came);
                replies.extend(came.drain(..).map(Reply::from));
            }
            Port::Disk(port) => port.hear(replies),
        }
    }

    /// Submits requests all at once, as [`live::Port::submit`] does.
    pub fn submit(&mut self, requests: &[Request], replies: &mut Vec<Reply>) {
        match self {
            Port::Card { port, came, gathers, .. } => {
                match gathers {
                    true => port.submit_more(requests, came),
                    false => port.submit(requests, came),
                }
                replies.extend(came.drain(..).map(Reply::from));
            }
            Port::Disk(port) => port.submit(requests, replies),
        }
    }

    /// Memory to receive a write into, as [`live::Port::write_memory`] gives it.
    pub fn write_memory(&self, bytes: usize) -> WriteMemory {
        match self {
            Port::Card { port, .. } => port.write_memory(bytes),
            Port::Disk(_) => WriteMemory::new(bytes),
        }
    }

    /// As [`live::Port::replies`]; a raw disk rings no bell.
    pub fn replies(&mut self, replies: &mut Vec<Reply>) {
        if let Port::Card { port, came, .. } = self {
            port.replies(came);
            replies.extend(came.drain(..).map(Reply::from));
        }
    }

    /// As [`live::Port::extents`]; of a raw disk all counts as written.
    pub fn extents(&self, offset_bytes: u64, len_bytes: u64, most: usize) -> Vec<(u64, bool)> {
        match self {
            Port::Card { port, .. } => port.extents(offset_bytes, len_bytes, most),
            Port::Disk(_) => vec![(len_bytes, true)],
        }
    }
}
