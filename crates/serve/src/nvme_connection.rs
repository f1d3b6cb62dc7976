//! A queue of an NVMe host: receives its commands, submits them to the card, and sends the answers.

use crate::client_bell::ClientBell;
use crate::conversation::Conversation;
use crate::exported::Exported;
use crate::hub::{Clock, Hub, OfExports, Standing};
use crate::line::{Ended, Line, Look, Wait, Waits, Woken};
use crate::nvme::{Command, Dialog, Failure, Operation, Payload, Queue, RANDOM_BYTES, Status, Step, Tag, Work};
use crate::reply::Failed;
use crate::shared::Shared;
use crate::stream::{MAX_UNSENT_BYTES, Stream};
use live::ReplyError;
use std::fs::File;
use std::io::Read;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The name of the flush that a shutdown waits for. No [`Tag`] of a command is so large: its length would be 4 GiB.
const SHUTDOWN: u64 = u64::MAX;
/// The bit of a Connect's completion that asks the host to authenticate itself (`ATR`).
const AUTHENTICATION_REQUIRED: u64 = 1 << 17;
/// How often the health of the cards is looked at for hosts that wait for events.
const LOOKS: Duration = Duration::from_secs(5);
/// The time for which bytes of a host that was told why its connection ends are still taken, so that it hears of it.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// A host's connection to the server.
pub(crate) struct Host {
    line: Line,
    local: SocketAddr,
    queue: Queue,
    /// A request that waits for memory, with its payload in the receive buffer.
    held: Option<Work>,
    parsed: Vec<Work>,
    /// The requests that the card has not answered.
    outstanding: u32,
    /// The bytes that are missing of a PDU that has begun to arrive.
    missing: usize,
    clock: Option<Clock>,
    /// The version of the terms that the queue has.
    terms: u64,
    /// How far an I/O queue is with the terms, for others to see.
    standing: Option<Arc<Standing>>,
    /// Commands that wait for those of other hosts: their slots, the version of the terms, and whom they wait for.
    aborting: Vec<(u8, u64, Vec<Arc<Standing>>)>,
    dialog: Option<Dialog>,
    /// A shutdown waits for its flush.
    shuts_down: bool,
    next_look: Instant,
}

impl Host {
    pub fn new(number: u64, stream: Stream, server: &Arc<Shared>, bell: Arc<ClientBell>, local: SocketAddr) -> Host {
        Host {
            line: Line::new(number, stream, server, bell),
            local,
            queue: Queue::default(),
            held: None,
            parsed: Vec::new(),
            outstanding: 0,
            missing: 0,
            clock: None,
            terms: 0,
            standing: None,
            aborting: Vec::new(),
            dialog: None,
            shuts_down: false,
            next_look: Instant::now(),
        }
    }

    /// The admin queue of a controller that is connected.
    fn is_admin(&self) -> bool {
        self.queue.queue().is_some_and(|connected| connected.queue == 0)
    }

    /// A PDU has begun to arrive and is not whole, or the host owes data that it was asked for.
    fn is_in_the_middle(&self) -> bool {
        self.line.begin < self.line.end || self.queue.waiting_for_data() > 0
    }

    /// When there is something to do without the host.
    fn until(&self) -> Result<Option<Instant>, Ended> {
        let mut until = None;
        if self.is_admin()
            && let (Some(connected), Some(clock)) = (self.queue.queue(), &self.clock)
        {
            let keep_alive_ms = self.hub().target().keep_alive_ms(connected.controller);
            if keep_alive_ms > 0 {
                let keep_alive = Duration::from_millis(keep_alive_ms.into());
                let end = clock.last() + keep_alive;
                if Instant::now() >= end {
                    return Err(Ended::Silent(keep_alive));
                }
                until = Some(end);
            }
            until = until.into_iter().chain([self.next_look]).min();
        }
        Ok(until)
    }

    fn hub(&self) -> &Hub {
        &self.line.server.hub
    }

    fn exported(&self) -> Arc<Exported> {
        self.line.server.exported.now()
    }

