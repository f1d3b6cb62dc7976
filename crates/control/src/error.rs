//! Errors of the server and of its client.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Text from outside that an error quotes, as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quoted(Box<str>);

impl<T: Into<Box<str>>> From<T> for Quoted {
    fn from(text: T) -> Quoted {
        Quoted(text.into())
    }
}

impl fmt::Display for Quoted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An error that keeps the server from starting.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum ServeError {
    /// Another server has the socket.
    #[error("{}: another server answers there", .socket.display())]
    InUse { socket: PathBuf },
    /// Something else is there.
    #[error("{}: there is something that is no socket; name another path", .path.display())]
    NotASocket { path: PathBuf },
    /// The socket can't be made.
    #[error("can't listen at {}: {source}", .socket.display())]
    Socket { socket: PathBuf, source: io::Error },
    /// The address can't be had.
    #[error("can't listen at {address}: {source}")]
    Address { address: Quoted, source: io::Error },
    /// Others could look.
    #[error(
        "{address}: others than this machine could reach the live view, which asks nobody who they are; name 127.0.0.1 or \
         [::1] (and ssh -L from elsewhere), or add --web-insecure"
    )]
    Exposed { address: Quoted },
}

/// The reason why there is no answer, or one that says no.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum ClientError {
    /// Nobody is there.
    #[error("no server answers at {}: {source}; flashrig serve starts one", .socket.display())]
    NoServer { socket: PathBuf, source: io::Error },
    /// No socket is named, and there is none.
    #[error("no card is served in {}: name its socket or its directory", .dir.display())]
    None { dir: PathBuf },
    /// No socket is named, and there are several.
    #[error("{number} cards are served in {}: name one, as {}", .dir.display(), .first.display())]
    Several {
        number: usize,
        dir: PathBuf,
        /// One of them.
        first: PathBuf,
    },
    /// The server refused, and said why.
    #[error("{message}")]
    Refused {
        status: u16,
        /// In its words.
        message: Quoted,
    },
    /// It says what no server of ours says.
    #[error("{}: the server gave no answer that can be understood: {why}", .socket.display())]
    NoAnswer { socket: PathBuf, why: Quoted },
    /// The system refuses what it takes to ask.
    #[error("can't ask: {0}")]
    System(io::Error),
}
