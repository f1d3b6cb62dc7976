//! Figures of a real database on the device.
//!
//! A part of a review's result: the same keys whatever stands below the database's directory. Counters are differences
//! over the measured time of their point; what the engine's version or the machine does not count is absent.

use crate::{Fact, LatencySummary, SlobReport, SyncVerdict, TransactionReport};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// All that was measured through a database.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DatabaseReport {
    /// Name and version of the engine, such as `PostgreSQL 15.14`.
    pub engine: String,
    /// Directory of its cluster.
    pub directory: String,
    /// The block device below, as the kernel calls it; absent where there is none.
    pub block_device: Option<String>,
    /// Settings that were made for this run.
    pub settings: Vec<Fact>,
    /// Buffer cache of the database.
    pub shared_buffers_bytes: u64,
    /// Tables and indexes of the mix.
    pub data_bytes: u64,
    /// Method by which the kernel's page cache was kept from answering reads.
    pub page_cache: String,
    /// Remarks without which a reader can't compare it.
    pub notes: Vec<String>,
    /// The 80/20 mix against sessions.
    pub mix: Option<DatabaseMix>,
    /// sysbench's `oltp_read_write` against sessions, in place of the mix.
    #[serde(default)]
    pub oltp: Option<DatabaseOltp>,
    /// The SLOB method.
    pub slob: Option<DatabaseSlob>,
    /// The commit path.
    pub commit: Option<DatabaseCommit>,
    /// Power cuts under load and their outcome.
    pub crash: Option<DatabaseCrash>,
}

/// The device below a database, as the kernel counted it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceActivity {
    /// Number of read requests.
    pub reads: u64,
    /// Number of bytes read.
    pub read_bytes: u64,
    /// Number of write requests.
    pub writes: u64,
    /// Number of bytes written.
    pub written_bytes: u64,
    /// Number of flush requests.
    pub flushes: u64,
}

/// Activity of database and device during a point.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DatabaseActivity {
    /// Length of the measured time in seconds.
    pub seconds: f64,
    /// Blocks found in the buffer cache.
    pub blocks_hit: u64,
    /// Blocks that the database had to ask the kernel for.
    pub blocks_read: u64,
    /// Share of block reads that the buffer cache answered.
    pub buffer_hit_ratio: f64,
    /// Mean time of a block read; absent when nothing was read.
    pub block_read_ns: Option<f64>,
    /// Blocks written, by whomever.
    pub blocks_written: u64,
    /// Checkpoints, timed and requested.
    pub checkpoints: u64,
    /// Bytes of write-ahead log.
    pub wal_bytes: u64,
    /// Syncs of the log.
    pub wal_syncs: Option<u64>,
    /// Mean time of a sync of the log.
    pub wal_sync_ns: Option<f64>,
    /// CPU time of the sessions' processes of the database, from their beginning to their end.
    #[serde(default)]
    pub cpu_s: Option<f64>,
    /// The device below.
    pub device: Option<DeviceActivity>,
    /// Bytes that the device read over bytes that the database asked the kernel for: well below 1, the page cache
    /// answered; above 1, the kernel read ahead.
    pub device_read_share: Option<f64>,
}

/// The 80/20 mix: index range scans, inserts and updates.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DatabaseMix {
    /// Transactions that select, percent.
    pub select_percent: u32,
    /// Transactions that insert, percent; the rest updates.
    pub insert_percent: u32,
    /// Range scans of a selecting transaction.
    pub scans_per_select: u32,
    /// Rows that a scan returns.
    pub rows_per_scan: u32,
    /// Sleep of a session after each transaction.
    pub think_ns: u64,
    /// Rows at the beginning.
    pub rows: u64,
    /// Differences from the modelled load of the same name.
    pub differs: Vec<String>,
    /// By rising sessions.
    pub points: Vec<DatabaseMixPoint>,
    /// Most transactions a second.
    pub peak_tps: Option<f64>,
    /// Sessions at the peak.
    pub peak_sessions: Option<u32>,
    /// Sessions at which 98 % of the peak are first reached: more bring nothing. Absent when the last point was still
    /// the fastest: then it did not bend.
    pub bend_sessions: Option<f64>,
    /// Transactions a second at the peak for each unit of the price's currency.
    pub tps_per_price: Option<f64>,
    /// Transactions a second at the peak for each watt of the device; absent where its power is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tps_per_watt: Option<f64>,
    /// Transactions a second at the peak for each rack unit of the device; absent where its size is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tps_per_rack_unit: Option<f64>,
    /// Origin of the points' `modelled_tps`; absent where there is no model.
    #[serde(default)]
    pub modelled: Option<String>,
}

/// The mix with a number of sessions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DatabaseMixPoint {
    /// Number of sessions at the point.
    pub sessions: u32,
    /// Transactions a second, all kinds.
    pub tps: f64,
    /// Transactions a second that the device's model makes of it in virtual time; absent where it has none.
    #[serde(default)]
    pub modelled_tps: Option<f64>,
    /// Transactions that failed.
    pub failed: u64,
    /// By kind (`select`, `insert`, `update`).
    pub transactions: BTreeMap<String, TransactionReport>,
    /// Activity of database and device.
    pub activity: DatabaseActivity,
}