    /// One round of [`Host::go_on`]. `true` if a request was answered.
    fn go_on_once(&mut self) -> Result<bool, Ended> {
        let mut ended = None;
        self.line.busy = false;
        // The data of reads take room among the answers.
        let mut to_answer = 0;
        if let Some(work) = self.held.take() {
            to_answer += self.admit(work);
        }
        let is_current = self.renew_terms()?;
        self.line.busy |= !is_current;
        let begin = self.line.begin;
        while is_current && self.held.is_none() && !self.line.stopping {
            if self.line.unsent() + to_answer >= MAX_UNSENT_BYTES {
                self.line.busy = true;
                break;
            }
            let at = self.line.begin;
            let (consumed, step) = self.queue.parse(&self.line.input[at..self.line.end], &mut self.line.out);
            self.line.begin += consumed;
            match step {
                Step::NeedMore { at_least_bytes } => {
                    self.missing = at_least_bytes;
                    break;
                }
                Step::Replied => self.line.deadlines.arrived(),
                Step::Connect { command, data } => self.connect(&command, &moved(data, at))?,
                Step::Admin { command, .. } => self.admin(&command),
                Step::Authenticate { command, data } => {
                    if !self.authenticate(&command, &moved(data, at))? {
                        ended = Some(Ended::Unauthenticated);
                        break;
                    }
                }
                Step::Reserve { slot, command, data } => self.reserve(slot, &command, &moved(data, at)),
                Step::Work(work) => {
                    let payload = moved(work.payload, at);
                    to_answer += self.admit(Work { payload, ..work });
                }
                Step::Busy => {
                    self.line.busy = true;
                    break;
                }
                Step::Close(reason) => {
                    ended = Some(Ended::Nvme(reason));
                    break;
                }
            }
        }
        if self.line.begin > begin
            && let Some(clock) = &self.clock
        {
            clock.heard(self.line.progress);
        }
        self.line.busy |= self.held.is_some();
        self.expect_the_rest();
        let outstanding = self.outstanding;
        self.submit();
        self.answer();
        self.end_aborts();
        self.keep_errors();
        if self.is_quiet()
            && let Some(standing) = &self.standing
        {
            self.hub().rest(standing);
        }
        ended.map_or(Ok(self.outstanding < outstanding), Err)
    }

    /// No request of this queue is with the card, or on its way to it.
    fn is_quiet(&self) -> bool {
        self.outstanding == 0 && self.parsed.is_empty() && self.held.is_none()
    }

    /// Other queues may have changed what this one may do. `false`: the commands in flight, which were checked before, have
    /// to end first.
    fn renew_terms(&mut self) -> Result<bool, Ended> {
        if let Some(standing) = &self.standing {
            standing.begin();
        }
        let terms = self.hub().terms();
        let Some(connected) = self.queue.queue().filter(|_| terms != self.terms) else { return Ok(true) };
        if !self.is_quiet() {
            return Ok(false);
        }
        if self.line.owes_answers() {
            // The card has gone, and the lease before the answers: the host asks again where the card is.
            let is_lost = !self.line.may_answer() && self.line.has_changed(&self.exported()).is_some();
            return if is_lost { Err(Ended::Elsewhere) } else { Ok(false) };
        }
        // Exports are set while the target is locked, so both are of one moment.
        let target = self.hub().target();
        let (renewed, exported) = (target.terms(connected.controller), self.exported());
        drop(target);
        if let Some(place) = self.line.has_changed(&exported) {
            self.line.choose(&exported, place)?;
        }
        self.queue.set_terms(renewed, &mut self.line.out);
        self.terms = terms;
        if let Some(standing) = &self.standing {
            standing.seen(terms);
            self.hub().tell_waiters();
        }
        Ok(true)
    }

