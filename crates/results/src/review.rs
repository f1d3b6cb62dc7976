//! The result of a review: everything that is needed to draw its page again.
//!
//! Real device or model, measured here or imported from another tool: the same structure. A fact that a target can't
//! say is absent (`null` in JSON), never made up.

use crate::{
    Answer, BurstReport, Comparison, DatabaseReport, Fact, GeneratorLoad, HealthReport, IoClass, SeriesRow,
    SteadyState, SyncVerdict, ThermalReport,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A review of one device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReviewResult {
    /// [`ReviewResult::KIND`]: what tells this file from other JSON.
    pub kind: String,
    /// Version of this schema.
    pub schema: u32,
    /// Version of the program that wrote it, or the tool that was imported (`fio 3.33`).
    pub generator: String,
    /// Name of the review in a comparison.
    pub name: String,
    /// The reviewed device.
    pub target: TargetInfo,
    /// The host: the modelled one, or this machine.
    pub host: HostInfo,
    /// Options of the review.
    pub options: ReviewOptions,
    /// When it began, RFC 3339 in UTC; absent for a model, which lives outside time.
    pub started: Option<String>,
    /// Price of the device.
    pub price: Option<Price>,
    /// Planned phases and their outcome, in order.
    pub phases: Vec<PhaseReport>,
    /// The purge that emptied the device.
    pub purge: Option<Purge>,
    /// The preconditioning that brought it to the states in which it was measured.
    pub preconditioning: Vec<Preconditioning>,
    /// Measured points, each sweep against one thing that was varied.
    pub sweeps: Vec<Sweep>,
    /// Random writes second by second.
    pub timeline: Option<Timeline>,
    /// Sequential writes into an emptied device, and again after pauses.
    #[serde(default)]
    pub burst: Option<BurstReport>,
    /// The drive's own account of its health, before and after; absent where it gives none.
    #[serde(default)]
    pub health: Option<HealthReport>,
    /// True if flushes are what they claim to be.
    pub sync: Option<SyncVerdict>,
    /// Figures of a real database, where one was run.
    #[serde(default)]
    pub database: Option<DatabaseReport>,
    /// Against what others measured on the device, where anybody published.
    pub comparisons: Vec<Comparison>,
    /// The answer in a sentence, with what to do first; absent where nothing was measured that gives one.
    #[serde(default)]
    pub answer: Option<Answer>,
    /// The review in words, the most important first.
    pub verdict: Vec<Claim>,
    /// Reason why it isn't complete: `stopped by Ctrl-C`, or the error that ended it. Absent when it is.
    pub partial: Option<String>,
    /// Wall-clock seconds of the whole review.
    pub wall_seconds: f64,
}

impl ReviewResult {
    /// Tells the file from other JSON.
    pub const KIND: &str = "flashrig-review";
    /// Version of the schema that this program writes.
    pub const SCHEMA: u32 = 2;

    /// A sweep by its name.
    pub fn sweep(&self, name: &str) -> Option<&Sweep> {
        self.sweeps.iter().find(|sweep| sweep.name == name)
    }
}

/// The kind of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    /// A modelled card, in virtual time.
    Model,
    /// A file on a mounted file system.
    File,
    /// A block device.
    BlockDevice,
    /// A card that was served by the clock, with a database on it.
    Served,
    /// A directory on a mounted device, in which a database ran.
    Directory,
    /// Results of another tool; all that is known of the device is what it wrote down.
    Imported,
}

/// The reviewed device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TargetInfo {
    /// Kind of the device.
    pub kind: TargetKind,
    /// As it was named: `tachion-400`, `/dev/nvme0n1`, `./somefile`.
    pub name: String,
    /// For people: `Virident tachIOn 400 GB SLC`, `Samsung SSD 980 PRO 1TB`.
    pub title: String,
    /// Bytes that were under test: the device, the file, the scaled model. 0: not known.
    pub capacity_bytes: u64,
    /// Bytes that a buyer gets: of the card at full scale, of the device. Prices are divided by this.
    pub sold_bytes: Option<u64>,
    /// Facts that identify it, in the order in which people want to read them.
    pub facts: Vec<Fact>,
    /// Acknowledged writes survive a power cut without a flush: known for models, seldom for drives.
    pub power_loss_protection: Option<bool>,
    /// The device has a cache that a flush must empty (`write back`); absent when nobody says.
    pub volatile_write_cache: Option<bool>,
    /// A model's profile, with what was changed.
    pub profile: Option<Value>,
}

/// The host that issued the requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostInfo {
    /// Name of the modelled host, or of this machine.
    pub name: String,
    /// Processors that could be used.
    pub cores: u32,
    /// Further known facts: kernel, processor, memory.
    pub facts: Vec<Fact>,
}

/// Options of the review.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReviewOptions {
    /// Root seed of the loads.
    pub seed: u64,
    /// Share of the device's size that was modelled; 1 for real ones.
    pub scale: f64,
    /// Share of the device in use in all phases but the fill sweep, 0 to 1.
    pub fill: f64,
    /// Fewer and shorter points.
    pub quick: bool,
    /// Time that the review was to take, seconds; absent: as long as it takes.
    pub budget_s: Option<f64>,
    /// Phases that were asked for; empty: all.
    pub only: Vec<String>,
    /// Measured seconds of a point; absent: until the rule says steady (models).
    pub point_s: Option<f64>,
}

