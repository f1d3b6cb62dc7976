//! One client: receives its requests, submits them to the card, and sends the replies.

use crate::budget::Account;
use crate::deadlines::{Deadlines, TooSlow};
use crate::patience::{AWAKE, Patience};
use crate::registry::{Counts, Registry};
use crate::shared::{Export, Limits, Shared};
use crate::stream::{MAX_UNSENT_BYTES, Received, Stream, wait};
use crate::tls::Security;
use crate::waker::Waker;
use crate::wire::{
    Close, Command, Connection, Errno, Extent, MAX_EXTENTS, MAX_IN_FLIGHT, MIN_RECEIVE_BYTES, Request, Step, Tls,
};
use live::{Bell, Port, Reply, ReplyError};
use rustix::event::{PollFd, PollFlags};
use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The size of the receive buffer, which has room for a queue of small writes.
const RECEIVE_BYTES: usize = if MIN_RECEIVE_BYTES > (256 << 10) { MIN_RECEIVE_BYTES } else { 256 << 10 };
/// Replies that were sent keep their room in the output buffer up to so many bytes.
const MAX_SENT_BYTES: usize = 128 << 10;
/// The highest capacity that the empty output buffer keeps; it is within the client's share of the memory of all.
const MAX_KEPT_BYTES: usize = 4 << 20;

/// The reason why a connection ended.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Ended {
    #[error("{0}")]
    Close(Close),
    #[error("the connection broke: {0}")]
    Broken(#[from] io::Error),
    #[error("chose no export in {0:?}")]
    Handshake(Duration),
    #[error("neither sent nor took anything for {0:?} in the middle of a request")]
    Stalled(Duration),
    #[error("{0}")]
    TooSlow(#[from] TooSlow),
    #[error("the server stops")]
    Stopped,
}

/// A write whose payload is not complete yet.
struct Partial {
    request: Request,
    payload: Vec<u8>,
    received: usize,
}

/// A request that was parsed, and is not submitted yet; the payload of a write lies in the receive buffer.
struct Parsed {
    slot: usize,
    payload: Range<usize>,
}

/// A client's connection to the server.
pub(crate) struct Client<'a> {
    pub number: u64,
    pub stream: Stream,
    pub exports: &'a [Export],
    pub security: &'a Security,
    pub limits: Limits,
    pub registry: &'a Registry,
    pub waker: Arc<Waker>,
    wire: Connection,
    port: Option<Port>,
    /// The slow media of the export's shards; each becomes readable when it has done something.
    media: Vec<OwnedFd>,
    requests: Vec<Option<Request>>,
    input: Vec<u8>,
    begin: usize,
    end: usize,
    out: Vec<u8>,
    sent: usize,
    partial: Option<Partial>,
    /// A request that waits for memory, with the part of its payload in the receive buffer.
    held: Option<(Request, Range<usize>)>,
    /// The memory that this client's requests and answers take.
    account: Account,
    /// Answers to reads that are not sent yet: the number of sent bytes with which they are, and the bytes they hold.
    answers: VecDeque<(u64, u64)>,
    /// Bytes that were sent so far.
    sent_bytes: u64,
    /// The most capacity that the empty output buffer keeps.
    kept_bytes: usize,
    deadlines: Deadlines,
    /// No more requests are parsed until one was answered.
    busy: bool,
    /// The client disconnects when its requests in flight are answered.
    drains: bool,
    stopping: bool,
    /// The number of requests in the last round.
    last_batch: usize,
    parsed: Vec<Parsed>,
    replies: Vec<Reply>,
    /// The time of the last receive or send.
    progress: Instant,
    counts: Arc<Counts>,
    patience: Patience,
}

