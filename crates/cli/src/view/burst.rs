//! Bursts of sequential writes in the terminal.

use crate::table::{Align, Table, wrap};
use crate::units::mb_per_s;
use results::words::{amount, pause};
use results::{Burst, BurstReport};

/// A row for each burst: how long nothing was asked before, how much of it went fast, how fast, and how fast after
/// that.
pub fn block(report: &BurstReport) -> String {
    let mut out = wrap("", 2, &report.title);
    let mut table = Table::new([Align::Left, Align::Right, Align::Right, Align::Right, Align::Right, Align::Right]);
    table.row(["", "rest before", "written", "fast", "MB/s", "then"]);
    for burst in &report.bursts {
        table.row(row(report, burst));
    }
    out.push_str(&table.render());
    out
}

fn row(report: &BurstReport, burst: &Burst) -> [String; 6] {
    let pace = report.pace(burst);
    let rest = if burst.idle_s > 0.0 { pause(burst.idle_s) } else { "emptied".to_owned() };
    let fast = match pace.slow_bw_bytes {
        None => "all".to_owned(),
        Some(_) if pace.fast_bytes == 0 => "nothing".to_owned(),
        Some(_) => amount(pace.fast_bytes),
    };
    let bandwidth = |bw: Option<f64>| bw.map_or("-".to_owned(), mb_per_s);
    [String::new(), rest, amount(burst.bytes), fast, bandwidth(pace.fast_bw_bytes), bandwidth(pace.slow_bw_bytes)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::COLUMNS;
    use results::{BurstRow, Cliff};

    #[test]
    fn each_burst_has_its_row_and_none_is_wider_than_the_page() {
        let rows = |fast: f64| vec![BurstRow { bytes: 500_000_000_000, bw_bytes: fast }];
        let cliff = Cliff { bytes: 274_877_906_944, before_bw_bytes: 2.018e9, after_bw_bytes: 159.6e6 };
        let first = Burst { bytes: 1_024_000_000_000, seconds: 4_800.0, cliff: Some(cliff), ..Burst::default() };
        let slow = Burst { idle_s: 10.0, bytes: 500_000_000_000, seconds: 3_125.0, rows: rows(1.6e8), cliff: None };
        let fast = Burst { idle_s: 60.0, seconds: 250.0, rows: rows(2e9), ..slow.clone() };
        let title = "128 KiB sequential writes, 16 threads at one position, into an emptied device".into();
        let text = block(&BurstReport { title, bursts: vec![first, slow, fast], ..BurstReport::default() });
        let cells: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        let rows = &cells[cells.len() - 3..];
        assert_eq!(rows[0], ["emptied", "1.02", "TB", "275", "GB", "2,018", "160"], "{text}");
        assert_eq!(rows[1], ["10", "s", "500", "GB", "nothing", "-", "160"], "{text}");
        assert_eq!(rows[2], ["60", "s", "500", "GB", "all", "2,000", "-"], "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= COLUMNS), "{text}");
    }
}
