//! A way to the card, and the requests of the kernel that went this way and have no answer yet.

use crate::fuse::bell::MountBell;
use crate::fuse::error::errno;
use crate::fuse::range::Range;
use fuser::{ReplyData, ReplyEmpty, ReplyWrite};
use live::{Ear, Port, ReadData, Reply, ReplyError, Request};
use parking_lot::Mutex;
use slab::Slab;
use std::sync::Arc;

/// A request of the kernel that waits for the card.
pub(in crate::fuse) enum Pending {
    Read(ReplyData),
    Write(ReplyWrite, u32),
    Flush(ReplyEmpty),
    /// A range that is trimmed or zeroed piece by piece.
    Range(ReplyEmpty, Range),
}

/// A request of the kernel, and the card's reply to it.
type Answered = (Pending, Result<ReadData, ReplyError>);

/// See the module. Each thread that takes requests from the kernel has its own where the card answers at once. Where its
/// medium is slow, all have the same one; the thread of answers comes to all.
pub(in crate::fuse) struct Lane {
    inner: Mutex<Inner>,
    /// Several threads have this lane, because the medium is slow.
    is_shared: bool,
    /// Reads that arrived while another thread asked the card: it submits them together, and nobody waits for it.
    arrived: Mutex<Vec<(Pending, Request<'static>)>>,
    bell: Arc<MountBell>,
}

struct Inner {
    port: Port,
    pending: Slab<Pending>,
    replies: Vec<Reply>,
    /// The media of the shards, as the thread of answers hears them.
    ears: Vec<Arc<Ear>>,
    /// Whether this thread watches the medium of each shard. It watches one for nothing at most once.
    watches: Vec<bool>,
}

impl Inner {
    fn keep(&mut self, pending: Pending) -> u64 {
        self.pending.insert(pending) as u64
    }

    fn take(&mut self) -> Vec<Answered> {
        let pending = &mut self.pending;
        self.replies.drain(..).map(|reply| (pending.remove(reply.tag as usize), reply.result)).collect()
    }
}

impl Lane {
    /// The way of a client that hears these media.
    pub fn new(port: Port, ears: Vec<Arc<Ear>>, bell: &Arc<MountBell>) -> Lane {
        let (is_shared, watches) = (!ears.is_empty(), vec![true; ears.len()]);
        let inner = Inner { port, pending: Slab::new(), replies: Vec::new(), ears, watches };
        Lane { inner: Mutex::new(inner), is_shared, arrived: Mutex::default(), bell: Arc::clone(bell) }
    }

    /// Submits a request of the kernel to the card, and replies to what is answered.
    pub fn call(&self, pending: Pending, request: Request) {
        let answered = self.submit(pending, request);
        self.reply(answered);
        self.submit_arrived();
    }

    /// Submits a read as [`Lane::call`] does, or leaves it to the thread that is asking the card.
    pub fn read(&self, reply: ReplyData, offset_bytes: u64, len_bytes: u32) {
        let (pending, request) = (Pending::Read(reply), Request::read(0, offset_bytes, len_bytes));
        if !self.is_shared {
            return self.call(pending, request);
        }
        self.arrived.lock().push((pending, request));
        self.submit_arrived();
    }

    /// Replies to what was answered since.
    pub fn answered(&self) {
        let answered = self.ask(&mut self.inner.lock(), |port, replies| port.replies(replies));
        self.reply(answered);
        self.submit_arrived();
    }

    /// The shards whose medium is to be watched.
    pub fn watched(&self) -> Vec<usize> {
        let inner = self.inner.lock();
        let watched = (0..inner.watches.len()).filter(|shard| inner.watches[*shard]).collect();
        drop(inner);
        self.submit_arrived();
        watched
    }

    /// Replies to what a medium that has done something has brought.
    pub fn hear(&self, shard: usize) {
        let mut inner = self.inner.lock();
        // If another thread hears it, it is watched again when this lane has to.
        inner.watches[shard] = inner.ears[shard].hears();
        let answered = match inner.watches[shard] {
            true => self.ask(&mut inner, |port, replies| port.hear(shard, replies)),
            false => Vec::new(),
        };
        drop(inner);
        self.reply(answered);
        self.submit_arrived();
    }

