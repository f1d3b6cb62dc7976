//! The thread that serves a queue of a disk.
//!
//! It takes requests from the kernel, submits them to the card together, and gives the kernel what is answered: a request
//! that the card answers at once crosses no other thread. For a later answer the card rings, or its medium does.

use crate::rings::Rings;
use crate::ublk::journal::{Journal, Kind};
use crate::ublk::translate::{Action, Asked, Bounds, errno, failed};
use live::{Bell, Ear, Port, Reply, Request};
use parking_lot::Mutex;
use rustix::io::Errno;
use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use ublk::{Event, Queue};

/// The watched descriptor that rings; behind it come those of the card's media.
const BELL: usize = 0;
/// The tag of the server's own flush.
const OWN_FLUSH: u64 = u64::MAX;
/// How soon a thread looks again whether another one has made room in the journal.
const LOOKS_AGAIN: Duration = Duration::from_micros(50);

/// Wakes the thread of a queue: the card has answers, or the disk ends.
pub(in crate::ublk) struct QueueBell {
    rings: Rings,
    stops: AtomicBool,
}

impl QueueBell {
    pub fn new() -> io::Result<Arc<QueueBell>> {
        Ok(Arc::new(QueueBell { rings: Rings::new()?, stops: AtomicBool::new(false) }))
    }

    /// The descriptor to be watched.
    pub fn watched(&self) -> io::Result<OwnedFd> {
        self.rings.fd().try_clone()
    }

    /// Has the thread end, and leave to a later server what it has not answered.
    pub fn stop(&self) {
        self.stops.store(true, Ordering::Release);
        self.ring();
    }
}

impl Bell for QueueBell {
    fn ring(&self) {
        self.rings.ring();
    }
}

/// A request that the kernel waits for.
#[derive(Clone, Copy)]
struct Pending {
    asked: Asked,
    /// Its number in the journal.
    kept: Option<u64>,
    /// The number with which a flush began.
    below: u64,
}

/// See the module.
pub(in crate::ublk) struct Lane {
    pub port: Port,
    /// The media of the shards.
    pub ears: Vec<Arc<Ear>>,
    pub bell: Arc<QueueBell>,
    pub bounds: Bounds,
    /// The changes that outlive the server; a card in memory has none.
    pub journal: Option<Arc<Mutex<Journal>>>,
}

