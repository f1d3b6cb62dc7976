//! Figures in sentences.

use results::Axis;

/// `16 threads`, `50 % in use`.
pub(crate) fn axis_value(axis: Axis, x: f64) -> String {
    match axis {
        Axis::FillPercent => format!("{x:.0} % in use"),
        Axis::Threads if x == 1.0 => "1 thread".into(),
        Axis::Threads => format!("{x:.0} threads"),
        Axis::BlockBytes if x >= 1_048_576.0 => format!("{:.0} MiB", x / 1_048_576.0),
        Axis::BlockBytes => format!("{:.0} KiB", x / 1024.0),
        Axis::ReadPercent => format!("{x:.0} % reads"),
        Axis::RatePercent => format!("{x:.0} % of the rate"),
        Axis::QueueDepth => format!("queue depth {x:.0}"),
    }
}
