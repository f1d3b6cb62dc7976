//! Bursts: sequential writes as fast as the device takes them, with pauses in which nothing is asked.
//!
//! All threads share one position, which goes front to back through the file and around. A pause begins when the last
//! request of a burst has finished.

use crate::error::{in_range, multiple_of};
use crate::{Load, LoadError, MAX_PROCESSES, MAX_REQUEST_BYTES, ProcessId, Step};
use device::{Request, Time};
use std::sync::{Arc, Mutex, PoisonError};

/// Rows of a burst's curve.
const ROWS: u64 = 256;

/// The sizes, pauses and places of a series of bursts.
#[derive(Clone, Debug, PartialEq)]
pub struct BurstsConfig {
    /// Bytes of a request.
    pub block_bytes: u32,
    /// Threads with a request each.
    pub threads: u32,
    /// Bytes from the start of the device that are written to.
    pub file_bytes: u64,
    /// One after the other.
    pub bursts: Vec<BurstConfig>,
}

/// One burst of sequential writes and the pause before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BurstConfig {
    /// Nanoseconds before it in which nothing is asked.
    pub idle_ns: u64,
    /// Bytes to write.
    pub bytes: u64,
    /// Nanoseconds after which it ends with less.
    pub limit_ns: u64,
}

/// When how much was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BurstCurve {
    /// Bytes since the burst began, and nanoseconds; both rise.
    pub rows: Vec<(u64, u64)>,
}

/// The curves of the bursts that are over, shared with whoever runs the load.
#[derive(Clone, Debug, Default)]
pub struct BurstCurves(Arc<Mutex<Vec<BurstCurve>>>);

impl BurstCurves {
    /// Those so far.
    pub fn get(&self) -> Vec<BurstCurve> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A load of bursts of sequential writes.
#[derive(Debug)]
pub struct Bursts {
    config: BurstsConfig,
    blocks: u64,
    next_block: u64,
    /// The burst under way, and when it begins or began.
    burst: usize,
    began: Option<Time>,
    /// Bytes asked for and bytes written in it.
    issued_bytes: u64,
    done_bytes: u64,
    curve: BurstCurve,
    /// Threads that have no more to do in it.
    through: u32,
    in_flight: Vec<bool>,
    curves: BurstCurves,
}

impl Bursts {
    /// Checks the configuration.
    pub fn new(config: BurstsConfig) -> Result<Bursts, LoadError> {
        let block_bytes = u64::from(config.block_bytes);
        in_range("threads", config.threads.into(), 1, MAX_PROCESSES)?;
        in_range("block_bytes", block_bytes, 512, MAX_REQUEST_BYTES)?;
        multiple_of("block_bytes", block_bytes, 512)?;
        in_range("file_bytes", config.file_bytes, block_bytes, 1 << 62)?;
        Ok(Bursts {
            blocks: config.file_bytes / u64::from(config.block_bytes),
            next_block: 0,
            burst: 0,
            began: None,
            issued_bytes: 0,
            done_bytes: 0,
            curve: BurstCurve::default(),
            through: 0,
            in_flight: vec![false; config.threads as usize],
            curves: BurstCurves::default(),
            config,
        })
    }

    /// Returns a handle on the curves that will be measured, for the caller to keep when it gives the load away.
    pub fn curves(&self) -> BurstCurves {
        self.curves.clone()
    }

    fn finished_one(&mut self, now: Time, burst: BurstConfig) {
        self.done_bytes += u64::from(self.config.block_bytes);
        let row_bytes = (burst.bytes / ROWS).max(1);
        let last = self.curve.rows.last().map_or(0, |row| row.0);
        if self.done_bytes / row_bytes > last / row_bytes {
            self.add_row(now);
        }
    }

    fn add_row(&mut self, now: Time) {
        let began = self.began.expect("a burst that writes has begun");
        self.curve.rows.push((self.done_bytes, now.since_ns(began)));
    }

