//! An array of disks behind a controller: the device that a host sees.
//!
//! A request passes the controller, which serves one after another, and is then answered from the controller's cache
//! or becomes operations on the disks. With a battery-backed cache nothing that was acknowledged is volatile: the
//! controller has its disks write through their own caches, and a flush has nothing to wait for.
//!
//! Invariants:
//! - submitted = finished + in flight;
//! - with `explain`, the parts of a completion add up to the time from its submission to its completion;
//! - time never runs backwards, and no event is skipped.

use crate::ArrayConfig;
use crate::controller::{ControllerCache, DESTAGES_PER_COLUMN};
use crate::disk::{Command, Disk, Finished, Kind};
use crate::error::{self, DiskError};
use crate::locks::RowLocks;
use crate::mapping::Mapping;
use crate::op::{OPS_PER_REQUEST, Op, Ops, Owner, Plan};
use crate::server::Server;
use crate::span::{BLOCK_BYTES, Span};
use crate::spent::Spent;
use device::{Completion, Device, EventTable, Operation, Parts, Request, RequestId, Rng, Time};

/// Counts of the array's work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Requests taken from the host.
    pub submitted: u64,
    /// Requests that have been answered.
    pub finished: u64,
    /// Reads sent to disks, those of parity updates included.
    pub disk_reads: u64,
    /// Writes sent to disks.
    pub disk_writes: u64,
    /// Host reads answered from the controller's cache.
    pub cache_read_hits: u64,
    /// Host writes taken by the controller's cache.
    pub cache_writes: u64,
}

/// A request of the host that has not been answered.
#[derive(Clone, Copy, Debug)]
struct Pending {
    request: Request,
    submitted: Time,
    /// Start of the stage it is in.
    since: Time,
    /// Operations it waits for.
    ops: u32,
    spent: Spent,
}

impl Pending {
    fn span(&self) -> Span {
        let start = self.request.range.offset_bytes / BLOCK_BYTES;
        Span::new(start, start + u64::from(self.request.range.len_bytes) / BLOCK_BYTES)
    }
}

/// Disks behind a controller, in virtual time.
#[derive(Clone, Debug)]
pub struct Array {
    explain: bool,
    controller_ns: u64,
    mapping: Mapping,
    now: Time,
    /// A slot for each disk, and the last one for the controller.
    events: EventTable,
    disks: Vec<Disk>,
    controller: Server<RequestId>,
    cache: Option<ControllerCache>,
    locks: RowLocks,
    ops: Ops,
    /// Operations of the host that go on.
    host_ops: u64,
    pending: Vec<Option<Pending>>,
    in_flight: u64,
    counters: Counters,
    /// Scratch: commands that have just ended.
    ended: Vec<Finished>,
}

impl Array {
    /// An array that has just been switched on. Request ids are below `max_requests`; with `explain`, completions say
    /// where their time went. The seed sets the angles between the platters.
    pub fn new(config: ArrayConfig, max_requests: u32, explain: bool, seed: u64) -> Result<Array, DiskError> {
        error::check(&config, max_requests)?;
        let mapping = Mapping::new(&config);
        let cached = config.controller_cache_bytes >= BLOCK_BYTES;
        let destages = if cached { DESTAGES_PER_COLUMN * mapping.columns() } else { 0 };
        let op_limit = OPS_PER_REQUEST * max_requests as usize + destages;
        let mut phases = Rng::stream(seed, "disk phases");
        let disks = (0..config.disks)
            .map(|_| Disk::new(&config.disk, phases.bits() >> 1, op_limit))
            .collect::<Result<Vec<Disk>, DiskError>>()?;
        Ok(Array {
            explain,
            controller_ns: config.controller_ns,
            now: Time::ZERO,
            events: EventTable::new(disks.len() + 1),
            controller: Server::new(max_requests as usize),
            cache: cached.then(|| ControllerCache::new(config.controller_cache_bytes, mapping.columns())),
            locks: RowLocks::default(),
            ops: Ops::new(op_limit),
            host_ops: 0,
            pending: vec![None; max_requests as usize],
            in_flight: 0,
            counters: Counters::default(),
            ended: Vec::new(),
            mapping,
            disks,
        })
    }

