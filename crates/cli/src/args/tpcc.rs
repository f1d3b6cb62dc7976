//! The options of TPC-C. Defaults are the load's own, except for what must fit the device.

use super::values::{Bytes, Nanoseconds};
use clap::Args;
use load::{CacheConfig, TpccConfig};

/// The options of the TPC-C load.
#[derive(Debug, Args)]
pub struct TpccArgs {
    /// The number of sessions that run transactions
    #[arg(help = "Sessions", long, value_name = "N", default_value_t = TpccConfig::default().sessions)]
    pub tpcc_sessions: u32,
    /// Warehouses, 90 MB each [default: 100, or what the space in use holds]
    #[arg(long, value_name = "N")]
    pub tpcc_warehouses: Option<u32>,
    /// Buffer pool [default: an eighth of the database]
    #[arg(long, value_name = "SIZE")]
    pub tpcc_cache: Option<Bytes>,
    /// CPU time of each transaction
    #[arg(long, value_name = "TIME", default_value_t = Nanoseconds(TpccConfig::default().cpu_per_transaction_ns))]
    pub tpcc_cpu: Nanoseconds,
    /// CPU time of each visit of a page
    #[arg(long, value_name = "TIME", default_value_t = Nanoseconds(TpccConfig::default().cpu_per_page_ns))]
    pub tpcc_cpu_page: Nanoseconds,
}

/// The part of the database that lies in memory.
const CACHE_SHARE: u64 = 8;

impl TpccArgs {
    /// The load, on a device with so many bytes in use.
    pub fn config(&self, fill_bytes: u64) -> TpccConfig {
        let config = TpccConfig {
            sessions: self.tpcc_sessions,
            cpu_per_transaction_ns: self.tpcc_cpu.0,
            cpu_per_page_ns: self.tpcc_cpu_page.0,
            ..database(self.tpcc_warehouses, fill_bytes)
        };
        TpccConfig { cache: pool(&config, self.tpcc_cache), ..config }
    }
}

/// A database of so many warehouses, or of those that fit.
pub(super) fn database(warehouses: Option<u32>, fill_bytes: u64) -> TpccConfig {
    let defaults = TpccConfig::default();
    let room_bytes = fill_bytes.saturating_sub(defaults.log.area_bytes);
    let fitting = TpccConfig::warehouses_in(room_bytes, defaults.page_bytes, defaults.warehouses);
    TpccConfig { warehouses: warehouses.unwrap_or(fitting), ..defaults }
}

/// The pool before a database.
pub(super) fn pool(config: &TpccConfig, given: Option<Bytes>) -> CacheConfig {
    // A number that the load refuses has no size.
    let sized = TpccConfig { warehouses: config.warehouses.clamp(1, TpccConfig::MAX_WAREHOUSES), ..*config };
    CacheConfig { bytes: given.map_or(sized.data_bytes() / CACHE_SHARE, |size| size.0), ..config.cache }
}
