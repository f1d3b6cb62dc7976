//! A volume of a cloud: the limits that were paid for, in front of storage that is never the limit itself.
//!
//! Every request waits for its turn at two limiters, one of requests and one of bytes, and then takes the time of the network
//! and the servers behind it. A limiter with credits is a token bucket: what is not used is saved up, and is spent at the
//! rate of the burst.

use crate::error::{self, DiskError};
use crate::{Limit, VolumeConfig};
use device::{Cause, Completion, Device, EventTable, Operation, Parts, Request, RequestId, Rng, Time};

const NS: u128 = 1_000_000_000;

/// A limiter: requests pass it in the order in which they came.
#[derive(Clone, Debug)]
struct Limiter {
    limit: Limit,
    /// Credits, in units of a billionth; as of `refilled`.
    credits: u128,
    most: u128,
    refilled: u64,
    /// Nothing passes before.
    next: u64,
}

impl Limiter {
    fn new(limit: Limit, burst_s: u64, full: bool) -> Limiter {
        let most = u128::from(limit.burst - limit.sustained) * u128::from(burst_s) * NS;
        Limiter { limit, credits: if full { most } else { 0 }, most, refilled: 0, next: 0 }
    }

    /// The time at which `units` pass that come at `now`.
    fn pass(&mut self, now: u64, units: u64) -> u64 {
        let at = now.max(self.next);
        let sustained = u128::from(self.limit.sustained);
        self.credits = self.most.min(self.credits + sustained * u128::from(at - self.refilled));
        self.refilled = at;
        let cost = u128::from(units) * NS;
        let at_burst = cost.div_ceil(u128::from(self.limit.burst)) as u64;
        // A request earns in its own time, and the rest is taken from the credits.
        let missing = cost.saturating_sub(sustained * u128::from(at_burst));
        if missing <= self.credits {
            self.credits -= missing;
            self.next = at + at_burst;
        } else {
            let lacking = missing - self.credits;
            self.credits = 0;
            self.next = at + at_burst + lacking.div_ceil(sustained) as u64;
        }
        // The time until then is paid for.
        self.refilled = self.next;
        at
    }
}

#[derive(Clone, Copy, Debug)]
struct Pending {
    submitted: Time,
    passed: Time,
}

/// A volume, in virtual time.
#[derive(Clone, Debug)]
pub struct Volume {
    config: VolumeConfig,
    explain: bool,
    now: Time,
    /// A slot for each request.
    events: EventTable,
    pending: Vec<Option<Pending>>,
    iops: Limiter,
    bytes: Limiter,
    chance: Rng,
    in_flight: u64,
    submitted: u64,
    finished: u64,
}

impl Volume {
    /// A volume that was just attached. Request ids are below `max_requests`; with `explain`, completions say where their time
    /// went. The seed sets what latencies have of chance.
    pub fn new(config: VolumeConfig, max_requests: u32, explain: bool, seed: u64) -> Result<Volume, DiskError> {
        error::check_volume(&config, max_requests)?;
        let limiter = |limit| Limiter::new(limit, config.burst_s, config.full_at_start);
        Ok(Volume {
            config,
            explain,
            now: Time::ZERO,
            events: EventTable::new(max_requests as usize),
            pending: vec![None; max_requests as usize],
            iops: limiter(config.iops),
            bytes: limiter(config.bytes_per_s),
            chance: Rng::stream(seed, "volume latencies"),
            in_flight: 0,
            submitted: 0,
            finished: 0,
        })
    }

    /// The time at which both limits let a request through.
    fn pass(&mut self, now: Time, len_bytes: u64) -> Time {
        let by_count = self.iops.pass(now.0, len_bytes.div_ceil(self.config.io_bytes).max(1));
        Time(self.bytes.pass(by_count, len_bytes))
    }

    fn check(&self) {
        assert_eq!(self.submitted, self.finished + self.in_flight, "a request was lost");
    }
}

impl Device for Volume {
    type Data = ();

    /// # Panics
    /// When the caller breaks the contract: an id that is in use or beyond the limit, a range past the capacity, time that
    /// runs backwards or skips an event.
    fn submit(&mut self, now: Time, id: RequestId, request: Request, _done: &mut Vec<Completion>) {
        assert!(now >= self.now, "time runs backwards: {} ns after {} ns", now.0, self.now.0);
        assert!(self.next_event() >= now, "the event at {} ns was skipped", self.next_event().0);
        self.now = now;
        assert!(self.pending[id.0 as usize].is_none(), "request id {} is in use", id.0);
        let len_bytes = u64::from(request.range.len_bytes);
        let least_ns = match request.operation {
            Operation::Read => self.config.read_ns,
            Operation::Write => self.config.write_ns,
            // An acknowledged write is durable, and a trim is a note.
            Operation::Flush | Operation::Trim => 0,
        };
        let (mut passed, mut takes_ns) = (now, 0);
        if matches!(request.operation, Operation::Read | Operation::Write) {
            assert!(
                request.range.offset_bytes.checked_add(len_bytes).is_some_and(|end| end <= self.config.capacity_bytes),
                "a request of {len_bytes} bytes at {} ends past the capacity",
                request.range.offset_bytes
            );
            passed = self.pass(now, len_bytes);
            takes_ns = least_ns + self.chance.exponential(self.config.spread_ns as f64) as u64;
        }
        self.pending[id.0 as usize] = Some(Pending { submitted: now, passed });
        self.submitted += 1;
        self.in_flight += 1;
        self.events.set(id.0 as usize, Time(passed.0 + takes_ns));
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
                break;
            }
            self.events.set(slot, Time::NEVER);
            let pending = self.pending[slot].take().expect("an event belongs to a request");
            let mut parts = Parts::default();
            if self.explain {
                parts.add(Cause::CommandQueue, pending.passed - pending.submitted);
                parts.add(Cause::Link, now - pending.passed);
            }
            self.in_flight -= 1;
            self.finished += 1;
            done.push(Completion { id: RequestId(slot as u32), result: Ok(()), data: (), parts });
        }
        self.check();
    }

    fn capacity_bytes(&self) -> u64 {
        self.config.capacity_bytes
    }

    fn in_flight(&self) -> u64 {
        self.in_flight
    }
}
