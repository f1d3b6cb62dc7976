//! The sum of a run's logs.

use results::{IoClass, SeriesRow};

/// Longest run: longer is a clock that was set, or logs of different runs. Bounds the rows of its series.
pub(super) const RUN_LIMIT_S: u64 = 7 * 86_400;

/// Sums over logs.
pub(super) struct Sum {
    pub clients: u32,
    pub seconds: f64,
    pub start_s: u64,
    pub transactions: IoClass,
    pub series: Vec<SeriesRow>,
    pub notes: Vec<String>,
}
