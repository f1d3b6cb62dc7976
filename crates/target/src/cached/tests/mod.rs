//! A cache over devices whose times are known, and its map under references whose hit rate is known.

mod map;
mod timed;

use super::{Cached, Instant};
use device::{ByteRange, Completion, Device, Operation, Parts, Request, RequestId, Time};
use profile::{CacheConfig, CacheMode, CachePolicy, Promotion};
use std::collections::BTreeMap;

const BLOCK: u32 = 4096;

fn config(mode: CacheMode, policy: CachePolicy, blocks: u32) -> CacheConfig {
    CacheConfig {
        mode,
        policy,
        promotion: Promotion::First,
        blocks,
        block_bytes: BLOCK,
        sequential_cutoff_bytes: 0,
        dirty_share: 0.1,
        dirty_limit: 0.7,
    }
}

/// A device that takes as long for each request, however many there are, and remembers what it was asked.
#[derive(Clone, Debug)]
struct Fixed {
    read_ns: u64,
    write_ns: u64,
    capacity_bytes: u64,
    due: BTreeMap<(Time, u32), ()>,
    asked: Vec<(Time, Request)>,
}

impl Fixed {
    fn new(read_ns: u64, write_ns: u64, blocks: u64) -> Fixed {
        let capacity_bytes = blocks * u64::from(BLOCK);
        Fixed { read_ns, write_ns, capacity_bytes, due: BTreeMap::new(), asked: Vec::new() }
    }

    fn asked(&self, operation: Operation) -> Vec<u64> {
        let same = self.asked.iter().filter(|(_, request)| request.operation == operation);
        same.map(|(_, request)| request.range.offset_bytes / u64::from(BLOCK)).collect()
    }
}

impl Device for Fixed {
    type Data = ();

    fn submit(&mut self, now: Time, id: RequestId, request: Request, _: &mut Vec<Completion>) {
        assert!(self.next_event() >= now && !self.due.keys().any(|(_, other)| *other == id.0));
        assert!(request.operation == Operation::Flush || request.range.end_bytes() <= self.capacity_bytes);
        let ns = if request.operation == Operation::Read { self.read_ns } else { self.write_ns };
        self.asked.push((now, request));
        self.due.insert((now + ns, id.0), ());
    }

    fn next_event(&self) -> Time {
        self.due.keys().next().map_or(Time::NEVER, |(due, _)| *due)
    }

    fn advance(&mut self, now: Time, done: &mut Vec<Completion>) {
        while let Some((&(due, id), ())) = self.due.first_key_value() {
            if due > now {
                break;
            }
            self.due.remove(&(due, id));
            done.push(Completion { id: RequestId(id), result: Ok(()), data: (), parts: Parts::default() });
        }
    }

    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    fn in_flight(&self) -> u64 {
        self.due.len() as u64
    }
}

impl Instant for Fixed {
    fn write_now(&mut self, range: ByteRange) -> Result<(), ftl::ReadOnly> {
        assert!(range.end_bytes() <= self.capacity_bytes);
        Ok(())
    }
}

const FLASH_NS: u64 = 100;
const DISK_NS: u64 = 10_000;

/// A cache over a flash that takes 100 ns and a disk that takes 10 µs, writes a tenth longer.
fn cached(config: CacheConfig, disk_blocks: u64, requests: u32) -> Cached<Fixed, Fixed> {
    let flash = Fixed::new(FLASH_NS, FLASH_NS + 10, config.bytes() / u64::from(BLOCK) + 16);
    Cached::new(flash, Fixed::new(DISK_NS, DISK_NS + 1_000, disk_blocks), config, requests, false)
}

/// Asks for one thing and lets everything end that it began; returns how long the request took.
fn ask<F: Device<Data = ()>, B: Device<Data = ()>>(cache: &mut Cached<F, B>, now: &mut Time, request: Request) -> u64 {
    let (began, mut done) = (*now, Vec::new());
    cache.submit(began, RequestId(0), request, &mut done);
    let mut ended = (!done.is_empty()).then_some(began);
    while cache.next_event() != Time::NEVER {
        *now = cache.next_event();
        cache.advance(*now, &mut done);
        ended = ended.or((!done.is_empty()).then_some(*now));
    }
    assert_eq!((done.len(), done[0].id, cache.in_flight()), (1, RequestId(0), 0));
    ended.unwrap() - began
}

fn read(block: u64) -> Request {
    Request::read(block * u64::from(BLOCK), BLOCK)
}

fn write(block: u64) -> Request {
    Request::write(block * u64::from(BLOCK), BLOCK)
}
