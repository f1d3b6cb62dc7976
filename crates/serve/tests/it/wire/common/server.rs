//! A server that does what [`Step`] says, byte by byte if need be, and answers in an order that only requests decide.

use serve::wire::{
    Close, Command, Connection, Errno, Exports, Extent, MAX_IN_FLIGHT, MAX_REPLY_BYTES, MIN_RECEIVE_BYTES, Request,
    Step, Tls,
};
use std::sync::Arc;

/// The events that the server got, in whatever pieces the bytes came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    Ready(usize),
    StartTls,
    Asked { cookie: u64, command: Command, offset: u64, length: u32 },
    Payload(Vec<u8>),
    Drain,
    Closed(Close),
}

pub struct Server {
    pub connection: Connection,
    /// All that was sent, but for the data of reads.
    pub out: Vec<u8>,
    /// Where in `out` how many bytes of data would stand.
    pub data: Vec<(usize, u32)>,
    pub events: Vec<Event>,
    pub held: Vec<Request>,
    /// Requests that are held before they are answered, last one first. 0: each is answered at once.
    pub hold: usize,
    /// Length of `out` when transmission began.
    pub ready_at: Option<usize>,
    received: Vec<u8>,
    payload: Vec<u8>,
    pub closed: bool,
}

impl Server {
    pub fn new(exports: Arc<Exports>, tls: Tls) -> Self {
        let mut out = Vec::new();
        let connection = Connection::new(exports, tls, &mut out);
        Self {
            connection,
            out,
            data: Vec::new(),
            events: Vec::new(),
            held: Vec::new(),
            hold: 0,
            ready_at: None,
            received: Vec::new(),
            payload: Vec::new(),
            closed: false,
        }
    }

    /// A server that was told all of `bytes` at once.
    pub fn told(tls: Tls, bytes: &[u8]) -> Self {
        let mut server = Self::new(super::exports(), tls);
        server.feed(bytes);
        server
    }

    pub fn feed(&mut self, mut bytes: &[u8]) {
        let left = (self.connection.payload_left_bytes() as usize).min(bytes.len());
        if left > 0 {
            self.payload.extend_from_slice(&bytes[..left]);
            bytes = &bytes[left..];
            self.connection.payload_received(u32::try_from(left).unwrap());
            self.end_payload();
        }
        if self.connection.payload_left_bytes() > 0 {
            return;
        }
        self.received.extend_from_slice(bytes);
        while !self.closed && self.connection.payload_left_bytes() == 0 && self.step() {}
    }

    /// Whether parsing may go on.
    fn step(&mut self) -> bool {
        let before = self.out.len();
        let (consumed, step) = self.connection.parse(&self.received, &mut self.out);
        assert!(self.out.len() - before <= MAX_REPLY_BYTES);
        let input: Vec<u8> = self.received.drain(..consumed).collect();
        match step {
            Step::NeedMore { at_least_bytes } => {
                assert!(at_least_bytes > 0);
                assert!(self.received.len() + at_least_bytes <= MIN_RECEIVE_BYTES, "the receive buffer suffices");
                assert_eq!(self.out.len(), before, "what was said was said as a step");
                return false;
            }
            Step::Replied => assert!(self.out.len() > before),
            Step::StartTls => {
                assert!(self.received.is_empty(), "no plaintext is taken for what comes through TLS");
                self.events.push(Event::StartTls);
                self.connection.tls_started();
            }
            Step::Ready { export } => {
                self.events.push(Event::Ready(export));
                self.ready_at = Some(self.out.len());
            }
            Step::Request(request) => {
                self.asked(&request);
                self.hold(request);
            }
            Step::Write { request, payload } => {
                self.asked(&request);
                let there = u32::try_from(payload.len()).unwrap();
                assert_eq!(there + self.connection.payload_left_bytes(), request.length_bytes());
                assert_eq!(payload.end, consumed);
                self.payload.extend_from_slice(&input[payload]);
                // It is answered when its payload is there.
                self.held.push(request);
                self.end_payload();
            }
            Step::Busy => {
                assert!(!self.held.is_empty(), "the client waits for something");
                self.answer_all();
            }
            Step::Drain => {
                self.events.push(Event::Drain);
                self.answer_all();
            }
            Step::Close(close) => {
                assert!(close != Close::Disconnected || self.held.is_empty(), "what is in flight is answered first");
                self.close(close);
            }
        }
        true
    }

