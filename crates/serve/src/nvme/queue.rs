//! One connection, which is one queue: from its first PDU to its end.

use crate::nvme::answer::{Answer, Connected};
use crate::nvme::bytes::{put_u16, put_u64, u16_at, u32_at};
use crate::nvme::close::{Close, Field};
use crate::nvme::command::{Command, fabrics, io};
use crate::nvme::frame::{Allowed, Found, Frame, Sender, find};
use crate::nvme::io::{Extent, Plan, Source, Trims, destination, plan, source};
use crate::nvme::limits::{BLOCK_BYTES, MAX_H2C_DATA_BYTES, MAX_QUEUE_ENTRIES};
use crate::nvme::pdu::{
    COMMAND_HEADER_BYTES, DataFrame, Digests, HEADER_BYTES, INITIALIZE_BYTES, SHORT_HEADER_BYTES, kind, put_data,
    put_initialized, put_ready, put_response, put_termination,
};
use crate::nvme::slots::{Slot, Slots, Wanted};
use crate::nvme::status::Status;
use crate::nvme::step::Step;
use crate::nvme::terms::Terms;
use crate::nvme::work::{Failure, Operation, Payload, Tag, Work};

/// The requests of one Dataset Management that are with the card at once.
const MAX_TRIMS_AT_ONCE: u32 = 32;
/// Failures that are kept for the error log until the driver takes them.
const MAX_FAILURES: usize = 64;

/// A command that failed, for the error log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed {
    /// The command that failed.
    pub command: Command,
    /// The status that the host got.
    pub status: Status,
}

/// See the module.
#[derive(Debug)]
pub struct Queue {
    initialized: bool,
    digests: Digests,
    /// The alignment of data that the host wants, in bytes.
    align: usize,
    connected: Option<Connected>,
    /// The host has to authenticate itself before anything else.
    locked: bool,
    /// The head of the submission queue, as the host is told.
    head: u16,
    terms: Terms,
    slots: Slots,
    /// The rest of a Dataset Management, by its slot.
    trims: Option<(u8, Trims)>,
    failures: Vec<Failed>,
    closed: Option<Close>,
}

impl Default for Queue {
    fn default() -> Queue {
        Queue {
            initialized: false,
            digests: Digests::default(),
            align: 4,
            connected: None,
            locked: false,
            head: 0,
            terms: Terms::default(),
            slots: Slots::new(),
            trims: None,
            failures: Vec::new(),
            closed: None,
        }
    }
}

impl Queue {
    /// Parses received bytes. Returns how many of them are consumed, and the next action. The caller passes the bytes
    /// that are not consumed again, with more behind them.
    pub fn parse(&mut self, input: &[u8], out: &mut Vec<u8>) -> (usize, Step) {
        if let Some(close) = &self.closed {
            return (0, Step::Close(close.clone()));
        }
        if self.trims.is_some() {
            return (0, self.next_trim(out));
        }
        let is_io = self.is_io();
        let frame = match find(
            input,
            Allowed { sender: Sender::Host, initialized: self.initialized, is_io, digests: self.digests },
        ) {
            Ok(Found::Missing(at_least_bytes)) => return (0, Step::NeedMore { at_least_bytes }),
            Ok(Found::Whole(frame)) => frame,
            Err(close) => {
                let is_late = matches!(close, Close::HeaderDigest { .. });
                let header = if is_late { header_bytes(input) } else { HEADER_BYTES };
                return (0, self.close(close, &input[..header], out));
            }
        };
        if frame.kind == kind::COMMAND && is_io && self.slots.is_full() {
            // A slot comes free when the card answers; one that waits for data of the host never would, behind this command.
            if self.slots.all_wait_for_data() {
                return (0, self.close(Close::Overrun, &input[..header_bytes(input)], out));
            }
            return (0, Step::Busy);
        }
        let step = match frame.kind {
            kind::INITIALIZE => self.initialize(input, out),
            kind::COMMAND => Ok(self.command(input, &frame, out)),
            kind::HOST_DATA => self.host_data(input, &frame, out),
            _ => Err(Close::HostTerminated { status: u16_at(input, 8), information: u32_at(input, 10) }),
        };
        match step {
            Ok(step) => (frame.bytes, step),
            Err(close) => (0, self.close(close, &input[..header_bytes(input)], out)),
        }
    }

