//! The options of the redo load. Defaults are the load's own.

use super::values::{BlockBytes, Bytes, rate};
use clap::Args;
use load::RedoConfig;

/// A redo log beside random reads.
#[derive(Debug, Args)]
pub struct RedoArgs {
    /// Processes that read at random; 0: the log alone
    #[arg(long, value_name = "N", default_value_t = RedoConfig::default().readers)]
    pub redo_readers: u32,
    /// Processes that write a log each
    #[arg(long, value_name = "N", default_value_t = RedoConfig::default().log_writers)]
    pub redo_writers: u32,
    /// Size of a log write
    #[arg(long, value_name = "SIZE", default_value_t = BlockBytes(RedoConfig::default().log_block_bytes))]
    pub redo_block: BlockBytes,
    /// Size of each log, which wraps around
    #[arg(long, value_name = "SIZE", default_value_t = Bytes(RedoConfig::default().log_area_bytes))]
    pub redo_log: Bytes,
    /// Log writes a second of all writers together; without it, as fast as it goes
    #[arg(long, value_name = "IOPS", value_parser = rate)]
    pub redo_rate: Option<f64>,
    /// No flush after each log write
    #[arg(long)]
    pub redo_no_sync: bool,
    /// Size of a read
    #[arg(long, value_name = "SIZE", default_value_t = BlockBytes(RedoConfig::default().read_block_bytes))]
    pub redo_read_block: BlockBytes,
    /// Size of the data that is read; without it, all the space that --fill puts in use and the logs leave
    #[arg(long, value_name = "SIZE")]
    pub redo_data: Option<Bytes>,
}

impl RedoArgs {
    /// The load, on a device with so many bytes in use.
    pub fn config(&self, fill_bytes: u64) -> RedoConfig {
        let logs_bytes = self.redo_log.0.saturating_mul(self.redo_writers.into());
        RedoConfig {
            log_writers: self.redo_writers,
            log_block_bytes: self.redo_block.0,
            log_area_bytes: self.redo_log.0,
            sync: !self.redo_no_sync,
            log_rate_iops: self.redo_rate,
            readers: self.redo_readers,
            read_block_bytes: self.redo_read_block.0,
            data_bytes: self.redo_data.map_or(fill_bytes.saturating_sub(logs_bytes), |size| size.0),
            ..RedoConfig::default()
        }
    }
}
