//! A way to the card, and the requests of the kernel that went this way and have no answer yet.

use crate::fuse::error::errno;
use crate::fuse::range::Range;
use fuser::{ReplyData, ReplyEmpty, ReplyWrite};
use live::{Port, ReadData, Reply, ReplyError, Request};
use parking_lot::Mutex;
use slab::Slab;

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

/// See the module. Each thread that reads from the kernel has its own; the thread of answers comes to all.
pub(in crate::fuse) struct Lane(Mutex<Inner>);

struct Inner {
    port: Port,
    pending: Slab<Pending>,
    replies: Vec<Reply>,
}

impl Inner {
    fn take(&mut self) -> Vec<Answered> {
        let pending = &mut self.pending;
        self.replies.drain(..).map(|reply| (pending.remove(reply.tag as usize), reply.result)).collect()
    }
}

impl Lane {
    pub fn new(port: Port) -> Lane {
        Lane(Mutex::new(Inner { port, pending: Slab::new(), replies: Vec::new() }))
    }

    /// Submits a request of the kernel to the card, and replies to what is answered.
    pub fn call(&self, pending: Pending, request: Request) {
        let answered = self.submit(pending, request);
        self.reply(answered);
    }

    /// Replies to what was answered since.
    pub fn answered(&self) {
        let answered = {
            let mut inner = self.0.lock();
            let Inner { port, replies, .. } = &mut *inner;
            port.replies(replies);
            inner.take()
        };
        self.reply(answered);
    }

    /// Finds the written and unwritten parts of a range as [`Port::extents`] does, at most `most` of them.
    pub fn extents(&self, offset_bytes: u64, len_bytes: u64, most: usize) -> Vec<(u64, bool)> {
        self.0.lock().port.extents(offset_bytes, len_bytes, most)
    }

    fn submit(&self, pending: Pending, request: Request) -> Vec<Answered> {
        let mut inner = self.0.lock();
        let tag = inner.pending.insert(pending) as u64;
        let Inner { port, replies, .. } = &mut *inner;
        port.submit(&[Request { tag, ..request }], replies);
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
