//! The transactions of order entry, and where their time went.

use crate::table::Table;
use crate::units::{counted, duration, grouped, percent, three_digits};
use results::TpccReport;

/// The kinds in the order in which everybody lists them.
const KINDS: [&str; 5] = ["new_order", "payment", "order_status", "delivery", "stock_level"];

/// Parts of a transaction's time, and what they are called.
const PARTS: [(&str, &str); 7] = [
    ("cpu", "CPU"),
    ("cores", "waiting for a core"),
    ("page_read", "page reads"),
    ("row_lock", "row locks"),
    ("free_buffer", "clean buffers"),
    ("log_room", "room in the log"),
    ("commit", "commit"),
];

pub fn report(report: &TpccReport) -> String {
    let mut table = Table::labelled(7);
    table.row(["transaction", "count", "share", "a second", "mean", "p90", "p99"]);
    for (kind, transactions) in KINDS.iter().filter_map(|&kind| report.transactions.get_key_value(kind)) {
        let lat = &transactions.lat_ns;
        table.row([
            kind.replace('_', "-"),
            grouped(transactions.count),
            percent(transactions.share),
            three_digits(transactions.tps),
            duration(lat.mean),
            duration(lat.at(90.0) as f64),
            duration(lat.at(99.0) as f64),
        ]);
    }
    let count = report.transactions.values().map(|transactions| transactions.count).sum();
    table.row(["all".to_owned(), grouped(count), String::new(), three_digits(report.tps)]);
    format!(
        "{}\n{} new orders a minute; {}, {}; no TPC result\n{}\n{}",
        table.render(),
        grouped(report.new_orders_per_minute.round() as u64),
        counted(report.sessions.into(), "session"),
        counted(report.warehouses.into(), "warehouse"),
        pages(report),
        time(report),
    )
}

fn pages(report: &TpccReport) -> String {
    format!(
        "a transaction: {:.1} pages visited, {} of them in memory; {:.2} pages read\nand {:.2} written, {:.2} log writes, \
         {} bytes of log\n",
        report.page_visits_per_transaction,
        percent(report.buffer_hit_ratio),
        report.page_reads_per_transaction,
        report.page_writes_per_transaction,
        report.log_writes_per_transaction,
        grouped(report.log_bytes_per_transaction.round() as u64),
    )
}

fn time(report: &TpccReport) -> String {
    let total: f64 = report.time_ns.values().sum();
    let mut table = Table::labelled(3);
    table.row(["time of a transaction", "mean", "share"]);
    for (key, name) in PARTS {
        let ns = report.time_ns.get(key).copied().unwrap_or(0.0);
        if ns >= 0.5 {
            table.row([name.to_owned(), duration(ns), percent(ns / total)]);
        }
    }
    table.row(["all".to_owned(), duration(total)]);
    table.render()
}
