//! The parameters of OLTP 80/20.

use crate::cache::{DataArea, validate_block_bytes};
use crate::error::{footprint_fits, in_range, multiple_of, real_in_range};
use crate::{Access, CacheConfig, LoadError, LogConfig, MAX_PROCESSES, MAX_THINK_NS};

/// An OLTP load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OltpConfig {
    /// Number of sessions, each with a backend of its own.
    pub sessions: u32,
    /// Transactions that select, percent.
    pub select_percent: f64,
    /// Transactions that insert, percent; the rest updates.
    pub insert_percent: f64,
    /// Size of the tables and indexes.
    pub db_bytes: u64,
    /// Size of a page.
    pub page_bytes: u32,
    /// Pages that an index range scan touches: leaf pages and the pages of its rows.
    pub pages_per_select: u32,
    /// Pages that an insert or an update touches.
    pub pages_per_write: u32,
    /// Number of pages that a write changes.
    pub changed_pages_per_write: u32,
    /// Distribution of the pages that are touched.
    pub access: Access,
    /// CPU time of a select.
    pub cpu_per_select_ns: u64,
    /// CPU time of an insert or an update.
    pub cpu_per_write_ns: u64,
    /// CPU time of each transaction for each connected session, its own too: taking a snapshot looks at all of
    /// them (PostgreSQL before 14).
    pub cpu_per_session_ns: u64,
    /// Sleep between two transactions: client and network.
    pub think_ns: u64,
    /// Buffer cache and its writers.
    pub cache: CacheConfig,
    /// Log that an insert or an update makes, full-page images included.
    pub wal_bytes_per_write: u32,
    /// The write-ahead log. Its area follows the data.
    pub log: LogConfig,
    /// Offset of the data on the device.
    pub start_bytes: u64,
}

impl Default for OltpConfig {
    /// 80/20 on 16 GiB behind 2 GiB of buffers; pages, CPU times and log are assumed.
    fn default() -> OltpConfig {
        OltpConfig {
            sessions: 16,
            select_percent: 80.0,
            insert_percent: 10.0,
            db_bytes: 16 << 30,
            page_bytes: 8192,
            pages_per_select: 8,
            pages_per_write: 4,
            changed_pages_per_write: 2,
            access: Access::Uniform,
            cpu_per_select_ns: 150_000,
            cpu_per_write_ns: 200_000,
            cpu_per_session_ns: 500,
            think_ns: 0,
            cache: CacheConfig { bytes: 2 << 30, db_writers: 1, writes_in_flight: 32, ..CacheConfig::default() },
            wal_bytes_per_write: 2_000,
            log: LogConfig::POSTGRESQL,
            start_bytes: 0,
        }
    }
}

impl OltpConfig {
    /// Checks every parameter.
    pub fn validate(&self) -> Result<(), LoadError> {
        in_range("sessions", self.sessions.into(), 1, MAX_PROCESSES / 4)?;
        real_in_range("select_percent", self.select_percent, 0.0, 100.0)?;
        real_in_range("insert_percent", self.insert_percent, 0.0, 100.0 - self.select_percent)?;
        validate_block_bytes("page_bytes", self.page_bytes)?;
        let page_bytes = u64::from(self.page_bytes);
        in_range("db_bytes", self.db_bytes, page_bytes, CacheConfig::MAX_BLOCKS * page_bytes)?;
        multiple_of("db_bytes", self.db_bytes, page_bytes)?;
        in_range("pages_per_select", self.pages_per_select.into(), 0, 1 << 20)?;
        in_range("pages_per_write", self.pages_per_write.into(), 0, 1 << 20)?;
        in_range("changed_pages_per_write", self.changed_pages_per_write.into(), 0, self.pages_per_write.into())?;
        self.access.validate()?;
        // Without CPU time a session whose pages are all in memory would never let time pass.
        in_range("cpu_per_select_ns", self.cpu_per_select_ns, 1, MAX_THINK_NS)?;
        in_range("cpu_per_write_ns", self.cpu_per_write_ns, 1, MAX_THINK_NS)?;
        in_range("cpu_per_session_ns", self.cpu_per_session_ns, 0, MAX_THINK_NS / MAX_PROCESSES)?;
        in_range("think_ns", self.think_ns, 0, MAX_THINK_NS)?;
        self.cache.validate(self.page_bytes)?;
        in_range("wal_bytes_per_write", self.wal_bytes_per_write.into(), 1, 1 << 20)?;
        self.log.validate()?;
        multiple_of("start_bytes", self.start_bytes, 512)?;
        footprint_fits(self.start_bytes, &[self.db_bytes, self.log.area_bytes])
    }

    /// Bytes from the start of the device that requests may touch.
    pub fn footprint_bytes(&self) -> u64 {
        self.start_bytes + self.db_bytes + self.log.area_bytes
    }

    pub(super) fn area(&self) -> DataArea {
        DataArea {
            start_bytes: self.start_bytes,
            block_bytes: self.page_bytes,
            blocks: (self.db_bytes / u64::from(self.page_bytes)) as u32,
        }
    }
}
