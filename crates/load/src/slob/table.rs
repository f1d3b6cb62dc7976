//! The table in which database engineers read a SLOB sweep.

use results::{DbTime, DbTimeEvent, SlobReport};
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

/// DB time and its parts, then waits of background processes, in the columns of an AWR report.
pub fn format_db_time(time: &DbTime) -> String {
    let mut table = format!("{:<26} {:>11} {:>11} {:>10} {:>9}\n", "", "waits", "seconds", "wait µs", "% DB time");
    let mut row = |event: &DbTimeEvent, share: String| {
        let waits = if event.waits == 0 { "-".to_owned() } else { event.waits.to_string() };
        writeln!(
            table,
            "{:<26} {:>11} {:>11} {:>10} {:>9}",
            event.event,
            waits,
            number(event.total_s),
            number(event.mean_ns / 1e3),
            share,
        )
        .expect("a string takes everything");
    };
    time.events.iter().for_each(|event| row(event, format!("{:.1}", event.share * 100.0)));
    let total = DbTimeEvent { event: "DB time".to_owned(), total_s: time.total_s, ..DbTimeEvent::default() };
    row(&total, "100.0".to_owned());
    // Nobody's DB time, as in AWR's table of background events.
    time.background.iter().for_each(|event| row(event, "(bg)".to_owned()));
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
    fn db_time_is_a_table_of_its_own() {
        let event = |event: &str, waits, total_s, mean_ns, share| DbTimeEvent {
            event: event.to_owned(),
            waits,
            total_s,
            mean_ns,
            share,
        };
        let time = DbTime {
            total_s: 16_000_000.0,
            events: vec![
                event("db file sequential read", 99_999_999_999, 15_000_000.0, 9_999_999_000.0, 0.9375),
                event("DB CPU", 0, 1_000_000.0, 0.0, 0.0625),
            ],
            background: vec![event("log file parallel write", 5, 1.0, 200_000_000.0, 0.0)],
        };
        let table = format_db_time(&time);
        for line in table.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
        assert_eq!(
            table.lines().nth(1).unwrap(),
            "db file sequential read    99999999999    15000000    9999999      93.8"
        );
        assert_eq!(
            table.lines().last().unwrap(),
            "log file parallel write              5         1.0     200000      (bg)"
        );
    }

    #[test]
    fn what_did_not_happen_is_a_dash() {
        let table = format_slob_table(&[SlobReport { readers: 1, top_wait: "CPU".to_owned(), ..Default::default() }]);
        assert_eq!(table.lines().last().unwrap(), "     1/0       -       -        -     -       -        - CPU");
    }
}
