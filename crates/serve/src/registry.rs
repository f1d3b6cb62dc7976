//! The registry of connected clients.

use crate::client_bell::ClientBell;
use parking_lot::Mutex;
use rustix::net::{Shutdown, shutdown};
use serde::Serialize;
use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

/// A protocol that clients speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// The Network Block Device protocol.
    Nbd,
    /// NVMe over TCP.
    Nvme,
}

impl Protocol {
    /// Its name in one word.
    pub fn name(self) -> &'static str {
        match self {
            Protocol::Nbd => "nbd",
            Protocol::Nvme => "nvme",
        }
    }
}

impl std::fmt::Display for Protocol {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Protocol::Nbd => "NBD",
            Protocol::Nvme => "NVMe",
        })
    }
}

/// The status of a client, for an operator.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClientStatus {
    /// The number of the connection; connections are numbered as they come.
    pub number: u64,
    /// The protocol that the client speaks.
    pub protocol: Protocol,
    /// The address of the client.
    pub peer: String,
    /// The export that the client has chosen.
    pub export: Option<String>,
    /// The connection has TLS.
    pub tls: bool,
    /// The age of the connection.
    pub connected_seconds: f64,
    /// The number of requests that were answered.
    pub requests: u64,
    /// The number of requests in flight.
    pub in_flight: u64,
    /// The number of bytes that the client has read.
    pub read_bytes: u64,
    /// The number of bytes that the client has written.
    pub written_bytes: u64,
}

/// The counters of a client, which only its own thread changes, and whether it was cut off.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub is_cut_off: AtomicBool,
    pub requests: AtomicU64,
    pub in_flight: AtomicU64,
    pub read_bytes: AtomicU64,
    pub written_bytes: AtomicU64,
}

pub(crate) struct Client {
    protocol: Protocol,
    pub peer: String,
    pub export: Option<String>,
    /// The place of this export, and whether other controllers show it as well.
    pub place: Option<(usize, bool)>,
    pub tls: bool,
    since: Instant,
    socket: Arc<OwnedFd>,
    bell: Arc<ClientBell>,
    pub counts: Arc<Counts>,
}

impl Client {
    /// Ends the connection, whatever its thread waits for.
    fn cut_off(&self) {
        self.counts.is_cut_off.store(true, Ordering::SeqCst);
        let _ = shutdown(&*self.socket, Shutdown::Both);
        self.bell.wake();
    }
}

#[derive(Default)]
pub(crate) struct Registry {
    /// The number of clients, for those that ask often.
    count: AtomicUsize,
    clients: Mutex<(u64, BTreeMap<u64, Client>)>,
    stops: AtomicBool,
    /// Clients of cards that are shared were cut off, and no new ones come until exports are set again.
    pub keeps_off: AtomicBool,
}

impl Registry {
    pub fn count(&self) -> usize {
        self.count.load(Ordering::SeqCst)
    }

    pub fn stops(&self) -> bool {
        self.stops.load(Ordering::SeqCst)
    }

    pub fn enter(&self, protocol: Protocol, peer: String, socket: Arc<OwnedFd>, bell: Arc<ClientBell>) -> u64 {
        let mut clients = self.clients.lock();
        clients.0 += 1;
        let number = clients.0;
        let (since, counts) = (Instant::now(), Arc::default());
        let client = Client { protocol, peer, export: None, place: None, tls: false, since, socket, bell, counts };
        clients.1.insert(number, client);
        self.count.store(clients.1.len(), Ordering::SeqCst);
        number
    }

    pub fn counts(&self, number: u64) -> Arc<Counts> {
        self.clients.lock().1.get(&number).map(|client| Arc::clone(&client.counts)).unwrap_or_default()
    }

    pub fn change(&self, number: u64, change: impl FnOnce(&mut Client)) {
        if let Some(client) = self.clients.lock().1.get_mut(&number) {
            change(client);
        }
    }

    pub fn leave(&self, number: u64) {
        let mut clients = self.clients.lock();
        clients.1.remove(&number);
        self.count.store(clients.1.len(), Ordering::SeqCst);
    }

    /// Stops the service: requests in flight are answered, and no new ones are taken.
    pub fn stop(&self) {
        self.stops.store(true, Ordering::SeqCst);
        for client in self.clients.lock().1.values() {
            // This wakes a thread that waits for bytes of the client.
            let _ = shutdown(&*client.socket, Shutdown::Read);
            client.bell.wake();
        }
    }

    /// Wakes some clients, by their numbers.
    pub fn wake_some(&self, numbers: &[u64]) {
        let clients = self.clients.lock();
        numbers.iter().filter_map(|number| clients.1.get(number)).for_each(|client| client.bell.wake());
    }

    /// Cuts off some clients, by their numbers; those that have gone meanwhile are none.
    pub fn cut_off_some(&self, numbers: &[u64]) {
        let clients = self.clients.lock();
        for client in numbers.iter().filter_map(|number| clients.1.get(number)) {
            let _ = shutdown(&*client.socket, Shutdown::Both);
            client.bell.wake();
        }
    }

    /// Wakes all clients.
    pub fn wake_all(&self) {
        self.clients.lock().1.values().for_each(|client| client.bell.wake());
    }

    /// Cuts off the clients that have chosen an export, by its place and whether it is shared.
    pub fn cut_off_where(&self, is_meant: impl Fn(usize, bool) -> bool) {
        let is_meant = |client: &&Client| client.place.is_some_and(|(place, is_shared)| is_meant(place, is_shared));
        for client in self.clients.lock().1.values().filter(is_meant) {
            client.cut_off();
        }
    }

    /// Cuts off the clients that are still connected.
    pub fn cut_off(&self) {
        self.clients.lock().1.values().for_each(Client::cut_off);
    }

    pub fn status(&self) -> Vec<ClientStatus> {
        let clients = self.clients.lock();
        let status = |(number, client): (&u64, &Client)| ClientStatus {
            number: *number,
            protocol: client.protocol,
            peer: client.peer.clone(),
            export: client.export.clone(),
            tls: client.tls,
            connected_seconds: client.since.elapsed().as_secs_f64(),
            requests: client.counts.requests.load(Ordering::Relaxed),
            in_flight: client.counts.in_flight.load(Ordering::Relaxed),
            read_bytes: client.counts.read_bytes.load(Ordering::Relaxed),
            written_bytes: client.counts.written_bytes.load(Ordering::Relaxed),
        };
        clients.1.iter().map(status).collect()
    }
}
