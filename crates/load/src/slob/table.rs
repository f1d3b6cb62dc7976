//! The table in which database engineers read a SLOB sweep.

use results::SlobReport;
use std::fmt::Write;

const HEADER: &str = concat!(
    "     r/w logical   phys.    phys.  redo   block log file\n",
    "sessions reads/s reads/s writes/s  MB/s read µs  sync µs top wait\n",
);

/// A row for each report, at most 80 columns wide.
pub fn format_slob_table(reports: &[SlobReport]) -> String {
    let mut table = HEADER.to_owned();
    for report in reports {
        writeln!(
            table,
            "{:>8} {:>7} {:>7} {:>8} {:>5} {:>7} {:>8} {}",
            format!("{}/{}", report.readers, report.writers),
            number(report.logical_reads_s),
            number(report.physical_reads_s),
            number(report.physical_writes_s),
            number(report.redo_bytes_s / 1e6),
            number(report.single_block_read_ns / 1e3),
            number(report.log_file_sync_ns / 1e3),
            report.top_wait,
        )
        .expect("a string takes everything");
    }
    table
}

/// A figure in at most five digits where it can be: one decimal below 1000.
fn number(value: f64) -> String {
    if value == 0.0 {
        "-".to_owned()
    } else if value < 999.95 {
        format!("{value:.1}")
    } else {
        format!("{value:.0}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_wider_than_eighty_columns() {
        let report = SlobReport {
            readers: 512,
            writers: 512,
            logical_reads_s: 1_814_071.0,
            physical_reads_s: 168_997.3,
            physical_writes_s: 52_191.2,
            redo_bytes_s: 1_140_637_225.0,
            single_block_read_ns: 99_999_999.0,
            log_file_sync_ns: 999_999_000.0,
            top_wait: "db file sequential read".to_owned(),
            ..SlobReport::default()
        };
        let table = format_slob_table(&[report]);
        for line in table.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
        assert_eq!(
            table.lines().last().unwrap(),
            " 512/512 1814071  168997    52191  1141  100000   999999 db file sequential read"
        );
    }

    #[test]
    fn what_did_not_happen_is_a_dash() {
        let table = format_slob_table(&[SlobReport { readers: 1, top_wait: "CPU".to_owned(), ..Default::default() }]);
        assert_eq!(table.lines().last().unwrap(), "     1/0       -       -        -     -       -        - CPU");
    }
}
