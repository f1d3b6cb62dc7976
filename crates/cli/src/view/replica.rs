//! A replica: whether it keeps up, its lag over time, and where its time went.

use crate::table::Table;
use crate::units::{counted, duration, percent, three_digits};
use results::ReplicaReport;

/// Parts of an applier's time, and what they are called.
const PARTS: [(&str, &str); 5] = [
    ("cpu", "CPU"),
    ("cores", "waiting for a core"),
    ("page_read", "page reads"),
    ("free_buffer", "clean buffers"),
    ("idle", "nothing to apply"),
];

/// Rows of lag that are shown.
const ROWS: usize = 6;

pub fn report(report: &ReplicaReport) -> String {
    let mut rates = Table::labelled(3);
    rates.row(["", "a second", ""]);
    rates.row([
        "master".to_owned(),
        three_digits(report.master_tps),
        counted(report.master_sessions.into(), "session"),
    ]);
    rates.row(["applied".to_owned(), three_digits(report.applied_tps), counted(report.workers.into(), "applier")]);
    rates.row(["at most".to_owned(), three_digits(report.capacity_tps), format!("{} busy", percent(report.busy))]);
    format!("{}\n{}\n{}\n{}\n{}", rates.render(), verdict(report), lag(report), pages(report), time(report))
}

fn verdict(report: &ReplicaReport) -> String {
    let rest = 1.0 - report.capacity_tps / report.master_tps;
    if rest > 0.0 {
        let lag = duration(rest * 60e9);
        format!("the replica does NOT keep up: each minute it falls behind by another {lag}\n")
    } else {
        let lag = &report.lag_ns;
        format!(
            "the replica keeps up: lag {} on average, {} at p99\n",
            duration(lag.mean),
            duration(lag.at(99.0) as f64)
        )
    }
}

fn lag(report: &ReplicaReport) -> String {
    let mut table = Table::labelled(2);
    table.row(["after", "lag"]);
    // The first, the last, and some between.
    let last = report.lag.len().saturating_sub(1);
    let shown = ROWS.min(report.lag.len());
    for number in 0..shown {
        let row = report.lag[number * last / (shown - 1).max(1)];
        table.row([duration(row.t_s * 1e9), duration(row.lag_s * 1e9)]);
    }
    table.render()
}

fn pages(report: &ReplicaReport) -> String {
    format!(
        "a transaction: {:.1} pages changed, {} of them in memory; {:.2} pages read,\n{} each\n",
        report.pages_per_transaction,
        percent(report.buffer_hit_ratio),
        report.page_reads_per_transaction,
        duration(report.page_read_ns),
    )
}

fn time(report: &ReplicaReport) -> String {
    let mut table = Table::labelled(2);
    table.row(["time of the appliers", "share"]);
    for (key, name) in PARTS {
        let share = report.time_share.get(key).copied().unwrap_or(0.0);
        if share >= 0.0005 {
            table.row([name.to_owned(), percent(share)]);
        }
    }
    table.render()
}
