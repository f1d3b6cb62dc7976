//! The transactions of an OLTP application.

use crate::table::Table;
use crate::units::{counted, duration, mb_per_s, three_digits};
use results::OltpReport;

pub fn report(report: &OltpReport) -> String {
    let mut table = Table::labelled(8);
    table.row(["transaction", "a second", "mean", "p50", "p95", "p99", "p99.9", "max"]);
    for (kind, transactions) in &report.transactions {
        let lat = &transactions.lat_ns;
        let mut row = vec![kind.clone(), three_digits(transactions.tps), duration(lat.mean)];
        row.extend([50.0, 95.0, 99.0, 99.9].map(|percent| duration(lat.at(percent) as f64)));
        row.push(duration(lat.max as f64));
        table.row(row);
    }
    table.row(["all".to_owned(), three_digits(report.tps)]);
    format!(
        "{}\n{}; {:.1} % of the page reads hit the cache\n{} pages read and {} written a second; log {} MB/s\n",
        table.render(),
        counted(report.sessions.into(), "session"),
        report.buffer_hit_ratio * 100.0,
        three_digits(report.physical_reads_s),
        three_digits(report.physical_writes_s),
        mb_per_s(report.wal_bytes_s),
    )
}
