//! The options of a replica. Defaults are the load's own, except for what must fit the device.

use super::tpcc::{database, pool};
use super::values::{Bytes, Nanoseconds, rate};
use clap::Args;
use load::{ReplicaConfig, TpccConfig};

/// The options of the replica's load.
#[derive(Debug, Args)]
pub struct ReplicaArgs {
    /// Sessions of the master, which is run first on the same card
    #[arg(long, value_name = "N", default_value_t = TpccConfig::default().sessions)]
    pub replica_sessions: u32,
    /// Transactions a second of the master, in place of running it
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub replica_tps: Option<f64>,
    /// Processes that apply transactions side by side
    #[arg(long, value_name = "N", default_value_t = ReplicaConfig::default().workers)]
    pub replica_workers: u32,
    /// Warehouses, 90 MB each [default: 100, or what the space in use holds]
    #[arg(long, value_name = "N")]
    pub replica_warehouses: Option<u32>,
    /// Buffer pool, of the master too [default: an eighth of the database]
    #[arg(long, value_name = "SIZE")]
    pub replica_cache: Option<Bytes>,
    /// CPU time to apply a transaction
    #[arg(long, value_name = "TIME", default_value_t = Nanoseconds(ReplicaConfig::default().cpu_per_transaction_ns))]
    pub replica_cpu: Nanoseconds,
    /// CPU time to apply the changes of a page
    #[arg(long, value_name = "TIME", default_value_t = Nanoseconds(ReplicaConfig::default().cpu_per_page_ns))]
    pub replica_cpu_page: Nanoseconds,
}

impl ReplicaArgs {
    /// The load, on a device with so many bytes in use. A master whose rate is not given has that of the default until
    /// it was run.
    pub fn config(&self, fill_bytes: u64) -> ReplicaConfig {
        let defaults = ReplicaConfig::default();
        let master = TpccConfig { sessions: self.replica_sessions, ..database(self.replica_warehouses, fill_bytes) };
        ReplicaConfig {
            master: TpccConfig { cache: pool(&master, self.replica_cache), ..master },
            master_tps: self.replica_tps.unwrap_or(defaults.master_tps),
            workers: self.replica_workers,
            cpu_per_transaction_ns: self.replica_cpu.0,
            cpu_per_page_ns: self.replica_cpu_page.0,
        }
    }
}
