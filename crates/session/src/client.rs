//! Clients: who is connected.

use std::collections::BTreeSet;

/// Names a client. No name is given twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientId(pub u64);

/// The clients that are connected.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clients {
    connected: BTreeSet<ClientId>,
    next: u64,
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
}
