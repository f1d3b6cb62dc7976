//! The database's buffer cache: what is read from memory, and how changed blocks get to the device.
//!
//! A logical read hits or misses, by a real directory of blocks ([`clock`]) or by a stated hit ratio. Changed
//! blocks queue in the order in which they first changed; background writers take them from the front once
//! `dirty_start` of the buffers are unclean, and a session that would make more than `dirty_limit` of them unclean
//! waits (Oracle's `free buffer waits`). In between lies an equilibrium: one block is written for each that is newly
//! changed.
//!
//! The cache starts warm: full of blocks drawn by the load's own pattern, none of them dirty.
//!
//! Simplifications: a block on its way into memory counts as present for everybody but the process that reads it;
//! with a stated hit ratio each change makes another buffer dirty (no block changes twice before it is written); a
//! coalesced write covers the blocks that follow the first, in place of looking for dirty neighbours.
//!
//! Invariants:
//! - at most `dirty_limit` of the buffers are unclean (being changed, dirty, or being written), so a clean one can
//!   always be replaced, and the queue of dirty blocks is bounded by the same limit;
//! - a process that waits for a clean buffer is woken as soon as there is room for it;
//! - a writer parks only when less than `dirty_start` of the buffers are unclean or all unclean ones are in others'
//!   hands.

mod clock;
mod config;

pub use config::CacheConfig;
pub(crate) use config::validate_block_bytes;

use crate::{ProcessId, Step};
use clock::Clock;
use device::{Request, Rng};
use std::collections::VecDeque;

/// The data that a cache stands before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DataArea {
    pub start_bytes: u64,
    pub block_bytes: u32,
    pub blocks: u32,
}

impl DataArea {
    /// The read of one block.
    pub fn read(&self, block: u32) -> Request {
        Request::read(self.offset_bytes(block), self.block_bytes)
    }

    /// Returns the offset behind the last byte.
    pub fn end_bytes(&self) -> u64 {
        self.offset_bytes(self.blocks)
    }

    fn offset_bytes(&self, block: u32) -> u64 {
        self.start_bytes + u64::from(block) * u64::from(self.block_bytes)
    }

    /// The write of `count` blocks from `block` on, moved down when it would leave the area.
    fn write(&self, block: u32, count: u32) -> Request {
        let first = block.min(self.blocks - count);
        Request::write(self.offset_bytes(first), count * self.block_bytes)
    }
}

/// Outcome of an attempt to change a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Update {
    /// It was in memory and is changed.
    Done,
    /// It must be read first; then [`BufferCache::finish_update`].
    Miss,
    /// There are too many unclean buffers: [`BufferCache::wait_for_buffer`], then try again.
    NoBuffer,
}

/// Counts of the writers' work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WriteCounts {
    /// Write requests finished.
    pub requests: u64,
    /// Blocks in them.
    pub blocks: u64,
}

/// A buffer cache in action.
#[derive(Clone, Debug)]
pub(crate) struct BufferCache {
    area: DataArea,
    directory: Directory,
    /// Unclean buffers from which on writers write.
    start: u64,
    /// Unclean buffers from which on sessions wait.
    limit: u64,
    /// Dirty blocks, longest dirty first.
    dirty: VecDeque<u32>,
    /// Processes that wait for a clean buffer; each at most once.
    waiting: VecDeque<ProcessId>,
    /// Writers that parked.
    idle: Vec<ProcessId>,
    writers: Vec<Writer>,
    first_writer: ProcessId,
    coalescing: f64,
    counts: WriteCounts,
}

#[derive(Clone, Debug)]
enum Directory {
    Clock(Clock),
    Stated { hit_ratio: f64, unclean: u64 },
}

/// One request's worth of a background writer.
#[derive(Clone, Debug)]
struct Writer {
    rng: Rng,
    /// Blocks that it writes now.
    taken: Vec<u32>,
}

impl BufferCache {
    /// A cache before `area`, whose writers are the processes from `first_writer` on. `draw` draws blocks as the
    /// load will, to warm the cache.
    pub fn new(
        config: &CacheConfig,
        area: DataArea,
        first_writer: ProcessId,
        seed: u64,
        mut draw: impl FnMut() -> u32,
    ) -> BufferCache {
        let buffers = config.bytes / u64::from(area.block_bytes);
        let limit = ((buffers as f64 * config.dirty_limit) as u64).max(1);
        let directory = match config.hit_ratio {
            Some(hit_ratio) => Directory::Stated { hit_ratio, unclean: 0 },
            None => {
                let mut clock = Clock::new(buffers.min(area.blocks.into()) as u32, area.blocks);
                warm(&mut clock, buffers, area.blocks, &mut draw);
                Directory::Clock(clock)
            }
        };
        let writer = |number| Writer { rng: Rng::stream(seed, &format!("db writer {number}")), taken: Vec::new() };
        BufferCache {
            area,
            directory,
            start: ((buffers as f64 * config.dirty_start) as u64).clamp(1, limit),
            limit,
            dirty: VecDeque::new(),
            waiting: VecDeque::new(),
            idle: Vec::new(),
            writers: (0..config.writer_processes()).map(writer).collect(),
            first_writer,
            coalescing: config.write_coalescing_blocks.min(area.blocks.into()),
            counts: WriteCounts::default(),
        }
    }

    /// The blocks behind the cache.
    pub fn area(&self) -> &DataArea {
        &self.area
    }

