//! Bringing a cache to the state that a load will keep it in, without the time of its devices.
//!
//! The load itself runs against the map alone: blocks come and go as they will later, and what is written to the flash is
//! written to it at once. It does so until misses are as many from round to round, and what the cache holds has been
//! replaced. Database loads have their own page cache, so this is the only pattern that is right for all of them.

use super::device::{Cached, Instant};
use crate::machine::{Machine, Stop};
use crate::{Progress, RunError, SteadyRule, steady_state};
use device::{ByteRange, Completion, Device, HostConfig, Operation, Parts, Request, RequestId, Time};
use load::Load;
use std::collections::VecDeque;

/// Part of the cache's blocks that a round asks for.
const ROUND_SHARE: f64 = 0.5;
/// Blocks of the cache over which the flash is written at least.
const LEAST_WRITTEN: f64 = 2.0;
/// Rounds after which it is given up.
const MAX_ROUNDS: usize = 80;
/// Requests of a round at least: chance must not look like change.
const LEAST_REQUESTS: u64 = 20_000;
/// Time of each request: none would stop the clock of a load that computes nothing.
const REQUEST_NS: u64 = 1_000;

/// How a cache was warmed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WarmUp {
    /// Reads and writes.
    pub requests: u64,
    /// Hits of the last round over its requests.
    pub hit_rate: f64,
    /// Misses were as many from round to round, and the flash was written over.
    pub attained: bool,
}

/// A cache that does everything at once.
struct AtOnce<'a, F, B> {
    cache: &'a mut Cached<F, B>,
    due: VecDeque<(Time, RequestId)>,
    failed: Option<ftl::ReadOnly>,
}

impl<F: Instant, B: Instant> AtOnce<'_, F, B> {
    fn request(&mut self, request: Request) -> Result<(), ftl::ReadOnly> {
        let cache = &mut *self.cache;
        let block_bytes = cache.config.block_bytes;
        let slot_range =
            |slot: u32| ByteRange { offset_bytes: u64::from(slot) * u64::from(block_bytes), len_bytes: block_bytes };
        if !matches!(request.operation, Operation::Read | Operation::Write) {
            return Ok(());
        }
        let (_, pass_by) = cache.note(&request);
        for block in cache.blocks(request.range) {
            if request.operation == Operation::Write {
                let whole = cache.covers(request.range, block);
                let (slot, to_back) = cache.place_write(block, whole, pass_by);
                if let Some(slot) = slot {
                    cache.front.write_now(slot_range(slot))?;
                }
                if to_back {
                    cache.write_behind(block, 1)?;
                }
            } else if let Some(slot) = cache.directory.slot_of(block) {
                cache.directory.hit(slot);
            } else if let Some(slot) = cache.promote(block, pass_by) {
                cache.front.write_now(slot_range(slot))?;
            }
        }
        cache.write_back_now()?;
        if let Some(request) = cache.due_map_write() {
            cache.front.write_now(request.range)?;
        }
        Ok(())
    }
}

impl<F: Instant, B: Instant> Cached<F, B> {
    fn write_behind(&mut self, block: u64, blocks: u32) -> Result<(), ftl::ReadOnly> {
        let offset_bytes = block * u64::from(self.config.block_bytes);
        let left = self.back.capacity_bytes() - offset_bytes;
        let len_bytes = u64::from(blocks * self.config.block_bytes).min(left) as u32;
        self.back.write_now(ByteRange { offset_bytes, len_bytes })
    }

    /// Writes back at once what is above the dirty share, and what is to leave.
    fn write_back_now(&mut self) -> Result<(), ftl::ReadOnly> {
        let share = (f64::from(self.config.blocks) * self.config.dirty_share) as u32;
        while self.directory.dirty() > share || self.directory.leaving() > 0 {
            let run = self.directory.take_dirty(1);
            for (block, slot) in run {
                self.write_behind(block, 1)?;
                self.directory.written_back(slot);
            }
        }
        Ok(())
    }
}

impl<F: Instant, B: Instant> Device for AtOnce<'_, F, B> {
    type Data = ();

    fn submit(&mut self, now: Time, id: RequestId, request: Request, _: &mut Vec<Completion>) {
        if self.failed.is_none() {
            self.failed = self.request(request).err();
        }
        self.due.push_back((now + REQUEST_NS, id));
    }

    fn next_event(&self) -> Time {
        self.due.front().map_or(Time::NEVER, |(due, _)| *due)
    }

    fn advance(&mut self, now: Time, done: &mut Vec<Completion>) {
        while let Some(&(due, id)) = self.due.front() {
            if due > now {
                break;
            }
            self.due.pop_front();
            done.push(Completion { id, result: Ok(()), data: (), parts: Parts::default() });
        }
    }

    fn capacity_bytes(&self) -> u64 {
        self.cache.capacity_bytes()
    }

    fn in_flight(&self) -> u64 {
        self.due.len() as u64
    }
}

/// Warms an empty cache with a load.
pub fn warm_cache<F: Instant, B: Instant>(
    cache: &mut Cached<F, B>,
    load: &mut dyn Load,
    host: HostConfig,
    progress: &dyn Progress,
) -> Result<WarmUp, RunError> {
    let blocks = f64::from(cache.config.blocks);
    let round = ((blocks * ROUND_SHARE) as u64).max(LEAST_REQUESTS);
    let rule = SteadyRule::SNIA;
    let device = AtOnce { cache, due: VecDeque::new(), failed: None };
    let mut machine = Machine::new(device, load, host, false);
    progress.begin("warm the cache", MAX_ROUNDS as u64);
    let mut misses = Vec::new();
    let mut warmed = WarmUp::default();
    let mut before = (0, 0);
    for count in 0..MAX_ROUNDS {
        machine.run_until_or(Stop::Finished((count as u64 + 1) * round), &|| progress.cancelled());
        if progress.cancelled() {
            return Err(RunError::Cancelled);
        }
        let AtOnce { cache, failed, .. } = machine.device();
        if let Some(failed) = failed {
            return Err((*failed).into());
        }
        let counts = cache.counts();
        let (hits, missed) = (counts.hits - before.0, counts.misses - before.1);
        before = (counts.hits, counts.misses);
        misses.push(missed as f64);
        let written = cache.directory.moves().promoted as f64
            + cache.counts().written_bytes as f64 / f64::from(cache.config.block_bytes);
        let still = misses.len() >= rule.window
            && (misses[misses.len() - rule.window..].iter().all(|&missed| missed <= 0.001 * round as f64)
                || steady_state(&misses, &rule).attained);
        warmed = WarmUp {
            requests: counts.hits + counts.misses,
            hit_rate: if hits + missed > 0 { hits as f64 / (hits + missed) as f64 } else { 0.0 },
            attained: still && (written >= LEAST_WRITTEN * blocks || missed == 0 || hits + missed == 0),
        };
        progress.at(count as u64 + 1);
        if warmed.attained || machine.finished() < (count as u64 + 1) * round {
            break;
        }
    }
    Ok(warmed)
}
