//! An NBD client: receives its requests, submits them to the card, and sends the replies.

use crate::client_bell::ClientBell;
use crate::conversation::Conversation;
use crate::export::{Backing, Export};
use crate::exported::Table;
use crate::line::{Ended, Line, Look, Target, Wait, Waits, Woken};
use crate::reply::Failed;
use crate::shared::Shared;
use crate::stream::{MAX_UNSENT_BYTES, Stream, wait};
use crate::tls::Security;
use crate::wire::{Command, Connection, Errno, Extent, MAX_EXTENTS, MAX_IN_FLIGHT, Request, Step, Tls};
use live::ReplyError;
use rustix::event::{PollFd, PollFlags};
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

/// A write whose payload is not complete yet.
struct Partial {
    request: Request,
    payload: Target,
}

/// A request that was parsed, and is not submitted yet; the payload of a write lies in the receive buffer.
struct Parsed {
    slot: usize,
    payload: Range<usize>,
}

/// A client's connection to the server.
pub(crate) struct Client {
    line: Line,
    table: Arc<Table>,
    /// The version of the exports that the client was last held against.
    version: u64,
    /// The card has gone elsewhere: requests in flight are answered, and no more are taken.
    is_leaving: bool,
    wire: Connection,
    requests: Vec<Option<Request>>,
    partial: Option<Partial>,
    /// A request that waits for memory, with the part of its payload in the receive buffer.
    held: Option<(Request, Range<usize>)>,
    parsed: Vec<Parsed>,
}

impl Client {
    pub fn new(number: u64, stream: Stream, server: &Arc<Shared>, bell: Arc<ClientBell>) -> Client {
        let Shared { security, exported, .. } = &**server;
        let (version, table) = (exported.version(), Arc::clone(&exported.now().table));
        let tls = if matches!(security, Security::Tls(_)) { Tls::Required } else { Tls::Off };
        let mut line = Line::new(number, stream, server, bell);
        let wire = Connection::new(Arc::clone(&table.exports), tls, &mut line.out);
        Client {
            line,
            table,
            version,
            is_leaving: false,
            wire,
            requests: (0..MAX_IN_FLIGHT).map(|_| None).collect(),
            partial: None,
            held: None,
            parsed: Vec::new(),
        }
    }

    /// The requests that the card has not answered.
    fn submitted(&self) -> u32 {
        self.wire.in_flight() - u32::from(self.partial.is_some()) - u32::from(self.held.is_some())
    }

    /// A card that is shared may have gone since.
    fn look_for_the_card(&mut self) {
        if !self.line.is_shared() || self.is_leaving {
            return;
        }
        let version = self.line.server.exported.version();
        if version != self.version {
            self.version = version;
            self.is_leaving = self.line.has_changed(&self.line.server.exported.now()).is_some();
            self.line.stopping |= self.is_leaving;
        }
    }

    /// Has the line receive, and counts what it receives of a payload straight to its place.
    fn receive<T>(
        &mut self,
        receive: impl FnOnce(&mut Line, Option<&mut Target>) -> Result<T, Ended>,
    ) -> Result<T, Ended> {
        let received = |partial: &Option<Partial>| partial.as_ref().map_or(0, |partial| partial.payload.received);
        let before = received(&self.partial);
        let target = self.partial.as_mut().map(|partial| &mut partial.payload);
        let outcome = receive(&mut self.line, target)?;
        let more = received(&self.partial) - before;
        if more > 0 {
            self.wire.payload_received(more as u32);
        }
        Ok(outcome)
    }

    /// A message has begun to arrive, and is not whole.
    fn is_in_the_middle(&self) -> bool {
        self.partial.is_some() || self.line.begin < self.line.end || self.wire.skipped_left_bytes() > 0
    }

    /// One round of [`Client::go_on`]. `true` if a request was answered.
    fn go_on_once(&mut self) -> Result<bool, Ended> {
        let mut ended = None;
        let mut whole = None;
        if let Some(partial) = self.partial.take_if(|partial| partial.payload.is_whole()) {
            whole = Some(partial);
            self.line.deadlines.arrived();
        }
        self.line.busy = false;
        // The data of reads take room among the replies.
        let mut to_answer = 0;
        if !self.is_leaving
            && let Some((request, payload)) = self.held.take()
        {
            to_answer += self.admit(request, payload);
        }
        while self.partial.is_none() && self.held.is_none() && !self.is_leaving {
            if self.line.unsent() + to_answer >= MAX_UNSENT_BYTES {
                self.line.busy = true;
                break;
            }
            let at = self.line.begin;
            let (consumed, step) =
                self.wire.parse(&self.line.input[self.line.begin..self.line.end], &mut self.line.out);
            self.line.begin += consumed;
            match step {
                Step::NeedMore { .. } => break,
                Step::Replied => self.line.deadlines.arrived(),
                Step::StartTls => self.start_tls()?,
                Step::Ready { export } => {
                    let exported = self.line.server.exported.now();
                    let place = self.table.place(export);
                    let elsewhere = |export: &Export| matches!(export.backing, Backing::Elsewhere(_));
                    if exported.at(place).is_some_and(elsewhere) {
                        return Err(Ended::Elsewhere);
                    }
                    self.line.choose(&exported, place)?;
                }
                Step::Request(request) => to_answer += self.admit(request, 0..0),
                Step::Write { request, payload } => {
                    to_answer += self.admit(request, at + payload.start..at + payload.end);
                }
                Step::Busy => {
                    self.line.busy = true;
                    break;
                }
                Step::Drain => {
                    self.line.drains = true;
                    break;
                }
                Step::Close(reason) => {
                    ended = Some(Ended::Nbd(reason));
                    break;
                }
            }
        }
        self.line.busy |= self.held.is_some();
        self.expect_the_rest();
        let in_flight = self.wire.in_flight();
        self.submit(whole);
        self.reply();
        ended.map_or(Ok(self.wire.in_flight() < in_flight), Err)
    }

