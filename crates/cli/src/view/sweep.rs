//! How drives took units of several sizes.

use crate::table::{Align, Table};
use crate::units::{io_size, mb_per_s, percent, three_digits};
use drive::sweep::{Choice, Percentiles, Swept};

/// A row for each size; a mark stands behind the one that was chosen.
pub fn sweep(swept: &[Swept], choice: &Choice) -> String {
    let mut align = vec![Align::Right; 11];
    align[10] = Align::Left;
    let mut table = Table::new(align);
    table.row(["unit", "on disk", "MB/s", "share", "write", "p99", "read", "p99", "sync", "p99"]);
    let best = swept.iter().map(|swept| swept.write_bw_bytes).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    for (index, row) in swept.iter().enumerate() {
        let mut cells = vec![
            io_size(row.unit.payload_bytes.into()),
            io_size(row.unit.medium_bytes.into()),
            mb_per_s(row.write_bw_bytes),
            percent(row.write_bw_bytes / best),
        ];
        for Percentiles { p50_ns, p99_ns } in [row.write, row.read, row.sync] {
            cells.extend([p50_ns, p99_ns].map(latency));
        }
        cells.push(if index == choice.index { "*".into() } else { String::new() });
        table.row(cells);
    }
    format!("{}Latencies are medians and 99th percentiles in milliseconds.\n", table.render())
}

/// Milliseconds, or from a second on seconds with their unit, in five characters.
fn latency(ns: u64) -> String {
    let s = ns as f64 / 1e9;
    match s {
        ..1e-3 => format!("{:.3}", s * 1e3),
        ..1.0 => three_digits(s * 1e3),
        ..9.95 => format!("{s:.1} s"),
        _ => format!("{s:.0} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::COLUMNS;
    use drive::sweep::{UnitSize, choose};

    #[test]
    fn the_table_fits_a_terminal_with_slow_and_with_fast_drives() {
        for (rate, ns) in [(1e5, 12_345_678_901), (1e11, 1_234), (0.0, 0)] {
            let swept = Swept {
                unit: UnitSize { payload_bytes: 128 << 10, medium_bytes: (128 << 10) + 2560 },
                write_bw_bytes: rate,
                read_iops: 1.0,
                write: Percentiles { p50_ns: ns, p99_ns: ns },
                read: Percentiles { p50_ns: ns, p99_ns: ns },
                sync: Percentiles { p50_ns: ns, p99_ns: ns },
            };
            let text = sweep(&[swept; 4], &choose(&[swept; 4], 4));
            assert!(text.lines().all(|line| line.chars().count() <= COLUMNS), "{text}");
            assert_eq!(text.lines().filter(|line| line.ends_with('*')).count(), 1, "{text}");
        }
    }
}
