//! What did other tools measure?
//!
//! Text in, a [`ReviewResult`] out: what Flashrig itself wrote, JSON of fio, the output of sysbench fileio, logs of
//! pgbench, and the tables under `published/`. The kind of a file is told by what it says, not by its name.
//!
//! A figure that a tool doesn't say is absent. A figure that the format of a review can't leave out is zero when it is
//! absent: share of the device in use, capacity, cores, standard deviation, the longest response of a second; and a
//! [`results::LatencySummary`] whose `N` is 0 says that there are no latencies. Percentiles are never averaged. The
//! note of a sweep holds the remarks that a reader needs to understand its figures.
//!
//! Invariants: no bytes make a parser panic; time and memory grow with the length of the input and no faster; JSON has
//! at most [`JSON_BYTES_LIMIT`] bytes and a log at most [`LOG_BYTES_LIMIT`]; an error is one line and says what to do.

mod document;
mod error;
mod fio;
mod flashrig;
mod input;
mod json;
mod kind;
mod number;
mod pgbench;
mod published;
mod scalar;
mod shell;
mod sweeps;
mod sysbench;
mod table;
mod text;

pub use error::{ImportError, Problem};
pub use input::{JSON_BYTES_LIMIT, LOG_BYTES_LIMIT};
pub use published::{PUBLISHED, published};
pub use table::Table;
pub use text::{Excerpt, OneLine};

use input::Input;
use kind::Kind;
use results::ReviewResult;
use std::path::Path;

/// Reads a file of any kind that is known.
pub fn read(path: impl AsRef<Path>) -> Result<ReviewResult, ImportError> {
    read_all(&[path])
}

/// Reads files that make one result: the logs of one run of pgbench, which writes one for each of its threads. One file
/// may be of any kind.
pub fn read_all(paths: &[impl AsRef<Path>]) -> Result<ReviewResult, ImportError> {
    assert!(!paths.is_empty(), "nothing to read");
    if let [path] = paths {
        return read_one(Input::open(path.as_ref())?);
    }
    pgbench::read(paths.iter().map(|path| Input::open(path.as_ref())))
}

/// The same for text that is at hand; `file` is what messages call it.
pub fn parse(file: &str, bytes: &[u8]) -> Result<ReviewResult, ImportError> {
    read_one(Input::of_bytes(file, bytes)?)
}

/// The same as [`read_all`] for text that is at hand: pairs of a name and what stands there.
pub fn parse_all(files: &[(&str, &[u8])]) -> Result<ReviewResult, ImportError> {
    assert!(!files.is_empty(), "nothing to read");
    if let [(file, bytes)] = files {
        return parse(file, bytes);
    }
    pgbench::read(files.iter().map(|(file, bytes)| Input::of_bytes(file, bytes)))
}

fn read_one(input: Input) -> Result<ReviewResult, ImportError> {
    match kind::of(input.head()).map_err(|problem| input.error(problem))? {
        Kind::Json => json::read(input),
        Kind::Sysbench => sysbench::read(input),
        Kind::Pgbench => pgbench::read([Ok(input)].into_iter()),
    }
}