    /// Returns the counts of the array's work so far.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    fn pending(&mut self, id: RequestId) -> &mut Pending {
        self.pending[id.0 as usize].as_mut().expect("the request is in flight")
    }

    fn complete(&mut self, now: Time, id: RequestId, done: &mut Vec<Completion>) {
        let pending = self.pending[id.0 as usize].take().expect("a request completes once");
        let mut parts = Parts::default();
        if self.explain {
            parts = pending.spent.parts();
            assert_eq!(parts.total_ns(), now - pending.submitted, "the parts of request {} don't add up", id.0);
        }
        self.in_flight -= 1;
        self.counters.finished += 1;
        done.push(Completion { id, result: Ok(()), data: (), parts });
    }

    /// The controller has taken a request.
    fn dispatch(&mut self, now: Time, id: RequestId, done: &mut Vec<Completion>) {
        let pending = self.pending(id);
        pending.spent.command_queue_ns += now - pending.since;
        pending.since = now;
        let (span, op, fua) = (pending.span(), pending.request.operation, pending.request.fua);
        match op {
            Operation::Trim => self.complete(now, id, done),
            Operation::Flush if self.cache.is_some() => self.complete(now, id, done),
            Operation::Flush => {
                let commands = (0..self.disks.len()).map(|disk| (disk, Span::EMPTY)).collect();
                self.start(now, Owner::Host(id), Kind::Flush, false, Plan { commands, read_first: false, rows: 0..0 });
            }
            _ if span.is_empty() => self.complete(now, id, done),
            Operation::Read => {
                if self.cache.as_ref().is_some_and(|c| c.cache.holds(span)) {
                    self.counters.cache_read_hits += 1;
                    self.complete(now, id, done);
                } else {
                    let plan = self.plan_read(span);
                    self.start(now, Owner::Host(id), Kind::Read, false, plan);
                }
            }
            Operation::Write => match &mut self.cache {
                Some(c) if !c.cache.too_small_for(span) => {
                    c.room.push_back(id);
                    self.admit(now, done);
                }
                cache => {
                    let durable = fua || cache.is_some();
                    for plan in Plan::write(&self.mapping, span) {
                        self.start(now, Owner::Host(id), Kind::Write, durable, plan);
                    }
                }
            },
        }
    }

    /// Takes writes into the controller's cache, in order of arrival, while it has room.
    fn admit(&mut self, now: Time, done: &mut Vec<Completion>) {
        while let Some(&id) = self.cache.as_ref().and_then(|c| c.room.front()) {
            let span = self.pending(id).span();
            let cache = self.cache.as_mut().expect("it was there");
            if !cache.cache.fits(span) {
                return;
            }
            cache.cache.put(span);
            cache.room.pop_front();
            self.counters.cache_writes += 1;
            let pending = self.pending(id);
            pending.spent.disk_queue_ns += now - pending.since;
            self.complete(now, id, done);
        }
    }

    /// A read of each set that holds a part of the range, from one disk of it.
    fn plan_read(&self, span: Span) -> Plan {
        let mut needs = vec![Span::EMPTY; self.mapping.sets()];
        self.mapping.spread(span, &mut needs);
        let each = needs.iter().enumerate().filter(|(_, need)| !need.is_empty());
        let commands = each.map(|(set, &need)| (self.mirror(set, need.start), need)).collect();
        Plan { commands, read_first: false, rows: 0..0 }
    }

    /// The disk of a set to read from: the one whose last read ends here, so that a stream stays on its disk; else
    /// the one with the fewest commands; else the one with the nearest arm.
    fn mirror(&self, set: usize, lba: u64) -> usize {
        let rank = |&disk: &usize| {
            let d = &self.disks[disk];
            (!d.continues_at(lba), d.outstanding(), d.distance_blocks(lba))
        };
        self.mapping.members(set).min_by_key(rank).expect("a set has disks")
    }

    fn start(&mut self, now: Time, owner: Owner, kind: Kind, durable: bool, plan: Plan) {
        if let Owner::Host(id) = owner {
            self.pending(id).ops += 1;
            self.host_ops += 1;
        }
        let rows = plan.rows.clone();
        let op = Op { owner, plan, kind, durable, outstanding: 0, since: now, spent: Spent::default() };
        let number = self.ops.add(op);
        if rows.is_empty() || self.locks.acquire(rows, number) {
            self.begin(now, number);
        }
    }

    /// The first step of an operation that has its rows.
    fn begin(&mut self, now: Time, number: u32) {
        let op = self.ops.of(number);
        op.spent.disk_queue_ns += now - op.since;
        let kind = if op.plan.read_first { Kind::Read } else { op.kind };
        self.send(now, number, kind);
    }

    /// Sends the commands of a step.
    fn send(&mut self, now: Time, number: u32, kind: Kind) {
        let op = self.ops.of(number);
        op.outstanding = op.plan.commands.len() as u32;
        let durable = op.durable;
        match kind {
            Kind::Read => self.counters.disk_reads += u64::from(op.outstanding),
            Kind::Write => self.counters.disk_writes += u64::from(op.outstanding),
            Kind::Flush => {}
        }
        for &(disk, span) in &op.plan.commands {
            self.disks[disk].submit(now, Command { op: number, kind, span, durable });
            self.events.set(disk, self.disks[disk].next_event());
        }
    }

    /// A disk has ended a command.
    fn command_ended(&mut self, now: Time, ended: &Finished, done: &mut Vec<Completion>) {
        let op = self.ops.of(ended.op);
        op.outstanding -= 1;
        if op.outstanding > 0 {
            return;
        }
        // The last command of a step is its critical path.
        op.spent.then(&ended.spent);
        if ended.kind != op.kind {
            let kind = op.kind;
            self.send(now, ended.op, kind);
            return;
        }
        let op = self.ops.end(ended.op);
        if !op.plan.rows.is_empty() {
            for granted in self.locks.release(ended.op) {
                self.begin(now, granted);
            }
        }
        match op.owner {
            Owner::Cache(unit) => {
                self.cache.as_mut().expect("only a cache destages").arrived(unit);
                self.admit(now, done);
            }
            Owner::Host(id) => {
                self.host_ops -= 1;
                let pending = self.pending(id);
                pending.ops -= 1;
                if pending.ops == 0 {
                    // All operations started together: the last one to end is the critical path.
                    pending.spent.then(&op.spent);
                    if let (Kind::Write, Some(cache)) = (op.kind, &mut self.cache) {
                        let span = self.pending[id.0 as usize].as_ref().expect("the request is in flight").span();
                        cache.cache.supersede(span);
                    }
                    self.complete(now, id, done);
                    self.admit(now, done);
                }
            }
        }
    }

    /// Starts the destages that the cache wants. True when there were any.
    fn destage(&mut self, now: Time) -> bool {
        let mut any = false;
        let idle = self.host_ops == 0;
        while let Some((unit, parts)) = self.cache.as_mut().and_then(|c| c.take(&self.mapping, idle)) {
            let mut needs = vec![Span::EMPTY; self.mapping.sets()];
            for &part in &parts {
                self.mapping.spread(part, &mut needs);
            }
            let row = self.mapping.row_of(unit.start);
            let plan = if !self.mapping.has_parity() {
                Plan::write_sets(&self.mapping, &needs)
            } else if parts == [unit] {
                Plan::write_rows(&self.mapping, row..row + 1)
            } else {
                Plan::write_in_row(&self.mapping, row, &needs)
            };
            self.start(now, Owner::Cache(unit), Kind::Write, true, plan);
            any = true;
        }
        any
    }

    fn controller_slot(&self) -> usize {
        self.disks.len()
    }

    fn check(&self) {
        assert_eq!(self.counters.submitted, self.counters.finished + self.in_flight, "a request was lost");
    }
}

