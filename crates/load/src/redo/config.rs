//! The parameters of the redo load.

use crate::error::{footprint_fits, in_range, multiple_of, real_in_range};
use crate::{Access, LoadError, MAX_PROCESSES, MAX_REQUEST_BYTES};

/// Most bytes of a log area and of the data; small enough that the areas of all writers can be summed.
const MAX_AREA_BYTES: u64 = 1 << 46;

/// A redo load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RedoConfig {
    /// Processes that write a log each.
    pub log_writers: u32,
    /// Size of a log write.
    pub log_block_bytes: u32,
    /// Size of each writer's circular area, a multiple of `log_block_bytes`.
    pub log_area_bytes: u64,
    /// A flush after each log write (`fdatasync`): a commit that survives a loss of power.
    pub sync: bool,
    /// Log writes a second of all writers together, flushes not counted; `None`: as fast as it goes. The schedule and
    /// the latency are as with fileio's `rate_iops`.
    pub log_rate_iops: Option<f64>,
    /// Processes that read at random; 0: the log alone.
    pub readers: u32,
    /// Size of a read.
    pub read_block_bytes: u32,
    /// Distribution of the blocks that are read.
    pub access: Access,
    /// Size of the data, which lies behind the log areas. Only whole blocks are read.
    pub data_bytes: u64,
    /// Offset of the first log area on the device.
    pub start_bytes: u64,
}

impl Default for RedoConfig {
    /// One log of 256 MiB in writes of 16 KiB, synced, beside eight readers of 8 KiB in 2 GiB.
    fn default() -> RedoConfig {
        RedoConfig {
            log_writers: 1,
            log_block_bytes: 16 << 10,
            log_area_bytes: 256 << 20,
            sync: true,
            log_rate_iops: None,
            readers: 8,
            read_block_bytes: 8192,
            access: Access::Uniform,
            data_bytes: 2 << 30,
            start_bytes: 0,
        }
    }
}

impl RedoConfig {
    /// Checks every parameter.
    pub fn validate(&self) -> Result<(), LoadError> {
        in_range("log_writers", self.log_writers.into(), 1, MAX_PROCESSES)?;
        in_range("readers", self.readers.into(), 0, MAX_PROCESSES - u64::from(self.log_writers))?;
        in_range("log_block_bytes", self.log_block_bytes.into(), 512, 1 << 20)?;
        multiple_of("log_block_bytes", self.log_block_bytes.into(), 512)?;
        in_range("log_area_bytes", self.log_area_bytes, self.log_block_bytes.into(), MAX_AREA_BYTES)?;
        multiple_of("log_area_bytes", self.log_area_bytes, self.log_block_bytes.into())?;
        if let Some(rate) = self.log_rate_iops {
            real_in_range("log_rate_iops", rate, 0.001, 1e9)?;
        }
        in_range("read_block_bytes", self.read_block_bytes.into(), 512, MAX_REQUEST_BYTES)?;
        multiple_of("read_block_bytes", self.read_block_bytes.into(), 512)?;
        self.access.validate()?;
        // Without readers there may be no data: nobody asks for any.
        let min_data_bytes = if self.readers == 0 { 0 } else { self.read_block_bytes };
        in_range("data_bytes", self.data_bytes, min_data_bytes.into(), MAX_AREA_BYTES)?;
        multiple_of("start_bytes", self.start_bytes, 512)?;
        footprint_fits(self.start_bytes, &[self.logs_bytes(), self.data_bytes])
    }

    /// Bytes from the start of the device that requests may touch. The data counts without readers too: it is what the
    /// log shares the device with.
    pub fn footprint_bytes(&self) -> u64 {
        self.data_start_bytes() + self.data_bytes
    }

    /// Returns the offset of the data on the device.
    pub fn data_start_bytes(&self) -> u64 {
        self.start_bytes + self.logs_bytes()
    }

    /// Whole blocks of data.
    pub(super) fn data_blocks(&self) -> u64 {
        self.data_bytes / u64::from(self.read_block_bytes)
    }

    fn logs_bytes(&self) -> u64 {
        u64::from(self.log_writers) * self.log_area_bytes
    }
}
