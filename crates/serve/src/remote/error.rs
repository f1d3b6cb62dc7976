//! The reasons why a shelf or a module on it can't be used.

use crate::nvme::Status;
use crate::nvme::initiator::{Broken, ChapError};
use crate::remote::address::ShelfAddress;
use std::io;
use std::time::Duration;

/// See the module. Each message is one line, without the name of the module, which whoever asks knows.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum RemoteError {
    /// There is no such host, or nobody listens there.
    #[error("the shelf at {shelf} can't be reached: {source}")]
    Connect { shelf: ShelfAddress, source: io::Error },
    /// The connection was lost.
    #[error("the connection to the shelf was lost: {source}")]
    Lost { source: io::Error },
    /// No answer came in time.
    #[error("the shelf has not answered within {after:?}")]
    Silent { after: Duration },
    /// The shelf sends what can't be.
    #[error(transparent)]
    Broken(#[from] Broken),
    /// The shelf refuses a command.
    #[error("the shelf refuses {what}: status {:x}h/{:02x}h", .status.code().0, .status.code().1)]
    Refused { what: &'static str, status: Status },
    /// The module is reserved by another host.
    #[error("another host holds the reservation of the module")]
    Conflict,
    /// The shelf has no such subsystem.
    #[error("the shelf has no module of this name")]
    NoModule,
    /// The authentication has failed.
    #[error(transparent)]
    Chap(#[from] ChapError),
    /// The shelf wants a secret.
    #[error(
        "the shelf wants a secret: name the file of it when the card is made (flashrig create … --shelf-secret FILE)"
    )]
    NoSecret,
    /// A secret was given and is not wanted.
    #[error(
        "the shelf does not ask for the secret: start it with --nvme-secret, or take shelf_secret out of card.toml"
    )]
    SecretUnused,
    /// The controller does not become ready.
    #[error("the controller on the shelf does not become ready")]
    NotReady,
    /// A module is a subsystem of one namespace.
    #[error("the subsystem has {count} namespaces, and a module is one")]
    Namespaces { count: usize },
    /// The module has a property that a module can't have.
    #[error("the module {what}")]
    Unfit { what: &'static str },
    /// This machine has no more descriptors or threads.
    #[error("the system refuses what a connection needs: {source}")]
    System { source: io::Error },
}
