//! The one trait of everything that can be reviewed.

use crate::{Pattern, Progress, RunError};
use load::{BurstConfig, BurstCurve, BurstsConfig, LoadConfig};
use results::{HostInfo, Preconditioning, Purge, RunResult, TargetInfo};

/// The clock of a target's seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Clock {
    /// A model's: measuring longer costs computing, not waiting.
    Virtual,
    Wall,
}

/// A state in which a device is to be measured: so much of it in use, overwritten in this pattern.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    /// Share of the capacity in use, from its start, 0 to 1. The rest holds nothing (discarded, never written).
    pub fill: f64,
    /// Pattern of the last overwriting of the part in use.
    pub pattern: Pattern,
    /// Effort that may be spent on getting there. Models are exact and need no limit.
    pub effort: Effort,
}

/// The effort that brings a real device to a state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// Times that the part in use is written front to back before it is overwritten in the pattern. 0: it holds data
    /// already, only what is newly in use is written, once.
    pub sequential_passes: u32,
    /// Seconds of a round of overwriting.
    pub round_s: f64,
    /// Rounds until it is given up: the result then says that steady state was not reached.
    pub max_rounds: u32,
}

/// Parameters of one measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measurement {
    /// Load that the device is given.
    pub load: LoadConfig,
    /// Share of the capacity that is in use meanwhile, as in [`State`]; for the result.
    pub fill: f64,
    /// Seconds to measure, by the target's clock; `None`: until the steady-state rule is satisfied (models only).
    pub seconds: Option<f64>,
    /// Seed of the load's random streams.
    pub seed: u64,
}

/// Sequential writes as fast as the device takes them, with pauses between.
#[derive(Clone, Debug, PartialEq)]
pub struct BurstSeries {
    /// Bytes of a request.
    pub block_bytes: u32,
    /// Threads that share one position.
    pub threads: u32,
    /// Share of the capacity that is written to, from its start.
    pub fill: f64,
    /// One after the other.
    pub bursts: Vec<BurstSpec>,
}

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BurstSpec {
    /// Seconds before it in which nothing is asked.
    pub idle_s: f64,
    /// Bytes to write, as a share of the capacity.
    pub share: f64,
    /// Seconds after which it ends with less.
    pub limit_s: Option<f64>,
}

impl BurstSeries {
    /// The load on a device of so many bytes, whose times are `ratio` of those that were asked for.
    pub fn config(&self, capacity_bytes: u64, ratio: f64) -> BurstsConfig {
        let block = u64::from(self.block_bytes);
        let bytes = |share: f64| ((capacity_bytes as f64 * share) as u64 / block).max(1) * block;
        let ns = |seconds: f64| (seconds * ratio * 1e9) as u64;
        let burst = |spec: &BurstSpec| BurstConfig {
            idle_ns: ns(spec.idle_s),
            bytes: bytes(spec.share),
            limit_ns: spec.limit_s.map_or(u64::MAX, ns),
        };
        BurstsConfig {
            block_bytes: self.block_bytes,
            threads: self.threads,
            file_bytes: bytes(self.fill).min(capacity_bytes),
            bursts: self.bursts.iter().map(burst).collect(),
        }
    }
}

/// An error that keeps a target from doing what it was asked.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum TargetError {
    /// A person asked to stop.
    #[error("stopped")]
    Cancelled,
    #[error(transparent)]
    Model(RunError),
    /// A real device, its file system or the kernel. The error names the device and says what to do.
    #[error(transparent)]
    Real(Box<dyn std::error::Error + Send + Sync>),
}

impl From<RunError> for TargetError {
    fn from(error: RunError) -> TargetError {
        match error {
            RunError::Cancelled => TargetError::Cancelled,
            other => TargetError::Model(other),
        }
    }
}

/// A modelled card, a file, a block device. The method of a review knows nothing else of it.
///
/// The caller keeps the order: identify, purge, bring to a state, measure. Measuring leaves a real device in the
/// state in which the load left it; a model is measured on a copy.
pub trait Target: Send {
    /// Describes the target.
    fn info(&self) -> TargetInfo;

    /// Describes the host.
    fn host(&self) -> HostInfo;

    /// Bytes that may be used.
    fn capacity_bytes(&self) -> u64;

    /// Returns the clock of its seconds.
    fn clock(&self) -> Clock;

    /// Empties it, as far as it can; says what was done.
    fn purge(&mut self, progress: &dyn Progress) -> Result<Purge, TargetError>;

    /// Brings it to a state. Discards what is in use beyond `state.fill`.
    fn bring_to(&mut self, state: &State, progress: &dyn Progress) -> Result<Preconditioning, TargetError>;

    /// Measures one load. `series`, `steady_state` and the histograms of `read`, `write` and `sync` are filled in.
    fn measure(&mut self, series: &Measurement, progress: &dyn Progress) -> Result<RunResult, TargetError>;

    /// Writes bursts into the device as it is after [`Target::purge`]. Amounts and times of the answer are those of the
    /// whole device, where a model is smaller.
    fn bursts(&mut self, series: &BurstSeries, progress: &dyn Progress) -> Result<Vec<BurstCurve>, TargetError>;

    /// Another one like it that can be measured at the same time without disturbing it; `None`: there is only one.
    fn fork(&self) -> Option<Box<dyn Target>>;

    /// Bytes a second that it can be expected to write front to back, to say how long a plan will take.
    fn expected_write_bw_bytes(&self) -> f64;
}
