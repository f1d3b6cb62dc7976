//! The transmission phase: requests in, replies out, and the account of requests in flight.

use crate::wire::bytes::{Fields, put_u32, put_u64};
use crate::wire::close::Close;
use crate::wire::extents::{Extent, put_descriptors};
use crate::wire::limits::{MAX_IN_FLIGHT, MAX_IN_FLIGHT_BYTES, MAX_SKIPPED_PAYLOAD_BYTES};
use crate::wire::meta::ALLOCATION_ID;
use crate::wire::numbers::{
    CMD_DISC, CMD_FLAG_DF, CMD_FLAG_REQ_ONE, CMD_WRITE, REPLY_FLAG_DONE, REPLY_TYPE_BLOCK_STATUS,
    REPLY_TYPE_OFFSET_DATA, REPLY_TYPE_OFFSET_HOLE, REQUEST_BYTES, REQUEST_MAGIC,
};
use crate::wire::reply::{put_chunk, put_error, put_simple};
use crate::wire::request::{Asked, Command, Errno, Refusal, Request, Terms};
use crate::wire::step::Step;

const DONE: u16 = REPLY_FLAG_DONE;

#[derive(Debug)]
enum State {
    /// A request comes next.
    Requests,
    /// The payload of a write comes next, and the write is refused behind it.
    Skipping { left: u32, cookie: u64, refusal: Refusal },
    /// The payload of a write comes next, which the caller takes from the stream itself.
    Payload { left: u32 },
    /// The client disconnects, and waits for the replies to its requests in flight.
    Draining,
}

#[derive(Debug)]
pub struct Transmission {
    /// The place of the export in the table.
    pub export: usize,
    structured: bool,
    shutting_down: bool,
    terms: Terms,
    state: State,
    /// The slots of requests in flight, one bit each.
    in_flight: u128,
    in_flight_bytes: u64,
}

impl Transmission {
    pub fn new(export: usize, structured: bool, terms: Terms) -> Self {
        let state = State::Requests;
        Self { export, structured, shutting_down: false, terms, state, in_flight: 0, in_flight_bytes: 0 }
    }

    pub fn structured(&self) -> bool {
        self.structured
    }

    pub fn terms(&mut self) -> &mut Terms {
        &mut self.terms
    }

    pub fn shut_down(&mut self) {
        self.shutting_down = true;
    }

    pub fn in_flight(&self) -> u32 {
        self.in_flight.count_ones()
    }

    /// Whether the stream may end here, because no message was begun.
    pub fn is_between_messages(&self) -> bool {
        matches!(self.state, State::Requests | State::Draining)
    }

    pub fn parse(&mut self, input: &[u8], out: &mut Vec<u8>) -> (usize, Step) {
        match self.state {
            State::Requests => self.request(input, out),
            State::Skipping { .. } => self.skip(0, input, out),
            State::Payload { left } => panic!("{left} bytes of a payload are to be received before parsing goes on"),
            State::Draining if self.in_flight == 0 => (0, Step::Close(Close::Disconnected)),
            State::Draining => (0, Step::Drain),
        }
    }

