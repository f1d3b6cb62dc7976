//! The parameters of a buffer cache.

use crate::error::{in_range, multiple_of, real_in_range};
use crate::{LoadError, MAX_PROCESSES};

/// A buffer cache and its background writers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CacheConfig {
    /// Size in memory.
    pub bytes: u64,
    /// The share of logical reads that need no I/O, when it is stated; `None`: a real cache of `bytes` decides.
    pub hit_ratio: Option<f64>,
    /// Share of the buffers that may be unclean before the writers begin.
    pub dirty_start: f64,
    /// Share of the buffers that may be unclean before sessions wait.
    pub dirty_limit: f64,
    /// Background writers (Oracle's `db_writer_processes`).
    pub db_writers: u32,
    /// Requests that each keeps outstanding (asynchronous I/O).
    pub writes_in_flight: u32,
    /// Mean blocks in one write request. Blocks that changed at random seldom adjoin: 1.
    pub write_coalescing_blocks: f64,
}

impl Default for CacheConfig {
    /// 64 MiB with two writers of 16 requests each.
    fn default() -> CacheConfig {
        CacheConfig {
            bytes: 64 << 20,
            hit_ratio: None,
            dirty_start: 0.05,
            dirty_limit: 0.25,
            db_writers: 2,
            writes_in_flight: 16,
            write_coalescing_blocks: 1.0,
        }
    }
}

impl CacheConfig {
    /// Most blocks in one coalesced write.
    const MAX_COALESCED: u64 = 128;
    /// Blocks of data that a cache can tell apart: four bytes name one.
    pub(crate) const MAX_BLOCKS: u64 = u32::MAX as u64 - 1;

    /// Checks every parameter.
    pub fn validate(&self, block_bytes: u32) -> Result<(), LoadError> {
        let block_bytes = u64::from(block_bytes);
        in_range("cache.bytes", self.bytes, 64 * block_bytes, CacheConfig::MAX_BLOCKS * block_bytes)?;
        if let Some(ratio) = self.hit_ratio {
            real_in_range("cache.hit_ratio", ratio, 0.0, 1.0)?;
        }
        real_in_range("cache.dirty_limit", self.dirty_limit, 0.01, 0.9)?;
        real_in_range("cache.dirty_start", self.dirty_start, 0.0, self.dirty_limit)?;
        in_range("cache.db_writers", self.db_writers.into(), 1, 256)?;
        in_range("cache.writes_in_flight", self.writes_in_flight.into(), 1, 1024)?;
        in_range("cache.db_writers * writes_in_flight", self.writer_processes().into(), 1, MAX_PROCESSES / 2)?;
        real_in_range(
            "cache.write_coalescing_blocks",
            self.write_coalescing_blocks,
            1.0,
            CacheConfig::MAX_COALESCED as f64,
        )
    }

    /// Background processes of the load that write blocks.
    pub fn writer_processes(&self) -> u32 {
        self.db_writers.saturating_mul(self.writes_in_flight)
    }
}

/// Checks the size and the place of the blocks that a cache stands before.
pub(crate) fn validate_block_bytes(parameter: &'static str, block_bytes: u32) -> Result<(), LoadError> {
    in_range(parameter, block_bytes.into(), 512, 1 << 16)?;
    multiple_of(parameter, block_bytes.into(), 512)
}
