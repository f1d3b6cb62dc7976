//! Errors of a trace, each with its place. Every message is one line.

use crate::Given;
use crate::trace::{LENGTH_LIMIT_BYTES, LINE_BYTES_LIMIT};
use std::fmt;
use std::path::PathBuf;
use thiserror::Error;

/// An error that keeps a trace from being read on.
#[derive(Debug, Error)]
pub struct TraceError {
    /// Path of the file, as it was given.
    pub file: PathBuf,
    /// The line, from 1, where there is one.
    pub line: Option<u64>,
    /// The column, a byte of the line, from 1.
    pub column: Option<usize>,
    /// The problem that was found. Boxed: errors of all runs are as large as this one.
    pub problem: Box<Problem>,
}

impl TraceError {
    /// Returns whether it is one line that is wrong, which can be skipped.
    pub fn is_of_a_line(&self) -> bool {
        self.column.is_some()
    }
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file.to_string_lossy().escape_debug().to_string())?;
        for number in [self.line, self.column.map(|column| column as u64)].into_iter().flatten() {
            write!(f, ":{number}")?;
        }
        write!(f, ": {}", self.problem)
    }
}

/// A problem of a trace.
#[derive(Debug, Error)]
#[allow(missing_docs)]
pub enum Problem {
    /// The operating system refuses.
    #[error("can't be read: {source}")]
    Unreadable { source: std::io::Error },
    /// Compressed data that is cut off or damaged.
    #[error("the {what} data is broken or cut off here: {source}")]
    Broken { what: &'static str, source: std::io::Error },
    /// The file has no format that is known.
    #[error(
        "is no trace of a known format (MSR Cambridge, SYSTOR '17 or Alibaba CSV, blkparse's text, fio iolog v2 or v3): \
         name it with --trace-format"
    )]
    Unrecognised,
    /// Nothing in it.
    #[error("has no request{}", .volume.as_ref().map(|v| format!(" of volume '{}'", v.as_str().escape_debug())).unwrap_or_default())]
    Empty {
        /// The only volume that was asked for.
        volume: Option<Given>,
    },
    /// The recorded device has no queue of requests.
    #[error(
        "has no requests that were issued to a drive (event D), only other events: record the drives below this device"
    )]
    NoIssues,
    /// A field that is not there.
    #[error("the line ends before the {what}")]
    Missing { what: &'static str },
    /// More fields than the format has.
    #[error("'{}' follows the last field", excerpt(.found))]
    Stray { found: Vec<u8> },
    /// A field that is something else.
    #[error("the {what} is '{}', must be {must}", excerpt(.found))]
    Wrong { what: &'static str, found: Vec<u8>, must: &'static str },
    /// A request that no device has.
    #[error("the request ends beyond 2^64 bytes")]
    BeyondEnd,
    /// A request longer than any.
    #[error("the request has {len_bytes} bytes, the most is {LENGTH_LIMIT_BYTES}")]
    TooLong { len_bytes: u64 },
    /// Time that runs backwards.
    #[error("time runs backwards: {:.6} s before the request above", *.by_ns as f64 / 1e9)]
    Backwards { by_ns: u64 },
    /// Time that runs away.
    #[error("the request comes more than a hundred years after the first")]
    TooLate,
    /// A line that never ends.
    #[error("the line is longer than {LINE_BYTES_LIMIT} bytes")]
    LineTooLong,
}

/// Bytes of a file as a piece of a message: short, on one line.
fn excerpt(bytes: &[u8]) -> String {
    const SHOWN: usize = 40;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN)]).escape_debug().to_string();
    if bytes.len() > SHOWN { format!("{text}…") } else { text }
}

/// A problem of a line, and its place.
#[derive(Debug)]
pub(crate) struct Bad {
    pub column: usize,
    pub problem: Problem,
}
