//! One connection, from the greeting to its end.

use crate::wire::close::Close;
use crate::wire::exports::Exports;
use crate::wire::extents::Extent;
use crate::wire::handshake::{Handshake, Tls, put_greeting};
use crate::wire::request::{Errno, Request, Terms};
use crate::wire::step::Step;
use crate::wire::transmission::Transmission;
use std::sync::Arc;

#[derive(Debug)]
enum Phase {
    Handshake(Handshake),
    Transmission(Transmission),
}

/// The protocol state of a client's connection.
#[derive(Debug)]
pub struct Connection {
    exports: Arc<Exports>,
    phase: Phase,
    closed: Option<Close>,
}

impl Connection {
    /// A connection that was just accepted; the output gets the greeting.
    #[must_use]
    pub fn new(exports: Arc<Exports>, tls: Tls, out: &mut Vec<u8>) -> Self {
        put_greeting(out);
        Self { exports, phase: Phase::Handshake(Handshake::new(tls)), closed: None }
    }

    /// Parses received bytes. Returns how many of them are consumed, and the next action. The caller passes the bytes
    /// that are not consumed again, with more behind them.
    ///
    /// # Panics
    ///
    /// If TLS is being negotiated, or a payload is being received.
    pub fn parse(&mut self, input: &[u8], out: &mut Vec<u8>) -> (usize, Step) {
        if let Some(close) = &self.closed {
            return (0, Step::Close(close.clone()));
        }
        let (consumed, step) = match &mut self.phase {
            Phase::Transmission(transmission) => transmission.parse(input, out),
            Phase::Handshake(handshake) => handshake.parse(&self.exports, input, out),
        };
        match &step {
            Step::Close(close) => self.closed = Some(close.clone()),
            Step::Ready { export } => self.begin_transmission(*export),
            _ => {}
        }
        (consumed, step)
    }

    fn begin_transmission(&mut self, export: usize) {
        let Phase::Handshake(handshake) = &self.phase else { unreachable!("only options choose exports") };
        let structured = handshake.structured;
        // A context counts only for the export for which it was selected.
        let block_status = handshake.allocation_of == Some(export);
        let terms = Terms::new(&self.exports.all()[export], structured, block_status);
        self.phase = Phase::Transmission(Transmission::new(export, structured, terms));
    }

    /// Reports that TLS was negotiated; all following bytes come through it.
    ///
    /// # Panics
    ///
    /// If [`Step::StartTls`] did not ask for it.
    pub fn tls_started(&mut self) {
        let Phase::Handshake(handshake) = &mut self.phase else { panic!("TLS is negotiated in the handshake") };
        handshake.tls_started();
    }

    /// Reports that so many bytes of the payload of the last [`Step::Write`] were received.
    ///
    /// # Panics
    ///
    /// If fewer bytes of the payload are missing.
    pub fn payload_received(&mut self, bytes: u32) {
        self.transmission().payload_received(bytes);
    }

    /// The number of bytes of a write's payload that have to be received before parsing continues.
    #[must_use]
    pub fn payload_left_bytes(&self) -> u32 {
        match &self.phase {
            Phase::Transmission(transmission) => transmission.payload_left(),
            Phase::Handshake(_) => 0,
        }
    }

    /// The number of bytes that are missing of the payload of a write that is refused behind it.
    #[must_use]
    pub fn skipped_left_bytes(&self) -> u32 {
        match &self.phase {
            Phase::Transmission(transmission) => transmission.skipped_left(),
            Phase::Handshake(_) => 0,
        }
    }

    /// The reason to close after the end of the stream, which left so many received bytes that were not consumed.
    pub fn end_of_stream(&mut self, unconsumed_bytes: usize) -> Close {
        let in_flight = self.in_flight();
        let between = match &self.phase {
            Phase::Transmission(transmission) => transmission.is_between_messages(),
            Phase::Handshake(handshake) => handshake.is_between_messages(),
        };
        let whole = between && unconsumed_bytes == 0;
        let reason = if whole { Close::Vanished { in_flight } } else { Close::Truncated { in_flight } };
        self.closed.get_or_insert(reason).clone()
    }

    /// Shuts the connection down: later options and requests are refused. Requests in flight still have to be answered.
    pub fn shut_down(&mut self) {
        match &mut self.phase {
            Phase::Transmission(transmission) => transmission.shut_down(),
            Phase::Handshake(handshake) => handshake.shut_down(),
        }
    }

