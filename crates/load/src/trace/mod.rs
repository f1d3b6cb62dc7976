//! What did a host ask, once?
//!
//! Block traces, as other people recorded and published them: read line by line, plain or compressed, as [`Record`]s of
//! rising time. Each format is one file, which holds the lines of that format and nothing else; what all formats share
//! (time that must not run backwards, lines that are skipped, volumes) stands in `reader.rs`.
//!
//! Invariants:
//! - no bytes make a parser panic;
//! - memory does not grow with the trace: a line has at most [`LINE_BYTES_LIMIT`] bytes, a batch at most
//!   [`BATCH_RECORDS`] records, and of volumes at most [`VOLUMES_LIMIT`] are told apart;
//! - records come in the order of the file, their times never fall, and the first is at 0;
//! - the records that a format's writer writes are read back as the same records.

mod alibaba;
mod blkparse;
mod compression;
mod error;
mod feed;
mod field;
mod fio;
mod format;
mod lines;
mod msr;
mod reader;
mod said;
mod systor;
mod volumes;
mod writer;

pub use compression::Compression;
pub use error::{Problem, TraceError};
pub use feed::{Batch, Feed};
pub use format::Format;
pub use lines::LINE_BYTES_LIMIT;
pub use reader::{LineCounts, Options, Reader};
pub use volumes::VOLUMES_LIMIT;
pub use writer::{NotInFormat, Writer};

use device::Operation;

/// Most records of a batch.
pub const BATCH_RECORDS: usize = 4096;
/// Longest read or write of a record.
pub const LENGTH_LIMIT_BYTES: u64 = u32::MAX as u64;
/// Longest span of a trace: a hundred years.
pub const SPAN_LIMIT_NS: u64 = 100 * 366 * 86_400 * 1_000_000_000;

/// One request of a trace. Flushes have neither place nor length; all else has a length, which need not be a multiple of
/// anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// When it was asked, since the first request of the trace.
    pub at_ns: u64,
    /// Kind of the request.
    pub op: Operation,
    /// The write had to be durable before it was acknowledged.
    pub fua: bool,
    /// First byte, on the volume that was recorded.
    pub offset_bytes: u64,
    /// Length of the request in bytes.
    pub len_bytes: u64,
}
