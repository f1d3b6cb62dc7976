//! A cache over devices whose times are known, and its map under references whose hit rate is known.

mod map;
mod timed;

use super::Cached;
use crate::fixed::Fixed;
use device::{Completion, Device, Operation, Request, RequestId, Time};
use profile::{CacheConfig, CacheMode, CachePolicy, Promotion};

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
