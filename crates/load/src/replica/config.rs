//! The parameters of a replica.

use crate::error::{in_range, real_in_range};
use crate::{LoadError, MAX_THINK_NS, TpccConfig};

/// A replica that applies the log of a database whose sessions run order entry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReplicaConfig {
    /// The master's database and mix; its sessions and CPU times are not the replica's. Pool, log and place are those
    /// of the replica.
    pub master: TpccConfig,
    /// Transactions a second of the master, those that change nothing included.
    pub master_tps: f64,
    /// Processes that apply transactions; 1: one after the other.
    pub workers: u32,
    /// CPU time to apply a transaction.
    pub cpu_per_transaction_ns: u64,
    /// CPU time to apply the changes of one page.
    pub cpu_per_page_ns: u64,
}

impl Default for ReplicaConfig {
    /// One process behind a master of a thousand transactions a second; CPU times are assumed.
    fn default() -> ReplicaConfig {
        ReplicaConfig {
            master: TpccConfig::default(),
            master_tps: 1_000.0,
            workers: 1,
            cpu_per_transaction_ns: 20_000,
            cpu_per_page_ns: 5_000,
        }
    }
}

impl ReplicaConfig {
    /// Most transactions a second of a master.
    pub const MAX_TPS: f64 = 1e7;

    /// Checks every parameter.
    pub fn validate(&self) -> Result<(), LoadError> {
        self.master.validate()?;
        real_in_range("master_tps", self.master_tps, 0.001, ReplicaConfig::MAX_TPS)?;
        in_range("workers", self.workers.into(), 1, 1_024)?;
        // Without CPU time a replica whose pages are all in memory would never let time pass.
        in_range("cpu_per_transaction_ns", self.cpu_per_transaction_ns, 1, MAX_THINK_NS)?;
        in_range("cpu_per_page_ns", self.cpu_per_page_ns, 0, MAX_THINK_NS / (1 << 16))
    }

    /// Bytes from the start of the device that requests may touch.
    pub fn footprint_bytes(&self) -> u64 {
        self.master.footprint_bytes()
    }
}
