//! The state that all threads of a server share.

use crate::registry::Registry;
use crate::tls::Security;
use crate::waker::Waker;
use crate::wire;
use live::Live;
use std::sync::Arc;
use std::time::Duration;

/// A card that clients may choose.
#[derive(Clone)]
pub struct Export {
    /// The name of the export. The empty name also chooses the first export.
    pub name: String,
    /// A description for people.
    pub description: String,
    /// The card behind the export.
    pub live: Arc<Live>,
    /// Clients may only read.
    pub read_only: bool,
}

/// The limits for clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The highest number of clients at once.
    pub connections: usize,
    /// The time in which a client has to choose an export.
    pub handshake: Duration,
    /// The time in which a client has to continue in the middle of a request or of a reply.
    pub stall: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { connections: 512, handshake: Duration::from_secs(10), stall: Duration::from_secs(60) }
    }
}

/// The state that the threads share.
pub(crate) struct Shared {
    pub exports: Vec<Export>,
    pub table: Arc<wire::Exports>,
    pub security: Security,
    pub limits: Limits,
    pub registry: Registry,
    /// Wakes the listeners when the server stops.
    pub stop: Arc<Waker>,
}