    /// A logical read: true when the block is in memory. A missed block is in memory from now on, in place of another.
    #[inline]
    pub fn read(&mut self, block: u32, rng: &mut Rng) -> bool {
        match &mut self.directory {
            Directory::Stated { hit_ratio, .. } => rng.unit() < *hit_ratio,
            Directory::Clock(clock) => match clock.find(block) {
                Some(frame) => {
                    clock.reference(frame);
                    true
                }
                None => {
                    clock.install(block);
                    false
                }
            },
        }
    }

    /// A logical read of a block that is then changed.
    pub fn update(&mut self, block: u32, rng: &mut Rng, wake: &mut Vec<ProcessId>) -> Update {
        let full = self.unclean() >= self.limit;
        let (queue, update) = match &mut self.directory {
            Directory::Stated { .. } if full => return Update::NoBuffer,
            Directory::Stated { hit_ratio, unclean } => {
                *unclean += 1;
                let hit = rng.unit() < *hit_ratio;
                (hit, if hit { Update::Done } else { Update::Miss })
            }
            Directory::Clock(clock) => match clock.find(block) {
                Some(frame) if full && !clock.is_unclean(frame) => return Update::NoBuffer,
                Some(frame) => {
                    clock.reference(frame);
                    (clock.dirty(frame, false), Update::Done)
                }
                None if full => return Update::NoBuffer,
                None => {
                    let frame = clock.install(block);
                    clock.pin(frame);
                    (false, Update::Miss)
                }
            },
        };
        if queue {
            self.enqueue(block, wake);
        }
        // A session that was woken may not have used the room that there was: the next one gets it.
        self.wake_waiting(1, wake);
        update
    }

    /// The block that [`BufferCache::update`] missed was read, and is changed now.
    pub fn finish_update(&mut self, block: u32, wake: &mut Vec<ProcessId>) {
        let queue = match &mut self.directory {
            Directory::Stated { .. } => true,
            Directory::Clock(clock) => {
                let frame = clock.find(block).expect("a pinned block stays in memory");
                clock.dirty(frame, true)
            }
        };
        if queue {
            self.enqueue(block, wake);
        }
    }

    /// `process` waits for a clean buffer: it must park now, and tries again when it is woken.
    pub fn wait_for_buffer(&mut self, process: ProcessId) {
        self.waiting.push_back(process);
    }

    /// The next step of a background writer.
    pub fn step_writer(&mut self, process: ProcessId, wake: &mut Vec<ProcessId>) -> Step {
        let writer = (process.0 - self.first_writer.0) as usize;
        self.finish_write(writer, wake);
        if self.dirty.is_empty() || self.unclean() < self.start {
            self.idle.push(process);
            return Step::Park;
        }
        let Writer { rng, taken } = &mut self.writers[writer];
        let whole = self.coalescing as u64;
        let wanted = (whole + u64::from(rng.unit() < self.coalescing.fract())).min(self.area.blocks.into());
        while (taken.len() as u64) < wanted
            && let Some(block) = self.dirty.pop_front()
        {
            if let Directory::Clock(clock) = &mut self.directory {
                clock.start_write(clock.find(block).expect("a dirty block stays in memory"));
            }
            taken.push(block);
        }
        Step::io(self.area.write(taken[0], taken.len() as u32))
    }

    /// Returns the counts since the last [`BufferCache::reset_counts`].
    pub fn counts(&self) -> WriteCounts {
        self.counts
    }

    /// Counts from 0 again.
    pub fn reset_counts(&mut self) {
        self.counts = WriteCounts::default();
    }

    fn finish_write(&mut self, writer: usize, wake: &mut Vec<ProcessId>) {
        let mut taken = std::mem::take(&mut self.writers[writer].taken);
        if !taken.is_empty() {
            self.counts.requests += 1;
            self.counts.blocks += taken.len() as u64;
            for &block in &taken {
                match &mut self.directory {
                    Directory::Stated { unclean, .. } => *unclean -= 1,
                    Directory::Clock(clock) => {
                        if clock.finish_write(clock.find(block).expect("a block being written stays in memory")) {
                            self.dirty.push_back(block);
                        }
                    }
                }
            }
            taken.clear();
            self.wake_waiting(u64::MAX, wake);
        }
        // The allocation goes back for the next run.
        self.writers[writer].taken = taken;
    }

    fn enqueue(&mut self, block: u32, wake: &mut Vec<ProcessId>) {
        self.dirty.push_back(block);
        if self.unclean() >= self.start
            && let Some(writer) = self.idle.pop()
        {
            wake.push(writer);
        }
    }

    fn wake_waiting(&mut self, at_most: u64, wake: &mut Vec<ProcessId>) {
        let room = self.limit.saturating_sub(self.unclean()).min(at_most).min(self.waiting.len() as u64);
        wake.extend(self.waiting.drain(..room as usize));
    }

    fn unclean(&self) -> u64 {
        match &self.directory {
            Directory::Clock(clock) => clock.unclean(),
            Directory::Stated { unclean, .. } => *unclean,
        }
    }
}

/// Fills the cache as the load would have: everything when it fits, or else blocks as they are drawn.
fn warm(clock: &mut Clock, buffers: u64, blocks: u32, draw: &mut impl FnMut() -> u32) {
    if buffers >= blocks.into() {
        (0..blocks).for_each(|block| _ = clock.install(block));
        return;
    }
    // Four draws for each buffer reach the state that a pattern leads to closely enough; a skewed one would take
    // forever to fill the last buffer.
    for _ in 0..4 * buffers {
        let block = draw();
        match clock.find(block) {
            Some(frame) => clock.reference(frame),
            None => _ = clock.install(block),
        }
    }
}

#[cfg(test)]
mod tests;
