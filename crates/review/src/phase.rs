//! The phases of a review and the sweeps that each is made of.

use load::{FileioConfig, FileioMode, Given, LoadConfig, RedoConfig};
use results::Axis;
use std::fmt;
use std::str::FromStr;

/// A phase that can be asked for by name. Identifying, purging and preconditioning always belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Phase {
    /// Sequential writes into an emptied device, and after pauses.
    Burst,
    /// Throughput against space in use.
    Fill,
    /// Random writes second by second.
    Timeline,
    /// One to 64 threads.
    Threads,
    Blocks,
    /// From all reads to all writes.
    Mix,
    /// Latency at a fixed rate.
    Rate,
    /// Writes with a flush after each.
    Sync,
    /// A redo log beside random reads.
    Redo,
}

impl Phase {
    /// All, in the order in which they are measured.
    pub const ALL: [Phase; 9] = [
        Phase::Burst,
        Phase::Fill,
        Phase::Timeline,
        Phase::Threads,
        Phase::Blocks,
        Phase::Mix,
        Phase::Rate,
        Phase::Sync,
        Phase::Redo,
    ];

    /// As `--only` takes it.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Burst => "burst",
            Phase::Fill => "fill",
            Phase::Timeline => "timeline",
            Phase::Threads => "threads",
            Phase::Blocks => "blocks",
            Phase::Mix => "mix",
            Phase::Rate => "rate",
            Phase::Sync => "sync",
            Phase::Redo => "redo",
        }
    }

    /// Returns the title for people.
    pub fn title(self) -> &'static str {
        match self {
            Phase::Burst => "Bursts into an emptied device",
            Phase::Fill => "Throughput against space in use",
            Phase::Timeline => "Random writes second by second",
            Phase::Threads => "Threads",
            Phase::Blocks => "Block sizes",
            Phase::Mix => "Reads beside writes",
            Phase::Rate => "Latency at a fixed rate",
            Phase::Sync => "Flush after each write",
            Phase::Redo => "Redo log beside random reads",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// There is no such phase.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no phase '{given}'; there are {}", Phase::ALL.map(Phase::name).join(", "))]
pub struct UnknownPhase {
    given: Given,
}

impl FromStr for Phase {
    type Err = UnknownPhase;
    fn from_str(text: &str) -> Result<Phase, UnknownPhase> {
        Phase::ALL.into_iter().find(|phase| phase.name() == text).ok_or_else(|| UnknownPhase { given: text.into() })
    }
}

/// The load of a sweep at each of its points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum SweepLoad {
    /// fileio: `threads` where the axis is something else.
    Fileio { mode: FileioMode, block_bytes: u32, threads: u32, fsync_all: bool },
    /// Reads and writes of fileio, in the share that the axis says.
    Mix { block_bytes: u32, threads: u32 },
    /// fileio at a share of what the device takes.
    Rate { mode: FileioMode, block_bytes: u32, threads: u32 },
    /// A log writer, and readers.
    Redo,
}

/// A sweep of the method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SweepSpec {
    pub phase: Phase,
    pub name: &'static str,
    pub title: &'static str,
    pub note: &'static str,
    pub axis: Axis,
    pub load: SweepLoad,
    /// Points, and those of a quick review.
    pub xs: &'static [f64],
    pub quick_xs: &'static [f64],
    /// It is measured on, and leaves, a device written front to back: it comes last.
    pub sequential: bool,
}

const THREADS: &[f64] = &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
const QUICK_THREADS: &[f64] = &[1.0, 4.0, 16.0, 64.0];
const BLOCKS: &[f64] = &[4096.0, 8192.0, 16_384.0, 32_768.0, 65_536.0, 131_072.0, 262_144.0, 1_048_576.0];
const QUICK_BLOCKS: &[f64] = &[4096.0, 16_384.0, 65_536.0, 262_144.0];
/// Fills at which the ratios of a sweep are read: besides every tenth, a third and two thirds.
const FILLS: &[f64] = &[20.0, 30.0, 100.0 / 3.0, 40.0, 50.0, 60.0, 200.0 / 3.0, 70.0, 80.0, 90.0, 100.0];
const QUICK_FILLS: &[f64] = &[20.0, 100.0 / 3.0, 50.0, 200.0 / 3.0, 100.0];

/// The block of the random loads: what the published measurements used, a database page of InnoDB.
const BLOCK_BYTES: u32 = 16 << 10;
/// The block of the sequential loads.
const SEQUENTIAL_BYTES: u32 = 128 << 10;
/// Threads where the axis is something else.
const MIDDLE_THREADS: u32 = 16;
/// Threads of the timeline: enough to keep a card busy, few enough that each of them feels a stall.
pub(crate) const TIMELINE_THREADS: u32 = 8;
/// Threads of the fixed rate: enough that the rate and not the threads sets the pace.
const RATE_THREADS: u32 = 64;

