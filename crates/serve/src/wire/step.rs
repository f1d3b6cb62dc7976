//! The next action of the driver of a connection.

use crate::wire::close::Close;
use crate::wire::request::Request;
use std::ops::Range;

/// The next action of the driver.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// Receive more bytes behind those that were not consumed.
    NeedMore {
        /// The number of bytes that are certainly needed; more do no harm.
        at_least_bytes: usize,
    },
    /// Continue parsing; the output has a reply.
    Replied,
    /// Send the output, negotiate TLS on what follows, then call
    /// [`Connection::tls_started`](crate::wire::Connection::tls_started).
    StartTls,
    /// Begin the transmission phase; the client chose an export.
    Ready {
        /// The place of the export in the table.
        export: usize,
    },
    /// Carry out a request without payload.
    Request(Request),
    /// Carry out a write when its payload has arrived. The missing part of the payload comes next in the stream. The
    /// caller receives it, and reports it by
    /// [`Connection::payload_received`](crate::wire::Connection::payload_received) before parsing continues.
    Write {
        /// The request; its length is that of the payload.
        request: Request,
        /// The beginning of the payload in the parsed input, or all of it if it has arrived.
        payload: Range<usize>,
    },
    /// Answer a request before parsing continues, because the limit of requests in flight is reached.
    Busy,
    /// Answer the requests in flight, then parse once more; the client disconnects, and nothing more is received.
    Drain,
    /// Send the output, as far as the client takes it, and close the connection.
    Close(Close),
}