impl Device for Array {
    type Data = ();

    /// # Panics
    /// When the caller breaks the contract: an id that is in use or beyond the limit, a range that is no multiple of
    /// 512 bytes or ends past the capacity, time that runs backwards or skips an event.
    fn submit(&mut self, now: Time, id: RequestId, request: Request, _done: &mut Vec<Completion>) {
        assert!(now >= self.now, "time runs backwards: {} ns after {} ns", now.0, self.now.0);
        assert!(self.next_event() >= now, "the event at {} ns was skipped", self.next_event().0);
        self.now = now;
        assert!((id.0 as usize) < self.pending.len(), "request id {} is not below {}", id.0, self.pending.len());
        assert!(self.pending[id.0 as usize].is_none(), "request id {} is in use", id.0);
        if request.operation != Operation::Flush {
            let (offset, len) = (request.range.offset_bytes, u64::from(request.range.len_bytes));
            assert!(
                offset.is_multiple_of(BLOCK_BYTES) && len.is_multiple_of(BLOCK_BYTES),
                "a request of {len} bytes at {offset} is not in units of 512 bytes"
            );
            assert!(
                offset.checked_add(len).is_some_and(|end| end <= self.capacity_bytes()),
                "a request of {len} bytes at {offset} ends past the capacity of {} bytes",
                self.capacity_bytes()
            );
        }
        let pending = Pending { request, submitted: now, since: now, ops: 0, spent: Spent::default() };
        self.pending[id.0 as usize] = Some(pending);
        self.counters.submitted += 1;
        self.in_flight += 1;
        self.controller.push(now, self.controller_ns, id);
        self.events.set(self.controller_slot(), self.controller.next());
        self.check();
    }

    fn next_event(&self) -> Time {
        self.events.next()
    }

    fn advance(&mut self, now: Time, done: &mut Vec<Completion>) {
        assert!(now >= self.now, "time runs backwards: {} ns after {} ns", now.0, self.now.0);
        assert!(self.next_event() >= now, "the event at {} ns was skipped", self.next_event().0);
        self.now = now;
        loop {
            let (due, slot) = self.events.earliest();
            if due > now {
                if self.destage(now) {
                    continue;
                }
                break;
            }
            if slot == self.controller_slot() {
                if let Some(id) = self.controller.pop(now) {
                    self.dispatch(now, id, done);
                }
                self.events.set(slot, self.controller.next());
            } else {
                let mut ended = std::mem::take(&mut self.ended);
                self.disks[slot].advance(now, &mut ended);
                self.events.set(slot, self.disks[slot].next_event());
                for finished in ended.drain(..) {
                    self.command_ended(now, &finished, done);
                }
                self.ended = ended;
            }
        }
        self.check();
    }

    fn capacity_bytes(&self) -> u64 {
        self.mapping.capacity_blocks() * BLOCK_BYTES
    }

    fn in_flight(&self) -> u64 {
        self.in_flight
    }
}
