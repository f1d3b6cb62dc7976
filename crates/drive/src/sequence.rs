//! The loads with which a drive is prepared and checked.

use device::{Request, Rng, Time};
use load::{Access, BlockSampler, Load, LoadError, ProcessId, Step};
use std::ops::Range;

/// Large enough that no device asks for more, small enough that a request's buffer costs nothing.
pub(crate) const SEQUENTIAL_BYTES: u32 = 1 << 20;
/// Enough that the device always has work, few enough that a hard disk keeps its order.
const SEQUENTIAL_OUTSTANDING: u32 = 8;
/// Depth of random overwriting, which lets all of a device's channels work.
const OVERWRITE_OUTSTANDING: u32 = 32;

/// Reads or writes a range once, front to back.
pub(crate) struct Sequence {
    read: bool,
    next: u64,
    range: Range<u64>,
}

impl Sequence {
    pub fn write(range: Range<u64>) -> Sequence {
        Sequence { read: false, next: range.start, range }
    }

    pub fn read(range: Range<u64>) -> Sequence {
        Sequence { read: true, next: range.start, range }
    }
}

impl Load for Sequence {
    fn processes(&self) -> u32 {
        SEQUENTIAL_OUTSTANDING
    }

    fn step(&mut self, _: ProcessId, _: Time, _: &mut Vec<ProcessId>) -> Step {
        if self.next >= self.range.end {
            return Step::End;
        }
        let offset = self.next;
        let len = u64::from(SEQUENTIAL_BYTES).min(self.range.end - offset);
        self.next += len;
        let len = len as u32;
        let request = if self.read { Request::read(offset, len) } else { Request::write(offset, len) };
        Step::Io { cpu_ns: 0, request, due: None }
    }

    fn footprint_bytes(&self) -> u64 {
        self.range.end
    }

    fn start_measurement(&mut self, _: Time) {}

    fn report(&self, _: Time) -> Option<results::Application> {
        None
    }
}

/// Writes blocks at random, without end.
pub(crate) struct Overwrite {
    sampler: BlockSampler,
    block_bytes: u32,
    rng: Rng,
}

impl Overwrite {
    /// The blocks that are favoured depend on `seed` alone, as those of the measured load do; which are drawn depends on
    /// `round` too, so that nothing is repeated.
    pub fn new(access: Access, blocks: u64, block_bytes: u32, seed: u64, round: usize) -> Result<Overwrite, LoadError> {
        let sampler = BlockSampler::new(access, blocks, seed)?;
        Ok(Overwrite { sampler, block_bytes, rng: Rng::stream(seed, &format!("precondition {round}")) })
    }
}

impl Load for Overwrite {
    fn processes(&self) -> u32 {
        OVERWRITE_OUTSTANDING
    }

    fn step(&mut self, _: ProcessId, _: Time, _: &mut Vec<ProcessId>) -> Step {
        let block = self.sampler.draw(&mut self.rng);
        let request = Request::write(block * u64::from(self.block_bytes), self.block_bytes);
        Step::Io { cpu_ns: 0, request, due: None }
    }

    fn footprint_bytes(&self) -> u64 {
        self.sampler.blocks() * u64::from(self.block_bytes)
    }

    fn start_measurement(&mut self, _: Time) {}

    fn report(&self, _: Time) -> Option<results::Application> {
        None
    }
}