    /// Finds the written and unwritten parts of a range as [`Port::extents`] does, at most `most` of them.
    pub fn extents(&self, offset_bytes: u64, len_bytes: u64, most: usize) -> Vec<(u64, bool)> {
        let extents = self.inner.lock().port.extents(offset_bytes, len_bytes, most);
        self.submit_arrived();
        extents
    }

    /// Submits the reads that have arrived, unless another thread asks the card: it does so afterwards. Each thread that has
    /// asked the card ends with this, so that no read is left.
    fn submit_arrived(&self) {
        while !self.arrived.lock().is_empty() {
            let Some(mut inner) = self.inner.try_lock() else { return };
            let arrived = std::mem::take(&mut *self.arrived.lock());
            let with_tag = |(pending, request)| Request { tag: inner.keep(pending), ..request };
            let requests: Vec<Request> = arrived.into_iter().map(with_tag).collect();
            let answered = self.ask(&mut inner, |port, replies| port.submit(&requests, replies));
            drop(inner);
            self.reply(answered);
        }
    }

    fn submit(&self, pending: Pending, request: Request) -> Vec<Answered> {
        let mut inner = self.inner.lock();
        let tag = inner.keep(pending);
        self.ask(&mut inner, |port, replies| port.submit(&[Request { tag, ..request }], replies))
    }

    /// Asks the card, and has the thread of answers watch the media that have to be heard from now on.
    fn ask(&self, inner: &mut Inner, ask: impl FnOnce(&mut Port, &mut Vec<Reply>)) -> Vec<Answered> {
        let Inner { port, replies, ears, watches, .. } = inner;
        ask(port, replies);
        let mut changes = false;
        for (ear, watches) in ears.iter().zip(watches) {
            if !*watches && ear.hears() {
                (*watches, changes) = (true, true);
            }
        }
        if changes {
            self.bell.ring();
        }
        inner.take()
    }

    /// Replies, without the lock: a reply copies, and wakes somebody.
    fn reply(&self, answered: Vec<Answered>) {
        for (pending, mut result) in answered {
            match pending {
                Pending::Read(reply) => match result {
                    Ok(read) => reply_read(reply, &read),
                    Err(error) => reply.error(errno(error)),
                },
                Pending::Write(reply, len) => match result {
                    Ok(_) => reply.written(len),
                    Err(error) => reply.error(errno(error)),
                },
                Pending::Flush(reply) => match result {
                    Ok(_) => reply.ok(),
                    Err(error) => reply.error(errno(error)),
                },
                Pending::Range(reply, mut range) => {
                    // Loops, and does not call itself: a card in memory answers each piece at once.
                    let mut reply = Some(reply);
                    while let Some(empty) = reply.take() {
                        match (result, range.next()) {
                            (Err(error), _) => {
                                empty.error(errno(error));
                                break;
                            }
                            (Ok(_), None) => {
                                empty.ok();
                                break;
                            }
                            (Ok(_), Some(request)) => {
                                let mut others = self.submit(Pending::Range(empty, range), request);
                                let own = others.iter().position(|(pending, _)| matches!(pending, Pending::Range(..)));
                                let Some(own) = own else {
                                    self.reply(others);
                                    break;
                                };
                                let (Pending::Range(empty, rest), answer) = others.swap_remove(own) else {
                                    unreachable!("looked at")
                                };
                                self.reply(others);
                                (reply, range, result) = (Some(empty), rest, answer);
                            }
                        }
                    }
                }
            }
        }
    }
}

fn reply_read(reply: ReplyData, read: &ReadData) {
    let mut pieces = read.pieces();
    let first = pieces.next().unwrap_or_default();
    if first.len() == read.len() {
        return reply.data(first);
    }
    let mut bytes = Vec::with_capacity(read.len());
    bytes.extend_from_slice(first);
    for piece in pieces {
        bytes.extend_from_slice(piece);
    }
    reply.data(&bytes);
}