    /// Ends the connection; the host is told why, and by which header.
    fn close(&mut self, close: Close, header: &[u8], out: &mut Vec<u8>) -> Step {
        if let Some((status, information)) = close.termination() {
            put_termination(status, information, header, out);
        }
        self.closed = Some(close.clone());
        Step::Close(close)
    }

    /// The reason to close after the end of the stream, which left so many received bytes that were not consumed.
    pub fn end_of_stream(&mut self, unconsumed_bytes: usize) -> Close {
        let in_flight = self.in_flight();
        let reason = if unconsumed_bytes == 0 { Close::Ended { in_flight } } else { Close::Truncated { in_flight } };
        self.closed.get_or_insert(reason).clone()
    }

    /// The number of commands that are in flight.
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        self.slots.in_flight()
    }

    /// The number of commands whose data the host has not sent, though it was asked to.
    #[must_use]
    pub fn waiting_for_data(&self) -> u32 {
        self.slots.waiting_for_data()
    }

    /// The queue as it was connected.
    #[must_use]
    pub fn queue(&self) -> Option<&Connected> {
        self.connected.as_ref()
    }

    fn is_io(&self) -> bool {
        self.connected.as_ref().is_some_and(|connected| connected.queue > 0)
    }

    /// The terms for commands that are parsed from now on, and for data that come from now on: a command that is not
    /// allowed any more changes nothing more.
    pub fn set_terms(&mut self, terms: Terms, out: &mut Vec<u8>) {
        let before = std::mem::replace(&mut self.terms, terms);
        let terms = &self.terms;
        let refusal = |slot: &Slot| {
            let (id, opcode) = (slot.command.namespace(), slot.command.opcode());
            let namespace = terms.namespace(id)?;
            // A part of it may lie in the card of before.
            let has_changed = before.namespace(id).is_some_and(|before| before.backing != namespace.backing);
            let changes = matches!(opcode, io::WRITE | io::DATASET_MANAGEMENT);
            let changed = has_changed.then_some(Status::ACCESS_TRANSITION);
            let conflicts = (changes && namespace.write_conflict).then_some(Status::RESERVATION_CONFLICT);
            namespace.access.refusal().or(changed).or(conflicts)
        };
        self.slots.fail_waiting(refusal);
        if let Some((number, _)) = self.trims
            && let Some(slot) = self.slots.get(number.into())
            && let Some(status) = refusal(slot)
        {
            slot.more = false;
            slot.fail(status);
            self.trims = None;
            self.finish(number.into(), out);
        }
    }

    /// Takes the commands that have failed since the last call.
    pub fn take_failures(&mut self) -> Vec<Failed> {
        std::mem::take(&mut self.failures)
    }

    /// Section 3.6.2.2 of the transport.
    fn initialize(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<Step, Close> {
        let (alignment, digests) = (input[10], input[11]);
        if u16_at(input, 8) != 0 {
            return Err(Close::Unsupported { field: Field::Version });
        }
        if alignment > 31 {
            return Err(Close::InvalidField { kind: kind::INITIALIZE, field: Field::Alignment });
        }
        self.align = (usize::from(alignment) + 1) * 4;
        self.digests = Digests { header: digests & 1 != 0, data: digests & 2 != 0 };
        self.initialized = true;
        put_initialized(self.digests, MAX_H2C_DATA_BYTES, out);
        Ok(Step::Replied)
    }

    fn command(&mut self, input: &[u8], frame: &Frame, out: &mut Vec<u8>) -> Step {
        let command = Command::of(&input[HEADER_BYTES..]);
        if let Some(connected) = &self.connected {
            self.head = (self.head + 1) % connected.entries;
        }
        let outcome = if !frame.intact {
            Err(Status::TRANSIENT_TRANSPORT_ERROR)
        } else if self.slots.has(command.id()) {
            Err(Status::ID_CONFLICT)
        } else {
            self.dispatch(command, input, frame, out)
        };
        outcome.unwrap_or_else(|status| {
            self.answer(&command, status.into(), out);
            Step::Replied
        })
    }

    fn dispatch(&mut self, command: Command, input: &[u8], frame: &Frame, out: &mut Vec<u8>) -> Result<Step, Status> {
        let is_connect = command.opcode() == fabrics::OPCODE && command.fabrics_type() == fabrics::CONNECT;
        if self.connected.is_none() != is_connect {
            return Err(Status::COMMAND_SEQUENCE_ERROR);
        }
        if self.locked && !command.authenticates() {
            return Err(Status::AUTHENTICATION_REQUIRED);
        }
        if !self.is_io() || command.authenticates() {
            return self.hand_on(command, frame);
        }
        let (operation, extent, fua, list_bytes) = match plan(&command, &self.terms)? {
            Plan::Transfer { operation: Operation::Read, extent, fua } => {
                destination(&command, extent.length_bytes as usize)?;
                (Operation::Read, extent, fua, None)
            }
            Plan::Transfer { operation, extent, fua } => {
                return self.transfer(Slot::new(command, operation, extent, fua), input, frame, out);
            }
            Plan::Plain { operation, extent, fua } => (operation, extent, fua, None),
            Plan::Flush => {
                let card = self.terms.namespaces.first().ok_or(Status::INVALID_NAMESPACE)?.card;
                (Operation::Flush, Extent { card, offset_bytes: 0, length_bytes: 0 }, false, None)
            }
            Plan::Report => return Ok(Step::Admin { command, data: Payload::Input(0..0) }),
            Plan::Dataset { sent_bytes } | Plan::Reserve { sent_bytes } => {
                let extent = Extent { card: 0, offset_bytes: 0, length_bytes: 0 };
                (Operation::Trim, extent, false, Some(sent_bytes))
            }
        };
        let mut slot = Slot::new(command, operation, extent, fua);
        if let Some(length) = list_bytes {
            return match source(&command, length, frame.data.len())? {
                Source::Capsule(at) => {
                    let begin = frame.data.start + at;
                    let list = begin..begin + length as usize;
                    if command.opcode() != io::DATASET_MANAGEMENT {
                        return Ok(self.reserve(slot, Payload::Input(list)));
                    }
                    let trims = Trims::new(&command, &self.terms, &input[list])?;
                    Ok(self.trim(slot, trims, out))
                }
                Source::Transport => {
                    slot.wanted = Wanted::ToCollect { length };
                    Ok(self.ask(slot, length, out))
                }
            };
        }
        let number = self.slots.take(slot);
        let slot = self.slots.get(number.into()).expect("it was just taken");
        Ok(Step::Work(slot.work(number, extent, Payload::Input(0..0))))
    }

    /// A command of the admin queue, or a Connect.
    fn hand_on(&mut self, command: Command, frame: &Frame) -> Result<Step, Status> {
        if command.is_fused() || !command.has_sgl() {
            return Err(Status::INVALID_FIELD);
        }
        let selector = if command.opcode() == fabrics::OPCODE { command.fabrics_type() } else { command.opcode() };
        // The lowest bits of an opcode, and of a type, say which way the data go.
        let from_host = selector & 3 == 1 && command.data_length() > 0;
        let data = match from_host {
            false => frame.data.start..frame.data.start,
            true => match source(&command, command.data_length(), frame.data.len())? {
                Source::Capsule(at) => {
                    let begin = frame.data.start + at;
                    begin..begin + command.data_length() as usize
                }
                // All data of these commands fit into a capsule.
                Source::Transport => return Err(Status::DESCRIPTOR_TYPE_INVALID),
            },
        };
        let data = Payload::Input(data);
        Ok(match self.connected {
            None => Step::Connect { command, data },
            Some(_) if command.authenticates() => Step::Authenticate { command, data },
            Some(_) => Step::Admin { command, data },
        })
    }

    /// A command whose data go from the host to the card.
    fn transfer(&mut self, mut slot: Slot, input: &[u8], frame: &Frame, out: &mut Vec<u8>) -> Result<Step, Status> {
        let extent = slot.extent;
        match source(&slot.command, extent.length_bytes, frame.data.len())? {
            Source::Transport => {
                slot.wanted = Wanted::ForCard { received: 0 };
                Ok(self.ask(slot, extent.length_bytes, out))
            }
            Source::Capsule(at) => {
                let begin = frame.data.start + at;
                let data = begin..begin + extent.length_bytes as usize;
                let number = self.slots.take(slot);
                let slot = self.slots.get(number.into()).expect("it was just taken");
                Ok(Step::Work(work_with_data(slot, number, extent, Payload::Input(data), input)))
            }
        }
    }

    /// Asks the host for the data of a command, all at once.
    fn ask(&mut self, slot: Slot, length: u32, out: &mut Vec<u8>) -> Step {
        let id = slot.command.id();
        let number = self.slots.take(slot);
        put_ready(id, number.into(), 0, length, self.digests, out);
        Step::Replied
    }

    fn host_data(&mut self, input: &[u8], frame: &Frame, out: &mut Vec<u8>) -> Result<Step, Close> {
        let invalid = |field| Close::InvalidField { kind: kind::HOST_DATA, field };
        let (id, tag) = (u16_at(input, 8), u16_at(input, 10));
        let (offset, length) = (u32_at(input, 12), u32_at(input, 16));
        let slot = self.slots.get(tag.into()).ok_or(invalid(Field::Tag))?;
        let (received, all) = match slot.wanted {
            Wanted::Nothing => return Err(invalid(Field::Tag)),
            Wanted::ForCard { received } => (received, slot.extent.length_bytes),
            Wanted::ToCollect { length } => (slot.kept.len() as u32, length),
        };
        if slot.command.id() != id {
            return Err(invalid(Field::CommandId));
        }
        if length as usize != frame.data.len() {
            return Err(invalid(Field::DataLength));
        }
        if length > MAX_H2C_DATA_BYTES {
            return Err(Close::TooMuchData { bytes: length });
        }
        if offset != received || length > all - received {
            return Err(Close::OutOfRange { offset });
        }
        let is_last = length == all - received;
        if frame.is_last != is_last {
            return Err(invalid(Field::Flags));
        }
        if !frame.intact {
            slot.fail(Status::TRANSIENT_TRANSPORT_ERROR);
        }
        let number = tag as u8;
        if let Wanted::ToCollect { .. } = slot.wanted {
            slot.kept.extend_from_slice(&input[frame.data.clone()]);
            return Ok(if is_last { self.collected(number, out) } else { Step::Replied });
        }
        slot.wanted = if is_last { Wanted::Nothing } else { Wanted::ForCard { received: received + length } };
        if slot.status != Status::SUCCESS {
            slot.kept = Vec::new();
            self.finish(number.into(), out);
            return Ok(Step::Replied);
        }
        // Whole sectors go on. A sector must not be written in part: it is one or the other version for ever.
        let kept = slot.kept.len() as u32;
        let whole = (kept + length) / BLOCK_BYTES * BLOCK_BYTES;
        let at = frame.data.start;
        if whole == 0 {
            slot.kept.extend_from_slice(&input[frame.data.clone()]);
            return Ok(Step::Replied);
        }
        let taken = at..at + (whole - kept) as usize;
        let payload = if kept == 0 {
            Payload::Input(taken.clone())
        } else {
            let mut bytes = std::mem::take(&mut slot.kept);
            bytes.extend_from_slice(&input[taken.clone()]);
            Payload::Own(bytes)
        };
        slot.kept.extend_from_slice(&input[taken.end..frame.data.end]);
        let begin = slot.extent.offset_bytes + u64::from(received - kept);
        let extent = Extent { offset_bytes: begin, length_bytes: whole, ..slot.extent };
        Ok(Step::Work(work_with_data(slot, number, extent, payload, input)))
    }

    /// All data have come of a command that wants them together.
    fn collected(&mut self, number: u8, out: &mut Vec<u8>) -> Step {
        let mut slot = self.slots.release(number.into());
        let outcome = match slot.status {
            Status::SUCCESS if slot.command.opcode() != io::DATASET_MANAGEMENT => {
                slot.wanted = Wanted::Nothing;
                let keys = std::mem::take(&mut slot.kept);
                return self.reserve(slot, Payload::Own(keys));
            }
            Status::SUCCESS => Trims::new(&slot.command, &self.terms, &std::mem::take(&mut slot.kept)),
            failed => Err(failed),
        };
        match outcome {
            Ok(trims) => {
                slot.wanted = Wanted::Nothing;
                self.trim(slot, trims, out)
            }
            Err(status) => {
                self.answer(&slot.command, status.into(), out);
                Step::Replied
            }
        }
    }

    fn reserve(&mut self, mut slot: Slot, data: Payload) -> Step {
        slot.more = true;
        let command = slot.command;
        Step::Reserve { slot: self.slots.take(slot), command, data }
    }

    /// Answers a command that has changed reservations.
    pub fn answer_reserve(&mut self, slot: u8, status: Status, out: &mut Vec<u8>) {
        if let Some(reserving) = self.slots.get(slot.into()) {
            reserving.more = false;
            reserving.fail(status);
        }
        self.finish(slot.into(), out);
    }

    fn trim(&mut self, mut slot: Slot, trims: Trims, out: &mut Vec<u8>) -> Step {
        if trims.is_empty() {
            self.answer(&slot.command, Answer::value(0), out);
            return Step::Replied;
        }
        slot.more = true;
        let number = self.slots.take(slot);
        self.trims = Some((number, trims));
        self.next_trim(out)
    }

    fn next_trim(&mut self, out: &mut Vec<u8>) -> Step {
        let Some((number, trims)) = &mut self.trims else { unreachable!("a Dataset Management goes on") };
        let number = *number;
        let slot = self.slots.get(number.into()).expect("it is in flight");
        if slot.outstanding >= MAX_TRIMS_AT_ONCE {
            return Step::Busy;
        }
        let extent = trims.next();
        let is_over = trims.is_empty();
        let work = extent.map(|extent| slot.work(number, extent, Payload::Input(0..0)));
        if is_over {
            slot.more = false;
            self.trims = None;
        }
        match work {
            Some(work) => Step::Work(work),
            None => {
                self.finish(number.into(), out);
                Step::Replied
            }
        }
    }

    /// The host has to authenticate itself before its next command.
    pub fn lock(&mut self) {
        self.locked = true;
    }

    /// The host has authenticated itself.
    pub fn unlock(&mut self) {
        self.locked = false;
    }

    /// Whether the host has to authenticate itself first.
    #[must_use]
    pub fn is_locked(&self) -> bool {
        self.locked
    }

    /// Reports that a queue was connected: the answer to a Connect.
    pub fn connected(&mut self, command: &Command, connected: Connected, value: u64, out: &mut Vec<u8>) {
        self.slots.allow(connected.entries.min(MAX_QUEUE_ENTRIES));
        // Connect is the first command of the queue.
        self.head = 1 % connected.entries;
        self.connected = Some(connected);
        self.respond(command.id(), Status::SUCCESS, value, out);
    }

    /// Answers a command that the target has carried out, or that is refused.
    pub fn answer(&mut self, command: &Command, answer: Answer, out: &mut Vec<u8>) {
        let Answer { mut status, value, data } = answer;
        if let Some(data) = &data
            && status == Status::SUCCESS
        {
            match destination(command, data.len()) {
                Ok(()) => {
                    let frame = self.data_frame(value == 0);
                    put_data(command.id(), std::iter::once(&data[..]), data.len(), frame, out);
                    if frame.success {
                        return;
                    }
                }
                Err(refused) => status = refused,
            }
        }
        if status != Status::SUCCESS && self.failures.len() < MAX_FAILURES {
            self.failures.push(Failed { command: *command, status });
        }
        self.respond(command.id(), status, value, out);
    }

    /// Answers an asynchronous event request.
    pub fn answer_event(&mut self, command_id: u16, event: u32, out: &mut Vec<u8>) {
        self.respond(command_id, Status::SUCCESS, event.into(), out);
    }

    /// Answers an asynchronous event request that was aborted.
    pub fn abort_event(&mut self, command_id: u16, out: &mut Vec<u8>) {
        self.respond(command_id, Status::ABORTED_BY_REQUEST, 0, out);
    }

    fn data_frame(&self, may_succeed: bool) -> DataFrame {
        // Without flow control the host does not need the head of the queue, so a response says nothing more.
        let no_flow_control = self.connected.as_ref().is_some_and(|connected| connected.no_flow_control);
        DataFrame { digests: self.digests, align: self.align, success: may_succeed && no_flow_control }
    }

    fn respond(&mut self, command_id: u16, status: Status, value: u64, out: &mut Vec<u8>) {
        let mut entry = [0; 16];
        put_u64(&mut entry, 0, value);
        let head = match &self.connected {
            Some(connected) if connected.no_flow_control => u16::MAX,
            _ => self.head,
        };
        put_u16(&mut entry, 8, head);
        put_u16(&mut entry, 12, command_id);
        put_u16(&mut entry, 14, status.field());
        put_response(&entry, self.digests, out);
    }

    /// Reports the reply to a read for the host that worked: its data, in pieces.
    ///
    /// # Panics
    ///
    /// If the request is not in flight; this holds for all reports.
    pub fn complete_read<'a>(&mut self, tag: Tag, pieces: impl Iterator<Item = &'a [u8]>, out: &mut Vec<u8>) {
        let slot = self.slots.release(tag.slot());
        let frame = self.data_frame(true);
        put_data(slot.command.id(), pieces, tag.length_bytes() as usize, frame, out);
        if !frame.success {
            self.respond(slot.command.id(), Status::SUCCESS, 0, out);
        }
    }

    /// Reports the reply to a read for a Compare that worked.
    pub fn complete_compare<'a>(&mut self, tag: Tag, pieces: impl Iterator<Item = &'a [u8]>, out: &mut Vec<u8>) {
        let slot = self.slots.get(tag.slot()).expect("it is in flight");
        let at = slot.compared.iter().position(|(piece, _)| *piece == tag.piece()).expect("its data were kept");
        let (_, expected) = slot.compared.swap_remove(at);
        let mut left = &expected[..];
        let same = pieces.into_iter().all(|piece| match left.split_at_checked(piece.len()) {
            Some((front, rest)) => {
                left = rest;
                front == piece
            }
            None => false,
        });
        if !same || !left.is_empty() {
            slot.fail(Status::COMPARE_FAILURE);
        }
        self.one_less(tag, out);
    }

    /// Reports the reply to any other request, or to a read that failed.
    pub fn complete(&mut self, tag: Tag, result: Result<(), Failure>, out: &mut Vec<u8>) {
        let slot = self.slots.get(tag.slot()).expect("it is in flight");
        if let Err(failure) = result {
            slot.compared.retain(|(piece, _)| *piece != tag.piece());
            slot.fail(match failure {
                Failure::OutOfRange => Status::LBA_OUT_OF_RANGE,
                Failure::ReadOnly => Status::WRITE_PROTECTED,
                Failure::NoSpace => Status::CAPACITY_EXCEEDED,
                Failure::Unreadable => Status::UNRECOVERED_READ,
                Failure::NotWritten => Status::WRITE_FAULT,
                Failure::NotReady => Status::NAMESPACE_NOT_READY,
            });
        }
        self.one_less(tag, out);
    }

    fn one_less(&mut self, tag: Tag, out: &mut Vec<u8>) {
        let slot = self.slots.get(tag.slot()).expect("it is in flight");
        slot.outstanding -= 1;
        self.finish(tag.slot(), out);
    }

    /// Answers a command of which nothing is left to be done.
    fn finish(&mut self, number: usize, out: &mut Vec<u8>) {
        if !self.slots.get(number).is_some_and(|slot| slot.is_done()) {
            return;
        }
        let slot = self.slots.release(number);
        self.answer(&slot.command, Answer::refused(slot.status), out);
    }
}

/// The length of the header of a PDU whose type is known, and whose header has come.
fn header_bytes(input: &[u8]) -> usize {
    match input[0] {
        kind::INITIALIZE => INITIALIZE_BYTES,
        kind::COMMAND => COMMAND_HEADER_BYTES,
        _ => SHORT_HEADER_BYTES,
    }
}

/// The request for data that have come. A Compare keeps its own.
fn work_with_data(slot: &mut Slot, number: u8, extent: Extent, payload: Payload, input: &[u8]) -> Work {
    if slot.operation != Operation::Compare {
        return slot.work(number, extent, payload);
    }
    let kept = payload.of(input).to_vec();
    let work = slot.work(number, extent, Payload::Input(0..0));
    slot.compared.push((work.tag.piece(), kept));
    work
}
