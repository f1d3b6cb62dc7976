//! The parameters of fileio, under sysbench's names where it has them.

use crate::error::{footprint_fits, in_range, multiple_of, real_in_range};
use crate::{Access, LoadError, MAX_PROCESSES, MAX_REQUEST_BYTES, MAX_THINK_NS};
use std::fmt;
use std::str::FromStr;

/// The modes of sysbench's fileio, and one of fio's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum FileioMode {
    /// Sequential write of a new file. The device sees what it sees in `SeqRewr`; the meaning is a file that was not
    /// there before, so whoever prepares the device leaves its range unwritten.
    SeqWr,
    /// Sequential rewrite of a file that is there.
    SeqRewr,
    SeqRd,
    /// Sequential reads beside sequential writes, each kind with positions of its own (fio's `rw`).
    SeqRw,
    RndRd,
    RndWr,
    /// Random reads and writes.
    RndRw,
}

impl FileioMode {
    /// All modes, in sysbench's order.
    pub const ALL: [FileioMode; 7] = [
        FileioMode::SeqWr,
        FileioMode::SeqRewr,
        FileioMode::SeqRd,
        FileioMode::SeqRw,
        FileioMode::RndRd,
        FileioMode::RndWr,
        FileioMode::RndRw,
    ];
    /// The names of all modes, for messages.
    pub const NAMES: &'static str = "seqwr, seqrewr, seqrd, seqrw, rndrd, rndwr, rndrw";

    /// fio's words for modes: `write` lays its file out before it measures, so it is `seqrewr`.
    pub const OF_FIO: [(&'static str, FileioMode); 7] = [
        ("read", FileioMode::SeqRd),
        ("write", FileioMode::SeqRewr),
        ("rw", FileioMode::SeqRw),
        ("readwrite", FileioMode::SeqRw),
        ("randread", FileioMode::RndRd),
        ("randwrite", FileioMode::RndWr),
        ("randrw", FileioMode::RndRw),
    ];

    /// Returns sysbench's name for the mode.
    pub fn name(self) -> &'static str {
        match self {
            FileioMode::SeqWr => "seqwr",
            FileioMode::SeqRewr => "seqrewr",
            FileioMode::SeqRd => "seqrd",
            FileioMode::SeqRw => "seqrw",
            FileioMode::RndRd => "rndrd",
            FileioMode::RndWr => "rndwr",
            FileioMode::RndRw => "rndrw",
        }
    }

    /// Returns whether it writes.
    pub fn writes(self) -> bool {
        !matches!(self, FileioMode::SeqRd | FileioMode::RndRd)
    }

    /// Returns whether it reads.
    pub fn reads(self) -> bool {
        !matches!(self, FileioMode::SeqWr | FileioMode::SeqRewr | FileioMode::RndWr)
    }

    /// Returns whether it mixes reads and writes, in the share of `rw_ratio`.
    pub fn mixes(self) -> bool {
        self.reads() && self.writes()
    }

    /// Returns whether it goes through the file from front to back.
    pub fn is_sequential(self) -> bool {
        matches!(self, FileioMode::SeqWr | FileioMode::SeqRewr | FileioMode::SeqRd | FileioMode::SeqRw)
    }
}

impl fmt::Display for FileioMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for FileioMode {
    type Err = LoadError;

    fn from_str(text: &str) -> Result<FileioMode, LoadError> {
        let ours = FileioMode::ALL.into_iter().find(|mode| mode.name() == text);
        let of_fio = || FileioMode::OF_FIO.into_iter().find(|(word, _)| *word == text).map(|(_, mode)| mode);
        ours.or_else(of_fio).ok_or_else(|| LoadError::UnknownMode { given: text.into(), known: FileioMode::NAMES })
    }
}

