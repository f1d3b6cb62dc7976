//! sysbench's fileio, with its modes and their meaning, over one file.
//!
//! The file is a range of the device. Requests are direct: what sysbench asks is what the device gets. Sequential modes
//! share one position between all threads and wrap around at the file's end (or, with `own_regions`, each thread goes
//! around in a region of its own). In `rndrw` and `seqrw` each thread reads while (reads + 1) / (writes + 1) of its own
//! requests is below the ratio, and else writes; reads and writes of `seqrw` have positions of their own, as in fio.
//!
//! This differs from sysbench in five ways: `seqrw` is fio's; there is one file, so that a periodic fsync is one flush and not one for
//! each of 128 files; only whole blocks are asked for (a shorter piece at the file's end stays untouched); each request
//! in flight of a thread has its own random stream; `own_regions` and a limited rate are not sysbench's.
//!
//! Invariants:
//! - no thread has more than `queue_depth` requests outstanding;
//! - `fsync_every` counts requests of all threads, reads too; a flush is due only after a write;
//! - requests lie in `start_bytes .. start_bytes + file_bytes`.

mod config;
mod fsync;
mod sequence;

pub use config::{FileioConfig, FileioMode};

use crate::pace::Pace;
use crate::{BlockSampler, Load, LoadError, ProcessId, Step};
use device::{Request, Rng, Time};
use fsync::PeriodicFsync;
use sequence::Sequence;

/// fileio in action.
#[derive(Clone, Debug)]
pub struct Fileio {
    config: FileioConfig,
    sampler: BlockSampler,
    /// Offset of block 0.
    base_bytes: u64,
    processes: Vec<Process>,
    /// Requests that each thread has issued, for the modes that mix.
    threads: Vec<Issued>,
    /// Next blocks of the sequential modes; of `seqrw` those of its reads.
    sequence: Sequence,
    /// Next blocks of the writes of `seqrw`.
    written: Sequence,
    fsync: Option<PeriodicFsync>,
    pace: Option<Pace>,
    /// A process sleeps between requests: only then is a request a matter of two steps.
    sleeps: bool,
}

/// One of a thread's `queue_depth` outstanding requests.
#[derive(Clone, Debug)]
struct Process {
    rng: Rng,
    thread: u32,
    /// It asked before: think time goes between requests, not before the first.
    started: bool,
    /// It has slept, the request is due.
    slept: bool,
    /// When its request is due by the rate's schedule.
    due: Option<Time>,
    /// `fsync_all`: its last request was a write.
    flush_due: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Issued {
    reads: u64,
    writes: u64,
}

impl Fileio {
    /// A fileio load; its random streams derive from `seed`.
    pub fn new(config: FileioConfig, seed: u64) -> Result<Fileio, LoadError> {
        config.validate()?;
        let process = |number: u32| Process {
            rng: Rng::stream(seed, &format!("fileio {number}")),
            thread: number / config.queue_depth,
            started: false,
            slept: false,
            due: None,
            flush_due: false,
        };
        Ok(Fileio {
            sampler: BlockSampler::new(config.access, config.blocks(), seed)?,
            base_bytes: config.start_bytes + u64::from(config.misalign_bytes),
            processes: (0..config.threads * config.queue_depth).map(process).collect(),
            threads: vec![Issued::default(); config.threads as usize],
            sequence: Sequence::new(config.blocks(), config.regions()),
            written: Sequence::new(config.blocks(), config.regions()),
            fsync: (config.fsync_every > 0 && !config.fsync_all).then(|| PeriodicFsync::new(config.fsync_every)),
            pace: config.rate_iops.map(Pace::new),
            sleeps: config.think_ns > 0 || config.rate_iops.is_some(),
            config,
        })
    }

    fn request(&mut self, process: usize) -> Request {
        let process = &mut self.processes[process];
        let read = if self.config.mode.mixes() {
            let issued = &mut self.threads[process.thread as usize];
            // Divided, not multiplied, so that rounding goes sysbench's way.
            let read = (issued.reads as f64 + 1.0) / (issued.writes as f64 + 1.0) < self.config.rw_ratio;
            *(if read { &mut issued.reads } else { &mut issued.writes }) += 1;
            read
        } else {
            self.config.mode.reads()
        };
        let block = match self.config.mode {
            FileioMode::RndWr | FileioMode::RndRd | FileioMode::RndRw => self.sampler.draw(&mut process.rng),
            FileioMode::SeqRw if !read => self.written.next(process.thread),
            FileioMode::SeqRd | FileioMode::SeqWr | FileioMode::SeqRewr | FileioMode::SeqRw => {
                self.sequence.next(process.thread)
            }
        };
        if let Some(fsync) = &mut self.fsync {
            fsync.count(!read);
        }
        process.flush_due = self.config.fsync_all && !read;
        let offset_bytes = self.base_bytes + block * u64::from(self.config.block_bytes);
        if read {
            Request::read(offset_bytes, self.config.block_bytes)
        } else {
            Request::write(offset_bytes, self.config.block_bytes)
        }
    }

    /// Until when `process` sleeps before its next request; `None`: it asks now.
    #[cold]
    fn sleep(&mut self, process: usize, now: Time) -> Option<Time> {
        let process = &mut self.processes[process];
        if std::mem::take(&mut process.slept) {
            return None;
        }
        let thought = if process.started { now + self.config.think_ns } else { now };
        process.started = true;
        process.due = self.pace.as_mut().map(|pace| pace.ticket(now));
        let until = process.due.map_or(thought, |due| due.max(thought));
        process.slept = until > now;
        process.slept.then_some(until)
    }
}

impl Load for Fileio {
    fn processes(&self) -> u32 {
        self.processes.len() as u32
    }

    #[inline]
    fn step(&mut self, process: ProcessId, now: Time, _wake: &mut Vec<ProcessId>) -> Step {
        let index = process.index();
        // Flushes come before sleeping: they take neither think time nor a place in the rate's schedule.
        if std::mem::take(&mut self.processes[index].flush_due)
            || self.fsync.as_mut().is_some_and(PeriodicFsync::is_due)
        {
            return Step::io(Request::flush());
        }
        if self.sleeps
            && let Some(until) = self.sleep(index, now)
        {
            return Step::Sleep { until };
        }
        Step::Io { cpu_ns: 0, request: self.request(index), due: self.processes[index].due }
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
