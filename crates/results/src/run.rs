//! The result of one run.

use crate::{CacheReport, GeneratorLoad, Histogram, LatencySummary, ThermalReport, TraceReport};
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
    /// The application's view, for SLOB, OLTP, TPC-C and a replica.
    pub application: Option<Application>,
    /// Transactions a second for each unit of what the device takes; absent where there are no transactions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transactions_per: Option<TransactionsPer>,
    /// Figures of a cache in front of another device; absent for other devices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheReport>,
    /// Heat of a modelled card that has a temperature; absent for others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thermal: Option<ThermalReport>,
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    /// Use of the map, on a card whose memory holds a part of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map: Option<MapUse>,
    /// The use of its zones, on a card that has some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zones: Option<ZoneUse>,
    /// The work of compression, on a card that compresses what the host writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compression: Option<Compression>,
    /// The work for each handle by which the host places its writes; empty for a card without handles.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub handles: Vec<Handle>,
}

/// The work for the writes of one handle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Handle {
    /// Pages programmed for its data / pages written with it; 0 when nothing was written.
    pub waf: f64,
    /// 4 KiB pages written by the host.
    pub host_pages: u64,
    /// 4 KiB pages relocated.
    pub relocated_pages: u64,
}

impl Flash {
    /// 4 KiB pages programmed, for whatever reason.
    pub fn programmed_pages(&self) -> u64 {
        let map = self.map.map_or(0, |map| map.programmed_pages);
        let of_host =
            self.compression.map_or(self.host_pages, |compression| compression.stored_bytes.div_ceil(PAGE_BYTES));
        of_host + self.relocated_pages + map + self.parity_pages + self.padding_pages + self.metadata_pages
    }
}

/// The use of a card's zones by its host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ZoneUse {
    /// Zones of the card.
    pub count: u64,
    /// 4 KiB pages that can be written to a zone.
    pub capacity_pages: u64,
    /// Zones that were opened, by a write or by the host.
    pub opened: u64,
    /// Zones that were closed because another one took their open resource.
    pub closed_implicitly: u64,
    /// Zones that were written to their end.
    pub filled: u64,
    /// Zones that the host finished before their end.
    pub finished: u64,
    /// Zones that held something and were reset.
    pub reset: u64,
    /// Zones that bad blocks have taken, at the end.
    pub offline: u64,
}

const PAGE_BYTES: u64 = 4_096;

/// The work of compression.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Compression {
    /// Bytes that the host wrote.
    pub host_bytes: u64,
    /// Bytes that were stored for them: sizes on flash after compression, rounded up as the card does.
    pub stored_bytes: u64,
    /// Bytes at the end of stripes that the next sector did not fit into; part of the padding.
    pub unused_bytes: u64,
}

/// Use of a map of which memory holds a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MapUse {
    /// Lookups that found their page of the map in memory, or on its way there.
    pub hits: u64,
    /// Lookups that did not.
    pub misses: u64,
    /// Pages of the map read from flash.
    pub read_pages: u64,
    /// Pages of the map programmed, each of 4 KiB.
    pub programmed_pages: u64,
    /// Pages of the map that memory has room for.
    pub held_pages: u64,
    /// Pages of the whole map.
    pub all_pages: u64,
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
    Tpcc(TpccReport),
    Replica(ReplicaReport),
}

/// Transactions a second of the device alone, without the server around it, for each unit of what it takes. Absent where
/// that is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TransactionsPer {
    /// For each dollar of its price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
    /// For each watt of its power.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watt: Option<f64>,
    /// For each rack unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rack_unit: Option<f64>,
}

impl TransactionsPer {
    /// Returns the figures of `tps` transactions a second.
    pub fn of(tps: f64, usd: Option<f64>, watts: Option<f64>, rack_units: Option<f64>) -> TransactionsPer {
        let per = |amount: Option<f64>| amount.filter(|&amount| amount > 0.0).map(|amount| tps / amount);
        TransactionsPer { usd: per(usd), watt: per(watts), rack_unit: per(rack_units) }
    }

    /// The figures that are known: the unit of each, and its value.
    pub fn known(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let all = [("dollar", self.usd), ("watt", self.watt), ("rack unit", self.rack_unit)];
        all.into_iter().filter_map(|(unit, value)| Some((unit, value?)))
    }
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
    /// Where the sessions' time went; of a model alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub db_time: Option<DbTime>,
}

