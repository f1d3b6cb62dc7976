//! Requests that wait for room on the device, and clients that wait for room among these.

use crate::client::ClientId;
use std::collections::VecDeque;

/// Both queues, first come, first served.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    max_waiting: usize,
    requests: VecDeque<usize>,
    /// Each client is in it once at most: there are no more of them than clients.
    waiters: VecDeque<ClientId>,
}

impl Waiting {
    pub fn new(max_waiting: usize) -> Waiting {
        Waiting { max_waiting, requests: VecDeque::new(), waiters: VecDeque::new() }
    }

    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    pub fn len(&self) -> usize {
        self.requests.len()
    }

    pub fn front(&self) -> Option<usize> {
        self.requests.front().copied()
    }

    pub fn pop_front(&mut self) {
        self.requests.pop_front();
    }

    /// A request waits from now on.
    pub fn push(&mut self, request: usize) {
        assert!(self.requests.len() < self.max_waiting, "a client was not admitted, and submits");
        self.requests.push_back(request);
    }

    pub fn take_all(&mut self) -> VecDeque<usize> {
        std::mem::take(&mut self.requests)
    }

    /// There is room, and no other client has waited for it longer.
    pub fn admits(&self, client: ClientId) -> bool {
        self.requests.len() < self.max_waiting && self.waiters.front().is_none_or(|first| *first == client)
    }

    /// A client waits for room, unless it does already.
    pub fn wait(&mut self, client: ClientId) {
        if !self.waiters.contains(&client) {
            self.waiters.push_back(client);
        }
    }

    /// A client waits for room no longer: it has submitted, or is gone.
    pub fn stop_waiting(&mut self, client: ClientId) {
        self.waiters.retain(|waiter| *waiter != client);
    }

    /// The client that is admitted next, if there is room for it.
    pub fn next_waiter(&self) -> Option<ClientId> {
        self.waiters.front().copied().filter(|_| self.requests.len() < self.max_waiting)
    }
}
