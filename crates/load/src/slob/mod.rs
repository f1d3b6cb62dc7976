//! The SLOB method: what a storage device does for a database, with as little database around it as possible.
//!
//! Each session has a range of blocks to itself, one row in each, and touches random ones: no lock, no index, no block
//! is wanted by two. The path of a block remains: buffer cache, single-block read, changed buffer, background write,
//! redo, commit. The figures are those of an AWR summary: logical and physical I/O, and what sessions waited for.
//!
//! Processes: readers, then writers (they update), then the database's background writers, then the log writer.
//!
//! A session computes and waits in separate steps, so a wait is the time from asking to going on: the host's CPU for
//! the request is in it (as it is for the database), computing between requests is not.
//!
//! Invariants:
//! - a session touches only its own blocks;
//! - every execution lets time pass;
//! - CPU time and waits of all sessions add up to their DB time;
//! - a session is at one place: computing, reading, waiting for a buffer, for room in the log, or for its commit.

mod config;
mod database;
mod session;
mod table;

pub use config::SlobConfig;
pub use table::{format_db_time, format_slob_table};

use crate::instance::{Instance, per_second};
use crate::{BlockSampler, Load, LoadError, ProcessId, Step};
use database::{Counts, Database};
use device::{Rng, Time};
use results::{Application, SlobReport};
use session::Session;

/// SLOB in action.
#[derive(Clone, Debug)]
pub struct Slob {
    sessions: Vec<Session>,
    database: Database,
    /// When the log writer's request was asked for.
    log_write_since: Option<Time>,
}

impl Slob {
    /// A SLOB load; its random streams derive from `seed`.
    pub fn new(config: SlobConfig, seed: u64) -> Result<Slob, LoadError> {
        config.validate()?;
        let sampler = BlockSampler::new(config.access, config.scale_blocks.into(), seed)?;
        let sessions: Vec<Session> = (0..config.sessions()).map(|number| Session::new(&config, number, seed)).collect();
        let mut warm_rng = Rng::stream(seed, "slob warm cache");
        let mut turn = 0;
        let draw = || {
            turn = (turn + 1) % config.sessions();
            turn * config.scale_blocks + sampler.draw(&mut warm_rng) as u32
        };
        let instance = Instance::new(&config.cache, config.log, config.area(), config.sessions(), seed, draw);
        Ok(Slob {
            sessions,
            database: Database { config, sampler, instance, counts: Counts::default() },
            log_write_since: None,
        })
    }
}

impl Slob {
    fn step_writer(&mut self, process: ProcessId, now: Time, wake: &mut Vec<ProcessId>) -> Step {
        let is_log_writer = process.0 + 1 == self.processes();
        if is_log_writer && let Some(since) = self.log_write_since.take() {
            self.database.counts.log_parallel_write.add(since, now);
        }
        let step = self.database.instance.step_writer(process, wake);
        if is_log_writer && matches!(step, Step::Io { .. }) {
            self.log_write_since = Some(now);
        }
        step
    }
}

impl Load for Slob {
    fn processes(&self) -> u32 {
        self.database.instance.processes()
    }

    fn step(&mut self, process: ProcessId, now: Time, wake: &mut Vec<ProcessId>) -> Step {
        match self.sessions.get_mut(process.index()) {
            Some(session) => session.step(process, &mut self.database, now, wake),
            None => self.step_writer(process, now, wake),
        }
    }

    fn footprint_bytes(&self) -> u64 {
        self.database.config.footprint_bytes()
    }

    fn start_measurement(&mut self, now: Time) {
        self.database.counts = Counts::default();
        self.database.instance.start_measurement(now);
    }

    fn report(&self, now: Time) -> Option<Application> {
        let Database { config, instance, counts, .. } = &self.database;
        let (data, redo) = (instance.cache.counts(), instance.log.counts());
        let elapsed_s = instance.elapsed_s(now);
        let per_s = |count| per_second(count, elapsed_s);
        let block_bytes = u64::from(config.block_bytes);
        let reads = counts.single_block_read.waits;
        Some(Application::Slob(SlobReport {
            readers: config.readers,
            writers: config.writers,
            elapsed_s,
            executes: counts.executes,
            logical_reads_s: per_s(counts.logical_reads),
            physical_reads_s: per_s(reads),
            physical_writes_s: per_s(data.blocks),
            read_requests_s: per_s(reads),
            write_requests_s: per_s(data.requests + redo.writes),
            redo_bytes_s: per_s(redo.record_bytes),
            read_bytes_s: per_s(reads * block_bytes),
            written_bytes_s: per_s(data.blocks * block_bytes + redo.written_bytes),
            single_block_read_ns: counts.single_block_read.mean_ns(),
            single_block_read_waits: reads,
            log_file_sync_ns: counts.log_file_sync.mean_ns(),
            log_file_sync_waits: counts.log_file_sync.waits,
            top_wait: counts.top_wait().to_owned(),
            db_time: Some(counts.db_time()),
        }))
    }
}

#[cfg(test)]
mod tests;