    fn reserve(&mut self, slot: u8, command: &Command, data: &Payload) {
        self.line.deadlines.arrived();
        let Some(connected) = self.queue.queue() else { unreachable!("commands come after Connect") };
        let cards = OfExports(&self.exported());
        // Those that are waited for tell of their end from now on.
        self.hub().wait(self.line.number, &self.line.bell);
        let mut target = self.hub().target();
        let reserved = target.reserve(connected.controller, command, data.of(&self.line.input), &cards);
        let kept_out = reserved.waits_in.map(|place| self.hub().kept_out(&target, place)).unwrap_or_default();
        drop(target);
        if reserved.new_terms {
            self.hub().terms_changed();
        }
        self.line.server.registry.wake_some(&reserved.woken);
        if kept_out.is_empty() {
            self.queue.answer_reserve(slot, reserved.status, &mut self.line.out);
            if self.aborting.is_empty() {
                self.hub().stop_waiting(self.line.number);
            }
        } else {
            self.aborting.push((slot, self.hub().terms(), kept_out));
        }
        self.end_aborts();
    }

    /// Answers the commands that have waited for those of other hosts.
    fn end_aborts(&mut self) {
        if self.aborting.is_empty() {
            return;
        }
        for (slot, terms, standings) in std::mem::take(&mut self.aborting) {
            if standings.iter().all(|standing| standing.is_past(terms)) {
                self.queue.answer_reserve(slot, Status::SUCCESS, &mut self.line.out);
            } else {
                self.aborting.push((slot, terms, standings));
            }
        }
        if self.aborting.is_empty() {
            self.hub().stop_waiting(self.line.number);
        }
    }

    fn connect(&mut self, command: &Command, data: &Payload) -> Result<(), Ended> {
        self.line.deadlines.arrived();
        let server = Arc::clone(&self.line.server);
        let terms = server.hub.terms();
        let mut target = server.hub.target();
        match target.connect(command, data.of(&self.line.input), self.line.number) {
            Err(answer) => self.queue.answer(command, answer, &mut self.line.out),
            Ok((connected, value)) => {
                let card = target.subsystem_of(connected.controller).and_then(|of| of.namespaces.first());
                if let Some(namespace) = card {
                    self.line.needs_lease = connected.queue > 0;
                    if let Err(ended) = self.line.choose(&self.exported(), namespace.card) {
                        drop(target);
                        self.hub().leave(
                            connected.controller,
                            connected.queue,
                            self.line.number,
                            &self.line.server.registry,
                        );
                        return Err(ended);
                    }
                }
                self.terms = terms;
                self.queue.set_terms(target.terms(connected.controller), &mut self.line.out);
                let of = target.host_of(connected.controller);
                self.standing = (connected.queue > 0).then(|| self.hub().standing(self.line.number, terms, of));
                self.clock = Some(self.hub().clock(connected.controller));
                tracing::info!(
                    number = self.line.number,
                    controller = connected.controller,
                    queue = connected.queue,
                    "an NVMe queue is connected"
                );
                let names = target.names(connected.controller).filter(|_| self.line.server.secrets.is_some());
                let value = if names.is_some() { value | AUTHENTICATION_REQUIRED } else { value };
                if let Some(names) = names {
                    self.queue.lock();
                    self.dialog = Some(Dialog::new(names));
                }
                self.queue.connected(command, connected, value, &mut self.line.out);
            }
        }
        Ok(())
    }

    /// One step of the authentication. `false` when it has failed, and the host was told so.
    fn authenticate(&mut self, command: &Command, data: &Payload) -> Result<bool, Ended> {
        self.line.deadlines.arrived();
        let server = Arc::clone(&self.line.server);
        let (Some(dialog), Some(secrets)) = (&mut self.dialog, &server.secrets) else {
            self.queue.answer(command, Status::INVALID_FIELD.into(), &mut self.line.out);
            return Ok(true);
        };
        let mut random = [0; RANDOM_BYTES];
        File::open("/dev/urandom")?.read_exact(&mut random)?;
        let answer = dialog.carry_out(command, data.of(&self.line.input), secrets, &random);
        self.queue.answer(command, answer, &mut self.line.out);
        if dialog.is_authenticated() {
            self.queue.unlock();
        }
        Ok(!dialog.is_over())
    }

