//! The limits for clients, with the reasons for them.

/// The longest name, description, query or message, in bytes: the document's limit for all strings.
pub const MAX_STRING_BYTES: usize = 4096;

/// The longest data of an option that is parsed, in bytes: an export's name and fourteen queries of the greatest
/// length. Longer data are refused.
pub const MAX_OPTION_BYTES: usize = 64 << 10;

/// The longest data of an option that is skipped behind a refusal, in bytes. No option known today comes near; a client
/// that announces more has lost its place in the stream, or wants to keep the server busy.
pub const MAX_SKIPPED_OPTION_BYTES: usize = 1 << 20;

/// The highest number of options that a client may send, including those behind TLS. A client that asks for the details
/// and the metadata contexts of every export of a full table needs 130.
pub const MAX_OPTIONS: u32 = 256;

/// The highest number of queries in one option about metadata contexts. There is one context, and clients send a
/// handful of queries.
pub const MAX_META_QUERIES: u32 = 32;

/// The highest number of exports in a table. It bounds the reply to a listing.
pub const MAX_EXPORTS: usize = 64;

/// The longest read or write, in bytes: 2^25, up to which the document wants no request to be taken for an attack.
pub const MAX_REQUEST_BYTES: u32 = 32 << 20;

/// The longest payload of a refused write that is skipped, in bytes. A client that knows no maximum block size sends at
/// most twice the usual one when it merges requests; a client that sends more has lost its place in the stream.
pub const MAX_SKIPPED_PAYLOAD_BYTES: u32 = 2 * MAX_REQUEST_BYTES;

/// The highest number of requests of one connection in flight. Linux has 128 tags a connection; fio and libnbd stay at
/// 64.
pub const MAX_IN_FLIGHT: usize = 128;

/// The highest amount of data of one connection's reads and writes in flight, in bytes: two of the longest requests.
/// Without this limit a connection could hold 4 GiB of buffers.
pub const MAX_IN_FLIGHT_BYTES: u64 = 2 * MAX_REQUEST_BYTES as u64;

/// The highest number of descriptors in one reply to a block status request. A client asks again behind the last one.
/// 2,048 descriptors are 16 KiB.
pub const MAX_EXTENTS: usize = 2048;

/// The smallest receive buffer, in bytes, that has room for every option: its header and its data.
pub const MIN_RECEIVE_BYTES: usize = 16 + MAX_OPTION_BYTES;

/// The most bytes that one call can append to the output: the listing of a full table, with its final reply.
pub const MAX_REPLY_BYTES: usize = MAX_EXPORTS * (20 + 4 + 2 * MAX_STRING_BYTES) + 20;

/// The set of slots that are in flight is one word (`transmission.rs`).
const _: () = assert!(MAX_IN_FLIGHT == u128::BITS as usize);
/// One answer to a block status request is within what one call may append.
const _: () = assert!(20 + 4 + 8 * MAX_EXTENTS <= MAX_REPLY_BYTES);
/// Any one request fits while nothing else is in flight.
const _: () = assert!(MAX_REQUEST_BYTES as u64 <= MAX_IN_FLIGHT_BYTES);
