//! What was measured?
//!
//! The result of a run as JSON. Keys of `read`, `write` and `sync` are fio's. Knows nothing of how it was obtained.

mod latency;
mod review;
mod run;

pub use latency::{LatencyRecorder, LatencySummary};
pub use review::{Axis, Comparison, ComparisonPoint, Published, ReviewResult, Sweep, SweepPoint, Timeline};
pub use run::{
    Application, Flash, IoClass, OltpReport, RunResult, SeriesRow, Sim, SlobReport, SteadyState, TailBand, TailReport,
    TransactionReport, Wear,
};
