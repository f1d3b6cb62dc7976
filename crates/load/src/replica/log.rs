//! The log of the master, as it arrives: transactions with the pages that each changes, and when it was committed.

use super::ReplicaConfig;
use crate::tpcc::{Contents, Kind, Place, Script, TpccMix, Visit};
use device::{Rng, Time};

/// A transaction of the log.
#[derive(Clone, Debug, Default)]
pub(super) struct Transaction {
    /// The master's transactions up to and with this one, those without a log included.
    pub number: u64,
    pub committed: Time,
    /// Pages that it changes, each once.
    pub visits: Vec<Visit>,
}

#[derive(Clone, Debug)]
pub(super) struct MasterLog {
    contents: Contents,
    mix: TpccMix,
    rng: Rng,
    script: Script,
    interval_ns: f64,
    /// Transactions of the master that were read so far.
    read: u64,
}

impl MasterLog {
    pub fn new(config: &ReplicaConfig, seed: u64) -> MasterLog {
        MasterLog {
            contents: Contents::new(config.master.warehouses, config.master.page_bytes, seed),
            mix: config.master.mix,
            rng: Rng::stream(seed, "replica log"),
            script: Script::default(),
            interval_ns: 1e9 / config.master_tps,
            read: 0,
        }
    }

    /// Reads the next transaction that left a log into `transaction`.
    pub fn next(&mut self, transaction: &mut Transaction) {
        loop {
            self.read += 1;
            let kind = Kind::draw(&self.mix, &mut self.rng);
            let place = Place::draw(self.contents.districts(), &mut self.rng);
            self.contents.write(kind, place, &mut self.rng, &mut self.script);
            // A master that rolls back leaves nothing that has to be applied.
            if self.script.log_bytes > 0 && !self.script.rolled_back {
                break;
            }
        }
        transaction.number = self.read;
        transaction.committed = Time((self.read as f64 * self.interval_ns) as u64);
        transaction.visits.clear();
        for &visit in self.script.visits.iter().filter(|visit| !matches!(visit, Visit::Read(_))) {
            if !transaction.visits.contains(&visit) {
                transaction.visits.push(visit);
            }
        }
    }

    /// Goes on where another log of the same master ends, at time 0.
    pub fn go_on_from(&mut self, before: MasterLog) {
        *self = MasterLog { read: 0, ..before };
    }

    /// Mean bytes of log of the master's transactions, by some thousands of them that are not read.
    pub fn mean_bytes(&self) -> f64 {
        const SAMPLE: u32 = 4_000;
        let mut log = self.clone();
        let mut bytes = 0;
        for _ in 0..SAMPLE {
            let kind = Kind::draw(&log.mix, &mut log.rng);
            let place = Place::draw(log.contents.districts(), &mut log.rng);
            log.contents.write(kind, place, &mut log.rng, &mut log.script);
            bytes += log.script.log_bytes;
        }
        bytes as f64 / f64::from(SAMPLE)
    }
}
