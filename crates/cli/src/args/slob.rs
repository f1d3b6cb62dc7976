//! The options of SLOB. Defaults are the load's own.

use super::values::{BlockBytes, Bytes, Nanoseconds, Share, percentage};
use clap::Args;
use load::{Access, CacheConfig, LogConfig, SlobConfig};

/// The options of SLOB.
#[derive(Debug, Args)]
pub struct SlobArgs {
    /// Sessions that only read
    #[arg(long, value_name = "N", default_value_t = SlobConfig::default().readers)]
    pub slob_readers: u32,
    /// Sessions that update
    #[arg(long, value_name = "N", default_value_t = SlobConfig::default().writers)]
    pub slob_writers: u32,
    /// Executions of a writer that update, percent; the others read
    #[arg(long, value_name = "PCT", default_value_t = SlobConfig::default().update_percent, value_parser = percentage)]
    pub slob_update_pct: f64,
    /// Blocks of each session
    #[arg(long, value_name = "N", default_value_t = SlobConfig::default().scale_blocks)]
    pub slob_blocks: u32,
    /// Size of a database block
    #[arg(long, value_name = "SIZE", default_value_t = BlockBytes(SlobConfig::default().block_bytes))]
    pub slob_block: BlockBytes,
    /// Blocks that one SQL execution touches
    #[arg(long, value_name = "N", default_value_t = SlobConfig::default().work_unit_blocks)]
    pub slob_work_unit: u32,
    /// The pattern of the blocks that a session touches
    #[arg(help = "Which of its blocks a session touches: uniform, zipf:THETA, hot-cold:SPACE/ACCESSES, jesd219", long, value_name = "PATTERN", default_value_t = SlobConfig::default().access)]
    pub slob_access: Access,
    /// The size of the buffer cache
    #[arg(help = "Buffer cache", long, value_name = "SIZE", default_value_t = Bytes(CacheConfig::default().bytes))]
    pub slob_cache: Bytes,
    /// State the share of logical reads that the cache answers, in place of simulating it
    #[arg(long, value_name = "SHARE")]
    pub slob_hit_ratio: Option<Share>,
    /// Background writers of the buffer cache
    #[arg(long, value_name = "N", default_value_t = CacheConfig::default().db_writers)]
    pub slob_db_writers: u32,
    /// Redo that one updated block makes
    #[arg(long, value_name = "SIZE", default_value_t = Bytes(SlobConfig::default().redo_bytes_per_update.into()))]
    pub slob_redo: Bytes,
    /// Commit after so many updating executions; 0: never
    #[arg(long, value_name = "N", default_value_t = SlobConfig::default().commit_every)]
    pub slob_commit_every: u32,
    /// Size of the redo log
    #[arg(long, value_name = "SIZE", default_value_t = Bytes(SlobConfig::default().log.area_bytes))]
    pub slob_log: Bytes,
    /// CPU time of a logical read
    #[arg(long, value_name = "TIME", default_value_t = Nanoseconds(SlobConfig::default().cpu_per_logical_read_ns))]
    pub slob_cpu_read: Nanoseconds,
    /// CPU time of an update, on top of the logical read
    #[arg(long, value_name = "TIME", default_value_t = Nanoseconds(SlobConfig::default().cpu_per_update_ns))]
    pub slob_cpu_update: Nanoseconds,
}

impl SlobArgs {
    /// The configuration of the load.
    pub fn config(&self) -> SlobConfig {
        let defaults = SlobConfig::default();
        SlobConfig {
            readers: self.slob_readers,
            writers: self.slob_writers,
            update_percent: self.slob_update_pct,
            scale_blocks: self.slob_blocks,
            block_bytes: self.slob_block.0,
            work_unit_blocks: self.slob_work_unit,
            access: self.slob_access,
            cpu_per_logical_read_ns: self.slob_cpu_read.0,
            cpu_per_update_ns: self.slob_cpu_update.0,
            cache: CacheConfig {
                bytes: self.slob_cache.0,
                hit_ratio: self.slob_hit_ratio.map(|share| share.0),
                db_writers: self.slob_db_writers,
                ..defaults.cache
            },
            // The load refuses what is beyond its limit, which 32 bits hold.
            redo_bytes_per_update: u32::try_from(self.slob_redo.0).unwrap_or(u32::MAX),
            commit_every: self.slob_commit_every,
            log: LogConfig { area_bytes: self.slob_log.0, ..defaults.log },
            start_bytes: 0,
        }
    }
}