/// Price of a device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// Amount in the currency.
    pub amount: f64,
    /// Code of the currency, such as `USD`.
    pub currency: String,
    /// Source of the figure.
    pub source: String,
}

/// Outcome of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum PhaseStatus {
    /// All its points are there.
    Done,
    Partial,
    /// Nothing was measured.
    NotBegun,
    /// Not asked for, or not possible on this target.
    Skipped,
}

/// A phase of the review.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseReport {
    /// Key, as `--only` takes it: `threads`, `fill` …
    pub name: String,
    /// Title for people.
    pub title: String,
    /// Outcome of the phase.
    pub status: PhaseStatus,
    /// Points that it was to have.
    pub points: u32,
    /// Wall-clock seconds that it was expected to take.
    pub expected_s: f64,
    /// Wall-clock seconds that it took.
    pub took_s: f64,
    /// Reason why it was skipped, or a remark for the reader.
    pub note: String,
}

/// The purge that emptied a device before the review.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Purge {
    /// The purge in words: `discarded 480 GB`, `holes punched in the file`, `not supported: …`.
    pub what: String,
    /// Number of bytes discarded.
    pub discarded_bytes: u64,
    /// Duration in seconds.
    pub took_s: f64,
}

/// The preconditioning that brought a device to a state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Preconditioning {
    /// Share of the device in use, 0 to 1.
    pub fill: f64,
    /// Pattern of the writes: `random 16 KiB`.
    pub pattern: String,
    /// Bytes written front to back.
    pub sequential_bytes: u64,
    /// Bytes overwritten in the pattern.
    pub overwritten_bytes: u64,
    /// Metric that `steady.rounds` counts: `bytes a second` or `write amplification`.
    pub metric: String,
    /// The rounds, and whether the rule was attained.
    pub steady: SteadyState,
    /// Seconds by the target's own clock; 0 for models, which are preconditioned without time.
    pub took_s: f64,
}

/// The quantity that varies in a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Axis {
    /// Share of the user capacity in use, percent.
    FillPercent,
    /// Threads with one request each.
    Threads,
    /// Bytes of a request.
    BlockBytes,
    /// Share of the requests that read, percent.
    ReadPercent,
    /// Offered load, percent of the most that the device took of it.
    RatePercent,
    /// Requests outstanding, where a tool has queue depths and no threads.
    QueueDepth,
}

/// A load at several values of one quantity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sweep {
    /// Key: `fill`, `threads-rndrd`, `blocks-rndwr`, `rate`, `sync`, `mix`, `redo` …
    pub name: String,
    /// Phase that it belongs to.
    pub phase: String,
    /// Title for people.
    pub title: String,
    /// Remark without which a reader can't compare it; may be empty.
    pub note: String,
    /// The quantity that varies.
    pub axis: Axis,
    /// Its points, by rising x.
    pub points: Vec<Point>,
}

/// One measured point.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// On the sweep's axis.
    pub x: f64,
    /// Parameters of the load, each under its own name.
    pub load: Value,
    /// Share of the device in use, 0 to 1.
    pub fill: f64,
    /// Seconds measured, by the target's own clock.
    pub seconds: f64,
    /// Figures of the reads.
    pub read: IoClass,
    /// Figures of the writes.
    pub write: IoClass,
    /// Figures of the flushes.
    pub sync: IoClass,
    /// A row a second.
    pub series: Vec<SeriesRow>,
    /// Steadiness of the measured time.
    pub steady: Option<SteadyState>,
    /// Write amplification, where it is known; 0 where nothing was written.
    pub waf: Option<f64>,
    /// Cost of the load to this machine; absent for models, whose host is part of the model.
    pub generator: Option<GeneratorLoad>,
    /// The host and not the device set the figure.
    pub limited_by_host: bool,
    /// Measured by others on the real device at this point, bytes a second (models of published devices).
    pub published_bw_bytes: Option<f64>,
    /// Heat of a modelled card that has a temperature; absent for others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thermal: Option<ThermalReport>,
}

impl Point {
    /// Bytes moved a second, both ways.
    pub fn bw_bytes(&self) -> f64 {
        self.read.bw_bytes + self.write.bw_bytes
    }

    /// Reads and writes a second.
    pub fn iops(&self) -> f64 {
        self.read.iops + self.write.iops
    }
}

/// Random writes over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// Title of the phase that measured it.
    pub title: String,
    /// The point, with a row a second.
    pub point: Point,
    /// Slowest second over the mean of all.
    pub slowest_second: f64,
    /// Seconds below half of the mean, or with a response of a hundred times the median that is also twice that of the
    /// median second: when, how slow, how long.
    pub stalls: Vec<Stall>,
}

/// A second that stands out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stall {
    /// End of the second, from the beginning of the timeline.
    pub t_s: f64,
    /// Throughput of that second over the mean.
    pub share_of_mean: f64,
    /// Longest response in it, nanoseconds.
    pub lat_max_ns: u64,
}

/// Tone of a claim, from good news to bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Tone {
    Good,
    Neutral,
    /// A reason to look twice.
    Warning,
    /// A reason not to buy.
    Bad,
}

/// A sentence of the verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// Topic of the claim: `steady`, `full`, `burst`, `stall`, `sync`, `host`, `price` …
    pub topic: String,
    /// Tone of the claim.
    pub tone: Tone,
    /// The sentence, figures included.
    pub text: String,
    /// The sweep that shows it (`fill`, `threads-rndrd` …, or `burst`, `timeline`, `sync`, `price`); empty: none.
    pub chart: String,
}
