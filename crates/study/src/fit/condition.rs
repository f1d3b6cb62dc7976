//! The load of a device at one point, so that a model can be given the same.

use load::{FileioConfig, FileioMode, LoadConfig};
use target::Pattern;

/// Blocks that the space in use is overwritten with before anything random is measured, as reviews do.
const OVERWRITTEN_IN_BYTES: u64 = 16 << 10;
/// Files are whole multiples of this.
const ALIGN_BYTES: u64 = 1 << 20;

/// One load in one state of the device. Sizes are shares of the device: a model is smaller than what it stands for.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// Kind of the requests.
    pub mode: FileioMode,
    /// Bytes of a request.
    pub block_bytes: u32,
    /// Number of threads.
    pub threads: u32,
    /// Requests that each of them keeps outstanding.
    pub queue_depth: u32,
    /// Reads a write, where both are done.
    pub rw_ratio: f64,
    /// A flush after each write.
    pub fsync_all: bool,
    /// Each thread of a sequential load goes through its own region.
    pub own_regions: bool,
    /// Share of the device in use, above 0 and at most 1.
    pub fill: f64,
    /// Share of the device that the load goes to, at most the fill: the rest of what is in use stays as it is.
    pub file: f64,
    /// CPU time of a thread between two requests, beside the host's own.
    pub cpu_per_request_ns: u64,
}

impl Condition {
    /// Random requests by some threads on a device that is full.
    pub fn random(mode: FileioMode, block_bytes: u32, threads: u32) -> Condition {
        Condition {
            mode,
            block_bytes,
            threads,
            queue_depth: 1,
            rw_ratio: FileioConfig::default().rw_ratio,
            fsync_all: false,
            own_regions: false,
            fill: 1.0,
            file: 1.0,
            cpu_per_request_ns: 0,
        }
    }

    /// The same at another fill, a share of the device, all of which the load goes to.
    pub fn at_fill(self, fill: f64) -> Condition {
        Condition { fill, file: fill, ..self }
    }

    /// Share of the data capacity that is written over and over, of all that is left by what is never written again: with
    /// victims chosen by their valid sectors, such data gather in bands that nobody collects, and write amplification is
    /// that of a device of the rest. `spare` is the spare factor.
    pub(crate) fn utilization(&self, spare: f64) -> f64 {
        let user = 1.0 - spare;
        user * self.file / (1.0 - user * (self.fill - self.file))
    }

    /// Returns the number of requests in flight.
    pub fn outstanding(&self) -> u32 {
        self.threads.saturating_mul(self.queue_depth)
    }

    /// The load on a device that holds `user_bytes`.
    pub(crate) fn load(&self, user_bytes: u64) -> LoadConfig {
        LoadConfig::Fileio(FileioConfig {
            mode: self.mode,
            block_bytes: self.block_bytes,
            threads: self.threads,
            queue_depth: self.queue_depth,
            file_bytes: self.file_bytes(user_bytes),
            rw_ratio: self.rw_ratio,
            fsync_all: self.fsync_all,
            own_regions: self.own_regions,
            ..FileioConfig::default()
        })
    }

    /// Bytes that the load goes to on a device that holds `user_bytes`: whole mebibytes where there are some.
    pub(crate) fn file_bytes(&self, user_bytes: u64) -> u64 {
        self.share_bytes(self.file, user_bytes)
    }

    /// Bytes in use.
    pub(crate) fn in_use_bytes(&self, user_bytes: u64) -> u64 {
        self.share_bytes(self.fill, user_bytes)
    }

    fn share_bytes(&self, share: f64, user_bytes: u64) -> u64 {
        let wanted = (user_bytes as f64 * share) as u64;
        let aligned = wanted / ALIGN_BYTES * ALIGN_BYTES;
        if aligned == 0 { wanted.max(u64::from(self.block_bytes)).next_multiple_of(4096) } else { aligned }
    }

    /// Returns the pattern in which the device was overwritten before.
    pub(crate) fn pattern(&self, user_bytes: u64) -> Pattern {
        if self.mode.is_sequential() {
            return Pattern::Sequential;
        }
        Pattern::Random {
            block_bytes: OVERWRITTEN_IN_BYTES,
            access: load::Access::Uniform,
            footprint_bytes: self.file_bytes(user_bytes),
        }
    }

    /// Threads that each write through a region of their own; 0 where there are none.
    pub(crate) fn write_streams(&self) -> u32 {
        if self.own_regions && self.mode.writes() && self.mode.is_sequential() { self.threads } else { 0 }
    }

    /// Two conditions with the same find the device in the same state.
    pub(crate) fn state(&self) -> (u64, u64, bool, u32) {
        let rounded = |share: f64| (share * 1e6).round() as u64;
        (rounded(self.fill), rounded(self.file), self.mode.is_sequential(), self.write_streams())
    }

    /// For people, short: `rndwr 16k 8t 90%`, or `rndwr 16k 8t 10% of 90%` where the load goes to a part of that.
    pub fn label(&self) -> String {
        let block = match u64::from(self.block_bytes) {
            b if b.is_multiple_of(1 << 20) => format!("{}m", b >> 20),
            b if b.is_multiple_of(1 << 10) => format!("{}k", b >> 10),
            b => b.to_string(),
        };
        let mut out = format!("{} {block} {}t", self.mode, self.threads);
        if self.queue_depth > 1 {
            out.push_str(&format!(" d{}", self.queue_depth));
        }
        if self.mode.mixes() {
            out.push_str(&format!(" r{:.0}%", 100.0 * self.rw_ratio / (1.0 + self.rw_ratio)));
        }
        if self.fsync_all {
            out.push_str(" sync");
        }
        if self.file < self.fill {
            out.push_str(&format!(" {:.0}% of", self.file * 100.0));
        }
        out.push_str(&format!(" {:.0}%", self.fill * 100.0));
        out
    }
}