    fn close(&mut self, close: Close) {
        assert_eq!(close.to_string().lines().count(), 1);
        self.events.push(Event::Closed(close));
        self.closed = true;
    }

    fn asked(&mut self, request: &Request) {
        let (command, offset, length) = (request.command(), request.offset_bytes(), request.length_bytes());
        assert!(request.slot() < MAX_IN_FLIGHT);
        assert!(self.held.iter().all(|other| other.slot() != request.slot()), "slots are told apart");
        self.events.push(Event::Asked { cookie: request.cookie(), command, offset, length });
    }

    fn end_payload(&mut self) {
        if self.connection.payload_left_bytes() == 0 {
            self.events.push(Event::Payload(std::mem::take(&mut self.payload)));
            let request = self.held.pop().expect("the write");
            self.hold(request);
        }
    }

    fn hold(&mut self, request: Request) {
        self.held.push(request);
        assert_eq!(self.held.len(), self.connection.in_flight() as usize);
        if self.held.len() > self.hold {
            self.answer_all();
        }
    }

    pub fn answer_all(&mut self) {
        while let Some(request) = self.held.pop() {
            self.answer(request);
        }
        assert_eq!(self.connection.in_flight(), 0);
    }

    /// Reads in three parts where that is allowed: a hole, what can't be read, and data.
    fn answer(&mut self, mut request: Request) {
        let out = &mut self.out;
        let length = request.length_bytes();
        match request.command() {
            Command::Read if request.may_fragment() && request.cookie().is_multiple_of(2) && length >= 3 => {
                self.connection.read_hole(&mut request, 1, out);
                self.connection.read_failed(&mut request, 1, Errno::Io, "lost", out);
                self.connection.read_data(&mut request, length - 2, out);
                self.data.push((out.len(), length - 2));
                self.connection.finish_read(request);
            }
            Command::Read if request.cookie() % 5 == 3 => {
                self.connection.answer_error(request, Errno::Io, "lost", out);
            }
            Command::Read => {
                self.connection.answer_read(request, out);
                self.data.push((out.len(), length));
            }
            Command::BlockStatus => {
                let extents = [(4096, true), (8192, false), (1 << 40, true)];
                let extents = extents.map(|(bytes, zero)| Extent { bytes, hole: zero, zero });
                self.connection.answer_block_status(request, extents, out);
            }
            _ => self.connection.answer(request, out),
        }
    }

    /// The stream ends; what is in flight is answered or given up.
    pub fn end(&mut self) {
        if !self.closed {
            let close = self.connection.end_of_stream(self.received.len());
            self.close(close);
        }
        if self.connection.payload_left_bytes() > 0 {
            let request = self.held.pop().expect("the write whose payload never came");
            self.connection.abandon(request);
        }
        self.answer_all();
    }

    /// Replies to options.
    pub fn option_replies(&self) -> Vec<(u32, u32, Vec<u8>)> {
        super::client::option_replies(&self.out[18..self.ready_at.unwrap_or(self.out.len())])
    }

    /// Replies in the transmission phase.
    pub fn replies(&self) -> Vec<super::client::Reply> {
        let begin = self.ready_at.expect("the transmission phase");
        super::client::replies(&self.out[begin..], begin, &self.data)
    }

    pub fn close_reason(&self) -> Option<&Close> {
        self.events.iter().find_map(|event| if let Event::Closed(close) = event { Some(close) } else { None })
    }
}
