//! The host's requests that are in flight, and the order in which they wait.
//!
//! Invariant: requests submitted = finished + in flight.

use super::host_request::HostRequest;
use super::zone_commands::ZoneCommands;
use device::RequestId;
use std::collections::VecDeque;
use std::ops::{Index, IndexMut};

/// The requests of the host, by their ids.
#[derive(Clone, Debug)]
pub struct HostSide<I> {
    requests: Vec<HostRequest<I>>,
    /// Writes that wait for room in the buffer, first come first served; at most one entry a request.
    pub waiting_writes: VecDeque<RequestId>,
    /// Flushes and FUA writes that wait until a barrier is durable; barriers do not fall.
    pub waiting_durable: VecDeque<(u64, RequestId)>,
    /// Requests that wait in the host for one of those in the card to end.
    held: VecDeque<RequestId>,
    /// The commands to zones, on a card that has some.
    pub zones: Option<Box<ZoneCommands>>,
    queue_depth: u64,
    submitted: u64,
    finished: u64,
    in_flight: u64,
}

impl<I: Clone + Default> HostSide<I> {
    /// With room for so many requests at once, of which the card has `queue_depth` at most.
    pub fn new(max_requests: u32, queue_depth: u32, has_zones: bool) -> HostSide<I> {
        HostSide {
            requests: vec![HostRequest::default(); max_requests as usize],
            waiting_writes: VecDeque::new(),
            waiting_durable: VecDeque::new(),
            held: VecDeque::new(),
            zones: has_zones.then(|| Box::new(ZoneCommands::new(max_requests))),
            queue_depth: queue_depth.into(),
            submitted: 0,
            finished: 0,
            in_flight: 0,
        }
    }
}

impl<I> HostSide<I> {
    /// Requests that may be in flight at once.
    pub fn max_requests(&self) -> usize {
        self.requests.len()
    }

    /// A request was submitted.
    #[inline]
    pub fn count_submitted(&mut self) {
        self.submitted += 1;
        self.in_flight += 1;
    }

    /// A request has completed.
    #[inline]
    pub fn count_finished(&mut self) {
        self.finished += 1;
        self.in_flight -= 1;
        assert_eq!(self.submitted, self.finished + self.in_flight, "a request was lost");
    }

    /// The card has as many requests as its queue takes: this one waits in the host.
    #[inline]
    pub fn holds(&mut self, id: RequestId) -> bool {
        let holds = self.in_flight - self.held.len() as u64 > self.queue_depth;
        if holds {
            self.held.push_back(id);
        }
        holds
    }

    /// The request that goes down in the place of one that has ended.
    #[inline]
    pub fn release(&mut self) -> Option<RequestId> {
        self.held.pop_front()
    }

    /// Power fails: requests that wait for the card are lost.
    pub fn forget_waiting(&mut self) {
        self.waiting_writes.clear();
        self.held.clear();
    }

    /// Requests submitted and not finished.
    pub fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// No request is in flight.
    pub fn is_idle(&self) -> bool {
        self.in_flight == 0
    }
}

impl<I> Index<RequestId> for HostSide<I> {
    type Output = HostRequest<I>;

    #[inline]
    fn index(&self, id: RequestId) -> &HostRequest<I> {
        &self.requests[id.0 as usize]
    }
}

impl<I> IndexMut<RequestId> for HostSide<I> {
    #[inline]
    fn index_mut(&mut self, id: RequestId) -> &mut HostRequest<I> {
        &mut self.requests[id.0 as usize]
    }
}