const fn fileio(mode: FileioMode, block_bytes: u32) -> SweepLoad {
    SweepLoad::Fileio { mode, block_bytes, threads: MIDDLE_THREADS, fsync_all: false }
}

const fn threads(name: &'static str, title: &'static str, mode: FileioMode) -> SweepSpec {
    SweepSpec {
        phase: Phase::Threads,
        name,
        title,
        note: "",
        axis: Axis::Threads,
        load: fileio(mode, BLOCK_BYTES),
        xs: THREADS,
        quick_xs: QUICK_THREADS,
        sequential: false,
    }
}

const fn sequential(name: &'static str, title: &'static str, mode: FileioMode) -> SweepSpec {
    SweepSpec {
        note: "Each thread goes through its own region: the device sees as many interleaved streams as there are \
               threads. Sysbench's threads share one position, which the device sees as one stream.",
        load: fileio(mode, SEQUENTIAL_BYTES),
        sequential: true,
        ..threads(name, title, mode)
    }
}

const fn blocks(name: &'static str, title: &'static str, mode: FileioMode) -> SweepSpec {
    SweepSpec {
        phase: Phase::Blocks,
        name,
        title,
        note: "",
        axis: Axis::BlockBytes,
        load: fileio(mode, 0),
        xs: BLOCKS,
        quick_xs: QUICK_BLOCKS,
        sequential: false,
    }
}

/// Every sweep, in the order in which a real device is measured: writes in the pattern of the preconditioning first,
/// reads next, what changes the pattern last.
pub(crate) const SWEEPS: [SweepSpec; 12] = [
    SweepSpec {
        phase: Phase::Fill,
        name: "fill",
        title: "16 KiB random writes, 16 threads, against space in use",
        note: "",
        axis: Axis::FillPercent,
        load: fileio(FileioMode::RndWr, BLOCK_BYTES),
        xs: FILLS,
        quick_xs: QUICK_FILLS,
        sequential: false,
    },
    threads("threads-rndwr", "16 KiB random writes against threads", FileioMode::RndWr),
    SweepSpec {
        note: "1.5 reads a write, sysbench's mix.",
        ..threads("threads-rndrw", "16 KiB random reads and writes against threads", FileioMode::RndRw)
    },
    SweepSpec {
        phase: Phase::Mix,
        name: "mix",
        title: "16 KiB random, 16 threads, from all writes to all reads",
        note: "",
        axis: Axis::ReadPercent,
        load: SweepLoad::Mix { block_bytes: BLOCK_BYTES, threads: MIDDLE_THREADS },
        xs: &[0.0, 10.0, 30.0, 50.0, 70.0, 90.0, 100.0],
        quick_xs: &[0.0, 30.0, 70.0, 100.0],
        sequential: false,
    },
    SweepSpec {
        phase: Phase::Rate,
        name: "rate",
        title: "16 KiB random mix at a fixed rate",
        note: "The rate is a share of what 64 threads get without a limit. Latency counts from when a request was due.",
        axis: Axis::RatePercent,
        load: SweepLoad::Rate { mode: FileioMode::RndRw, block_bytes: BLOCK_BYTES, threads: RATE_THREADS },
        xs: &[10.0, 25.0, 50.0, 75.0, 90.0, 100.0],
        quick_xs: &[25.0, 75.0, 100.0],
        sequential: false,
    },
    SweepSpec {
        phase: Phase::Sync,
        name: "sync",
        title: "4 KiB random writes, each with a flush, against threads",
        note: "",
        axis: Axis::Threads,
        load: SweepLoad::Fileio { mode: FileioMode::RndWr, block_bytes: 4096, threads: 1, fsync_all: true },
        xs: &[1.0, 4.0, 16.0],
        quick_xs: &[1.0, 16.0],
        sequential: false,
    },
    SweepSpec {
        phase: Phase::Redo,
        name: "redo",
        title: "A redo log (16 KiB writes, each with a flush) beside 8 KiB random reads, against readers",
        note: "Writes and flushes are the log's, reads the readers'.",
        axis: Axis::Threads,
        load: SweepLoad::Redo,
        xs: &[0.0, 1.0, 4.0, 16.0, 64.0],
        quick_xs: &[0.0, 16.0],
        sequential: false,
    },
    threads("threads-rndrd", "16 KiB random reads against threads", FileioMode::RndRd),
    blocks("blocks-rndrd", "Random reads, 16 threads, against block size", FileioMode::RndRd),
    blocks("blocks-rndwr", "Random writes, 16 threads, against block size", FileioMode::RndWr),
    sequential("threads-seqrewr", "128 KiB sequential writes against threads", FileioMode::SeqRewr),
    sequential("threads-seqrd", "128 KiB sequential reads against threads", FileioMode::SeqRd),
];

