//! A replica that applies the log of its master, whose sessions run order entry ([`crate::Tpcc`]).
//!
//! The master's sessions ask the device for many pages at once. An applier knows the order of all changes and takes them
//! one after the other: a page that is not in memory is read, and nothing else happens meanwhile. Its rate is one over
//! the reads of a transaction times their latency, and its CPU time; a device with many dies is no faster for it than
//! one with few. When the master's rate is higher, the lag grows without end.
//!
//! Several appliers take transactions in the order of the log and apply them side by side, as where transactions are
//! found to be independent. The log is received and made durable a few milliseconds at a time, beside the appliers.
//!
//! Processes: appliers, the receiver, then background writers, then the log writer.
//!
//! Not modelled: images of whole pages in the log, which spare the first read after a checkpoint; conflicts between
//! transactions that are applied side by side; queries on the replica.
//!
//! Invariants:
//! - a transaction is applied after it was committed by the master;
//! - an applier has one request at a time.

mod applier;
mod config;
mod log;
mod state;

pub use config::ReplicaConfig;

use crate::instance::{Instance, per_second};
use crate::{Load, LoadError, ProcessId, Step};
use applier::Applier;
use device::Time;
use log::{MasterLog, Transaction};
use results::{Application, ReplicaReport};
use state::{Counts, Part, Replica};
use std::collections::VecDeque;

/// The receiver makes durable the log of this time at once.
const RECEIVE_NS: u64 = 5_000_000;

/// Most rows of lag in a report; of longer runs rows are left out evenly.
const MAX_ROWS: usize = 600;

/// A replica in action.
#[derive(Clone, Debug)]
pub struct ReplicaLoad {
    appliers: Vec<Applier>,
    receiver: Receiver,
    replica: Replica,
}

/// Receives the log: appends what the master has committed since, and waits until it is durable.
#[derive(Clone, Debug)]
struct Receiver {
    bytes_per_ns: f64,
    received_to: Time,
    slept: bool,
}

impl Receiver {
    fn step(&mut self, me: ProcessId, instance: &mut Instance, now: Time, wake: &mut Vec<ProcessId>) -> Step {
        if !std::mem::replace(&mut self.slept, true) {
            return Step::Sleep { until: Time(self.received_to.0 + RECEIVE_NS).max(now) };
        }
        self.slept = false;
        let bytes = (now.since_ns(self.received_to) as f64 * self.bytes_per_ns).ceil() as u64;
        self.received_to = now;
        instance.log.append(bytes, wake);
        if instance.log.commit(me, wake) {
            return Step::Park;
        }
        self.slept = true;
        Step::Sleep { until: now + RECEIVE_NS }
    }
}

impl ReplicaLoad {
    /// A replica; its random streams derive from `seed`.
    pub fn new(config: ReplicaConfig, seed: u64) -> Result<ReplicaLoad, LoadError> {
        config.validate()?;
        let mut log = MasterLog::new(&config, seed);
        let master = &config.master;
        // The pool has what was applied before: of a log that is a copy, since nothing of this one is applied yet.
        let instance = {
            let (mut before, mut transaction, mut pages) = (log.clone(), Transaction::default(), VecDeque::new());
            let draw = || loop {
                if let Some(page) = pages.pop_front() {
                    return page;
                }
                before.next(&mut transaction);
                pages.extend(transaction.visits.iter().map(|visit| visit.page()));
            };
            // The receiver counts as a session: it waits for the log.
            let instance = Instance::new(&master.cache, master.log, master.area(), config.workers + 1, seed, draw);
            log.go_on_from(before);
            instance
        };
        let receiver = Receiver {
            bytes_per_ns: log.mean_bytes() * config.master_tps / 1e9,
            received_to: Time::ZERO,
            slept: false,
        };
        Ok(ReplicaLoad {
            appliers: (0..config.workers).map(|number| Applier::new(number, seed)).collect(),
            receiver,
            replica: Replica {
                config,
                log,
                instance,
                counts: Counts::default(),
                applied_to: 0,
                measured_from: Time::ZERO,
                applied_before: 0,
            },
        })
    }
}

impl Load for ReplicaLoad {
    fn processes(&self) -> u32 {
        self.replica.instance.processes()
    }

    fn step(&mut self, process: ProcessId, now: Time, wake: &mut Vec<ProcessId>) -> Step {
        let replica = &mut self.replica;
        match self.appliers.get_mut(process.index()) {
            Some(applier) => applier.step(process, replica, now, wake),
            None if process.0 == replica.config.workers => {
                self.receiver.step(process, &mut replica.instance, now, wake)
            }
            None => replica.instance.step_writer(process, wake),
        }
    }

    fn footprint_bytes(&self) -> u64 {
        self.replica.config.footprint_bytes()
    }

    fn start_measurement(&mut self, now: Time) {
        let replica = &mut self.replica;
        replica.counts = Counts::default();
        replica.applied_before = replica.applied_to;
        replica.measured_from = now;
        replica.instance.start_measurement(now);
    }

    fn report(&self, now: Time) -> Option<Application> {
        let Replica { config, instance, counts, .. } = &self.replica;
        let elapsed_s = instance.elapsed_s(now);
        let each = |sum: u64, of: u64| if of == 0 { 0.0 } else { sum as f64 / of as f64 };
        let applied_tps = per_second(self.replica.applied_to - self.replica.applied_before, elapsed_s);
        let time = |part: Part| counts.parts[part as usize];
        let all_ns: u64 = counts.parts.iter().sum();
        let busy = 1.0 - each(time(Part::Idle), all_ns);
        let row_count = counts.rows.len();
        let every = row_count.div_ceil(MAX_ROWS).max(1);
        Some(Application::Replica(ReplicaReport {
            master_sessions: config.master.sessions,
            master_tps: config.master_tps,
            workers: config.workers,
            warehouses: config.master.warehouses,
            data_bytes: config.master.data_bytes(),
            elapsed_s,
            applied_tps,
            capacity_tps: if busy > 0.0 { applied_tps / busy } else { 0.0 },
            busy,
            lag_ns: counts.lags.summary(),
            lag: counts.rows.iter().step_by(every).copied().collect(),
            buffer_hit_ratio: 1.0 - each(counts.pages_missed, counts.pages_visited),
            pages_per_transaction: each(counts.pages_visited, counts.applied),
            page_reads_per_transaction: each(counts.pages_missed, counts.applied),
            page_read_ns: each(time(Part::PageRead), counts.pages_missed),
            time_share: Part::ALL.into_iter().map(|p| (p.name().to_owned(), each(time(p), all_ns))).collect(),
        }))
    }
}

#[cfg(test)]
mod tests;