/// A fileio load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FileioConfig {
    /// The mode, as sysbench calls it.
    pub mode: FileioMode,
    /// Size of a request.
    pub block_bytes: u32,
    /// Number of threads that issue requests.
    pub threads: u32,
    /// Requests that each thread keeps outstanding.
    pub queue_depth: u32,
    /// Size of the file.
    pub file_bytes: u64,
    /// Offset of the file on the device.
    pub start_bytes: u64,
    /// Shift of the blocks against the file's start, so that misaligned requests show their cost. Blocks that the shift
    /// pushes over the file's end are left out.
    pub misalign_bytes: u32,
    /// Reads per write in `rndrw` and `seqrw`.
    pub rw_ratio: f64,
    /// A flush after so many requests of all threads together; 0: never (sysbench's default is 100).
    pub fsync_every: u32,
    /// A flush after each write, by the thread that wrote; overrides `fsync_every`.
    pub fsync_all: bool,
    /// Distribution of the blocks that the random modes ask for.
    pub access: Access,
    /// Sleep of a thread between the end of a request and its next one; a flush follows at once.
    pub think_ns: u64,
    /// Requests a second of the whole load, flushes not counted; `None`: as fast as it goes. The schedule is fixed: a
    /// load that fell behind catches up, but never by more than one second's worth of requests. A request's latency
    /// counts from when it was due, even if its thread still waited for another one (or thought) at that time.
    pub rate_iops: Option<f64>,
    /// Each thread of a sequential mode goes through its own, equally large region of the file, front to back and
    /// around: as many interleaved streams as there are threads. A remainder of less than a block for each thread
    /// stays untouched. Without: all share one position (sysbench). Without meaning for random modes.
    pub own_regions: bool,
}

impl Default for FileioConfig {
    /// Random writes of 16 KiB by one thread in sysbench's 2 GiB file, without fsync.
    fn default() -> FileioConfig {
        FileioConfig {
            mode: FileioMode::RndWr,
            block_bytes: 16 << 10,
            threads: 1,
            queue_depth: 1,
            file_bytes: 2 << 30,
            start_bytes: 0,
            misalign_bytes: 0,
            rw_ratio: 1.5,
            fsync_every: 0,
            fsync_all: false,
            access: Access::Uniform,
            think_ns: 0,
            rate_iops: None,
            own_regions: false,
        }
    }
}

impl FileioConfig {
    /// Checks every parameter.
    pub fn validate(&self) -> Result<(), LoadError> {
        in_range("block_bytes", self.block_bytes.into(), 512, MAX_REQUEST_BYTES)?;
        multiple_of("block_bytes", self.block_bytes.into(), 512)?;
        in_range("threads", self.threads.into(), 1, MAX_PROCESSES)?;
        in_range("queue_depth", self.queue_depth.into(), 1, MAX_PROCESSES / u64::from(self.threads))?;
        multiple_of("start_bytes", self.start_bytes, 512)?;
        multiple_of("misalign_bytes", self.misalign_bytes.into(), 512)?;
        if self.blocks() == 0 {
            let FileioConfig { file_bytes, block_bytes, misalign_bytes, .. } = *self;
            return Err(LoadError::FileTooSmall { file_bytes, block_bytes, misalign_bytes });
        }
        if self.regions() > 1 {
            in_range("threads with own_regions", self.threads.into(), 1, self.blocks())?;
        }
        real_in_range("rw_ratio", self.rw_ratio, 0.0, 1e9)?;
        self.access.validate()?;
        in_range("think_ns", self.think_ns, 0, MAX_THINK_NS)?;
        if let Some(rate) = self.rate_iops {
            real_in_range("rate_iops", rate, 0.001, 1e9)?;
        }
        footprint_fits(self.start_bytes, &[self.file_bytes])
    }

    /// Bytes from the start of the device that requests may touch.
    pub fn footprint_bytes(&self) -> u64 {
        self.start_bytes + self.file_bytes
    }

    /// Into how many regions the file is divided.
    pub(crate) fn regions(&self) -> u32 {
        if self.own_regions && self.mode.is_sequential() { self.threads } else { 1 }
    }

    /// Whole blocks in the file.
    pub fn blocks(&self) -> u64 {
        self.file_bytes.saturating_sub(self.misalign_bytes.into()) / u64::from(self.block_bytes.max(1))
    }
}
