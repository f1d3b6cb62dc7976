//! A server that does what [`Step`] says, on cards that are plain bytes.

use super::host::{self, Digests, Entry, Pdu, Response};
use serve::nvme::{
    Access, Cards, Close, Dialog, Failure, NamespaceEntry, Operation, Queue, RANDOM_BYTES, Reserved, Secrets, Smart,
    Status, Step, Subsystem, Tag, Target, Work,
};
use std::cell::{Cell, RefCell};
use std::net::SocketAddr;

/// Bytes of the card, unless somebody chooses others.
pub const CARD_BYTES: usize = 4 << 20;

/// The health of the card, the reservations that were kept, and whether keeping them fails.
pub struct Health(pub Smart, pub RefCell<Vec<u8>>, pub Cell<bool>);

impl Cards for Health {
    fn smart(&self, _: usize) -> Option<Smart> {
        Some(self.0)
    }
    fn used_blocks(&self, _: usize) -> u64 {
        7
    }
    fn keep_reservations(&self, _: usize, bytes: &[u8]) -> bool {
        *self.1.borrow_mut() = bytes.to_vec();
        !self.2.get()
    }
}

pub fn subsystem() -> Subsystem {
    subsystem_of(CARD_BYTES)
}

fn subsystem_of(card_bytes: usize) -> Subsystem {
    let uuid = [7; 16];
    Subsystem {
        nqn: Subsystem::nqn_of(&uuid),
        serial: "0707".into(),
        model: "a card".into(),
        firmware: "1.2.3".into(),
        has_write_cache: true,
        is_shared: false,
        access: Access::Optimized,
        namespaces: vec![NamespaceEntry {
            id: 1,
            card: 0,
            blocks: card_bytes as u64 / 4096,
            uuid,
            read_only: false,
            keeps_reservations: true,
            backing: 0,
        }],
    }
}

/// All that connections share.
pub struct Shared {
    pub target: Target,
    pub card: Vec<u8>,
    pub cards: Health,
    pub flushes: u32,
    pub forced: u32,
    pub ended: Vec<u64>,
    /// The consequences of changes of reservations.
    pub reserved: Vec<Reserved>,
    /// Secrets that hosts have to know.
    pub secrets: Option<Secrets>,
    pub random: u8,
    pub connections: u64,
    /// The card goes to another server and comes back, each time after so many steps; 0: it stays.
    pub stays: u64,
    pub steps: u64,
    pub access: Access,
}

impl Default for Shared {
    fn default() -> Shared {
        Shared::with_card(CARD_BYTES)
    }
}

impl Shared {
    /// A card of so many bytes.
    pub fn with_card(bytes: usize) -> Shared {
        Shared {
            target: Target::new(vec![subsystem_of(bytes)]),
            card: vec![0; bytes],
            cards: Health(Smart { available_spare: 100, ..Smart::default() }, RefCell::default(), Cell::default()),
            flushes: 0,
            forced: 0,
            ended: Vec::new(),
            reserved: Vec::new(),
            secrets: None,
            random: 0,
            connections: 0,
            stays: 0,
            steps: 0,
            access: Access::Optimized,
        }
    }
}

/// The server's side of a connection.
pub struct Server {
    pub queue: Queue,
    pub out: Vec<u8>,
    pub closed: Option<Close>,
    dialog: Option<Dialog>,
    /// The host has failed to authenticate itself, and was told so.
    pub unauthenticated: bool,
    /// Requests that are held before they are answered, last one first.
    pub hold: usize,
    held: Vec<Work>,
    received: Vec<u8>,
    /// The bytes of `received` that were parsed. They go when the rest waits for more, as what is behind them moves then.
    parsed: usize,
    number: u64,
    pub digests: Digests,
    taken: usize,
}

impl Server {
    pub fn new(shared: &mut Shared) -> Server {
        shared.connections += 1;
        Server {
            queue: Queue::default(),
            out: Vec::new(),
            closed: None,
            dialog: None,
            unauthenticated: false,
            hold: 0,
            held: Vec::new(),
            received: Vec::new(),
            parsed: 0,
            number: shared.connections,
            digests: Digests::default(),
            taken: 0,
        }
    }

    /// A connection that has exchanged its first PDUs.
    pub fn initialized(shared: &mut Shared, digests: Digests) -> Server {
        let mut server = Server::new(shared);
        server.feed(shared, &host::initialize(digests));
        server.digests = digests;
        server.taken = server.out.len();
        server
    }

