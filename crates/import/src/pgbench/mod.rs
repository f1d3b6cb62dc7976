//! Logs of pgbench: transaction by transaction (`--log`) or by interval (`--aggregate-interval`).
//!
//! A review has reads, writes and flushes, and a transaction is none of them. It stands under `write`, in a sweep of its
//! own, `transactions`, whose `load` says `{"kind": "pgbench"}`: what ends a transaction is that its log record is
//! durable, so of the three it is nearest to a write, and charts draw writes a second and their latencies as they are.
//! It moves no bytes that pgbench knows of, so `io_bytes` and `bw_bytes` are 0, and no sweep of the device has this
//! name, so a transaction is never drawn as if it were a request. The axis is clients.
//!
//! With `-R` latencies count from when a transaction was scheduled, as pgbench's own report does.

mod intervals;
mod line;
mod sum;
mod transactions;

use crate::input::Input;
use crate::shell::{Origin, name_of, review};
use crate::text::{rfc3339, without_bom};
use crate::{ImportError, Problem};
use intervals::Intervals;
use line::Line;
use results::{Axis, Point, ReviewResult, Sweep};
use serde_json::json;
use transactions::Transactions;

/// Returns whether this is a line of a log.
pub(crate) fn is_log_line(line: &str) -> bool {
    Line::parse(line).is_some()
}

/// Returns whether a file that begins so is a log.
fn is_log(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(without_bom(head));
    text.lines().map(str::trim).find(|line| !line.is_empty()).is_some_and(is_log_line)
}

/// Reads the logs of one run, one for each of its threads.
pub(crate) fn read<'a>(
    inputs: impl Iterator<Item = Result<Input<'a>, ImportError>>,
) -> Result<ReviewResult, ImportError> {
    let mut transactions = Transactions::default();
    let mut intervals = Intervals::default();
    let mut first_file = None;
    for input in inputs {
        let input = input?;
        if !is_log(input.head()) {
            return Err(input.error(Problem::NotTogether));
        }
        let mut lines = input.into_lines();
        first_file.get_or_insert_with(|| lines.file().to_string());
        intervals.begin_file();
        while let Some(text) = lines.next()? {
            if text.trim().is_empty() {
                continue;
            }
            let added = match Line::parse(&text) {
                Some(Line::Transaction(line)) if intervals.is_empty() => transactions.add(line),
                Some(Line::Interval(line)) if transactions.is_empty() => intervals.add(line),
                _ if !intervals.is_empty() => {
                    Err(Problem::NotALogLine { form: "a log by interval, as those before", found: (&*text).into() })
                }
                _ => Err(Problem::NotALogLine { form: "a log of transactions", found: (&*text).into() }),
            };
            drop(text);
            added.map_err(|problem| lines.error(problem))?;
        }
    }
    let file = first_file.expect("at least one input");
    let sum = if intervals.is_empty() { transactions.finish() } else { intervals.finish() };
    let sum = sum.map_err(|problem| ImportError::new(&file, None, problem))?;
    let origin = Origin {
        name: name_of(&file),
        tool: "pgbench".into(),
        facts: Vec::new(),
        started: rfc3339(sum.start_s),
        seconds: sum.seconds,
    };
    let point = Point {
        x: f64::from(sum.clients),
        load: json!({ "kind": "pgbench", "clients": sum.clients }),
        seconds: sum.seconds,
        write: sum.transactions,
        series: sum.series,
        ..Point::default()
    };
    let sweep = Sweep {
        name: "transactions".into(),
        phase: "transactions".into(),
        title: "Transactions against clients (pgbench)".into(),
        note: sum.notes.join("; "),
        axis: Axis::Threads,
        points: vec![point],
    };
    Ok(review(origin, vec![sweep]))
}
