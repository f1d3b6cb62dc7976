//! The state that all threads of a server share.

use crate::budget::{Budget, usual_memory_bytes};
use crate::exported::Current;
use crate::hub::Hub;
use crate::nvme::Secrets;
use crate::registry::Registry;
use crate::tls::Security;
use crate::turned_away::TurnedAway;
use crate::waker::Waker;
use std::num::NonZero;
use std::sync::Arc;
use std::time::Duration;

/// The limits for clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The highest number of clients at once.
    pub connections: usize,
    /// The number of clients that have a thread each; when there are more, those whose medium is slow share threads.
    pub own_threads: usize,
    /// The time in which a client has to choose an export.
    pub handshake: Duration,
    /// The time in which a client has to continue in the middle of a request or of a reply.
    pub stall: Duration,
    /// The time in which a request has to arrive as a whole, and its answers have to be taken, on top of the time that
    /// their bytes take at the least rate.
    pub request: Duration,
    /// The bytes per second with which every client is to send and take at least.
    pub least_rate: u64,
    /// The bytes of memory that requests and answers of all clients together may take, at least
    /// [`MIN_MEMORY_BYTES`](crate::MIN_MEMORY_BYTES).
    pub memory_bytes: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connections: 512,
            own_threads: for_clients(),
            handshake: Duration::from_secs(10),
            stall: Duration::from_secs(60),
            request: Duration::from_secs(60),
            least_rate: 256 << 10,
            memory_bytes: usual_memory_bytes(),
        }
    }
}

/// The state that the threads share.
pub(crate) struct Shared {
    pub exported: Current,
    /// Hosts may come over NVMe.
    pub serves_nvme: bool,
    /// The subsystems for NVMe hosts.
    pub hub: Hub,
    /// The secrets that NVMe hosts have to know.
    pub secrets: Option<Secrets>,
    pub security: Security,
    pub limits: Limits,
    pub registry: Registry,
    pub budget: Arc<Budget>,
    pub turned_away: TurnedAway,
    /// Wakes the listeners when the server stops.
    pub stop: Waker,
}

/// The processors for threads of clients: one is left for those that the clients themselves and the media need.
pub(crate) fn for_clients() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get).saturating_sub(1).max(1)
}

#[cfg(test)]
impl Shared {
    /// A server without exports.
    pub fn for_tests() -> Shared {
        let limits = Limits::default();
        Shared {
            exported: Current::new(crate::exported::Exported::new(Vec::new()).unwrap()),
            serves_nvme: false,
            hub: Hub::new(&[], None, Vec::new()).unwrap(),
            secrets: None,
            security: Security::Plain,
            limits,
            registry: Registry::default(),
            budget: Budget::new(limits.memory_bytes, limits.connections),
            turned_away: TurnedAway::default(),
            stop: Waker::new().unwrap(),
        }
    }
}