    /// Replaces the table of exports. Sizes and `read_only` count from now on, everything else for clients that choose
    /// an export from now on.
    ///
    /// # Panics
    ///
    /// If its exports have other names or another order.
    pub fn renew(&mut self, exports: Arc<Exports>) {
        let names = |exports: &Exports| exports.all().iter().map(|export| export.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&exports), names(&self.exports), "exports stay in their places");
        if let Phase::Transmission(transmission) = &mut self.phase {
            let export = transmission.export;
            transmission.terms().renew(&exports.all()[export]);
        }
        self.exports = exports;
    }

    /// The number of requests that were handed out and not answered.
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        match &self.phase {
            Phase::Transmission(transmission) => transmission.in_flight(),
            Phase::Handshake(_) => 0,
        }
    }

    /// Whether structured replies were negotiated.
    #[must_use]
    pub fn is_structured(&self) -> bool {
        matches!(&self.phase, Phase::Transmission(transmission) if transmission.structured())
    }

    /// Replies, in 16 bytes, that a request was carried out, other than a read or a block status request.
    ///
    /// # Panics
    ///
    /// If the request is not in flight on this connection; this holds for all answers.
    pub fn answer(&mut self, request: Request, out: &mut Vec<u8>) {
        self.transmission().answer(request, out);
    }

    /// Replies that a request failed. The message is for people and goes to clients with structured replies.
    pub fn answer_error(&mut self, request: Request, errno: Errno, message: &str, out: &mut Vec<u8>) {
        self.transmission().answer_error(request, errno, message, out);
    }

    /// Appends the head of the reply to a read whose data are at hand: 16 bytes, or 28 if replies are structured. The
    /// data, exactly as long as the request, must follow it in the stream.
    pub fn answer_read(&mut self, request: Request, out: &mut Vec<u8>) {
        self.transmission().answer_read(request, out);
    }

    /// Appends the head of a chunk of a read's reply: the next `bytes` of data, which must follow it. Chunks cover the
    /// request from front to back; the last one completes the reply, and then [`Connection::finish_read`] must be
    /// called.
    ///
    /// # Panics
    ///
    /// If the read may not be answered in parts ([`Request::may_fragment`]), or fewer bytes of it are left. This holds
    /// for all chunks.
    pub fn read_data(&mut self, request: &mut Request, bytes: u32, out: &mut Vec<u8>) {
        self.transmission().put_data(request, bytes, out);
    }

    /// Appends a chunk of a read's reply: the next `bytes` read as zeroes, which are not sent.
    pub fn read_hole(&mut self, request: &mut Request, bytes: u32, out: &mut Vec<u8>) {
        self.transmission().put_hole(request, bytes, out);
    }

    /// Appends a chunk of a read's reply: the next `bytes` can't be read. The other chunks stay valid.
    pub fn read_failed(&mut self, request: &mut Request, bytes: u32, errno: Errno, message: &str, out: &mut Vec<u8>) {
        self.transmission().put_unreadable(request, bytes, errno, message, out);
    }

    /// Ends a read whose chunks cover all of it.
    ///
    /// # Panics
    ///
    /// If the chunks do not cover all of it.
    pub fn finish_read(&mut self, request: Request) {
        self.transmission().finish_read(request);
    }

    /// Replies to a block status request with the extents from its offset on. Extents beyond its end are cut. They may
    /// cover less than the request, but there must be at least one.
    ///
    /// # Panics
    ///
    /// If there is no extent, or the request is another one.
    pub fn answer_block_status(
        &mut self,
        request: Request,
        extents: impl IntoIterator<Item = Extent>,
        out: &mut Vec<u8>,
    ) {
        self.transmission().answer_block_status(request, extents, out);
    }

    /// Gives up a request of a closed connection.
    ///
    /// # Panics
    ///
    /// If the connection is not closed.
    pub fn abandon(&mut self, request: Request) {
        assert!(self.closed.is_some(), "requests of an open connection are answered");
        self.transmission().release(&request);
    }

    fn transmission(&mut self) -> &mut Transmission {
        let Phase::Transmission(transmission) = &mut self.phase else { panic!("no export was chosen yet") };
        transmission
    }
}