    /// An admin queue of an enabled controller.
    pub fn admin(shared: &mut Shared, subsystem: &str, digests: Digests) -> Server {
        let mut server = Server::initialized(shared, digests);
        let connected = server.one(shared, &host::connect(0, 32, 0xFFFF, subsystem, digests));
        assert_eq!(connected.status, (0, 0, false));
        assert_eq!(server.ask(shared, host::property_set(1, 0x14, host::ENABLE)).status, (0, 0, false));
        server
    }

    /// An admin queue, and an I/O queue.
    pub fn pair(shared: &mut Shared, digests: Digests) -> (Server, Server) {
        let admin = Server::admin(shared, host::SUBSYSTEM, digests);
        let controller = admin.queue.queue().unwrap().controller;
        let mut io = Server::initialized(shared, digests);
        let connected = io.one(shared, &host::connect(1, 128, controller, host::SUBSYSTEM, digests));
        assert_eq!(connected.status, (0, 0, false));
        (admin, io)
    }

    pub fn feed(&mut self, shared: &mut Shared, bytes: &[u8]) {
        self.received.extend_from_slice(bytes);
        while self.closed.is_none() && !self.unauthenticated && self.step(shared) {}
        self.received.drain(..self.parsed);
        self.parsed = 0;
    }

    /// The PDUs since the last call.
    pub fn answers(&mut self) -> Vec<Pdu> {
        let all = host::pdus(&self.out[self.taken..], self.digests);
        self.taken = self.out.len();
        all
    }

    /// The one response to some bytes.
    pub fn one(&mut self, shared: &mut Shared, bytes: &[u8]) -> Response {
        self.feed(shared, bytes);
        match &self.answers()[..] {
            [Pdu::Response(response)] => *response,
            other => panic!("{other:?}, {:?}", self.closed),
        }
    }

    /// The response to a command without data.
    pub fn ask(&mut self, shared: &mut Shared, entry: Entry) -> Response {
        self.one(shared, &host::command(entry, &[], self.digests))
    }

    /// The data and the response of a command that has some for the host.
    pub fn get(&mut self, shared: &mut Shared, entry: Entry) -> Result<Vec<u8>, Response> {
        self.feed(shared, &host::command(entry, &[], self.digests));
        match &self.answers()[..] {
            [Pdu::Data { data, flags, .. }, Pdu::Response(response)] => {
                assert_eq!((response.status, flags & 0xC), ((0, 0, false), 4));
                Ok(data.clone())
            }
            [Pdu::Data { data, flags, .. }] => {
                assert_eq!(flags & 0xC, 0xC, "the last PDU says that it succeeded");
                Ok(data.clone())
            }
            [Pdu::Response(response)] => Err(*response),
            other => panic!("{other:?}, {:?}", self.closed),
        }
    }

    /// The queue learns what it may do now.
    pub fn renew(&mut self, shared: &Shared) {
        let terms = shared.target.terms(self.queue.queue().unwrap().controller);
        self.queue.set_terms(terms, &mut self.out);
    }

    /// The card goes, or comes back, and the queue learns of it when its commands in flight have ended.
    pub fn moves(&mut self, shared: &mut Shared, access: Access) {
        shared.access = access;
        shared.target.set_access(0, access, shared.steps);
        self.answer_all(shared, None);
        self.renew(shared);
    }

    /// Whether parsing may go on.
    fn step(&mut self, shared: &mut Shared) -> bool {
        let goes_on = self.one_step(shared);
        // A call for more bytes is no step: how many there are depends on how the bytes are cut.
        shared.steps += u64::from(goes_on);
        if shared.stays > 0 && goes_on && self.queue.queue().is_some() && shared.steps.is_multiple_of(shared.stays) {
            let next = match shared.access {
                Access::Optimized => Access::Inaccessible,
                Access::Inaccessible => Access::Change,
                Access::Change => Access::Optimized,
            };
            self.moves(shared, next);
        }
        goes_on
    }

