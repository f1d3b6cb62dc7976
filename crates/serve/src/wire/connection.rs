//! One connection, from the greeting to its end.

use crate::wire::close::Close;
use crate::wire::exports::Exports;
use crate::wire::extents::Extent;
use crate::wire::handshake::{Handshake, Tls, put_greeting};
use crate::wire::request::{Errno, Request, Terms};
use crate::wire::transmission::Transmission;
use std::ops::Range;
use std::sync::Arc;

/// What is to be done next.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing, until so many more bytes are there behind those that were not consumed.
    NeedMore {
        /// As many as are sure to be needed; more do no harm.
        at_least_bytes: usize,
    },
    /// The output has a reply; parsing may go on.
    Replied,
    /// Send the output, negotiate TLS on what follows, then call [`Connection::tls_started`].
    StartTls,
    /// The client chose an export: the transmission phase begins.
    Ready {
        /// Its place in the table.
        export: usize,
    },
    /// A request without payload, to be carried out.
    Request(Request),
    /// A write, to be carried out when its payload is there. What is missing of it is what comes next in the stream; it
    /// is received to wherever the caller wants it, and told by [`Connection::payload_received`] before parsing goes on.
    Write {
        /// The request; its length is that of the payload.
        request: Request,
        /// The beginning of the payload in the input that was parsed; all of it, if so much is there.
        payload: Range<usize>,
    },
    /// As much is in flight as may be: answer a request before parsing goes on.
    Busy,
    /// The client said goodbye: answer what is in flight, then parse once more. Nothing is to be received any more.
    Drain,
    /// Send the output, as far as the client takes it, and close.
    Close(Close),
}

#[derive(Debug)]
enum Phase {
    Handshake(Handshake),
    Transmission(Transmission),
}

/// A client's connection.
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

    /// Looks at received bytes: how many of them are done with, and what is to be done next. Bytes that are not consumed
    /// are to be given again, with more behind them.
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

    /// TLS was negotiated: all that follows comes through it.
    ///
    /// # Panics
    ///
    /// If [`Step::StartTls`] did not ask for it.
    pub fn tls_started(&mut self) {
        let Phase::Handshake(handshake) = &mut self.phase else { panic!("TLS is negotiated in the handshake") };
        handshake.tls_started();
    }

    /// So many bytes of the payload of the last [`Step::Write`] were received.
    ///
    /// # Panics
    ///
    /// If the payload has not so many left.
    pub fn payload_received(&mut self, bytes: u32) {
        self.transmission().payload_received(bytes);
    }

    /// Bytes of a write's payload that are to be received before parsing goes on.
    #[must_use]
    pub fn payload_left_bytes(&self) -> u32 {
        match &self.phase {
            Phase::Transmission(transmission) => transmission.payload_left(),
            Phase::Handshake(_) => 0,
        }
    }

    /// The stream ended with so many bytes that were received and not consumed: the reason to close.
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

    /// The server ends: options and requests that come from now on are told so. What is in flight is to be answered.
    pub fn shut_down(&mut self) {
        match &mut self.phase {
            Phase::Transmission(transmission) => transmission.shut_down(),
            Phase::Handshake(handshake) => handshake.shut_down(),
        }
    }

    /// The table of exports is another one: sizes and whether they are read-only count from now on, all else for clients
    /// that choose an export from now on.
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

    /// Requests that were handed out and not answered.
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

    /// Says that a request was carried out: anything but a read or a block status request. 16 bytes.
    ///
    /// # Panics
    ///
    /// If the request is not in flight on this connection; this holds for all answers.
    pub fn answer(&mut self, request: Request, out: &mut Vec<u8>) {
        self.transmission().answer(request, out);
    }

    /// Says that a request failed. The message is for people; it goes to clients with structured replies.
    pub fn answer_error(&mut self, request: Request, errno: Errno, message: &str, out: &mut Vec<u8>) {
        self.transmission().answer_error(request, errno, message, out);
    }

    /// The head of the answer to a read whose data are at hand: 16 bytes, or 28 if replies are structured. Exactly the
    /// request's length of data must follow it in the stream.
    pub fn answer_read(&mut self, request: Request, out: &mut Vec<u8>) {
        self.transmission().answer_read(request, out);
    }

    /// The head of a chunk of a read's answer: the next `bytes` of data, which must follow it. Chunks tell of all that
    /// was asked for, front to back; the last one completes the answer, and then [`Connection::finish_read`] is due.
    ///
    /// # Panics
    ///
    /// If the read may not be answered in parts ([`Request::may_fragment`]), or not so much of it is left. This holds for
    /// all chunks.
    pub fn read_data(&mut self, request: &mut Request, bytes: u32, out: &mut Vec<u8>) {
        self.transmission().put_data(request, bytes, out);
    }

    /// A chunk of a read's answer: the next `bytes` read as zeroes, which are not sent.
    pub fn read_hole(&mut self, request: &mut Request, bytes: u32, out: &mut Vec<u8>) {
        self.transmission().put_hole(request, bytes, out);
    }

    /// A chunk of a read's answer: the next `bytes` can't be read. What other chunks tell of holds.
    pub fn read_failed(&mut self, request: &mut Request, bytes: u32, errno: Errno, message: &str, out: &mut Vec<u8>) {
        self.transmission().put_unreadable(request, bytes, errno, message, out);
    }

    /// All of a read was told of in chunks.
    ///
    /// # Panics
    ///
    /// If it was not.
    pub fn finish_read(&mut self, request: Request) {
        self.transmission().finish_read(request);
    }

    /// What stands from a block status request's offset on. Extents beyond its end are cut; fewer may be told of, but at
    /// least one.
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

    /// Gives up a request that nobody waits for any more.
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
