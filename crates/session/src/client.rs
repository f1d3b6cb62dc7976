//! Clients: who is connected.

use device::Operation;
use std::collections::BTreeSet;

/// Names a client. No name is given twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientId(pub u64);

/// The clients that are connected.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clients {
    connected: BTreeSet<ClientId>,
    next: u64,
    /// Those that were told of a write, and not of a flush since: a planted bug wants to know.
    #[cfg(feature = "canaries")]
    wrote: BTreeSet<ClientId>,
}

impl Clients {
    pub fn connect(&mut self) -> ClientId {
        let client = ClientId(self.next);
        self.next += 1;
        self.connected.insert(client);
        client
    }

    pub fn disconnect(&mut self, client: ClientId) {
        self.connected.remove(&client);
    }

    pub fn is_connected(&self, client: ClientId) -> bool {
        self.connected.contains(&client)
    }

    pub fn count(&self) -> usize {
        self.connected.len()
    }

    /// A request has ended.
    #[cfg(feature = "canaries")]
    pub fn note_finished(&mut self, client: ClientId, operation: Operation) {
        match operation {
            Operation::Write | Operation::Trim => drop(self.wrote.insert(client)),
            Operation::Flush => drop(self.wrote.remove(&client)),
            Operation::Read => {}
        }
    }

    /// A request has ended.
    #[cfg(not(feature = "canaries"))]
    #[inline(always)]
    pub fn note_finished(&mut self, _: ClientId, _: Operation) {}

    /// A client has something to flush.
    #[cfg(feature = "canaries")]
    pub fn has_written(&self, client: ClientId) -> bool {
        self.wrote.contains(&client)
    }

    /// A client may have something to flush.
    #[cfg(not(feature = "canaries"))]
    pub fn has_written(&self, _: ClientId) -> bool {
        true
    }
}
