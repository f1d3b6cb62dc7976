//! Results of the page cache, which are no result of the device behind it.

use results::ReviewResult;

/// Behind the name of such a device.
pub(crate) const MARK: &str = " (buffered)";

/// Returns whether a result has points that another tool measured through the page cache (fio without `direct=1`).
pub fn is_buffered(result: &ReviewResult) -> bool {
    let mut points = result.sweeps.iter().flat_map(|sweep| &sweep.points);
    points.any(|point| point.load["buffered"].as_bool() == Some(true))
}