    /// Takes a request, or holds it until there is memory for it. The bytes that will be answered.
    fn admit(&mut self, request: Request, payload: Range<usize>) -> usize {
        self.line.deadlines.arrived();
        if !self.line.account.take(data_bytes(&request)) {
            self.held = Some((request, payload));
            return 0;
        }
        if matches!(request.command(), Command::Write { .. }) && payload.len() < request.length_bytes() as usize {
            let Some(port) = &self.line.port else { unreachable!("requests come after an export was chosen") };
            let mut memory = port.write_memory(request.length_bytes() as usize);
            memory.bytes_mut()[..payload.len()].copy_from_slice(&self.line.input[payload.clone()]);
            self.partial = Some(Partial { request, payload: Target { memory, received: payload.len() } });
            return 0;
        }
        let answered = if request.command() == Command::Read { request.length_bytes() as usize } else { 0 };
        self.take(request, payload);
        answered
    }

    /// The client has a time for what is missing of a message that it has begun.
    fn expect_the_rest(&mut self) {
        let left = self.wire.payload_left_bytes().max(self.wire.skipped_left_bytes());
        let is_waited_for = self.line.port.is_some() && !self.line.busy && !self.line.drains && self.is_in_the_middle();
        match is_waited_for {
            true => self.line.deadlines.waits_for(left.into(), Instant::now()),
            false => self.line.deadlines.arrived(),
        }
    }

    fn start_tls(&mut self) -> Result<(), Ended> {
        let server = Arc::clone(&self.line.server);
        let Security::Tls(config) = &server.security else { unreachable!("TLS is not offered without") };
        // The server's consent goes out in the clear.
        let deadline = Instant::now() + self.line.limits.handshake;
        while self.line.unsent() > 0 {
            self.line.send()?;
            if self.line.unsent() > 0
                && !wait(&mut [PollFd::from_borrowed_fd(self.line.stream.fd(), PollFlags::OUT)], Some(deadline))?
            {
                return Err(Ended::Handshake(self.line.limits.handshake));
            }
        }
        self.line.stream.start_tls(config, deadline)?;
        self.wire.tls_started();
        self.line.server.registry.change(self.line.number, |client| client.tls = true);
        Ok(())
    }

    fn take(&mut self, request: Request, payload: Range<usize>) {
        let slot = request.slot();
        self.parsed.push(Parsed { slot, payload });
        self.requests[slot] = Some(request);
    }

    /// Submits all parsed requests to the card at once. Payloads go to the card from where they were received.
    fn submit(&mut self, whole: Option<Partial>) {
        self.line.last_batch = self.parsed.len();
        if self.parsed.is_empty() && whole.is_none() {
            return;
        }
        let Some(port) = &mut self.line.port else { unreachable!("requests come after an export was chosen") };
        let mut requests = Vec::with_capacity(self.parsed.len() + 1);
        let mut at_once = Vec::new();
        let whole = whole.map(|partial| (partial.request, partial.payload.memory.freeze()));
        requests.extend(whole.iter().filter_map(|(request, bytes)| {
            for_card(request, bytes).map(|for_card| live::Request { shared: Some(bytes), ..for_card })
        }));
        for Parsed { slot, payload } in self.parsed.drain(..) {
            let Some(request) = &self.requests[slot] else { unreachable!("it was just parsed") };
            match for_card(request, &self.line.input[payload]) {
                Some(request) => requests.push(request),
                None => at_once.push(slot),
            }
        }
        if !requests.is_empty() {
            port.submit(&requests, &mut self.line.replies);
        }
        if let Some((request, _)) = whole {
            let slot = request.slot();
            self.requests[slot] = Some(request);
        }
        at_once.into_iter().for_each(|slot| self.reply_at_once(slot));
    }

