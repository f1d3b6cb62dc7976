//! The result of one run.

use crate::{CacheReport, GeneratorLoad, Histogram, LatencySummary, TraceReport};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// One run of one load on one target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// Version of this schema.
    pub schema: u32,
    /// The device: name, title, capacities, spare factors, scale, changed settings.
    pub target: Value,
    /// The load and its parameters.
    pub load: Value,
    /// Root seed of the run.
    pub seed: u64,
    /// The host: cores and CPU times.
    pub host: Value,
    /// Figures of the reads.
    pub read: IoClass,
    /// Figures of the writes.
    pub write: IoClass,
    /// Figures of the flushes.
    pub sync: IoClass,
    /// A row a (virtual) second.
    pub series: Vec<SeriesRow>,
    /// Activity of the flash in the measured time; absent for disks.
    pub flash: Option<Flash>,
    /// Signs by which the steady state was recognised; absent with `--fresh`.
    pub steady_state: Option<SteadyState>,
    /// The application's view, for SLOB and OLTP.
    pub application: Option<Application>,
    /// Figures of a cache in front of another device; absent for other devices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheReport>,
    /// Causes of slow requests; with `--explain-tail`.
    pub tail: Option<TailReport>,
    /// The simulation itself; absent for a real device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sim: Option<Sim>,
    /// Cost of the load to this machine; absent for a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator: Option<GeneratorLoad>,
    /// The trace that was replayed; absent for other loads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceReport>,
}

/// One kind of request, with fio's keys.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IoClass {
    /// Number of requests finished.
    pub total_ios: u64,
    /// Number of bytes moved.
    pub io_bytes: u64,
    /// Requests a second.
    pub iops: f64,
    /// Bytes a second.
    pub bw_bytes: f64,
    /// Latencies of the requests, in nanoseconds.
    pub lat_ns: LatencySummary,
    /// All latencies; reviews carry it, single runs leave it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub histogram: Option<Histogram>,
}

/// One second of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SeriesRow {
    /// Seconds since measurement began, at the row's end.
    pub t_s: f64,
    /// Bytes read a second.
    pub read_bw_bytes: f64,
    /// Bytes written a second.
    pub write_bw_bytes: f64,
    /// Requests a second, all kinds.
    pub iops: f64,
    /// Longest response of the second, nanoseconds.
    pub lat_max_ns: u64,
}

/// Activity of the flash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Flash {
    /// 4 KiB pages programmed for data / pages written by the host; 0 when nothing was written.
    pub waf: f64,
    /// 4 KiB pages written by the host.
    pub host_pages: u64,
    /// 4 KiB pages relocated.
    pub relocated_pages: u64,
    /// 4 KiB pages of parity.
    pub parity_pages: u64,
    /// 4 KiB pages of padding in stripes that had to be closed early.
    pub padding_pages: u64,
    /// 4 KiB pages of band summaries.
    #[serde(default)]
    pub metadata_pages: u64,
    /// Erase blocks erased (a die's share of a band counts once).
    pub erases: u64,
    /// Free bands at the end.
    pub free_bands: u64,
    /// Blocks bad from the factory or retired.
    pub bad_blocks: u64,
    /// Spare factor that garbage collection could use: open bands, reserve and bad blocks taken off.
    pub effective_spare_factor: f64,
    /// Program/erase cycles of the blocks.
    pub wear: Wear,
}

/// Spread of program/erase cycles over usable blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Wear {
    /// Cycles of the least worn block.
    pub min: u32,
    /// Cycles of the most worn block.
    pub max: u32,
    /// Mean cycles of all blocks.
    pub mean: f64,
}

/// Signs by which steady state was recognised (SNIA PTS rule).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SteadyState {
    /// Throughput of each round, bytes a second.
    pub rounds: Vec<f64>,
    /// (max - min) / mean over the last five rounds.
    pub range: f64,
    /// |slope of the line through the last five rounds| * 4 / mean.
    pub slope: f64,
    /// Both within bounds (0.20 and 0.10), and the card before in its state of balance.
    pub attained: bool,
    /// Overwriting of a card in a skewed pattern, before the rounds; absent where the pattern is not skewed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overwriting: Option<Overwriting>,
}