    fn admin(&mut self, command: &Command) {
        self.line.deadlines.arrived();
        let Some(connected) = self.queue.queue() else { unreachable!("commands come after Connect") };
        let (controller, queue) = (connected.controller, connected.queue);
        let outcome = self.hub().target().admin((controller, queue), command, &OfExports(&self.exported()), self.local);
        if outcome.new_terms {
            self.hub().terms_changed();
        }
        if let Some(answer) = outcome.answer {
            self.queue.answer(command, answer, &mut self.line.out);
        }
        if let Some(id) = outcome.aborted {
            self.queue.abort_event(id, &mut self.line.out);
        }
        self.line.server.registry.cut_off_some(&outcome.ended);
        if outcome.shuts_down {
            match &mut self.line.port {
                Some(port) if !self.shuts_down => {
                    self.shuts_down = true;
                    self.outstanding += 1;
                    port.submit(&[live::Request::flush(SHUTDOWN)], &mut self.line.replies);
                }
                Some(_) => {}
                None => self.hub().target().shut_down(controller),
            }
        }
    }

    /// Takes a request, or holds it until there is memory for it. The bytes that will be answered.
    fn admit(&mut self, work: Work) -> usize {
        self.line.deadlines.arrived();
        if !self.line.account.take(work.tag.memory_bytes()) {
            self.held = Some(work);
            return 0;
        }
        let answered = if work.tag.is_read() { work.length_bytes as usize } else { 0 };
        self.parsed.push(work);
        answered
    }

    /// The host has a time for what is missing of a PDU that it has begun, or of data that it was asked for.
    fn expect_the_rest(&mut self) {
        let is_waited_for = self.queue.queue().is_some() && !self.line.busy && self.is_in_the_middle();
        match is_waited_for {
            true => self.line.deadlines.waits_for(self.missing as u64, Instant::now()),
            false => self.line.deadlines.arrived(),
        }
    }

    /// Submits all parsed requests to the card at once. Payloads go to the card from where they were received.
    fn submit(&mut self) {
        self.line.last_batch = self.parsed.len();
        if self.parsed.is_empty() {
            return;
        }
        let Some(port) = &mut self.line.port else { unreachable!("what is elsewhere is not asked") };
        let input = &self.line.input;
        let requests: Vec<live::Request> = self.parsed.iter().map(|work| for_card(work, input)).collect();
        self.outstanding += requests.len() as u32;
        port.submit(&requests, &mut self.line.replies);
        self.parsed.clear();
    }

    /// Answers the commands whose requests the card has completed.
    fn answer(&mut self) {
        let mut all = std::mem::take(&mut self.line.replies);
        if all.is_empty() {
            return;
        }
        let (mut answered, mut read_bytes, mut written_bytes) = (0, 0, 0);
        for reply in all.drain(..) {
            self.outstanding -= 1;
            if reply.tag == SHUTDOWN {
                self.end_shutdown(reply.result.is_ok());
                continue;
            }
            let tag = Tag(reply.tag);
            let (bytes, out) = (u64::from(tag.length_bytes()), &mut self.line.out);
            answered += 1;
            match reply.result {
                Ok(data) if tag.is_read() => {
                    read_bytes += bytes;
                    self.queue.complete_read(tag, data.pieces(), out);
                    self.line.answered(tag.memory_bytes());
                    continue;
                }
                Ok(data) if tag.is_compare() => {
                    read_bytes += bytes;
                    self.queue.complete_compare(tag, data.pieces(), out);
                }
                Ok(_) => {
                    written_bytes += if tag.is_write() { bytes } else { 0 };
                    self.queue.complete(tag, Ok(()), out);
                }
                Err(error) => self.queue.complete(tag, Err(failure(error)), out),
            }
            self.line.account.give(tag.memory_bytes());
        }
        self.line.replies = all;
        self.line.count(answered, read_bytes, written_bytes, self.queue.in_flight());
    }

    /// The card has made durable what was answered. A card that can't leaves the shutdown incomplete, and the host waits in
    /// vain, as for a drive that hangs.
    fn end_shutdown(&mut self, is_durable: bool) {
        self.shuts_down = false;
        if let Some(connected) = self.queue.queue()
            && is_durable
        {
            self.hub().target().shut_down(connected.controller);
        }
    }

    fn keep_errors(&mut self) {
        let failures = self.queue.take_failures();
        if !failures.is_empty()
            && let Some(connected) = self.queue.queue()
        {
            self.hub().target().keep_errors(connected.controller, connected.queue, failures);
        }
    }

