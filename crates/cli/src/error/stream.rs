//! Errors of files and streams of this process.

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// A file or a stream that does not do what it should.
#[derive(Debug, Error)]
pub enum StreamFailure {
    /// A file can't be written.
    #[error("can't write {}: {source}", .path.display())]
    Unwritable { path: PathBuf, source: io::Error },
    /// A file can't be read.
    #[error("can't read {}: {source}", .path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    /// Standard input can't be read.
    #[error("can't read from standard input: {0}")]
    Stdin(io::Error),
    /// Standard output can't be written to.
    #[error("can't write to standard output: {0}")]
    Stdout(io::Error),
    /// There is no terminal to draw on.
    #[error("a running card is watched in a terminal; --once prints one frame")]
    NoTerminal,
    /// The terminal does not do what it should.
    #[error("the terminal: {0}")]
    Terminal(io::Error),
    /// Ctrl-C can't be heard.
    #[error("can't listen to Ctrl-C: {0}")]
    Signal(#[from] ctrlc::Error),
}
