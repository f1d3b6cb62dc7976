//! What does an NBD client say, and what is the right answer?
//!
//! The server's side of the Network Block Device protocol as a state machine without sockets, threads or clocks: fixed
//! newstyle handshake, simple and structured replies, `base:allocation`. "The document" in this module is `doc/proto.md`
//! of the NetworkBlockDevice/nbd project. A [`Connection`] is handed received bytes and says what to do next ([`Step`]);
//! what it answers itself it appends to the caller's output. Whoever owns it moves the bytes.
//!
//! # The way of data
//!
//! No payload passes through this module. A read's answer is a head of 16 or 28 bytes ([`Connection::answer_read`]); the
//! data follow from wherever they lie. A write's payload is a range of the receive buffer as far as it is there
//! ([`Step::Write`]); the caller reads the rest to wherever it wants it and says so ([`Connection::payload_received`]).
//!
//! # Driving a connection
//!
//! ```
//! use std::sync::Arc;
//! use serve::wire::{BlockSizes, Close, Command, Connection, Errno, Export, Exports, Features, Step, Tls};
//!
//! let export = Export {
//!     name: "card".into(),
//!     description: String::new(),
//!     size_bytes: 4096,
//!     read_only: false,
//!     blocks: BlockSizes::default(),
//!     features: Features { fast_zero: false, ..Features::ALL },
//! };
//! let exports = Arc::new(Exports::new(vec![export])?);
//! let mut card = vec![0_u8; 4096];
//! // A client that says hello, chooses the default export, writes three bytes and leaves.
//! let mut received = b"\0\0\0\x03IHAVEOPT\0\0\0\x07\0\0\0\x06\0\0\0\0\0\0".to_vec();
//! received.extend(b"\x25\x60\x95\x13\0\0\0\x01\0\0\0\0\0\0\0\x2a\0\0\0\0\0\0\0\x07\0\0\0\x03abc");
//! received.extend(b"\x25\x60\x95\x13\0\0\0\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
//!
//! let mut out = Vec::new();
//! let mut connection = Connection::new(exports, Tls::Off, &mut out);
//! let mut begin = 0;
//! let reason = loop {
//!     let input = &received[begin..];
//!     let (consumed, step) = connection.parse(input, &mut out);
//!     match step {
//!         // Send `out`, receive at least so many bytes behind what is left of the input.
//!         Step::NeedMore { .. } => break connection.end_of_stream(input.len()),
//!         Step::Close(reason) => break reason,
//!         Step::Replied | Step::Ready { .. } => {}
//!         Step::Write { request, payload } => {
//!             // A real driver receives the rest straight to where it is to lie.
//!             assert_eq!(connection.payload_left_bytes(), 0);
//!             let at = request.offset_bytes() as usize;
//!             card[at..at + payload.len()].copy_from_slice(&input[payload]);
//!             connection.answer(request, &mut out);
//!         }
//!         Step::Request(request) => match request.command() {
//!             // The data are sent behind the head, from where they lie.
//!             Command::Read => connection.answer_read(request, &mut out),
//!             _ => connection.answer_error(request, Errno::Io, "not in this example", &mut out),
//!         },
//!         // This driver answers at once and has no TLS.
//!         Step::StartTls | Step::Busy | Step::Drain => unreachable!(),
//!     }
//!     begin += consumed;
//! };
//! assert_eq!((reason, &card[7..10]), (Close::Disconnected, &b"abc"[..]));
//! # Ok::<(), serve::wire::ExportsError>(())
//! ```
//!
//! # Invariants
//!
//! - Nothing here imports anything of the crate around it, and what a [`Request`] holds is private to this module: whoever
//!   drives a connection can neither make one nor copy one.
//! - Nothing that a client sends panics, and nothing is allocated for it but output: at most [`MAX_REPLY_BYTES`] a call.
//!   Limits are checked before the bytes that they limit are waited for. All of them stand in `limits.rs`.
//! - The same bytes give the same output and steps, however they are cut into pieces. The one exception is meant:
//!   plaintext that is already there behind `NBD_OPT_STARTTLS` closes the connection.
//! - Each request is answered exactly once: a [`Request`] is given up to be answered and can't be copied, and its slot is
//!   asserted to be in flight. What is refused here never becomes a [`Request`].
//! - What becomes a [`Request`] lies within the export, is aligned to the minimum block size, is at least one byte long
//!   unless it is a flush, and asks for nothing that was not offered.
//! - Nothing about exports is said before TLS where TLS is required, and nothing that was negotiated before TLS is
//!   remembered behind it.
//!
//! # Where the document leaves a choice
//!
//! - *Length 0* is unspecified but must not disconnect. It is `EINVAL` for all commands: there is no content chunk and no
//!   block descriptor of no bytes, and whoever carries out requests need not think of it.
//! - *Beyond the end*: `ENOSPC` for what writes data, `EINVAL` for all else. *Read-only* comes first: `EPERM`.
//! - *Larger than the maximum block size*: `EINVAL` for read, write and cache. `EOVERFLOW` is not used, even for an
//!   unfragmented read: it invites the client to ask again without the flag, which would not help. Trim, write-zeroes and
//!   block status carry no data and may be as long as 32 bits allow. For write-zeroes that is more than the document
//!   asks of a server: Linux sends them without regard to the maximum.
//! - *Requests that are refused* are answered behind their payload, so that a client which writes all before it reads gets
//!   along. More than [`MAX_SKIPPED_PAYLOAD_BYTES`] is not waited for.
//! - *Success without data* is a simple reply even where structured replies were negotiated, because it is shorter. Errors
//!   are then structured, with a message. The last chunk of a read carries `DONE`, so there are no `NONE` chunks.
//! - *Block sizes* are not forced on clients that don't ask for them: what is not aligned is refused, request by request.
//! - *Clients without fixed newstyle* can name an export and nothing else.
//!
//! # When an export changes its size
//!
//! The standard has no message by which a server could say so. `NBD_CMD_RESIZE` (8) and `NBD_FLAG_SEND_RESIZE` are only
//! reserved in it, for an experimental extension in a branch of its own; the command is answered with `EINVAL` here, as
//! unknown ones are. So a client learns of a new size when it connects again. [`Connection::renew`] hands a connection
//! the new table: one that still negotiates offers the new size; one that is established is held to the size as it is
//! now. What lies beyond gets the errors above, and space that was added can be used by a client that was told of it by
//! other means.

mod bytes;
mod close;
mod connection;
mod exports;
mod extents;
mod handshake;
mod limits;
mod meta;
mod numbers;
mod options;
mod reply;
mod request;
mod transmission;

pub use close::Close;
pub use connection::{Connection, Step};
pub use exports::{BlockSizes, Export, Exports, ExportsError, Features};
pub use extents::Extent;
pub use handshake::Tls;
pub use limits::{
    MAX_EXPORTS, MAX_EXTENTS, MAX_IN_FLIGHT, MAX_IN_FLIGHT_BYTES, MAX_META_QUERIES, MAX_OPTION_BYTES, MAX_OPTIONS,
    MAX_REPLY_BYTES, MAX_REQUEST_BYTES, MAX_SKIPPED_OPTION_BYTES, MAX_SKIPPED_PAYLOAD_BYTES, MAX_STRING_BYTES,
    MIN_RECEIVE_BYTES,
};
pub use request::{Command, Errno, Request};
