//! How much of everything a client may ask for, and why not more.

/// Longest name, description, query or message, in bytes. The document's limit for all strings.
pub const MAX_STRING_BYTES: usize = 4096;

/// Longest data of an option that is looked at, in bytes: an export's name and fourteen queries of the greatest length.
/// Longer ones are refused.
pub const MAX_OPTION_BYTES: usize = 64 << 10;

/// Longest data of an option that is skipped behind a refusal, in bytes. No option known today comes near; whoever
/// announces more has lost his place in the stream, or wants to keep the server busy.
pub const MAX_SKIPPED_OPTION_BYTES: usize = 1 << 20;

/// Options that a client may send, including those behind TLS. A client that asks for the details of every export of a
/// full table and for its metadata contexts needs 130.
pub const MAX_OPTIONS: u32 = 256;

/// Queries in one option about metadata contexts. There is one context; clients ask for a handful.
pub const MAX_META_QUERIES: u32 = 32;

/// Exports in a table. It bounds the answer to a listing.
pub const MAX_EXPORTS: usize = 64;

/// Longest read or write, in bytes: 2^25, up to which the document wants no request to be taken for an attack.
pub const MAX_REQUEST_BYTES: u32 = 32 << 20;

/// Longest payload of a refused write that is skipped, in bytes. Clients that know no maximum block size come to at most
/// twice the usual one when they merge requests; more is a client that has lost its place in the stream.
pub const MAX_SKIPPED_PAYLOAD_BYTES: u32 = 2 * MAX_REQUEST_BYTES;

/// Requests of one connection that are being carried out. Linux has 128 tags a connection, fio and libnbd stay at 64.
pub const MAX_IN_FLIGHT: usize = 128;

/// Data of reads and writes of one connection that are being carried out, in bytes: two of the longest requests. Without
/// it a connection could hold 4 GiB of buffers.
pub const MAX_IN_FLIGHT_BYTES: u64 = 2 * MAX_REQUEST_BYTES as u64;

/// Descriptors in one answer to a block status request. A client asks again behind the last one. 2,048 are 16 KiB.
pub const MAX_EXTENTS: usize = 2048;

/// What the receive buffer must hold so that each option fits, in bytes: its header and its data.
pub const MIN_RECEIVE_BYTES: usize = 16 + MAX_OPTION_BYTES;

/// What one call can append to the output at most, in bytes: the listing of a full table, with its final reply.
pub const MAX_REPLY_BYTES: usize = MAX_EXPORTS * (20 + 4 + 2 * MAX_STRING_BYTES) + 20;

/// The set of slots that are in flight is one word (`transmission.rs`).
const _: () = assert!(MAX_IN_FLIGHT == u128::BITS as usize);
/// One answer to a block status request is within what one call may append.
const _: () = assert!(20 + 4 + 8 * MAX_EXTENTS <= MAX_REPLY_BYTES);
/// Any one request fits while nothing else is in flight.
const _: () = assert!(MAX_REQUEST_BYTES as u64 <= MAX_IN_FLIGHT_BYTES);