/// DB time as in an AWR report: the time in which sessions worked or waited. SLOB's sessions do nothing else.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DbTime {
    /// Seconds of all sessions.
    pub total_s: f64,
    /// Its parts, the most time first; they add up to it.
    pub events: Vec<DbTimeEvent>,
    /// Waits of background processes, which are no part of it.
    pub background: Vec<DbTimeEvent>,
}

/// One line of DB time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DbTimeEvent {
    /// Name as in AWR (`DB CPU`, `db file sequential read`, `log file sync` …).
    pub event: String,
    /// Number of waits; 0 for CPU time.
    pub waits: u64,
    /// Seconds of all waits.
    pub total_s: f64,
    /// Mean of a wait, nanoseconds; 0 for CPU time.
    pub mean_ns: f64,
    /// Part of DB time.
    pub share: f64,
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

/// Order entry in the shape of TPC-C. No TPC result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TpccReport {
    /// Number of sessions, which do not think.
    pub sessions: u32,
    /// Number of warehouses: the scale.
    pub warehouses: u32,
    /// Size of tables and indexes.
    pub data_bytes: u64,
    /// Length of the measured time in seconds.
    pub elapsed_s: f64,
    /// New-Order transactions a minute, those rolled back included.
    pub new_orders_per_minute: f64,
    /// Transactions a second, of all kinds.
    pub tps: f64,
    /// By kind (`new_order`, `payment`, `order_status`, `delivery`, `stock_level`).
    pub transactions: BTreeMap<String, TpccTransaction>,
    /// New-Order transactions that were rolled back.
    pub rolled_back: u64,
    /// Visits of pages that the buffer pool answered, share.
    pub buffer_hit_ratio: f64,
    /// Pages that a transaction visits, mean.
    pub page_visits_per_transaction: f64,
    /// Pages read for a transaction, mean.
    pub page_reads_per_transaction: f64,
    /// Changed pages written back for a transaction, mean.
    pub page_writes_per_transaction: f64,
    /// Writes of the log for a transaction, mean: below one where groups commit together.
    pub log_writes_per_transaction: f64,
    /// Bytes of log records of a transaction, mean.
    pub log_bytes_per_transaction: f64,
    /// Mean nanoseconds of a transaction by what they went into (`cpu`, `cores`, `page_read`, `row_lock`, `free_buffer`,
    /// `log_room`, `commit`); they add up to the mean response time.
    pub time_ns: BTreeMap<String, f64>,
}

/// One kind of TPC-C's transactions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TpccTransaction {
    /// Number of them that finished.
    pub count: u64,
    /// Part of all transactions.
    pub share: f64,
    /// Finished a second.
    pub tps: f64,
    /// Response times, in nanoseconds.
    pub lat_ns: LatencySummary,
}

/// A replica that applies its master's log.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReplicaReport {
    /// Sessions of the master.
    pub master_sessions: u32,
    /// Transactions a second of the master, of all kinds.
    pub master_tps: f64,
    /// Processes that apply transactions.
    pub workers: u32,
    /// Number of warehouses: the scale.
    pub warehouses: u32,
    /// Size of tables and indexes.
    pub data_bytes: u64,
    /// Length of the measured time in seconds.
    pub elapsed_s: f64,
    /// The master's transactions that were applied, a second; those without changes count as applied.
    pub applied_tps: f64,
    /// The same without the time in which nothing was there to apply: a faster master is not kept up with.
    pub capacity_tps: f64,
    /// Part of the appliers' time in which there was something to apply.
    pub busy: f64,
    /// Lags of the transactions, from the master's commit to the end of applying, in nanoseconds.
    pub lag_ns: LatencySummary,
    /// The lag over time, about a row a second.
    pub lag: Vec<ReplicaLag>,
    /// Pages to change that the buffer pool had, share.
    pub buffer_hit_ratio: f64,
    /// Pages that a transaction with changes changes, mean.
    pub pages_per_transaction: f64,
    /// Pages read for such a transaction, mean.
    pub page_reads_per_transaction: f64,
    /// Mean wait of a page's read, nanoseconds.
    pub page_read_ns: f64,
    /// Shares of the appliers' time (`cpu`, `cores`, `page_read`, `free_buffer`, `idle`); they add up to one.
    pub time_share: BTreeMap<String, f64>,
}

/// The lag of a replica at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReplicaLag {
    /// Seconds since measurement began.
    pub t_s: f64,
    /// Lag of the transaction applied then, seconds.
    pub lag_s: f64,
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
