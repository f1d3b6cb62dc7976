//! Bounds of "good" and "bad". A reader may disagree with them; the figures stay.

/// Slowest second over the mean of the timeline: steady, and not.
pub(super) const STEADY_SECOND: f64 = 0.8;
pub(super) const UNSTEADY_SECOND: f64 = 0.5;
/// Throughput that is left when full: little is lost, much is.
pub(super) const KEEPS_WHEN_FULL: f64 = 0.8;
pub(super) const LOSES_WHEN_FULL: f64 = 0.5;
pub(super) const COLLAPSES_WHEN_FULL: f64 = 0.3;
/// A response that somebody notices, and one that makes timeouts.
pub(super) const NOTICED_NS: u64 = 20_000_000;
pub(super) const TIMEOUT_NS: u64 = 200_000_000;
/// Reads beside writes: the 99.9th percentile of an OLTP database's patience, and the end of it.
pub(super) const PATIENT_NS: u64 = 2_000_000;
pub(super) const IMPATIENT_NS: u64 = 10_000_000;
/// A commit that nobody waits for, and one that everybody does.
pub(super) const FAST_COMMIT_NS: f64 = 500e3;
pub(super) const SLOW_COMMIT_NS: f64 = 5e6;
