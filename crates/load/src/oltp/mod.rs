//! OLTP 80/20 as it is run against PostgreSQL: four selects to one insert or update, no deletes.
//!
//! A select is an index range scan that returns several rows: it touches pages through the buffer cache. An insert or
//! an update touches pages, changes some of them, appends to the write-ahead log and commits: the log is written and
//! synced for a group of transactions at a time. Background writers write changed pages back, spread evenly: one page
//! for each that is newly changed.
//!
//! Such a database becomes slower with more sessions, on a device that could do more, because of its own CPU time: each
//! transaction looks at every session when it takes its snapshot.
//!
//! Processes: sessions, then background writers, then the log writer (the part of the backend that writes for its
//! group).
//!
//! Not modelled: row locks, vacuum, checkpoints as bursts, a file system's cache.
//!
//! Invariants:
//! - every transaction lets time pass;
//! - a write is finished only after its log is durable;
//! - a latency runs from the end of thinking to the end of the transaction, waiting for a core included.

mod config;
mod database;
mod session;

pub use config::OltpConfig;

use crate::instance::{Instance, per_second};
use crate::{BlockSampler, Load, LoadError, ProcessId, Step};
use database::{Counts, Database, Kind};
use device::{Rng, Time};
use results::{Application, LatencyRecorder, OltpReport, TransactionReport};
use session::Session;

/// OLTP in action.
#[derive(Clone, Debug)]
pub struct Oltp {
    sessions: Vec<Session>,
    database: Database,
}

impl Oltp {
    /// An OLTP load; its random streams derive from `seed`.
    pub fn new(config: OltpConfig, seed: u64) -> Result<Oltp, LoadError> {
        config.validate()?;
        let area = config.area();
        let sampler = BlockSampler::new(config.access, area.blocks.into(), seed)?;
        let mut warm_rng = Rng::stream(seed, "oltp warm cache");
        let draw = || sampler.draw(&mut warm_rng) as u32;
        let instance = Instance::new(&config.cache, config.log, area, config.sessions, seed, draw);
        Ok(Oltp {
            sessions: (0..config.sessions).map(|number| Session::new(number, seed)).collect(),
            database: Database { config, sampler, instance, counts: Counts::default() },
        })
    }
}

impl Load for Oltp {
    fn processes(&self) -> u32 {
        self.database.instance.processes()
    }

    fn step(&mut self, process: ProcessId, now: Time, wake: &mut Vec<ProcessId>) -> Step {
        match self.sessions.get_mut(process.index()) {
            Some(session) => session.step(process, &mut self.database, now, wake),
            None => self.database.instance.step_writer(process, wake),
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
        let elapsed_s = instance.elapsed_s(now);
        let per_s = |count| per_second(count, elapsed_s);
        let transaction = |kind: Kind| {
            let latencies = &counts.latencies[kind as usize];
            (kind.name().to_owned(), TransactionReport { tps: per_s(latencies.count()), lat_ns: latencies.summary() })
        };
        let hits = counts.pages_touched - counts.pages_missed;
        Some(Application::Oltp(OltpReport {
            sessions: config.sessions,
            tps: per_s(counts.latencies.iter().map(LatencyRecorder::count).sum()),
            transactions: Kind::ALL.into_iter().map(transaction).collect(),
            buffer_hit_ratio: if counts.pages_touched == 0 { 0.0 } else { hits as f64 / counts.pages_touched as f64 },
            physical_reads_s: per_s(counts.physical_reads),
            physical_writes_s: per_s(instance.cache.counts().blocks),
            wal_bytes_s: per_s(instance.log.counts().record_bytes),
        }))
    }
}

#[cfg(test)]
mod tests;