impl Lane {
    /// Serves a queue until the disk is stopped or the bell says so.
    pub fn serve(mut self, mut queue: Queue) -> io::Result<()> {
        let mut state = State::default();
        let mut events = Vec::new();
        while !queue.is_over() && !self.bell.stops.load(Ordering::Acquire) {
            queue.watch(BELL)?;
            for (medium, ear) in self.ears.iter().enumerate() {
                if ear.hears() {
                    queue.watch(BELL + 1 + medium)?;
                }
            }
            // Where the journal is full and this thread can't make room, another one will.
            let holds = !state.arrived.is_empty() && state.own_flush.is_none();
            queue.wait(!holds, &mut events)?;
            if holds {
                self.port.replies(&mut state.replies);
                if events.is_empty() && state.replies.is_empty() {
                    std::thread::sleep(LOOKS_AGAIN);
                }
            }
            state.may_flush = true;
            for event in events.drain(..) {
                match event {
                    Event::Request(tag, requested) => match self.bounds.check(&requested) {
                        Ok(asked) => state.arrived.push_back((tag, asked)),
                        Err(errno) => queue.answer(tag, failed(errno))?,
                    },
                    Event::Readable(BELL) => {
                        self.bell.rings.clear();
                        self.port.replies(&mut state.replies);
                    }
                    Event::Readable(index) if self.ears[index - 1 - BELL].hears() => {
                        self.port.hear(index - 1 - BELL, &mut state.replies);
                    }
                    Event::Readable(_) => {}
                }
            }
            loop {
                self.answer(&mut queue, &mut state)?;
                if !self.submit(&mut queue, &mut state)? {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Submits what has arrived, as far as the journal has room; `true`: there may be answers.
    fn submit(&mut self, queue: &mut Queue, state: &mut State) -> io::Result<bool> {
        let mut ready = std::mem::take(&mut state.ready);
        ready.clear();
        while let Some((tag, asked)) = state.arrived.pop_front() {
            match self.keep(queue, tag, &asked) {
                Ok(Some((kept, below))) => {
                    state.pending.resize(state.pending.len().max(usize::from(tag) + 1), None);
                    state.pending[usize::from(tag)] = Some(Pending { asked, kept, below });
                    ready.push(tag);
                }
                Ok(None) => {
                    state.arrived.push_front((tag, asked));
                    break;
                }
                Err(_) => queue.answer(tag, failed(Errno::IO))?,
            }
        }
        let own = match &self.journal {
            Some(journal) if !state.arrived.is_empty() && state.own_flush.is_none() && state.may_flush => {
                let journal = journal.lock();
                state.own_flush = journal.can_forget().then(|| journal.flush_begins());
                state.may_flush = false;
                state.own_flush.is_some()
            }
            _ => false,
        };
        let pending = &state.pending;
        let mut requests: Vec<Request> = ready
            .iter()
            .map(|tag| {
                let asked = &pending[usize::from(*tag)].as_ref().expect("it is ready").asked;
                let payload = if asked.op == Action::Write { queue.payload(*tag, asked.payload_bytes()) } else { &[] };
                asked.request((*tag).into(), payload)
            })
            .collect();
        if own {
            requests.push(Request::flush(OWN_FLUSH));
        }
        let any = !requests.is_empty();
        if any {
            self.port.submit(&requests, &mut state.replies);
        }
        state.ready = ready;
        Ok(any)
    }

    /// Keeps a change in the journal: its number, and the one below which a flush makes all durable. `None`: no room.
    #[allow(clippy::type_complexity)]
    fn keep(&self, queue: &Queue, tag: u16, asked: &Asked) -> io::Result<Option<(Option<u64>, u64)>> {
        let Some(journal) = &self.journal else { return Ok(Some((None, 0))) };
        let kind = match asked.op {
            Action::Read => return Ok(Some((None, 0))),
            Action::Flush => return Ok(Some((None, journal.lock().flush_begins()))),
            Action::Write => Kind::Write,
            Action::Trim => Kind::Trim,
            Action::Zero { keeps_room: false } => Kind::Zero,
            Action::Zero { keeps_room: true } => Kind::ZeroKeepingRoom,
        };
        let payload = if kind == Kind::Write { queue.payload(tag, asked.payload_bytes()) } else { &[] };
        let kept = journal.lock().keep(kind, asked.offset_bytes, asked.len_bytes, payload)?;
        Ok(kept.map(|number| (Some(number), 0)))
    }

    /// Gives the kernel what the card has answered.
    fn answer(&self, queue: &mut Queue, state: &mut State) -> io::Result<()> {
        for Reply { tag, result, .. } in state.replies.drain(..) {
            if tag == OWN_FLUSH {
                let below = state.own_flush.take().expect("one at a time");
                if let (Ok(_), Some(journal)) = (&result, &self.journal) {
                    journal.lock().flushed(below)?;
                }
                continue;
            }
            let Pending { asked, kept, below } = state.pending[tag as usize].take().expect("it is answered once");
            let tag = tag as u16;
            if let Some(journal) = &self.journal {
                match (kept, asked.op, &result) {
                    (Some(number), ..) => journal.lock().answered(number),
                    (None, Action::Flush, Ok(_)) => journal.lock().flushed(below)?,
                    _ => {}
                }
            }
            let result = match result {
                Err(error) => failed(errno(error)),
                Ok(data) => {
                    if asked.op == Action::Read {
                        let mut payload = queue.payload_mut(tag, asked.payload_bytes());
                        for piece in data.pieces() {
                            let (here, rest) = payload.split_at_mut(piece.len());
                            here.copy_from_slice(piece);
                            payload = rest;
                        }
                    }
                    asked.done()
                }
            };
            queue.answer(tag, result)?;
        }
        Ok(())
    }
}

/// The requests that a queue has under way.
#[derive(Default)]
struct State {
    /// Requests that the card was not asked for yet.
    arrived: VecDeque<(u16, Asked)>,
    ready: Vec<u16>,
    /// Requests that the card has, by tag.
    pending: Vec<Option<Pending>>,
    replies: Vec<Reply>,
    /// The number with which the server's own flush began, while there is one.
    own_flush: Option<u64>,
    /// There may be one more before the kernel is looked at again.
    may_flush: bool,
}