impl<'a> Client<'a> {
    pub fn new(number: u64, stream: Stream, server: &'a Shared, waker: Arc<Waker>) -> Client<'a> {
        let Shared { exports, table, security, limits, registry, budget, .. } = server;
        let tls = if matches!(security, Security::Tls(_)) { Tls::Required } else { Tls::Off };
        let mut out = Vec::new();
        let wire = Connection::new(Arc::clone(table), tls, &mut out);
        Client {
            number,
            stream,
            exports,
            security,
            limits: *limits,
            registry,
            wire,
            port: None,
            media: Vec::new(),
            requests: (0..MAX_IN_FLIGHT).map(|_| None).collect(),
            input: vec![0; RECEIVE_BYTES],
            begin: 0,
            end: 0,
            out,
            sent: 0,
            partial: None,
            held: None,
            account: Account::new(budget, number, &waker),
            answers: VecDeque::new(),
            sent_bytes: 0,
            kept_bytes: usize::try_from(budget.share()).unwrap_or(usize::MAX).clamp(MAX_SENT_BYTES, MAX_KEPT_BYTES),
            deadlines: Deadlines::new(*limits),
            busy: false,
            drains: false,
            stopping: false,
            last_batch: 0,
            parsed: Vec::new(),
            replies: Vec::new(),
            progress: Instant::now(),
            counts: registry.counts(number),
            patience: Patience::default(),
            waker,
        }
    }

    /// Serves the client until the connection ends.
    pub fn run(&mut self) -> Ended {
        let ended = match self.serve() {
            Ok(never) => match never {},
            Err(ended) => ended,
        };
        // The remaining replies are sent, if the client takes them.
        let _ = self.send();
        for request in self.requests.iter_mut().filter_map(Option::take) {
            self.wire.abandon(request);
        }
        if let Some(partial) = self.partial.take() {
            self.wire.abandon(partial.request);
        }
        if let Some((request, _)) = self.held.take() {
            self.wire.abandon(request);
        }
        self.stream.close();
        ended
    }

    fn serve(&mut self) -> Result<std::convert::Infallible, Ended> {
        let began = Instant::now();
        loop {
            self.send()?;
            if self.registry.stops() && !self.stopping {
                self.stopping = true;
                self.wire.shut_down();
            }
            let is_answered = self.wire.in_flight() == 0 && self.unsent() == 0;
            if self.stopping && (is_answered || self.held.is_some()) {
                return Err(Ended::Stopped);
            }
            self.wait_and_receive(began)?;
            self.parse_and_submit()?;
        }
    }

    fn unsent(&self) -> usize {
        self.out.len() - self.sent
    }

    fn send(&mut self) -> Result<(), Ended> {
        let was_unsent = self.unsent();
        while self.sent < self.out.len() {
            let bytes = self.stream.send(&self.out[self.sent..])?;
            if bytes == 0 {
                break;
            }
            self.sent += bytes;
            self.progress = Instant::now();
        }
        let more = was_unsent - self.unsent();
        if was_unsent > 0 {
            self.deadlines.sent(more, self.unsent(), Instant::now());
            self.sent_bytes += more as u64;
            while let Some(&(end, bytes)) = self.answers.front()
                && end <= self.sent_bytes
            {
                self.answers.pop_front();
                self.account.give(bytes);
            }
        }
        // Under load the buffer never gets empty, so the part that was sent is removed now and then.
        if self.sent >= MAX_SENT_BYTES && self.sent * 2 >= self.out.len() {
            self.out.drain(..self.sent);
            self.sent = 0;
        }
        if self.sent == self.out.len() {
            self.out.clear();
            self.sent = 0;
            if self.out.capacity() > self.kept_bytes {
                self.out = Vec::new();
            }
        }
        Ok(())
    }

    /// Waits until there is work, and receives the bytes that have arrived.
    fn wait_and_receive(&mut self, began: Instant) -> Result<(), Ended> {
        if let Some(slow) = self.deadlines.next().and_then(|_| self.deadlines.missed(Instant::now())) {
            return Err(slow.into());
        }
        let asked = self.wire.in_flight() > u32::from(self.partial.is_some()) + u32::from(self.held.is_some());
        let has_room = self.busy && self.held.is_none() && self.unsent() < MAX_UNSENT_BYTES;
        if !asked && (has_room || self.drains && self.unsent() == 0) {
            // There is room again for bytes that were received already.
            return Ok(());
        }
        let takes = !self.busy && !self.drains && !self.stopping && self.unsent() < MAX_UNSENT_BYTES;
        let tls_unsent = self.stream.has_tls() && self.stream.has_unsent()?;
        let unsent = self.unsent() > 0 || tls_unsent;
        let in_the_middle = self.is_in_the_middle();
        let is_quiet = takes && !asked && !unsent && self.port.is_some();
        // The rest of a message is probably on its way.
        if is_quiet && in_the_middle && self.receive_awake(AWAKE)? {
            return Ok(());
        }
        // Only the client can cause work now.
        if is_quiet && !in_the_middle {
            return self.receive_next();
        }
        // A client with a queue has probably sent more meanwhile. With TLS the socket does not show all received bytes.
        if takes && (self.last_batch > 1 || self.stream.has_tls()) && self.receive(false)? {
            return Ok(());
        }
        let deadline = match self.port {
            None => Some(began + self.limits.handshake),
            Some(_) if unsent || in_the_middle && !self.busy => Some(self.progress + self.limits.stall),
            Some(_) => None,
        };
        let deadline = deadline.into_iter().chain(self.deadlines.next()).min();
        let waker = Arc::clone(&self.waker);
        let mut flags = PollFlags::empty();
        flags.set(PollFlags::IN, takes);
        flags.set(PollFlags::OUT, unsent);
        let (has_come, rung, ended) = {
            let mut fds = vec![
                PollFd::from_borrowed_fd(self.stream.fd(), flags),
                PollFd::from_borrowed_fd(waker.fd(), PollFlags::IN),
            ];
            let hears = |shard: &usize| self.port.as_ref().is_some_and(|port| port.hears(*shard));
            let heard: Vec<usize> = (0..self.media.len()).filter(hears).collect();
            fds.extend(heard.iter().map(|shard| PollFd::from_borrowed_fd(self.media[*shard].as_fd(), PollFlags::IN)));
            if !wait(&mut fds, deadline)? {
                if let Some(slow) = self.deadlines.missed(Instant::now()) {
                    return Err(slow.into());
                }
                return Err(match self.port {
                    None => Ended::Handshake(self.limits.handshake),
                    Some(_) => Ended::Stalled(self.limits.stall),
                });
            }
            let socket = fds[0].revents();
            // An error shows with the next send or receive.
            let has_come = socket.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR);
            let has_ended = |(_, fd): &(usize, &PollFd)| fd.revents().contains(PollFlags::IN);
            let ended: Vec<usize> =
                heard.into_iter().zip(&fds[2..]).filter(has_ended).map(|(shard, _)| shard).collect();
            (has_come, fds[1].revents().contains(PollFlags::IN), ended)
        };
        if rung {
            waker.clear();
            if let Some(port) = &mut self.port {
                port.replies(&mut self.replies);
            }
        }
        if let Some(port) = &mut self.port {
            ended.into_iter().for_each(|shard| port.hear(shard, &mut self.replies));
        }
        if has_come && takes {
            self.receive(false)?;
        } else if has_come && !takes && !unsent {
            // The client takes no more replies, and its bytes are not wanted now. Only its completions are waited for.
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    /// A message has begun to arrive, and is not whole.
    fn is_in_the_middle(&self) -> bool {
        self.partial.is_some() || self.begin < self.end || self.wire.skipped_left_bytes() > 0
    }

    /// Waits for the next request of a client that has all its replies.
    fn receive_next(&mut self) -> Result<(), Ended> {
        let began = Instant::now();
        if !self.receive_awake(self.patience.awake())? {
            self.receive(true)?;
        }
        self.patience.asked_after(began.elapsed());
        Ok(())
    }

    /// Stays awake for the next bytes, at most so long. `true` if some were received.
    fn receive_awake(&mut self, awake: Duration) -> Result<bool, Ended> {
        let began = Instant::now();
        while began.elapsed() < awake {
            if self.receive(false)? {
                return Ok(true);
            }
            std::thread::yield_now();
        }
        Ok(false)
    }

    /// Receives the bytes that have arrived. `true` if there were some.
    fn receive(&mut self, waits: bool) -> Result<bool, Ended> {
        let received = match &mut self.partial {
            Some(partial) => self.stream.receive(&mut partial.payload[partial.received..], waits)?,
            None => {
                if self.begin == self.end {
                    (self.begin, self.end) = (0, 0);
                } else if self.begin > 0 && self.input.len() - self.end < MIN_RECEIVE_BYTES {
                    self.input.copy_within(self.begin..self.end, 0);
                    (self.begin, self.end) = (0, self.end - self.begin);
                }
                self.stream.receive(&mut self.input[self.end..], waits)?
            }
        };
        match received {
            Received::Bytes(bytes) => {
                self.progress = Instant::now();
                match &mut self.partial {
                    Some(partial) => {
                        partial.received += bytes;
                        self.wire.payload_received(bytes as u32);
                    }
                    None => self.end += bytes,
                }
                Ok(true)
            }
            Received::Nothing => Ok(false),
            Received::End if self.registry.stops() => Ok(false),
            Received::End => Err(Ended::Close(self.wire.end_of_stream(self.end - self.begin))),
        }
    }

    /// Parses the requests that were received completely, submits them to the card, and answers those that are done.
    /// Repeats this while it makes room for bytes that were received already.
    fn parse_and_submit(&mut self) -> Result<(), Ended> {
        while self.parse_and_submit_once()? && (self.busy || self.drains) {}
        Ok(())
    }

    /// One round of [`Client::parse_and_submit`]. `true` if a request was answered.
    fn parse_and_submit_once(&mut self) -> Result<bool, Ended> {
        let mut ended = None;
        let mut whole = None;
        if let Some(partial) = self.partial.take_if(|partial| partial.received == partial.payload.len()) {
            whole = Some(partial);
            self.deadlines.arrived();
        }
        self.busy = false;
        // The data of reads take room among the replies.
        let mut to_answer = 0;
        if let Some((request, payload)) = self.held.take() {
            to_answer += self.admit(request, payload);
        }
        while self.partial.is_none() && self.held.is_none() {
            if self.unsent() + to_answer >= MAX_UNSENT_BYTES {
                self.busy = true;
                break;
            }
            let at = self.begin;
            let (consumed, step) = self.wire.parse(&self.input[self.begin..self.end], &mut self.out);
            self.begin += consumed;
            match step {
                Step::NeedMore { .. } => break,
                Step::Replied => self.deadlines.arrived(),
                Step::StartTls => self.start_tls()?,
                Step::Ready { export } => self.choose(export),
                Step::Request(request) => to_answer += self.admit(request, 0..0),
                Step::Write { request, payload } => {
                    to_answer += self.admit(request, at + payload.start..at + payload.end);
                }
                Step::Busy => {
                    self.busy = true;
                    break;
                }
                Step::Drain => {
                    self.drains = true;
                    break;
                }
                Step::Close(reason) => {
                    ended = Some(Ended::Close(reason));
                    break;
                }
            }
        }
        self.busy |= self.held.is_some();
        self.expect_the_rest();
        let in_flight = self.wire.in_flight();
        self.submit(whole);
        self.reply();
        ended.map_or(Ok(self.wire.in_flight() < in_flight), Err)
    }

    /// Takes a request, or holds it until there is memory for it. The bytes that will be answered.
    fn admit(&mut self, request: Request, payload: Range<usize>) -> usize {
        self.deadlines.arrived();
        if !self.account.take(data_bytes(&request)) {
            self.held = Some((request, payload));
            return 0;
        }
        if matches!(request.command(), Command::Write { .. }) && payload.len() < request.length_bytes() as usize {
            let mut bytes = vec![0; request.length_bytes() as usize];
            bytes[..payload.len()].copy_from_slice(&self.input[payload.clone()]);
            self.partial = Some(Partial { request, received: payload.len(), payload: bytes });
            return 0;
        }
        let answered = if request.command() == Command::Read { request.length_bytes() as usize } else { 0 };
        self.take(request, payload);
        answered
    }

    /// The client has a time for what is missing of a message that it has begun.
    fn expect_the_rest(&mut self) {
        let left = self.wire.payload_left_bytes().max(self.wire.skipped_left_bytes());
        let is_waited_for = self.port.is_some() && !self.busy && !self.drains && self.is_in_the_middle();
        match is_waited_for {
            true => self.deadlines.waits_for(left.into(), Instant::now()),
            false => self.deadlines.arrived(),
        }
    }

    fn start_tls(&mut self) -> Result<(), Ended> {
        let Security::Tls(config) = self.security else { unreachable!("TLS is not offered without") };
        // The server's consent goes out in the clear.
        let deadline = Instant::now() + self.limits.handshake;
        while self.unsent() > 0 {
            self.send()?;
            if self.unsent() > 0
                && !wait(&mut [PollFd::from_borrowed_fd(self.stream.fd(), PollFlags::OUT)], Some(deadline))?
            {
                return Err(Ended::Handshake(self.limits.handshake));
            }
        }
        self.stream.start_tls(config, deadline)?;
        self.wire.tls_started();
        self.registry.change(self.number, |client| client.tls = true);
        Ok(())
    }

    fn choose(&mut self, export: usize) {
        let export = &self.exports[export];
        let mut port = export.live.port(Arc::clone(&self.waker) as Arc<dyn Bell>);
        self.media = port.listen();
        self.port = Some(port);
        self.registry.change(self.number, |client| client.export = Some(export.name.clone()));
    }

    fn take(&mut self, request: Request, payload: Range<usize>) {
        let slot = request.slot();
        self.parsed.push(Parsed { slot, payload });
        self.requests[slot] = Some(request);
    }

    /// Submits all parsed requests to the card at once. Payloads go to the card from where they were received.
    fn submit(&mut self, whole: Option<Partial>) {
        self.last_batch = self.parsed.len();
        if self.parsed.is_empty() && whole.is_none() {
            return;
        }
        let Some(port) = &mut self.port else { unreachable!("requests come after an export was chosen") };
        let mut requests = Vec::with_capacity(self.parsed.len() + 1);
        let mut at_once = Vec::new();
        requests.extend(whole.iter().filter_map(|partial| for_card(&partial.request, &partial.payload)));
        for Parsed { slot, payload } in self.parsed.drain(..) {
            let Some(request) = &self.requests[slot] else { unreachable!("it was just parsed") };
            match for_card(request, &self.input[payload]) {
                Some(request) => requests.push(request),
                None => at_once.push(slot),
            }
        }
        if !requests.is_empty() {
            port.submit(&requests, &mut self.replies);
        }
        if let Some(partial) = whole {
            let slot = partial.request.slot();
            self.requests[slot] = Some(partial.request);
        }
        at_once.into_iter().for_each(|slot| self.reply_at_once(slot));
    }

    /// Replies to a request that needs no work of the card.
    fn reply_at_once(&mut self, slot: usize) {
        let request = self.requests[slot].take().expect("it was just taken");
        let Some(port) = &self.port else { unreachable!("it was asked") };
        match request.command() {
            Command::BlockStatus => {
                let extents = port.extents(request.offset_bytes(), request.length_bytes().into(), MAX_EXTENTS);
                let extents =
                    extents.into_iter().map(|(bytes, written)| Extent { bytes, hole: !written, zero: !written });
                self.wire.answer_block_status(request, extents, &mut self.out);
            }
            // The whole card is as near as a cache would be.
            Command::Cache => self.wire.answer(request, &mut self.out),
            _ => {
                let message = "zeroes that keep their room are written like data";
                self.wire.answer_error(request, Errno::NotSupported, message, &mut self.out);
            }
        }
    }

    /// Sends the replies to the requests that the card has completed.
    fn reply(&mut self) {
        let mut all = std::mem::take(&mut self.replies);
        let (mut read_bytes, mut written_bytes) = (0, 0);
        let answered = all.len() as u64;
        for reply in all.drain(..) {
            let request = self.requests[reply.tag as usize].take().expect("it is answered once");
            let held_bytes = data_bytes(&request);
            let is_read = request.command() == Command::Read && reply.result.is_ok();
            if !is_read {
                self.account.give(held_bytes);
            }
            match reply.result {
                Ok(data) if request.command() == Command::Read => {
                    read_bytes += u64::from(request.length_bytes());
                    self.wire.answer_read(request, &mut self.out);
                    self.out.reserve(data.len());
                    data.pieces().for_each(|piece| self.out.extend_from_slice(piece));
                    self.answers.push_back((self.sent_bytes + self.unsent() as u64, held_bytes));
                }
                Ok(_) => {
                    if matches!(request.command(), Command::Write { .. }) {
                        written_bytes += u64::from(request.length_bytes());
                    }
                    self.wire.answer(request, &mut self.out);
                }
                Err(error) => {
                    let errno = match error {
                        ReplyError::OutOfRange => Errno::Invalid,
                        ReplyError::ReadOnly => Errno::NotPermitted,
                        ReplyError::Unreadable { .. } | ReplyError::NoPower | ReplyError::Halted => Errno::Io,
                    };
                    self.wire.answer_error(request, errno, &error.to_string(), &mut self.out);
                }
            }
        }
        self.replies = all;
        // Only this thread counts, so the additions need not be atomic.
        let add = |count: &AtomicU64, more: u64| count.store(count.load(Ordering::Relaxed) + more, Ordering::Relaxed);
        add(&self.counts.requests, answered);
        add(&self.counts.read_bytes, read_bytes);
        add(&self.counts.written_bytes, written_bytes);
        self.counts.in_flight.store(self.wire.in_flight().into(), Ordering::Relaxed);
    }
}

/// The bytes of memory that the data of a request take.
fn data_bytes(request: &Request) -> u64 {
    match request.command() {
        Command::Read | Command::Write { .. } => request.length_bytes().into(),
        _ => 0,
    }
}

/// A request for the card; `None` if it needs no work of the card.
fn for_card<'a>(request: &Request, payload: &'a [u8]) -> Option<live::Request<'a>> {
    let (tag, offset, len) = (request.slot() as u64, request.offset_bytes(), request.length_bytes());
    Some(match request.command() {
        Command::Read => live::Request::read(tag, offset, len),
        Command::Write { fua } => live::Request::write(tag, offset, payload).with_fua(fua),
        Command::Flush => live::Request::flush(tag),
        Command::Trim { fua } => live::Request::trim(tag, offset, len).with_fua(fua),
        // Zeroes that keep their room have to be written, which is not fast.
        Command::WriteZeroes { no_hole: true, fast: true, .. } | Command::Cache | Command::BlockStatus => return None,
        Command::WriteZeroes { fua, no_hole, .. } => {
            live::Request::write_zeroes(tag, offset, len, no_hole).with_fua(fua)
        }
    })
}
