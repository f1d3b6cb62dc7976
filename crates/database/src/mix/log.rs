//! pgbench's log of transactions.
//!
//! ```text
//! client_id transaction_no time script_no time_epoch time_us [schedule_lag] [retries]
//! ```
//!
//! `time` is microseconds from the transaction's begin to its end, or why it failed.

use results::LatencyRecorder;
use std::io::BufRead;

/// All transactions of a point.
pub(crate) struct Log {
    /// Latencies by script.
    pub latencies: Vec<LatencyRecorder>,
    /// Transactions that failed.
    pub failed: u64,
    /// Lines that are none.
    pub unread: u64,
    start_us: u64,
    end_us: u64,
}

impl Log {
    pub fn new(scripts: usize) -> Log {
        let latencies = (0..scripts).map(|_| LatencyRecorder::new()).collect();
        Log { latencies, failed: 0, unread: 0, start_us: u64::MAX, end_us: 0 }
    }

    /// Adds a thread's log. Each latency is shortened by the time that the script sleeps.
    pub fn read(&mut self, log: impl BufRead, think_us: u64) -> std::io::Result<()> {
        for line in log.lines() {
            let line = line?;
            if self.add(&line, think_us).is_none() {
                // The last line of a thread that was stopped may be cut.
                self.unread += 1;
            }
        }
        Ok(())
    }

    fn add(&mut self, line: &str, think_us: u64) -> Option<()> {
        let mut words = line.split_ascii_whitespace().skip(2);
        let time = words.next()?;
        let script: usize = words.next()?.parse().ok()?;
        let seconds: u64 = words.next()?.parse().ok()?;
        let end_us = seconds.checked_mul(1_000_000)?.checked_add(words.next()?.parse().ok()?)?;
        let recorder = self.latencies.get_mut(script)?;
        let Ok(time_us) = time.parse::<u64>() else {
            self.failed += 1;
            return Some(());
        };
        recorder.record(time_us.saturating_sub(think_us).checked_mul(1_000)?);
        self.start_us = self.start_us.min(end_us.saturating_sub(time_us));
        self.end_us = self.end_us.max(end_us);
        Some(())
    }

    /// Transactions that committed.
    pub fn count(&self) -> u64 {
        self.latencies.iter().map(LatencyRecorder::count).sum()
    }

    /// From the first transaction's begin to the last one's end.
    pub fn seconds(&self) -> f64 {
        self.end_us.saturating_sub(self.start_us) as f64 / 1e6
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_are_kept_by_script_and_percentiles_are_those_of_all_threads() {
        let mut log = Log::new(2);
        let one: String = (1..=99).map(|i| format!("0 {i} {i} 0 100 {i}\n")).collect();
        log.read(one.as_bytes(), 0).unwrap();
        log.read("1 1 1000000 0 101 500000\n1 2 700 1 101 600000\n1 3 failed 1 101 600000\n1 4 7".as_bytes(), 0)
            .unwrap();
        assert_eq!((log.count(), log.failed, log.unread), (101, 1, 1));
        // The mean of two threads' p99 would be half a second.
        let p99 = log.latencies[0].summary().at(99.0);
        assert!((98_900..=99_200).contains(&p99), "{p99}");
        assert_eq!(log.latencies[0].max_ns(), 1_000_000_000);
        assert!((log.seconds() - 1.6).abs() < 1e-9, "{}", log.seconds());
    }

    #[test]
    fn think_time_is_no_part_of_a_latency() {
        let mut log = Log::new(1);
        log.read("0 1 1700 0 100 5000\n0 2 1400 0 100 9000\n".as_bytes(), 1_500).unwrap();
        assert_eq!((log.latencies[0].max_ns(), log.latencies[0].summary().min), (200_000, 0));
    }
}
