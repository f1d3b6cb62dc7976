//! A line of a log.
//!
//! Transaction by transaction (`--log`):
//!
//! ```text
//! client_id transaction_no time script_no time_epoch time_us [schedule_lag] [retries]
//! ```
//!
//! `time` is microseconds, or `skipped` (the schedule was too far behind), `failed`, or with `--failures-detailed` the
//! failure's name. By interval (`--aggregate-interval`):
//!
//! ```text
//! interval_start num_transactions sum_latency sum_latency_2 min_latency max_latency [sum_lag … and more]
//! ```
//!
//! Both may have six numbers. A first one of at least [`EPOCH_MIN_S`] is a time; pgbench can't have as many clients.

/// The year 1973.
const EPOCH_MIN_S: u64 = 100_000_000;
/// The most columns that a version of pgbench has, and room.
const COLUMNS_LIMIT: usize = 24;
/// Times beyond the year 9999 are broken; those below keep microseconds within 64 bits.
const EPOCH_LIMIT_S: u64 = 253_402_300_800;

/// A line of a log.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Line {
    Transaction(Transaction),
    Interval(Interval),
}

/// Outcome of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Committed { latency_us: u64 },
    Skipped,
    Failed,
}

/// A transaction's line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Transaction {
    pub client: u32,
    /// Counted by its client, from 1.
    pub number: u64,
    pub outcome: Outcome,
    /// End, microseconds since 1970.
    pub end_us: u64,
}

/// An interval's line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval {
    pub start_s: u64,
    pub transactions: u64,
    pub sum_us: f64,
    pub sum_squares_us: f64,
    pub min_us: u64,
    pub max_us: u64,
}

impl Line {
    /// A line, if it is one.
    pub fn parse(text: &str) -> Option<Line> {
        let mut columns = text.split_ascii_whitespace();
        let first: u64 = columns.next()?.parse().ok()?;
        if first >= EPOCH_MIN_S { Line::interval(first, columns) } else { Line::transaction(first, columns) }
    }

    fn transaction<'a>(client: u64, mut columns: impl Iterator<Item = &'a str>) -> Option<Line> {
        let number = columns.next()?.parse().ok()?;
        let outcome = match columns.next()? {
            "skipped" => Outcome::Skipped,
            "failed" | "serialization" | "deadlock" => Outcome::Failed,
            time => Outcome::Committed { latency_us: time.parse().ok()? },
        };
        let _script: u32 = columns.next()?.parse().ok()?;
        let (epoch_s, us): (u64, u64) = (columns.next()?.parse().ok()?, columns.next()?.parse().ok()?);
        if !(EPOCH_MIN_S..EPOCH_LIMIT_S).contains(&epoch_s) || us >= 1_000_000 || !all_numbers(columns) {
            return None;
        }
        let client = u32::try_from(client).ok()?;
        Some(Line::Transaction(Transaction { client, number, outcome, end_us: epoch_s * 1_000_000 + us }))
    }

    fn interval<'a>(start_s: u64, mut columns: impl Iterator<Item = &'a str>) -> Option<Line> {
        let transactions = columns.next()?.parse().ok()?;
        let mut sum = || columns.next()?.parse::<f64>().ok().filter(|sum| (0.0..=1e30).contains(sum));
        let (sum_us, sum_squares_us) = (sum()?, sum()?);
        let (min_us, max_us) = (columns.next()?.parse().ok()?, columns.next()?.parse().ok()?);
        let known = start_s < EPOCH_LIMIT_S && transactions <= 1 << 40;
        let interval = Interval { start_s, transactions, sum_us, sum_squares_us, min_us, max_us };
        (known && all_numbers(columns)).then_some(Line::Interval(interval))
    }
}

/// Checks the columns behind those that are used.
fn all_numbers<'a>(columns: impl Iterator<Item = &'a str>) -> bool {
    let mut count = 0;
    for column in columns {
        count += 1;
        if count > COLUMNS_LIMIT || column.parse::<f64>().is_err() {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_all_versions_are_told_apart() {
        let committed = |client, number, latency_us, end_us| {
            Some(Line::Transaction(Transaction { client, number, outcome: Outcome::Committed { latency_us }, end_us }))
        };
        let end_us = 1_795_259_205_893_662;
        for line in
            ["3 1 3999 0 1795259205 893662", "3 1 3999 0 1795259205 893662 82", "3 1 3999 0 1795259205 893662 82 0"]
        {
            assert_eq!(Line::parse(line), committed(3, 1, 3_999, end_us), "{line}");
        }
        assert!(matches!(
            Line::parse("3 1 skipped 0 1795259205 893662 82"),
            Some(Line::Transaction(Transaction { outcome: Outcome::Skipped, .. }))
        ));
        for line in
            ["1795259208 9 112775 1703191327 4558 22188", "1795259208 9 112775 1703191327 4558 22188 0 0 0 0 0 0 0 0 0"]
        {
            let Some(Line::Interval(interval)) = Line::parse(line) else { panic!("{line}") };
            assert_eq!((interval.transactions, interval.max_us), (9, 22_188));
        }
        for line in
            ["", "1 2 3 4 5 6", "1 1 x 0 1795259205 1", "3 1 3999 0 1795259205", "1795259208 9 -1 2 3 4", "a b c"]
        {
            assert_eq!(Line::parse(line), None, "{line}");
        }
    }
}