/// sysbench's `oltp_read_write`: ten point reads, four range reads, two updates, a delete and an insert a transaction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DatabaseOltp {
    /// The program and its test.
    pub program: String,
    /// Number of tables.
    pub tables: u32,
    /// Rows of each table at the beginning.
    pub rows_per_table: u64,
    /// By rising sessions.
    pub points: Vec<DatabaseOltpPoint>,
    /// Most transactions a second.
    pub peak_tps: Option<f64>,
    /// Sessions at the peak.
    pub peak_sessions: Option<u32>,
}

/// `oltp_read_write` with a number of sessions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DatabaseOltpPoint {
    /// Number of sessions at the point.
    pub sessions: u32,
    /// Transactions a second.
    pub tps: f64,
    /// Statements a second.
    pub queries_s: f64,
    /// Transactions that met another one's lock and were begun again.
    pub retried: u64,
    /// Length of the measured time in seconds.
    pub seconds: f64,
    /// Mean time of a transaction.
    pub mean_ns: u64,
    /// 99 of 100 transactions took no longer.
    pub p99_ns: u64,
    /// Time of the longest transaction.
    pub longest_ns: u64,
    /// The device below; absent where the kernel counts none.
    pub device: Option<DeviceActivity>,
}

/// The SLOB method on a real database.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DatabaseSlob {
    /// Parameters under their known names.
    pub parameters: BTreeMap<String, u64>,
    /// By rising sessions.
    pub points: Vec<DatabaseSlobPoint>,
}

/// SLOB with a number of sessions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DatabaseSlobPoint {
    /// Number of sessions at the point.
    pub sessions: u32,
    /// The columns of an AWR summary. `log_file_sync_ns` is the mean time of a sync of the write-ahead log.
    pub awr: SlobReport,
    /// Execution times of selects.
    pub select_ns: LatencySummary,
    /// Execution times of updates, commit included.
    pub update_ns: LatencySummary,
    /// Events for which sessions were seen waiting, the most frequent first.
    pub waits: Vec<WaitShare>,
    /// Activity of database and device.
    pub activity: DatabaseActivity,
}

/// One wait event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WaitShare {
    /// `IO:DataFileRead`, `IO:WALSync`; `CPU` for a session that waits for nothing.
    pub event: String,
    /// Share of the samples of active sessions.
    pub share: f64,
}

/// The commit path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DatabaseCommit {
    /// An 8 KiB write and a sync of a file on the device, without a database.
    pub device_sync: LatencySummary,
    /// Commits of one session: alone, beside random reads, beside a checkpoint.
    pub beside: Vec<CommitPoint>,
    /// Commits against sessions that do nothing else.
    pub group: Vec<CommitPoint>,
    /// Verdict on durability from the sync latency.
    pub verdict: SyncVerdict,
}

/// Commits in one situation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CommitPoint {
    /// `alone`, `random reads`, `checkpoint`.
    pub beside: String,
    /// Number of committing sessions at the point.
    pub sessions: u32,
    /// Commits a second.
    pub commits_s: f64,
    /// Commit times, from asking to the answer.
    pub commit_ns: LatencySummary,
    /// Commits for each sync of the log: above 1, commits share syncs.
    pub commits_per_sync: Option<f64>,
    /// Activity of database and device.
    pub activity: DatabaseActivity,
}

/// Power cuts under load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DatabaseCrash {
    /// Method of the power cuts.
    pub how: String,
    /// Sessions that committed.
    pub sessions: u32,
    /// One for each power cut.
    pub cycles: Vec<CrashCycle>,
    /// Verdict in words.
    pub verdict: String,
    /// Nothing that was acknowledged was lost or torn, and all checks were clean.
    pub passed: bool,
}

/// One power cut, the recovery after it and what was found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CrashCycle {
    /// The fault: `power cut`, `module 2 pulled, power cut`.
    pub fault: String,
    /// Seconds of load before it.
    pub load_s: f64,
    /// Transactions that were acknowledged in this cycle.
    pub acknowledged: u64,
    /// Transactions whose answer had not come when power went.
    pub in_flight: u64,
    /// Transactions of these that were found committed.
    pub in_flight_kept: u64,
    /// Acknowledged transactions that are not there.
    pub lost: u64,
    /// Transactions that are there in part.
    pub torn: u64,
    /// Rows that hold an older version than was acknowledged, though the log knows the newer.
    pub stale_rows: u64,
    /// Seconds from the start of the database to its first answer, recovery included; absent when it did not start.
    pub recovery_s: Option<f64>,
    /// Complaints of the checkers; empty: clean.
    pub complaints: Vec<String>,
}

impl CrashCycle {
    /// Nothing is wrong.
    pub fn is_clean(&self) -> bool {
        self.lost == 0
            && self.torn == 0
            && self.stale_rows == 0
            && self.recovery_s.is_some()
            && self.complaints.is_empty()
    }
}