    /// Tells the host of events, if it has asked for them.
    fn tell_events(&mut self) {
        if !self.is_admin() {
            return;
        }
        let Some(connected) = self.queue.queue() else { return };
        let events = self.hub().target().events(connected.controller, &OfExports(&self.exported()));
        for (id, event) in events {
            self.queue.answer_event(id, event, &mut self.line.out);
        }
        self.next_look = Instant::now() + LOOKS;
    }
}

impl Conversation for Host {
    fn line(&mut self) -> &mut Line {
        &mut self.line
    }

    fn look(&mut self) -> Result<Look, Ended> {
        self.tell_events();
        self.line.send()?;
        self.line.stopping |= self.line.server.registry.stops();
        let is_answered = self.outstanding == 0 && self.line.unsent() == 0;
        if self.line.stopping && (is_answered || self.held.is_some()) {
            return Err(Ended::Stopped);
        }
        let waits = Waits {
            asked: self.outstanding > 0 || !self.aborting.is_empty() || self.line.owes_answers(),
            held: self.held.is_some(),
            in_the_middle: self.is_in_the_middle(),
            is_chosen: self.queue.queue().is_some() && !self.queue.is_locked(),
            has_others: self.is_admin(),
            until: self.until()?,
        };
        self.line.look(waits, None)
    }

    fn take(&mut self, on: &Wait, woken: Woken) -> Result<(), Ended> {
        self.line.take(on, woken, None)
    }

    /// Parses the PDUs that were received, submits their requests to the card, and answers those that are done. Repeats this
    /// while it makes room for bytes that were received already.
    fn go_on(&mut self) -> Result<(), Ended> {
        while self.go_on_once()? && self.line.busy {}
        Ok(())
    }

    fn end(&mut self, ended: Ended) -> Ended {
        let reason = self.queue.end_of_stream(self.line.end - self.line.begin);
        let ended = if matches!(ended, Ended::EndOfStream) { Ended::Nvme(reason) } else { ended };
        let _ = self.line.send();
        // A raw disk may still carry out what it was asked: a host that preempts this one waits for the end of it.
        self.line.leave();
        if let Some(connected) = self.queue.queue() {
            self.hub().leave(connected.controller, connected.queue, self.line.number, &self.line.server.registry);
        }
        if let Ended::Nvme(reason) = &ended
            && reason.termination().is_some()
        {
            // Bytes that are not received would make the system reset the connection, and the host miss the reason.
            self.line.stream.last_words(Instant::now() + LAST_WORDS);
        }
        self.line.stream.close();
        ended
    }
}

/// The payload as a range of the receive buffer.
fn moved(payload: Payload, at: usize) -> Payload {
    match payload {
        Payload::Input(range) => Payload::Input(range.start + at..range.end + at),
        own => own,
    }
}

fn for_card<'a>(work: &'a Work, input: &'a [u8]) -> live::Request<'a> {
    let (tag, offset, length) = (work.tag.0, work.offset_bytes, work.length_bytes);
    match work.operation {
        Operation::Read | Operation::Compare => live::Request::read(tag, offset, length),
        Operation::Write => live::Request::write(tag, offset, work.payload.of(input)).with_fua(work.fua),
        Operation::Flush => live::Request::flush(tag),
        Operation::Trim => live::Request::trim(tag, offset, length).with_fua(work.fua),
        Operation::Zero { keeps_room } => {
            live::Request::write_zeroes(tag, offset, length, keeps_room).with_fua(work.fua)
        }
    }
}

fn failure(failed: Failed) -> Failure {
    match failed {
        Failed::OfCard(ReplyError::OutOfRange) => Failure::OutOfRange,
        Failed::OfCard(ReplyError::ReadOnly) => Failure::ReadOnly,
        Failed::OfCard(ReplyError::NoSpace) => Failure::NoSpace,
        Failed::OfCard(ReplyError::Unreadable { .. }) | Failed::Read => Failure::Unreadable,
        Failed::OfCard(ReplyError::NoPower | ReplyError::Halted) => Failure::NotReady,
        Failed::Write => Failure::NotWritten,
    }
}