    fn one_step(&mut self, shared: &mut Shared) -> bool {
        let before = self.out.len();
        let (consumed, step) = self.queue.parse(&self.received[self.parsed..], &mut self.out);
        let goes_on = match step {
            Step::NeedMore { at_least_bytes } => {
                assert!(at_least_bytes > 0 && self.out.len() == before);
                false
            }
            Step::Replied => true,
            Step::Connect { command, data } => {
                match shared.target.connect(&command, data.of(&self.received[self.parsed..]), self.number) {
                    Ok((connected, value)) => {
                        let terms = shared.target.terms(connected.controller);
                        self.queue.set_terms(terms, &mut self.out);
                        let names = shared.target.names(connected.controller).filter(|_| shared.secrets.is_some());
                        self.dialog = names.map(Dialog::new);
                        let value = value | u64::from(self.dialog.is_some()) << 17;
                        if self.dialog.is_some() {
                            self.queue.lock();
                        }
                        self.queue.connected(&command, connected, value, &mut self.out);
                    }
                    Err(answer) => self.queue.answer(&command, answer, &mut self.out),
                }
                true
            }
            Step::Admin { command, .. } => {
                let connected = self.queue.queue().unwrap();
                let (id, queue) = (connected.controller, connected.queue);
                let local: SocketAddr = "192.0.2.7:4420".parse().unwrap();
                let outcome = shared.target.admin((id, queue), &command, &shared.cards, local);
                if let Some(answer) = outcome.answer {
                    self.queue.answer(&command, answer, &mut self.out);
                }
                if let Some(id) = outcome.aborted {
                    self.queue.abort_event(id, &mut self.out);
                }
                if outcome.shuts_down {
                    shared.flushes += 1;
                    shared.target.shut_down(id);
                }
                shared.ended.extend(outcome.ended);
                true
            }
            Step::Authenticate { command, data } => {
                let (Some(dialog), Some(secrets)) = (&mut self.dialog, &shared.secrets) else {
                    self.queue.answer(&command, Status::INVALID_FIELD.into(), &mut self.out);
                    self.parsed += consumed;
                    return true;
                };
                shared.random = shared.random.wrapping_add(1);
                let random = [shared.random; RANDOM_BYTES];
                let answer = dialog.carry_out(&command, data.of(&self.received[self.parsed..]), secrets, &random);
                self.queue.answer(&command, answer, &mut self.out);
                if dialog.is_authenticated() {
                    self.queue.unlock();
                }
                self.unauthenticated = dialog.is_over();
                !self.unauthenticated
            }
            Step::Reserve { slot, command, data } => {
                let id = self.queue.queue().unwrap().controller;
                let reserved =
                    shared.target.reserve(id, &command, data.of(&self.received[self.parsed..]), &shared.cards);
                shared.reserved.push(reserved.clone());
                self.queue.answer_reserve(slot, reserved.status, &mut self.out);
                // As a server does, once its commands in flight have ended.
                self.answer_all(shared, None);
                self.renew(shared);
                true
            }
            Step::Work(work) => {
                assert!(work.offset_bytes + u64::from(work.length_bytes) <= shared.card.len() as u64);
                // The payload is used now, as by a card that takes it at once.
                self.take(shared, &work);
                self.held.push(work);
                if self.held.len() > self.hold {
                    self.answer_one(shared);
                }
                true
            }
            Step::Busy => {
                self.answer_one(shared);
                true
            }
            Step::Close(close) => {
                self.closed = Some(close);
                false
            }
        };
        self.parsed += consumed;
        goes_on
    }

    fn take(&mut self, shared: &mut Shared, work: &Work) {
        let range = work.offset_bytes as usize..work.offset_bytes as usize + work.length_bytes as usize;
        assert_eq!(shared.access, Access::Optimized, "the card is not here");
        shared.forced += u32::from(work.fua);
        match work.operation {
            Operation::Read | Operation::Compare => {}
            Operation::Write => shared.card[range].copy_from_slice(work.payload.of(&self.received[self.parsed..])),
            Operation::Flush => shared.flushes += 1,
            Operation::Trim | Operation::Zero { .. } => shared.card[range].fill(0),
        }
    }

    fn answer_one(&mut self, shared: &mut Shared) {
        let work = self.held.pop().expect("a queue is full of commands that are in flight");
        let begin = work.offset_bytes as usize;
        let range = begin..begin + work.length_bytes as usize;
        let tag: Tag = work.tag;
        match work.operation {
            Operation::Read => self.queue.complete_read(tag, shared.card[range].chunks(4096), &mut self.out),
            Operation::Compare => self.queue.complete_compare(tag, shared.card[range].chunks(4096), &mut self.out),
            _ => self.queue.complete(tag, Ok(()), &mut self.out),
        }
    }

    /// Answers all requests that are held; the first as a failure, if one is given.
    pub fn answer_all(&mut self, shared: &mut Shared, mut failure: Option<Failure>) {
        while !self.held.is_empty() {
            match failure.take() {
                Some(failure) => {
                    let work = self.held.pop().unwrap();
                    self.queue.complete(work.tag, Err(failure), &mut self.out);
                }
                None => self.answer_one(shared),
            }
        }
    }

    /// The host goes.
    pub fn end(&mut self, shared: &mut Shared) {
        if self.closed.is_none() {
            self.closed = Some(self.queue.end_of_stream(self.received.len()));
        }
        self.answer_all(shared, None);
        if let Some(queue) = self.queue.queue() {
            let ended = shared.target.leave(queue.controller, queue.queue, self.number);
            shared.ended.extend(ended);
        }
    }
}