/// Signs by which a card was found in balance with a skewed pattern of writes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Overwriting {
    /// Times that the space in use was written over.
    pub times: f64,
    /// Times that the blocks written least often were written over, in the last window.
    pub coldest_times: f64,
    /// |change of write amplification from the last window but one to the last| / the last.
    pub change: f64,
    /// The window covers the coldest blocks once, and the change is at most 0.01.
    pub attained: bool,
}

/// The simulation itself. Wall-clock fields differ from run to run; nothing else does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sim {
    /// Virtual seconds measured.
    pub virtual_seconds: f64,
    /// Wall-clock seconds, preconditioning included.
    pub wall_seconds: f64,
    /// Wall-clock seconds of preconditioning.
    pub precondition_wall_seconds: f64,
    /// Media operations (reads, programs, erases) in the measured time.
    pub media_operations: u64,
    /// Requests generated since the start; equals finished + in flight.
    pub requests_generated: u64,
    /// Requests finished since the start.
    pub requests_finished: u64,
    /// Requests in flight at the end.
    pub requests_in_flight: u64,
}

/// An application's view of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Application {
    Slob(SlobReport),
    Oltp(OltpReport),
}

/// SLOB, in the columns that database engineers know from AWR summaries.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SlobReport {
    /// Number of reading sessions.
    pub readers: u32,
    /// Number of updating sessions.
    pub writers: u32,
    /// Length of the measured time in seconds.
    pub elapsed_s: f64,
    /// Number of SQL executions.
    pub executes: u64,
    /// Logical reads a second (blocks).
    pub logical_reads_s: f64,
    /// Physical reads a second (blocks).
    pub physical_reads_s: f64,
    /// Physical writes a second (blocks).
    pub physical_writes_s: f64,
    /// Read requests a second.
    pub read_requests_s: f64,
    /// Write requests a second, data and redo.
    pub write_requests_s: f64,
    /// Redo bytes a second.
    pub redo_bytes_s: f64,
    /// Bytes read a second.
    pub read_bytes_s: f64,
    /// Bytes written a second, data and redo.
    pub written_bytes_s: f64,
    /// Mean wait of a single-block read, nanoseconds (`db file sequential read`).
    pub single_block_read_ns: f64,
    /// Waits of single-block reads.
    pub single_block_read_waits: u64,
    /// Mean wait for redo at commit, nanoseconds (`log file sync`).
    pub log_file_sync_ns: f64,
    /// Waits for redo.
    pub log_file_sync_waits: u64,
    /// The event with the most time (`CPU`, `db file sequential read`, `log file sync`, `free buffer waits`).
    pub top_wait: String,
}

/// The application's view of OLTP 80/20.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OltpReport {
    /// Number of sessions.
    pub sessions: u32,
    /// Transactions a second.
    pub tps: f64,
    /// By kind (`select`, `insert`, `update`).
    pub transactions: BTreeMap<String, TransactionReport>,
    /// Page reads that the buffer cache answered, share.
    pub buffer_hit_ratio: f64,
    /// Pages read a second.
    pub physical_reads_s: f64,
    /// Pages written a second.
    pub physical_writes_s: f64,
    /// Write-ahead log bytes a second.
    pub wal_bytes_s: f64,
}

/// One kind of transaction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TransactionReport {
    /// Finished a second.
    pub tps: f64,
    /// Latencies of the transactions, in nanoseconds.
    pub lat_ns: LatencySummary,
}

/// Causes of requests' latency, by percentile.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TailReport {
    /// Means over the requests between two percentiles of latency.
    pub bands: Vec<TailBand>,
    /// The slowest requests, slowest first.
    pub slowest: Vec<TailBand>,
}

/// A group of requests, or one, by where the time went. `parts_ns` add up to `lat_ns`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TailBand {
    /// `read`, `write` or `sync`.
    pub class: String,
    /// `p50-p90`, or `#1`.
    pub label: String,
    /// Requests in the group.
    pub requests: u64,
    /// When it was submitted, seconds since measurement began (single requests).
    pub t_s: Option<f64>,
    /// Mean latency of the group's requests.
    pub lat_ns: f64,
    /// Mean nanoseconds by cause; causes without time are left out.
    pub parts_ns: BTreeMap<String, f64>,
}
