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

/// A time in the unit that suits it, two or three digits.
pub(crate) fn time(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns < 1e3 => (ns, "ns"),
        ns if ns < 1e6 => (ns / 1e3, "µs"),
        ns if ns < 1e9 => (ns / 1e6, "ms"),
        ns => (ns / 1e9, "s"),
    };
    format!("{} {unit}", digits(value))
}

/// Throughput.
pub(crate) fn mb_s(bytes_s: f64) -> String {
    format!("{} MB/s", digits(bytes_s / 1e6))
}

/// Three significant digits at most, thousands apart.
pub(crate) fn digits(value: f64) -> String {
    match value {
        v if v >= 1000.0 => {
            let whole = (v.round() as u64).to_string();
            let mut out = String::new();
            for (i, c) in whole.chars().enumerate() {
                if i > 0 && (whole.len() - i).is_multiple_of(3) {
                    out.push(',');
                }
                out.push(c);
            }
            out
        }
        v if v >= 100.0 => format!("{v:.0}"),
        v if v >= 10.0 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}
