//! The commit path of a database beside its random reads, and nothing else of it.
//!
//! Log writers each write their own log front to back and around, a block at a time, each write followed by a flush;
//! readers read single blocks at random. Only readers read and only log writers write and flush, so a result's classes
//! tell them apart: how long does a commit take while others read, and a read while others commit?
//!
//! ```text
//!   start_bytes
//!   | log of writer 0 | log of writer 1 | ... | data: log_writers * log_area_bytes behind the start |
//! ```
//!
//! Processes: readers, then log writers.
//!
//! Not modelled: transactions. A group of commits is one write of a stated size (for groups that gather while the last
//! one is written: SLOB and OLTP).
//!
//! Invariants:
//! - a log writer's next write follows its last one and its flush;
//! - readers stay in the data, a log writer in its own area.

mod config;

pub use config::RedoConfig;

use crate::pace::Pace;
use crate::{BlockSampler, Load, LoadError, ProcessId, Step};
use device::{Request, Rng, Time};

/// The redo load in action.
#[derive(Clone, Debug)]
pub struct Redo {
    config: RedoConfig,
    sampler: BlockSampler,
    /// A random stream for each reader; log writers draw nothing.
    readers: Vec<Rng>,
    writers: Vec<LogWriter>,
    pace: Option<Pace>,
}

#[derive(Clone, Copy, Debug)]
struct LogWriter {
    area_start_bytes: u64,
    /// Offset in its area of the next write.
    position_bytes: u64,
    /// The last step was a write that a flush must follow.
    flush_due: bool,
    /// It has slept, the write is due.
    slept: bool,
    /// When its write is due by the rate's schedule.
    due: Option<Time>,
}

impl Redo {
    /// A redo load; its random streams derive from `seed`.
    pub fn new(config: RedoConfig, seed: u64) -> Result<Redo, LoadError> {
        config.validate()?;
        let writer = |number: u32| LogWriter {
            area_start_bytes: config.start_bytes + u64::from(number) * config.log_area_bytes,
            position_bytes: 0,
            flush_due: false,
            slept: false,
            due: None,
        };
        Ok(Redo {
            // Without readers nobody draws, and there may be no block.
            sampler: BlockSampler::new(config.access, config.data_blocks().max(1), seed)?,
            readers: (0..config.readers).map(|number| Rng::stream(seed, &format!("redo reader {number}"))).collect(),
            writers: (0..config.log_writers).map(writer).collect(),
            pace: config.log_rate_iops.map(Pace::new),
            config,
        })
    }

    fn step_writer(&mut self, number: usize, now: Time) -> Step {
        let writer = &mut self.writers[number];
        if std::mem::take(&mut writer.flush_due) {
            return Step::io(Request::flush());
        }
        if let Some(pace) = &mut self.pace
            && !std::mem::take(&mut writer.slept)
        {
            let due = pace.ticket(now);
            writer.due = Some(due);
            if due > now {
                writer.slept = true;
                return Step::Sleep { until: due };
            }
        }
        let block_bytes = self.config.log_block_bytes;
        let request = Request::write(writer.area_start_bytes + writer.position_bytes, block_bytes);
        writer.position_bytes = (writer.position_bytes + u64::from(block_bytes)) % self.config.log_area_bytes;
        writer.flush_due = self.config.sync;
        Step::Io { cpu_ns: 0, request, due: writer.due }
    }
}

impl Load for Redo {
    fn processes(&self) -> u32 {
        (self.readers.len() + self.writers.len()) as u32
    }

    fn step(&mut self, process: ProcessId, now: Time, _wake: &mut Vec<ProcessId>) -> Step {
        let Some(rng) = self.readers.get_mut(process.index()) else {
            return self.step_writer(process.index() - self.readers.len(), now);
        };
        let block_bytes = self.config.read_block_bytes;
        let offset_bytes = self.config.data_start_bytes() + self.sampler.draw(rng) * u64::from(block_bytes);
        Step::io(Request::read(offset_bytes, block_bytes))
    }

    fn footprint_bytes(&self) -> u64 {
        self.config.footprint_bytes()
    }

    fn start_measurement(&mut self, _now: Time) {}

    fn report(&self, _now: Time) -> Option<results::Application> {
        None
    }
}

#[cfg(test)]
mod tests;
