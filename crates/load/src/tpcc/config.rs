//! The parameters of TPC-C.

use super::schema::Schema;
use crate::cache::{DataArea, validate_block_bytes};
use crate::error::{footprint_fits, in_range, real_in_range};
use crate::{CacheConfig, LoadError, LogConfig, MAX_PROCESSES, MAX_THINK_NS};

/// Transactions of each kind, percent; New-Order is the rest.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct TpccMix {
    pub payment_percent: f64,
    pub order_status_percent: f64,
    pub delivery_percent: f64,
    pub stock_level_percent: f64,
}

impl TpccMix {
    /// The least shares of clause 5.2.3, which leave 45 % for New-Order.
    pub const STANDARD: TpccMix =
        TpccMix { payment_percent: 43.0, order_status_percent: 4.0, delivery_percent: 4.0, stock_level_percent: 4.0 };

    /// Returns the share of New-Order.
    pub fn new_order_percent(&self) -> f64 {
        100.0 - self.payment_percent - self.order_status_percent - self.delivery_percent - self.stock_level_percent
    }

    fn validate(&self) -> Result<(), LoadError> {
        for (parameter, percent) in [
            ("mix.payment_percent", self.payment_percent),
            ("mix.order_status_percent", self.order_status_percent),
            ("mix.delivery_percent", self.delivery_percent),
            ("mix.stock_level_percent", self.stock_level_percent),
            ("mix.new_order_percent", self.new_order_percent()),
        ] {
            real_in_range(parameter, percent, 0.0, 100.0)?;
        }
        Ok(())
    }
}

/// A TPC-C load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TpccConfig {
    /// Number of sessions; each has its next transaction at once.
    pub sessions: u32,
    /// The scale: ten districts, 30,000 customers and 100,000 items in stock each.
    pub warehouses: u32,
    /// Shares of the five transactions.
    pub mix: TpccMix,
    /// Size of a page.
    pub page_bytes: u32,
    /// CPU time of each transaction: sending, parsing, planning, commit.
    pub cpu_per_transaction_ns: u64,
    /// CPU time of each visit of a page.
    pub cpu_per_page_ns: u64,
    /// Buffer pool and its writers.
    pub cache: CacheConfig,
    /// The write-ahead log. Its area follows the data.
    pub log: LogConfig,
    /// Offset of the data on the device.
    pub start_bytes: u64,
}

impl Default for TpccConfig {
    /// A hundred warehouses behind an eighth of them in memory; CPU times are assumed.
    fn default() -> TpccConfig {
        TpccConfig {
            sessions: 16,
            warehouses: 100,
            mix: TpccMix::STANDARD,
            page_bytes: 8192,
            cpu_per_transaction_ns: 200_000,
            cpu_per_page_ns: 10_000,
            cache: CacheConfig { bytes: 1 << 30, db_writers: 1, writes_in_flight: 32, ..CacheConfig::default() },
            log: LogConfig::POSTGRESQL,
            start_bytes: 0,
        }
    }
}

impl TpccConfig {
    /// Most warehouses: a terabyte.
    pub const MAX_WAREHOUSES: u32 = 10_000;

    /// Checks every parameter.
    pub fn validate(&self) -> Result<(), LoadError> {
        in_range("sessions", self.sessions.into(), 1, MAX_PROCESSES / 4)?;
        in_range("warehouses", self.warehouses.into(), 1, TpccConfig::MAX_WAREHOUSES.into())?;
        self.mix.validate()?;
        validate_block_bytes("page_bytes", self.page_bytes)?;
        // The largest row and what is kept free of a page.
        in_range("page_bytes", self.page_bytes.into(), 1024, 1 << 16)?;
        // Without CPU time a session whose pages are all in memory would never let time pass.
        in_range("cpu_per_transaction_ns", self.cpu_per_transaction_ns, 1, MAX_THINK_NS)?;
        in_range("cpu_per_page_ns", self.cpu_per_page_ns, 0, MAX_THINK_NS / (1 << 16))?;
        self.cache.validate(self.page_bytes)?;
        self.log.validate()?;
        crate::error::multiple_of("start_bytes", self.start_bytes, 512)?;
        footprint_fits(self.start_bytes, &[self.data_bytes(), self.log.area_bytes])
    }

    /// Size of all tables and indexes.
    pub fn data_bytes(&self) -> u64 {
        u64::from(Schema::new(self.warehouses, self.page_bytes).pages()) * u64::from(self.page_bytes)
    }

    /// Most warehouses, at most `most`, that so many bytes hold; 1 where none do.
    pub fn warehouses_in(bytes: u64, page_bytes: u32, most: u32) -> u32 {
        let holds =
            |warehouses| u64::from(Schema::new(warehouses, page_bytes).pages()) * u64::from(page_bytes) <= bytes;
        // The size grows with the number; most runs have few.
        let (mut low, mut high) = (1, most.max(1));
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            if holds(middle) { low = middle } else { high = middle - 1 }
        }
        low
    }

    /// Bytes from the start of the device that requests may touch.
    pub fn footprint_bytes(&self) -> u64 {
        self.start_bytes + self.data_bytes() + self.log.area_bytes
    }

    /// Returns whether any transaction changes anything.
    pub fn writes(&self) -> bool {
        self.mix.order_status_percent + self.mix.stock_level_percent < 100.0
    }

    pub(crate) fn area(&self) -> DataArea {
        DataArea {
            start_bytes: self.start_bytes,
            block_bytes: self.page_bytes,
            blocks: Schema::new(self.warehouses, self.page_bytes).pages(),
        }
    }
}