    fn request(&mut self, input: &[u8], out: &mut Vec<u8>) -> (usize, Step) {
        let mut fields = Fields(input);
        let Some(mut fields) = fields.bytes(REQUEST_BYTES).map(Fields) else {
            return (0, Step::NeedMore { at_least_bytes: REQUEST_BYTES - input.len() });
        };
        let whole = "28 bytes are there";
        let magic = fields.u32().expect(whole);
        if magic != REQUEST_MAGIC {
            return (0, Step::Close(Close::RequestMagic(magic)));
        }
        let (flags, kind) = (fields.u16().expect(whole), fields.u16().expect(whole));
        let cookie = fields.u64().expect(whole);
        let (offset, length) = (fields.u64().expect(whole), fields.u32().expect(whole));
        if kind == CMD_DISC {
            // Its flags, offset and length should be 0, but the client leaves either way.
            self.state = State::Draining;
            return (REQUEST_BYTES, self.parse(&[], out).1);
        }
        let command = match self.check(Asked { flags, kind, offset, length }) {
            Ok(command) => command,
            Err(_) if kind == CMD_WRITE && length > MAX_SKIPPED_PAYLOAD_BYTES => {
                return (0, Step::Close(Close::WriteTooLong(length)));
            }
            Err(refusal) => {
                let left = if kind == CMD_WRITE { length } else { 0 };
                self.state = State::Skipping { left, cookie, refusal };
                return self.skip(REQUEST_BYTES, input, out);
            }
        };
        let Some(slot) = self.take_slot(command, length) else { return (0, Step::Busy) };
        let parts = match command {
            Command::Read => self.structured && flags & CMD_FLAG_DF == 0,
            _ => flags & CMD_FLAG_REQ_ONE == 0,
        };
        let request = Request { slot, command, parts, done: false, length, cookie, offset, covered: 0 };
        if !matches!(command, Command::Write { .. }) {
            return (REQUEST_BYTES, Step::Request(request));
        }
        let wanted = usize::try_from(length).expect("a length was checked");
        let there = wanted.min(input.len() - REQUEST_BYTES);
        let left = u32::try_from(wanted - there).expect("part of a length");
        if left > 0 {
            self.state = State::Payload { left };
        }
        let payload = REQUEST_BYTES..REQUEST_BYTES + there;
        (payload.end, Step::Write { request, payload })
    }

    fn check(&self, asked: Asked) -> Result<Command, Refusal> {
        if self.shutting_down {
            return Err(Refusal { errno: Errno::ShuttingDown, message: "the server shuts down" });
        }
        self.terms.check(asked)
    }

    fn skip(&mut self, begin: usize, input: &[u8], out: &mut Vec<u8>) -> (usize, Step) {
        let State::Skipping { left, cookie, refusal } = self.state else { unreachable!("nothing is skipped") };
        let there = u32::try_from(input.len() - begin).unwrap_or(u32::MAX).min(left);
        let consumed = begin + usize::try_from(there).expect("part of a slice");
        if there < left {
            self.state = State::Skipping { left: left - there, cookie, refusal };
            return (consumed, Step::NeedMore { at_least_bytes: 1 });
        }
        self.state = State::Requests;
        self.put_error(cookie, refusal.errno, refusal.message, out);
        (consumed, Step::Replied)
    }

    pub fn payload_received(&mut self, bytes: u32) {
        let State::Payload { left } = &mut self.state else { panic!("no payload is being received") };
        *left = left.checked_sub(bytes).expect("no more than the payload is received as payload");
        if *left == 0 {
            self.state = State::Requests;
        }
    }

    pub fn payload_left(&self) -> u32 {
        if let State::Payload { left } = self.state { left } else { 0 }
    }

    pub fn skipped_left(&self) -> u32 {
        if let State::Skipping { left, .. } = self.state { left } else { 0 }
    }

    /// Takes a free slot, unless the limits of requests in flight are reached.
    fn take_slot(&mut self, command: Command, length: u32) -> Option<u8> {
        let slot = self.in_flight.trailing_ones();
        let bytes = if command.has_data() { u64::from(length) } else { 0 };
        if slot as usize == MAX_IN_FLIGHT || self.in_flight_bytes + bytes > MAX_IN_FLIGHT_BYTES {
            return None;
        }
        self.in_flight |= 1 << slot;
        self.in_flight_bytes += bytes;
        u8::try_from(slot).ok()
    }

    /// Frees the slot of a request. Requests that the connection itself refused never had one.
    pub fn release(&mut self, request: &Request) {
        let bit = 1 << request.slot;
        assert!(self.in_flight & bit != 0, "slot {} is not in flight: answered twice, or elsewhere", request.slot);
        self.in_flight &= !bit;
        if request.command.has_data() {
            self.in_flight_bytes -= u64::from(request.length);
        }
    }

