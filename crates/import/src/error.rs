//! Errors in a file, each with its place and its remedy. Every message is one line.

use crate::text::{Excerpt, OneLine, excerpt};
use results::ReviewResult;
use results::words::grouped;
use thiserror::Error;

/// An error that keeps a file from being imported.
#[derive(Debug, Error)]
#[error("{file}{}: {problem}", .line.map(|line| format!(":{line}")).unwrap_or_default())]
pub struct ImportError {
    /// Path of the file, as it was given.
    pub file: OneLine,
    /// The line, from 1, where there is one.
    pub line: Option<u64>,
    /// The problem that was found.
    pub problem: Problem,
}

impl ImportError {
    pub(crate) fn new(file: &str, line: Option<u64>, problem: Problem) -> ImportError {
        ImportError { file: file.into(), line, problem }
    }
}

/// A problem of a file.
#[derive(Debug, Error)]
#[allow(missing_docs)]
pub enum Problem {
    /// The operating system refuses.
    #[error("can't be read: {source}")]
    Unreadable { source: std::io::Error },
    /// More than is read.
    #[error("is longer than {} bytes, the most that is read of {what}: import it in parts", grouped(*.limit))]
    TooLong { what: &'static str, limit: u64 },
    /// Nothing in it.
    #[error("is empty: was the tool stopped before it wrote its results?")]
    Empty,
    /// Not of a kind that is known.
    #[error(
        "is not a result of Flashrig, fio's JSON (--output-format=json+), the output of sysbench fileio or a log of pgbench --log"
    )]
    Unrecognised,
    /// JSON, but not ours.
    #[error("not a Flashrig review, nor fio's JSON")]
    NotOurs,
    /// Not JSON, or not as it must be.
    #[error("column {column}: {}: write it again, it is broken", json_message(.source))]
    Json {
        /// The column, from 1.
        column: usize,
        source: serde_json::Error,
    },
    /// From the future.
    #[error("written by a newer Flashrig (schema {schema}, this one reads up to {reads}): update flashrig")]
    NewerSchema { schema: u64, reads: u32 },
    /// From the past.
    #[error(
        "a review by an older Flashrig (schema {schema}, this one reads {}): review the device again",
        ReviewResult::SCHEMA
    )]
    OlderReview { schema: u64 },
    /// A load that no run has.
    #[error("a run of a load that is not known, '{kind}': update flashrig")]
    UnknownLoad { kind: Excerpt },
    /// A histogram that can't be one.
    #[error("the {what} of '{place}' are no histogram (counts for rising latencies): write it again, it is broken")]
    BadHistogram {
        what: &'static str,
        /// The sweep's or the timeline's name.
        place: Excerpt,
    },
    /// A burst that can't be one.
    #[error(
        "burst {number} is none (rows of rising bytes, each with its throughput, up to the burst's own): write it again, it is broken"
    )]
    BadBurst { number: usize },
    /// fio ran nothing, or its server did.
    #[error("fio's JSON without jobs: of fio --client, import what each machine wrote itself")]
    NoJobs,
    /// fio before 2.12.
    #[error("{version} did not write what it had asked (\"job options\"): measure again with fio 2.12 or newer")]
    NoOptions { version: Excerpt },
    /// Reads and writes in one sum.
    #[error("job '{job}' has reads and writes in one sum: measure again without unified_rw_reporting")]
    Unified { job: Excerpt },
    /// An option that is no number.
    #[error(
        "job '{job}' has {option}={value}, which is not a number from 1 to {}",
        grouped(u64::from(crate::number::COUNT_LIMIT))
    )]
    BadOption { job: Excerpt, option: &'static str, value: Excerpt },
    /// No job and no run that read or wrote.
    #[error("nothing was read or written in it: was the tool stopped before its end?")]
    NothingMeasured,
    /// Another test of sysbench.
    #[error("is the output of another test of sysbench: only that of fileio can be compared")]
    OtherTest,
    /// A figure that every run has.
    #[error("the run that begins here does not say its {what}: import all that sysbench printed")]
    Missing { what: &'static str },
    /// A figure that is none.
    #[error("{what} is '{found}', must be a number: write it again, it is broken")]
    BadNumber { what: &'static str, found: Excerpt },
    /// A line of no log.
    #[error("the line is longer than {} bytes: write it again, it is broken", grouped(*.limit))]
    LineTooLong { limit: u64 },
    /// A line of another form.
    #[error("'{found}' is not a line of {form}: is the file whole, and all of it by one pgbench?")]
    NotALogLine { form: &'static str, found: Excerpt },
    /// Times of different runs.
    #[error("lies {} s from other lines, a run is taken to last at most {}: are all of one run?", grouped(*.seconds), grouped(*.limit))]
    FarAway { seconds: u64, limit: u64 },
    /// More clients than pgbench can have.
    #[error("has more than {} clients: are all lines of one run?", grouped(*.limit as u64))]
    TooManyClients { limit: usize },
    /// Several files that don't belong together.
    #[error("is no log of pgbench --log: only such logs, of one run, are read together; import others one by one")]
    NotTogether,
    /// No published table of that name.
    #[error("no published table has this name: one of {}", .known.join(", "))]
    UnknownPublished {
        /// The names that there are.
        known: &'static [&'static str],
    },
}

/// Returns serde_json's message without its place, which counts from where its text began.
fn json_message(source: &serde_json::Error) -> String {
    let message = source.to_string();
    let end = message.rfind(" at line ").unwrap_or(message.len());
    excerpt(&message[..end])
}