    /// Replies to a request that needs no work of the card.
    fn reply_at_once(&mut self, slot: usize) {
        let request = self.requests[slot].take().expect("it was just taken");
        let Some(port) = &self.line.port else { unreachable!("it was asked") };
        match request.command() {
            Command::BlockStatus => {
                let extents = port.extents(request.offset_bytes(), request.length_bytes().into(), MAX_EXTENTS);
                let extents =
                    extents.into_iter().map(|(bytes, written)| Extent { bytes, hole: !written, zero: !written });
                self.wire.answer_block_status(request, extents, &mut self.line.out);
            }
            // The whole card is as near as a cache would be.
            Command::Cache => self.wire.answer(request, &mut self.line.out),
            _ => {
                let message = "zeroes that keep their room are written like data";
                self.wire.answer_error(request, Errno::NotSupported, message, &mut self.line.out);
            }
        }
    }

    /// Sends the replies to the requests that the card has completed.
    fn reply(&mut self) {
        let mut all = std::mem::take(&mut self.line.replies);
        let (mut read_bytes, mut written_bytes) = (0, 0);
        let answered = all.len() as u64;
        for reply in all.drain(..) {
            let request = self.requests[reply.tag as usize].take().expect("it is answered once");
            let held_bytes = data_bytes(&request);
            let is_read = request.command() == Command::Read && reply.result.is_ok();
            if !is_read {
                self.line.account.give(held_bytes);
            }
            match reply.result {
                Ok(data) if request.command() == Command::Read => {
                    read_bytes += u64::from(request.length_bytes());
                    self.wire.answer_read(request, &mut self.line.out);
                    self.line.out.reserve(data.len());
                    data.pieces().for_each(|piece| self.line.out.extend_from_slice(piece));
                    self.line.answered(held_bytes);
                }
                Ok(_) => {
                    if matches!(request.command(), Command::Write { .. }) {
                        written_bytes += u64::from(request.length_bytes());
                    }
                    self.wire.answer(request, &mut self.line.out);
                }
                Err(error) => {
                    let errno = match error {
                        Failed::OfCard(ReplyError::OutOfRange) => Errno::Invalid,
                        Failed::OfCard(ReplyError::ReadOnly) => Errno::NotPermitted,
                        Failed::OfCard(ReplyError::NoSpace) => Errno::NoSpace,
                        Failed::OfCard(ReplyError::Unreadable { .. } | ReplyError::NoPower | ReplyError::Halted)
                        | Failed::Read
                        | Failed::Write => Errno::Io,
                    };
                    self.wire.answer_error(request, errno, &error.to_string(), &mut self.line.out);
                }
            }
        }
        self.line.replies = all;
        self.line.count(answered, read_bytes, written_bytes, self.wire.in_flight());
    }
}

impl Conversation for Client {
    fn line(&mut self) -> &mut Line {
        &mut self.line
    }

    fn look(&mut self) -> Result<Look, Ended> {
        self.line.send()?;
        if self.line.server.registry.stops() && !self.line.stopping {
            self.line.stopping = true;
            self.wire.shut_down();
        }
        self.look_for_the_card();
        let has_all = self.line.unsent() == 0 || !self.line.may_answer();
        if self.is_leaving && self.submitted() == 0 && has_all {
            return Err(Ended::Elsewhere);
        }
        let is_answered = self.wire.in_flight() == 0 && self.line.unsent() == 0;
        if self.line.stopping && (is_answered || self.held.is_some()) {
            return Err(Ended::Stopped);
        }
        let waits = Waits {
            asked: self.submitted() > 0,
            held: self.held.is_some(),
            in_the_middle: self.is_in_the_middle(),
            is_chosen: self.line.port.is_some(),
            ..Waits::default()
        };
        self.receive(|line, target| line.look(waits, target))
    }

    fn take(&mut self, on: &Wait, woken: Woken) -> Result<(), Ended> {
        self.receive(|line, target| line.take(on, woken, target))
    }

    /// Parses the requests that were received completely, submits them to the card, and answers those that are done.
    /// Repeats this while it makes room for bytes that were received already.
    fn go_on(&mut self) -> Result<(), Ended> {
        while self.go_on_once()? && (self.line.busy || self.line.drains) {}
        Ok(())
    }

    fn end(&mut self, ended: Ended) -> Ended {
        // However it ends, nothing more is parsed.
        let reason = self.wire.end_of_stream(self.line.end - self.line.begin);
        let ended = if matches!(ended, Ended::EndOfStream) { Ended::Nbd(reason) } else { ended };
        // The remaining replies are sent, if the client takes them.
        let _ = self.line.send();
        for request in self.requests.iter_mut().filter_map(Option::take) {
            self.wire.abandon(request);
        }
        if let Some(partial) = self.partial.take() {
            self.wire.abandon(partial.request);
        }
        if let Some((request, _)) = self.held.take() {
            self.wire.abandon(request);
        }
        self.line.stream.close();
        ended
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