/// The log area of the redo phase: a sixteenth of what is in use.
const LOG_SHARE: u64 = 16;
/// Its largest size: more than any log buffer of a device.
const MAX_LOG_BYTES: u64 = 4 << 30;
/// Files and areas are whole multiples of this.
const ALIGN_BYTES: u64 = 1 << 20;

/// Bytes in use at a fill: whole mebibytes, at least one.
pub(crate) fn file_bytes(capacity_bytes: u64, fill: f64) -> u64 {
    let wanted = (capacity_bytes as f64 * fill) as u64;
    let aligned = wanted / ALIGN_BYTES * ALIGN_BYTES;
    // A target that holds less than a mebibyte is taken as it is, in sectors.
    if aligned == 0 { wanted.min(capacity_bytes) / 4096 * 4096 } else { aligned }
}

impl SweepSpec {
    /// The load of one point, on `file_bytes` of the device.
    pub fn load(&self, x: f64, file_bytes: u64) -> LoadConfig {
        let on_axis = |axis: Axis, otherwise: u32| if self.axis == axis { x as u32 } else { otherwise };
        let base = FileioConfig { file_bytes, ..FileioConfig::default() };
        LoadConfig::Fileio(match self.load {
            SweepLoad::Fileio { mode, block_bytes, threads, fsync_all } => FileioConfig {
                mode,
                block_bytes: on_axis(Axis::BlockBytes, block_bytes),
                threads: on_axis(Axis::Threads, threads),
                fsync_all,
                own_regions: mode.is_sequential(),
                ..base
            },
            SweepLoad::Mix { block_bytes, threads } => {
                let mode = match x {
                    x if x >= 100.0 => FileioMode::RndRd,
                    x if x <= 0.0 => FileioMode::RndWr,
                    _ => FileioMode::RndRw,
                };
                let rw_ratio = if mode == FileioMode::RndRw { x / (100.0 - x) } else { base.rw_ratio };
                FileioConfig { mode, block_bytes, threads, rw_ratio, ..base }
            }
            SweepLoad::Rate { mode, block_bytes, threads } => FileioConfig { mode, block_bytes, threads, ..base },
            SweepLoad::Redo => {
                let log_area_bytes = (file_bytes / LOG_SHARE).min(MAX_LOG_BYTES) / ALIGN_BYTES * ALIGN_BYTES;
                let log_area_bytes = log_area_bytes.max(ALIGN_BYTES);
                return LoadConfig::Redo(RedoConfig {
                    readers: x as u32,
                    log_area_bytes,
                    data_bytes: file_bytes.saturating_sub(log_area_bytes),
                    ..RedoConfig::default()
                });
            }
        })
    }

    /// Returns the values of x at its points.
    pub fn xs(&self, quick: bool) -> &'static [f64] {
        if quick { self.quick_xs } else { self.xs }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_phases_are_found_by_theirs() {
        let mut names: Vec<_> = SWEEPS.iter().map(|sweep| sweep.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), SWEEPS.len());
        for phase in Phase::ALL {
            assert_eq!(phase.name().parse(), Ok(phase));
            let alone = [Phase::Burst, Phase::Timeline].contains(&phase);
            assert!(alone || SWEEPS.iter().any(|sweep| sweep.phase == phase));
        }
        assert!("thread".parse::<Phase>().unwrap_err().to_string().contains("fill, timeline, threads"));
    }

    #[test]
    fn every_load_is_valid_and_fits_what_is_in_use() {
        for bytes in [64 << 20, 8 << 30, 3_840_000_000_000] {
            let file_bytes = file_bytes(bytes, 1.0);
            for sweep in SWEEPS {
                for &x in sweep.xs {
                    let load = sweep.load(x, file_bytes);
                    load.validate().unwrap_or_else(|e| panic!("{} at {x}: {e}", sweep.name));
                    assert!(load.footprint_bytes() <= bytes, "{} at {x}", sweep.name);
                }
                assert!(sweep.quick_xs.iter().all(|x| sweep.xs.contains(x)), "{}", sweep.name);
            }
        }
    }

    #[test]
    fn a_mix_has_the_share_of_reads_that_its_axis_says() {
        let mix = SWEEPS.iter().find(|sweep| sweep.name == "mix").unwrap();
        let LoadConfig::Fileio(load) = mix.load(70.0, 1 << 30) else { panic!() };
        assert!((load.rw_ratio / (1.0 + load.rw_ratio) - 0.7).abs() < 1e-12);
    }
}