    fn end_burst(&mut self, now: Time) {
        if self.curve.rows.last().is_none_or(|row| row.0 < self.done_bytes) && self.done_bytes > 0 {
            self.add_row(now);
        }
        let curve = std::mem::take(&mut self.curve);
        self.curves.0.lock().unwrap_or_else(PoisonError::into_inner).push(curve);
        self.burst += 1;
        self.began = self.config.bursts.get(self.burst).map(|next| now + next.idle_ns);
        (self.issued_bytes, self.done_bytes, self.through) = (0, 0, 0);
    }
}

impl Load for Bursts {
    fn processes(&self) -> u32 {
        self.config.threads
    }

    fn step(&mut self, process: ProcessId, now: Time, wake: &mut Vec<ProcessId>) -> Step {
        if std::mem::take(&mut self.in_flight[process.index()]) {
            self.finished_one(now, self.config.bursts[self.burst]);
        }
        loop {
            let Some(&burst) = self.config.bursts.get(self.burst) else { return Step::End };
            let began = *self.began.get_or_insert(now + burst.idle_ns);
            if now < began {
                return Step::Sleep { until: began };
            }
            if self.issued_bytes < burst.bytes && now.since_ns(began) < burst.limit_ns {
                let block_bytes = self.config.block_bytes;
                let offset = self.next_block * u64::from(block_bytes);
                self.next_block = if self.next_block + 1 == self.blocks { 0 } else { self.next_block + 1 };
                self.issued_bytes += u64::from(block_bytes);
                self.in_flight[process.index()] = true;
                return Step::io(Request::write(offset, block_bytes));
            }
            self.through += 1;
            if self.through < self.config.threads {
                return Step::Park;
            }
            self.end_burst(now);
            wake.extend((0..self.config.threads).map(ProcessId).filter(|other| *other != process));
        }
    }

    fn footprint_bytes(&self) -> u64 {
        self.blocks * u64::from(self.config.block_bytes)
    }

    fn start_measurement(&mut self, _: Time) {}

    fn report(&self, _: Time) -> Option<results::Application> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Machine, run};

    const FOUR_THREADS: Machine = Machine { read_ns: 1, write_ns: 100_000, flush_ns: 1, cores: None };

    fn config(bursts: Vec<BurstConfig>) -> BurstsConfig {
        BurstsConfig { block_bytes: 4096, threads: 4, file_bytes: 1 << 20, bursts }
    }

    #[test]
    fn a_burst_writes_its_bytes_and_a_pause_begins_when_the_last_has_finished() {
        let burst = |idle_ns, blocks: u64| BurstConfig { idle_ns, bytes: blocks * 4096, limit_ns: u64::MAX };
        let mut load = Bursts::new(config(vec![burst(0, 1000), burst(5_000_000, 8)])).unwrap();
        let curves = load.curves();
        let trace = run(&mut load, FOUR_THREADS, 0, 1_000_000_000);
        assert_eq!(trace.requests.len(), 1008);
        assert!(trace.parked.is_empty());
        let curves = curves.get();
        // Four at once, 100 us each.
        assert_eq!(curves[0].rows.last(), Some(&(1000 * 4096, 250 * 100_000)));
        assert_eq!(curves[1].rows.last(), Some(&(8 * 4096, 200_000)));
        assert!(curves[0].rows.is_sorted() && (200..=257).contains(&curves[0].rows.len()));
        // Around in its file: block 1000 is block 232 of the fourth round.
        let first = trace.requests[1000].request.range.offset_bytes;
        assert!((1000 % 256..1004 % 256).contains(&(first / 4096)), "{first}");
        assert!(trace.requests[1000].end >= Time(25_000_000 + 5_000_000 + 100_000));
    }

    #[test]
    fn a_limit_ends_a_burst_with_less() {
        let bursts = vec![BurstConfig { idle_ns: 0, bytes: 1 << 30, limit_ns: 10_000_000 }];
        let mut load = Bursts::new(config(bursts)).unwrap();
        let curves = load.curves();
        run(&mut load, FOUR_THREADS, 0, 1_000_000_000);
        assert_eq!(curves.get()[0].rows.last(), Some(&(400 * 4096, 10_000_000)));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for wrong in [
            BurstsConfig { threads: 0, ..config(Vec::new()) },
            BurstsConfig { block_bytes: 1000, ..config(Vec::new()) },
            BurstsConfig { file_bytes: 100, ..config(Vec::new()) },
        ] {
            assert!(Bursts::new(wrong).is_err());
        }
    }
}
