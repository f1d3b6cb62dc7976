//! The parameters of SLOB.

use crate::cache::{DataArea, validate_block_bytes};
use crate::error::{footprint_fits, in_range, multiple_of, real_in_range};
use crate::{Access, CacheConfig, LoadError, LogConfig, MAX_PROCESSES, MAX_THINK_NS};

/// A SLOB load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlobConfig {
    /// Sessions that only read.
    pub readers: u32,
    /// Sessions that update.
    pub writers: u32,
    /// Executions of a writer that update, percent; the others read.
    pub update_percent: f64,
    /// Blocks of each session, one row in each.
    pub scale_blocks: u32,
    /// Size of a block.
    pub block_bytes: u32,
    /// Blocks that one SQL execution touches.
    pub work_unit_blocks: u32,
    /// Distribution of a session's accesses over its own blocks: `hot-cold` is SLOB's hot spot.
    pub access: Access,
    /// CPU time of one logical read.
    pub cpu_per_logical_read_ns: u64,
    /// CPU time of one update, on top of the logical read.
    pub cpu_per_update_ns: u64,
    /// Buffer cache and its writers.
    pub cache: CacheConfig,
    /// Redo that one updated block makes.
    pub redo_bytes_per_update: u32,
    /// A commit after so many updating executions of a session; 0: never.
    pub commit_every: u32,
    /// The redo log. Its area follows the data.
    pub log: LogConfig,
    /// Offset of the data on the device.
    pub start_bytes: u64,
}

impl Default for SlobConfig {
    /// Eight readers on 80 MB each with a small cache; CPU times and redo are typical, not measured.
    fn default() -> SlobConfig {
        SlobConfig {
            readers: 8,
            writers: 0,
            update_percent: 100.0,
            scale_blocks: 10_000,
            block_bytes: 8192,
            work_unit_blocks: 64,
            access: Access::Uniform,
            cpu_per_logical_read_ns: 10_000,
            cpu_per_update_ns: 20_000,
            cache: CacheConfig::default(),
            redo_bytes_per_update: 1024,
            commit_every: 1,
            log: LogConfig::ORACLE,
            start_bytes: 0,
        }
    }
}

impl SlobConfig {
    /// Checks every parameter.
    pub fn validate(&self) -> Result<(), LoadError> {
        in_range("readers", self.readers.into(), 0, MAX_PROCESSES / 4)?;
        in_range("writers", self.writers.into(), 0, MAX_PROCESSES / 4)?;
        in_range("readers + writers", self.sessions().into(), 1, MAX_PROCESSES / 4)?;
        real_in_range("update_percent", self.update_percent, 0.0, 100.0)?;
        validate_block_bytes("block_bytes", self.block_bytes)?;
        in_range("scale_blocks", self.scale_blocks.into(), 1, CacheConfig::MAX_BLOCKS / u64::from(self.sessions()))?;
        in_range("work_unit_blocks", self.work_unit_blocks.into(), 1, 1 << 20)?;
        self.access.validate()?;
        // Without CPU time a session whose blocks are all in memory would never let time pass.
        in_range("cpu_per_logical_read_ns", self.cpu_per_logical_read_ns, 1, MAX_THINK_NS)?;
        in_range("cpu_per_update_ns", self.cpu_per_update_ns, 0, MAX_THINK_NS)?;
        self.cache.validate(self.block_bytes)?;
        in_range("redo_bytes_per_update", self.redo_bytes_per_update.into(), 1, 1 << 20)?;
        self.log.validate()?;
        multiple_of("start_bytes", self.start_bytes, 512)?;
        footprint_fits(self.start_bytes, &[self.data_bytes(), self.log.area_bytes])
    }

    /// Readers and writers.
    pub fn sessions(&self) -> u32 {
        self.readers + self.writers
    }

    /// Size of all sessions' blocks.
    pub fn data_bytes(&self) -> u64 {
        u64::from(self.scale_blocks) * u64::from(self.sessions()) * u64::from(self.block_bytes)
    }

    /// Bytes from the start of the device that requests may touch.
    pub fn footprint_bytes(&self) -> u64 {
        self.start_bytes + self.data_bytes() + self.log.area_bytes
    }

    pub(super) fn area(&self) -> DataArea {
        DataArea {
            start_bytes: self.start_bytes,
            block_bytes: self.block_bytes,
            blocks: self.scale_blocks * self.sessions(),
        }
    }
}
