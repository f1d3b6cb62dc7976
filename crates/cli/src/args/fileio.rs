//! The options of the loads that sysbench's fileio knows.

use super::values::{BlockBytes, Bytes, Nanoseconds, ShiftBytes, rate, ratio};
use clap::Args;
use load::{Access, FileioConfig, FileioMode};

/// The options of a fileio load.
#[derive(Debug, Args)]
pub struct FileioArgs {
    /// Size of a request
    #[arg(long, value_name = "SIZE", default_value_t = BlockBytes(16 << 10))]
    pub block: BlockBytes,
    /// The number of threads that send requests
    #[arg(help = "Threads", long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..))]
    pub threads: u32,
    /// Requests that each thread keeps outstanding; of a trace, most outstanding at once [default: 1; with --trace
    /// 1024, at --speed max 32]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(load::MAX_REPLAY_DEPTH)))]
    pub depth: Option<u32>,
    /// Size of the file; without it, all the space that --fill puts in use
    #[arg(long, value_name = "SIZE")]
    pub file_size: Option<Bytes>,
    /// Reads for each write, in rndrw and seqrw (fio's default is 1)
    #[arg(long, value_name = "R", default_value_t = 1.5, value_parser = ratio)]
    pub rw_ratio: f64,
    /// Each thread goes through a region of its own, in the sequential loads; without it they share one position
    #[arg(long)]
    pub own_regions: bool,
    /// Flush after so many requests of all threads; 0: never
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub fsync_freq: u32,
    /// Flush after each write
    #[arg(long, conflicts_with = "fsync_freq")]
    pub fsync_all: bool,
    /// Shift of the blocks against their boundaries, to see what misalignment costs
    #[arg(long, value_name = "SIZE", default_value_t = ShiftBytes(0))]
    pub offset_shift: ShiftBytes,
    /// The pattern of the random loads
    #[arg(help = "Which blocks the random loads ask for: uniform, zipf:THETA, hot-cold:SPACE/ACCESSES, jesd219", long, value_name = "PATTERN", default_value_t = Access::Uniform)]
    pub access: Access,
    /// Think time of a thread between two requests
    #[arg(long, value_name = "TIME", default_value_t = Nanoseconds(0))]
    pub think: Nanoseconds,
    /// Requests a second of all threads together; without it, as fast as it goes
    #[arg(long, value_name = "IOPS", value_parser = rate)]
    pub rate: Option<f64>,
}

impl FileioArgs {
    /// The load, on a device with so many bytes in use.
    pub fn config(&self, mode: FileioMode, fill_bytes: u64) -> FileioConfig {
        FileioConfig {
            mode,
            block_bytes: self.block.0,
            threads: self.threads,
            queue_depth: self.depth.unwrap_or(1),
            file_bytes: self.file_size.map_or(fill_bytes, |size| size.0),
            start_bytes: 0,
            misalign_bytes: self.offset_shift.0,
            rw_ratio: self.rw_ratio,
            own_regions: self.own_regions,
            fsync_every: self.fsync_freq,
            fsync_all: self.fsync_all,
            access: self.access,
            think_ns: self.think.0,
            rate_iops: self.rate,
        }
    }
}
