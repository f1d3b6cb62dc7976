//! What does an NBD client say, and what is the right answer?
//!
//! The server's side of the Network Block Device protocol as a state machine without sockets, threads or clocks: fixed
//! newstyle handshake, simple and structured replies, `base:allocation`. "The document" in this module is
//! `doc/proto.md` of the NetworkBlockDevice/nbd project. A [`Connection`] gets the received bytes and returns the next
//! action ([`Step`]). It appends its own replies to the caller's output. The owner of the connection moves the bytes.
//!
//! # The way of data
//!
//! No payload passes through this module. The reply to a read is a head of 16 or 28 bytes
//! ([`Connection::answer_read`]), and the caller sends the data after it. The payload of a write is a range of the
//! receive buffer, as far as it has arrived ([`Step::Write`]); the caller receives the rest and reports it
//! ([`Connection::payload_received`]).
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
//!     refusal: None,
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
//! - This module imports nothing from the rest of the crate. The fields of a [`Request`] are private to this module, so
//!   the driver of a connection can neither make nor copy a request.
//! - No bytes of a client cause a panic, and only output is allocated for them: at most [`MAX_REPLY_BYTES`] a call. A
//!   limit is checked before the bytes that it limits are waited for. All limits stand in `limits.rs`.
//! - The same bytes give the same output and steps, however they are cut into pieces. There is one exception, on
//!   purpose: plaintext that has already arrived behind `NBD_OPT_STARTTLS` closes the connection.
//! - Each request is answered exactly once: answering consumes the [`Request`], which can't be copied, and asserts that
//!   its slot is in flight. A refused request never becomes a [`Request`].
//! - A [`Request`] lies within the export, is aligned to the minimum block size, is at least one byte long unless it is
//!   a flush, and uses only commands and flags that were offered.
//! - Where TLS is required, the client learns nothing about exports before TLS, and nothing that was negotiated before
//!   TLS is remembered behind it.
//!
//! # Choices that the document leaves open
//!
//! - *Length 0* is unspecified but must not disconnect. It is `EINVAL` for all commands, because a content chunk or a
//!   block descriptor can't be empty, and the code that carries out requests need not treat this case.
//! - *Beyond the end*: `ENOSPC` for commands that write data, `EINVAL` for all others. *Read-only* is checked first:
//!   `EPERM`.
//! - *Larger than the maximum block size*: `EINVAL` for read, write and cache. `EOVERFLOW` is not used, even for an
//!   unfragmented read: it invites the client to ask again without the flag, which would not help. Trim, write-zeroes
//!   and block status carry no data and may be as long as 32 bits allow. For write-zeroes that is more than the
//!   document asks of a server: Linux sends them without regard to the maximum.
//! - *Refused requests* are answered behind their payload, so that a client works that writes everything before it
//!   reads. A payload above [`MAX_SKIPPED_PAYLOAD_BYTES`] is not waited for.
//! - *Success without data* is a simple reply even where structured replies were negotiated, because it is shorter.
//!   Errors are then structured, with a message. The last chunk of a read carries `DONE`, so there are no `NONE`
//!   chunks.
//! - *Block sizes* are not forced on clients that don't ask for them: unaligned requests are refused one by one.
//! - *Clients without fixed newstyle* can only name an export.
//!
//! # Exports that change their size
//!
//! The standard has no message by which a server could report a new size. It only reserves `NBD_CMD_RESIZE` (8) and
//! `NBD_FLAG_SEND_RESIZE` for an experimental extension in a branch of its own; the command gets `EINVAL` here, as
//! unknown commands do. So a client learns of a new size when it connects again. [`Connection::renew`] gives a
//! connection the new table: a connection that still negotiates offers the new size, and an established one checks
//! requests against it. Requests beyond the end get the errors above, and a client that learned of added space by other
//! means can use it.

mod bytes;
mod close;
mod connection;
mod exports;
mod extents;
mod handshake;
mod limits;
mod meta;
mod numbers;
mod option_reply;
mod options;
mod reply;
mod request;
mod step;
mod transmission;

pub use close::Close;
pub use connection::Connection;
pub use exports::{BlockSizes, Export, ExportName, Exports, ExportsError, Features};
pub use extents::Extent;
pub use handshake::Tls;
pub use limits::{
    MAX_EXPORTS, MAX_EXTENTS, MAX_IN_FLIGHT, MAX_IN_FLIGHT_BYTES, MAX_META_QUERIES, MAX_OPTION_BYTES, MAX_OPTIONS,
    MAX_REPLY_BYTES, MAX_REQUEST_BYTES, MAX_SKIPPED_OPTION_BYTES, MAX_SKIPPED_PAYLOAD_BYTES, MAX_STRING_BYTES,
    MIN_RECEIVE_BYTES,
};
pub use request::{Command, Errno, Request};
pub use step::Step;