    fn put_error(&self, cookie: u64, errno: Errno, message: &str, out: &mut Vec<u8>) {
        if self.structured {
            put_error(cookie, DONE, errno, message, None, out);
        } else {
            put_simple(cookie, errno as u32, out);
        }
    }

    pub fn answer(&mut self, request: Request, out: &mut Vec<u8>) {
        let has_content = matches!(request.command, Command::Read | Command::BlockStatus);
        assert!(!has_content, "{:?} is answered with what was asked for", request.command);
        self.release(&request);
        put_simple(request.cookie, 0, out);
    }

    pub fn answer_error(&mut self, request: Request, errno: Errno, message: &str, out: &mut Vec<u8>) {
        assert!(!request.done, "the answer is complete");
        self.release(&request);
        self.put_error(request.cookie, errno, message, out);
    }

    pub fn answer_read(&mut self, mut request: Request, out: &mut Vec<u8>) {
        assert!(request.command == Command::Read && request.covered == 0, "a read that nothing was said to yet");
        if self.structured {
            let length = request.length;
            self.put_content(&mut request, length, out);
        } else {
            put_simple(request.cookie, 0, out);
        }
        self.release(&request);
    }

    fn put_content(&self, request: &mut Request, bytes: u32, out: &mut Vec<u8>) {
        let offset = request.offset + u64::from(request.covered);
        let flags = cover(request, bytes);
        put_chunk(request.cookie, flags, REPLY_TYPE_OFFSET_DATA, 8 + bytes, out);
        put_u64(out, offset);
    }

    pub fn put_data(&mut self, request: &mut Request, bytes: u32, out: &mut Vec<u8>) {
        assert!(request.may_fragment(), "this read is to be answered as one");
        self.put_content(request, bytes, out);
    }

    pub fn put_hole(&mut self, request: &mut Request, bytes: u32, out: &mut Vec<u8>) {
        assert!(request.may_fragment(), "this read is to be answered as one");
        let offset = request.offset + u64::from(request.covered);
        let flags = cover(request, bytes);
        put_chunk(request.cookie, flags, REPLY_TYPE_OFFSET_HOLE, 12, out);
        put_u64(out, offset);
        put_u32(out, bytes);
    }

    pub fn put_unreadable(
        &mut self,
        request: &mut Request,
        bytes: u32,
        errno: Errno,
        message: &str,
        out: &mut Vec<u8>,
    ) {
        assert!(request.may_fragment(), "this read is to be answered as one");
        let offset = request.offset + u64::from(request.covered);
        let flags = cover(request, bytes);
        put_error(request.cookie, flags, errno, message, Some(offset), out);
    }

    pub fn finish_read(&mut self, request: Request) {
        assert!(request.done, "{} of {} bytes were covered", request.covered, request.length);
        self.release(&request);
    }

    pub fn answer_block_status(
        &mut self,
        request: Request,
        extents: impl IntoIterator<Item = Extent>,
        out: &mut Vec<u8>,
    ) {
        assert!(request.command == Command::BlockStatus, "{:?} asks for no extents", request.command);
        self.release(&request);
        let begin = out.len();
        put_chunk(request.cookie, DONE, REPLY_TYPE_BLOCK_STATUS, 0, out);
        put_u32(out, ALLOCATION_ID);
        let extents = extents.into_iter().inspect(|extent| self.terms.assert_aligned(extent.bytes));
        let bytes = put_descriptors(extents, request.length, !request.parts, out);
        assert!(bytes > 0, "at least one extent is needed");
        let payload_bytes = u32::try_from(4 + bytes).expect("the number of descriptors is limited");
        out[begin + 16..begin + 20].copy_from_slice(&payload_bytes.to_be_bytes());
    }
}

/// Counts the bytes that a chunk covers, and returns the flags of the chunk.
fn cover(request: &mut Request, bytes: u32) -> u16 {
    assert!(bytes > 0 && bytes <= request.length - request.covered, "a chunk is a part of what was asked for");
    request.covered += bytes;
    request.done = request.covered == request.length;
    if request.done { DONE } else { 0 }
}
