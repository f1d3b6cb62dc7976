//! A log with a line for each transaction.

use super::line::{Outcome, Transaction};
use super::sum::{RUN_LIMIT_S, Sum};
use crate::Problem;
use results::{IoClass, LatencyRecorder, SeriesRow};
use std::collections::BTreeMap;

/// pgbench is limited by what the system lets one process open.
const CLIENTS_LIMIT: usize = 100_000;
const US_PER_S: u64 = 1_000_000;

/// The transactions read so far.
#[derive(Default)]
pub(crate) struct Transactions {
    latencies: LatencyRecorder,
    /// The highest number of a transaction, by client.
    clients: BTreeMap<u32, u64>,
    /// By second since 1970.
    seconds: BTreeMap<u64, Second>,
    lines: u64,
    skipped: u64,
    failed: u64,
    start_us: Option<u64>,
    end_us: u64,
}

#[derive(Default)]
struct Second {
    transactions: u64,
    max_us: u64,
}

impl Transactions {
    pub fn is_empty(&self) -> bool {
        self.lines == 0
    }

    pub fn add(&mut self, line: Transaction) -> Result<(), Problem> {
        let begin_us = match line.outcome {
            Outcome::Committed { latency_us } => line.end_us.saturating_sub(latency_us),
            Outcome::Skipped | Outcome::Failed => line.end_us,
        };
        let start_us = self.start_us.unwrap_or(begin_us).min(begin_us);
        let end_us = self.end_us.max(line.end_us);
        if end_us - start_us > RUN_LIMIT_S * US_PER_S {
            return Err(Problem::FarAway { seconds: (end_us - start_us) / US_PER_S, limit: RUN_LIMIT_S });
        }
        (self.start_us, self.end_us) = (Some(start_us), end_us);
        self.lines += 1;
        let number = self.clients.entry(line.client).or_insert(0);
        *number = (*number).max(line.number);
        if self.clients.len() > CLIENTS_LIMIT {
            return Err(Problem::TooManyClients { limit: CLIENTS_LIMIT });
        }
        match line.outcome {
            Outcome::Committed { latency_us } => {
                // At most the length of a run, so nanoseconds fit.
                self.latencies.record(latency_us * 1_000);
                let second = self.seconds.entry(line.end_us / US_PER_S).or_default();
                second.transactions += 1;
                second.max_us = second.max_us.max(latency_us);
            }
            Outcome::Skipped => self.skipped += 1,
            Outcome::Failed => self.failed += 1,
        }
        Ok(())
    }

    pub fn finish(self) -> Result<Sum, Problem> {
        let start_us = self.start_us.unwrap_or(0);
        let total_ios = self.latencies.count();
        let seconds = (self.end_us - start_us) as f64 / 1e6;
        if total_ios == 0 || seconds == 0.0 {
            return Err(Problem::NothingMeasured);
        }
        let transactions = IoClass {
            total_ios,
            iops: total_ios as f64 / seconds,
            lat_ns: self.latencies.summary(),
            histogram: Some(self.latencies.histogram()),
            ..IoClass::default()
        };
        Ok(Sum {
            clients: self.clients.len() as u32,
            seconds,
            start_s: start_us / US_PER_S,
            transactions,
            series: self.series(start_us),
            notes: self.notes(),
        })
    }

    /// Rows by the seconds of the clock; those at both ends are parts of a second, and are left out where they are less
    /// than half of one.
    fn series(&self, start_us: u64) -> Vec<SeriesRow> {
        let rows = (start_us / US_PER_S..=self.end_us / US_PER_S).filter_map(|second| {
            let (from, to) = ((second * US_PER_S).max(start_us), ((second + 1) * US_PER_S).min(self.end_us));
            let length = to.saturating_sub(from);
            if length < US_PER_S / 2 {
                return None;
            }
            let found = self.seconds.get(&second);
            Some(SeriesRow {
                t_s: (to - start_us) as f64 / 1e6,
                iops: found.map_or(0, |s| s.transactions) as f64 / (length as f64 / 1e6),
                lat_max_ns: found.map_or(0, |s| s.max_us) * 1_000,
                ..SeriesRow::default()
            })
        });
        rows.collect()
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.skipped > 0 {
            notes.push(format!("{} transactions were skipped as too late", self.skipped));
        }
        if self.failed > 0 {
            notes.push(format!("{} transactions failed", self.failed));
        }
        // Clients number their transactions: one in twenty missing is no accident of an unclean end.
        let numbered = self.clients.values().fold(0_u64, |sum, &number| sum.saturating_add(number));
        if numbered > self.lines.saturating_add(self.lines / 20) {
            notes.push(format!(
                "the log has {} of {numbered} transactions (--sampling-rate, or a part is missing): rates are of these",
                self.lines
            ));
        }
        notes
    }
}
