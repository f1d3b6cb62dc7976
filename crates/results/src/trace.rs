//! A replayed trace, and its fit to the device.

use serde::{Deserialize, Serialize};

/// A trace, as far as it was replayed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceReport {
    /// Requests of all kinds.
    pub requests: u64,
    /// Reads, with the bytes that the trace asks for.
    pub reads: TraceRequests,
    /// Write requests of the trace.
    pub writes: TraceRequests,
    /// Trim requests of the trace.
    pub trims: TraceRequests,
    /// Flush requests of the trace.
    pub flushes: TraceRequests,
    /// From the first request to the last, as recorded.
    pub span_ns: u64,
    /// Lines that were read; some batches more than were replayed when the replay was stopped before its end.
    pub lines: u64,
    /// Lines that ask nothing: headers, events of other kinds, files that are opened.
    pub other_lines: u64,
    /// Broken lines that were skipped.
    pub bad_lines: u64,
    /// Requests whose time ran backwards and was taken as that of the request before.
    pub backwards: u64,
    /// Requests of volumes that were not asked for.
    pub other_volumes: u64,
    /// Volumes that were laid over each other; at most 65,536 are told apart.
    pub volumes: u64,
    /// Requests that lay beyond the device's size, at least in part.
    pub folded: u64,
    /// Requests that were cut: at the device's end, or because they are longer than a request may be.
    pub split: u64,
    /// Requests that were widened to boundaries of 512 bytes.
    pub widened: u64,
    /// Requests that the device was asked, after cutting.
    pub pieces: u64,
    /// Requests that were asked later than they were due, because as many as may be were outstanding.
    pub behind: u64,
    /// Delay of the latest of them.
    pub behind_max_ns: u64,
    /// Most requests outstanding at once.
    pub deepest: u32,
    /// Virtual seconds of a row of the series.
    pub series_row_s: u64,
}

/// Requests of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceRequests {
    /// Number of requests.
    pub requests: u64,
    /// Their lengths together.
    pub bytes: u64,
}
