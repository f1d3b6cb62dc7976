//! What every card is: the queue of requests, the link, the buffer, the dies, collection, and the account of time.

pub mod bus;
pub mod config;
pub mod counters;
pub mod dies;
pub mod energy;
pub mod explain;
pub mod host_request;
pub mod link;
pub mod occupancy;
pub mod phase;
pub mod recovery_time;
pub mod relocation;
pub mod stripes;

use config::{CardConfig, RelocationPath};
use counters::MediaCounters;
use device::{EventTable, RequestId, Time};
use dies::Dies;
use explain::{Activity, Record};
use ftl::Ftl;
use host_request::HostRequest;
use link::Link;
use phase::Lifecycle;
use relocation::Relocations;
use slab::Slab;
use std::collections::VecDeque;
use stripes::{Erasing, StripeInFlight};

/// The state of a card beside its contents. `I` is what a request owns while it is in flight.
#[derive(Clone, Debug)]
pub struct Core<I> {
    pub config: CardConfig,
    pub ftl: Ftl,
    pub link: Link,
    pub dies: Dies,
    /// Slots: dies, then requests, then relocations on their way through the host, then the end of
    /// [`IDLE_NS`](crate::IDLE_NS), then two of the contents: the next unit of a rebuild that is held to a rate, and a
    /// sync that is due.
    pub events: EventTable,
    pub die_count: usize,
    pub requests: Vec<HostRequest<I>>,
    pub stripes: Slab<StripeInFlight>,
    pub relocations: Relocations,
    pub erasing: Vec<Erasing>,
    pub buffer_free_sectors: u32,
    /// Room in the buffer: what counts as durable there is what the energy can put on flash.
    pub buffer_sectors: u32,
    /// Writes that wait for room, first come first served; at most one entry a request.
    pub waiting_writes: VecDeque<RequestId>,
    /// Flushes and FUA writes that wait until a barrier is durable; barriers do not fall.
    pub waiting_durable: VecDeque<(u64, RequestId)>,
    pub submitted: u64,
    pub finished: u64,
    pub in_flight: u64,
    /// The host has asked for nothing for [`IDLE_NS`](crate::IDLE_NS).
    pub long_idle: bool,
    /// When the next relocation out of the SLC cache may begin, where its rate is limited.
    pub fold_due: Time,
    pub media: MediaCounters,
    pub activity: Activity,
    /// Since when host writes have been stopped for collection.
    pub stopped_since: Option<Time>,
    /// By request, when the card explains where time went; else empty.
    pub records: Vec<Record>,
    pub phase: Lifecycle,
}

impl<I: Clone + Default> Core<I> {
    /// The card around its flash management.
    pub fn around(config: &CardConfig, ftl: Ftl, max_requests: u32, explain: bool, phase: Lifecycle) -> Core<I> {
        let die_count = config.nand.geometry.dies() as usize;
        let requests = max_requests as usize;
        Core {
            config: *config,
            ftl,
            link: Link::new(config.link),
            dies: Dies::new(&config.nand, config.reads_first, explain),
            events: EventTable::new(die_count + requests + 4),
            die_count,
            requests: vec![HostRequest::default(); requests],
            stripes: Slab::new(),
            relocations: Relocations::new(),
            erasing: Vec::new(),
            buffer_free_sectors: config.durable_buffer_sectors(),
            buffer_sectors: config.durable_buffer_sectors(),
            waiting_writes: VecDeque::new(),
            waiting_durable: VecDeque::new(),
            submitted: 0,
            finished: 0,
            in_flight: 0,
            long_idle: false,
            fold_due: Time::ZERO,
            media: MediaCounters::default(),
            activity: Activity::default(),
            stopped_since: None,
            records: if explain { vec![Record::default(); requests] } else { Vec::new() },
            phase,
        }
    }
}

impl<I> Core<I> {
    pub fn request_slot(&self, id: RequestId) -> usize {
        self.die_count + id.0 as usize
    }

    pub fn relocation_slot(&self) -> usize {
        self.die_count + self.requests.len()
    }

    pub fn idle_slot(&self) -> usize {
        self.relocation_slot() + 1
    }

    pub fn rebuild_slot(&self) -> usize {
        self.relocation_slot() + 2
    }

    pub fn sync_slot(&self) -> usize {
        self.relocation_slot() + 3
    }

    /// Activity until now.
    pub fn activity_at(&self, now: Time) -> Activity {
        let mut activity = self.activity;
        if let Some(since) = self.stopped_since {
            activity.stopped_ns += now - since;
        }
        activity
    }

    pub fn note_stopped(&mut self, now: Time) {
        match (self.ftl.stopped_for_gc(), self.stopped_since) {
            (true, None) => self.stopped_since = Some(now),
            (false, Some(since)) => {
                self.activity.stopped_ns += now - since;
                self.stopped_since = None;
            }
            _ => {}
        }
    }

    /// Time for a sector on its way through the host, if relocation takes that way.
    pub fn host_path_sector_ns(&self) -> Option<u64> {
        match self.config.relocation_path {
            RelocationPath::Internal => None,
            RelocationPath::Host { sector_ns } => Some(sector_ns),
        }
    }
}
