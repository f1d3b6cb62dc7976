//! sysbench's `oltp_read_write`: ten point reads, four range reads, two updates, a delete and an insert a transaction.

use super::server::{DATABASE, Server};
use crate::DatabaseError;
use crate::cluster::last_words;
use crate::device::counters;
use results::{DatabaseOltpPoint, DeviceActivity};
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use target::Progress;

/// Tables that the rows are divided over.
pub(super) const TABLES: u32 = 4;
/// A row with its part of the two indexes, about.
pub(super) const ROW_BYTES: u64 = 240;
const POLL: Duration = Duration::from_millis(100);

/// The part that all runs have in common.
pub(super) struct Oltp<'a> {
    pub server: &'a Server,
    pub rows_per_table: u64,
    pub seed: u64,
    pub logs: &'a Path,
    /// Counted by the kernel, where there is one.
    pub block_device: Option<String>,
}

impl Oltp<'_> {
    fn command(&self, more: &[String], action: &str) -> Command {
        let server = self.server;
        let mut command = Command::new(&server.programs().sysbench);
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.args(["oltp_read_write", "--db-driver=mysql", "--mysql-user=root"]);
        command.arg(format!("--mysql-socket={}", server.socket().display()));
        command.arg(format!("--mysql-db={DATABASE}"));
        command.args([format!("--tables={TABLES}"), format!("--table-size={}", self.rows_per_table)]);
        // A seed of 0 would be drawn from the clock.
        command.arg(format!("--rand-seed={}", self.seed.max(1) & 0x7fff_ffff));
        command.args(more).arg(action);
        command
    }

    fn run(&self, mut command: Command, name: &str, progress: &dyn Progress) -> Result<String, DatabaseError> {
        let path = self.logs.join(format!("{name}.log"));
        let log = File::create(&path).map_err(DatabaseError::io(&path))?;
        let errors = log.try_clone().map_err(DatabaseError::io(&path))?;
        command.stdin(Stdio::null()).stdout(log).stderr(errors);
        let mut child = command.spawn().map_err(DatabaseError::io(&self.server.programs().sysbench))?;
        let status = loop {
            match child.try_wait().map_err(DatabaseError::io("sysbench"))? {
                Some(status) => break status,
                None if progress.cancelled() => {
                    let _ = child.kill();
                    let _ = child.wait();
                    return Err(DatabaseError::Cancelled);
                }
                None => std::thread::sleep(POLL),
            }
        };
        let said = fs::read(&path).map_err(DatabaseError::io(&path))?;
        let said = String::from_utf8_lossy(&said).into_owned();
        if status.success() {
            return Ok(said);
        }
        let fatal =
            said.lines().find(|line| line.starts_with("FATAL")).map_or_else(|| last_words(&said), str::to_owned);
        Err(DatabaseError::Program { program: "sysbench".into(), said: fatal.into() })
    }

    /// Makes and fills the tables.
    pub fn prepare(&self, progress: &dyn Progress) -> Result<(), DatabaseError> {
        let threads = format!("--threads={TABLES}");
        self.run(self.command(&[threads], "prepare"), "sysbench-prepare", progress).map(drop)
    }

    /// Drops the tables.
    pub fn clean_up(&self, progress: &dyn Progress) -> Result<(), DatabaseError> {
        self.run(self.command(&[], "cleanup"), "sysbench-cleanup", progress).map(drop)
    }

    /// One number of sessions: unmeasured first, then measured.
    pub fn point(
        &self,
        sessions: u32,
        (warm_up_s, measured_s): (f64, f64),
        progress: &dyn Progress,
    ) -> Result<DatabaseOltpPoint, DatabaseError> {
        let of = |seconds: f64| {
            let time = format!("--time={}", (seconds.round() as u64).max(1));
            self.command(&[format!("--threads={sessions}"), time, "--percentile=99".to_owned()], "run")
        };
        self.run(of(warm_up_s), &format!("sysbench-{sessions}-warm-up"), progress)?;
        let before = self.block_device.as_deref().and_then(counters);
        let said = self.run(of(measured_s), &format!("sysbench-{sessions}"), progress)?;
        let after = self.block_device.as_deref().and_then(counters);
        let device = before.zip(after).map(|(before, after)| difference(&before, &after));
        let point = parse(&said).ok_or_else(|| DatabaseError::Program {
            program: "sysbench".into(),
            said: format!("its report has no transactions: {}", last_words(&said)).into(),
        })?;
        Ok(DatabaseOltpPoint { sessions, device, ..point })
    }
}

fn difference(before: &DeviceActivity, after: &DeviceActivity) -> DeviceActivity {
    DeviceActivity {
        reads: after.reads - before.reads,
        read_bytes: after.read_bytes - before.read_bytes,
        writes: after.writes - before.writes,
        written_bytes: after.written_bytes - before.written_bytes,
        flushes: after.flushes - before.flushes,
    }
}

/// Reads the report of a run.
fn parse(said: &str) -> Option<DatabaseOltpPoint> {
    let rest = |label: &str| said.lines().find_map(|line| line.trim().strip_prefix(label)).map(str::trim);
    // `1234   (123.40 per sec.)`
    let pair = |label: &str| {
        let (count, rate) = rest(label)?.split_once('(')?;
        Some((count.trim().parse::<f64>().ok()?, rate.split_whitespace().next()?.parse::<f64>().ok()?))
    };
    let ns = |label: &str| Some((rest(label)?.parse::<f64>().ok()? * 1e6).round() as u64);
    let (_, tps) = pair("transactions:")?;
    let (_, queries_s) = pair("queries:")?;
    let seconds = rest("total time:")?.strip_suffix('s')?.parse().ok()?;
    Some(DatabaseOltpPoint {
        sessions: 0,
        tps,
        queries_s,
        retried: pair("ignored errors:").map_or(0.0, |(count, _)| count) as u64,
        seconds,
        mean_ns: ns("avg:")?,
        p99_ns: ns("99th percentile:")?,
        longest_ns: ns("max:")?,
        device: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As sysbench 1.0.20 prints it.
    const REPORT: &str = "
SQL statistics:
    queries performed:
        read:                            7014
        write:                           2004
        other:                           1002
        total:                           10020
    transactions:                        501    (99.97 per sec.)
    queries:                             10020  (1999.48 per sec.)
    ignored errors:                      3      (0.60 per sec.)
    reconnects:                          0      (0.00 per sec.)

General statistics:
    total time:                          5.0101s
    total number of events:              501

Latency (ms):
         min:                                    7.17
         avg:                                   19.96
         max:                                   61.48
         99th percentile:                       38.94
         sum:                                 9999.40
";

    #[test]
    fn a_report_is_read_in_nanoseconds() {
        let point = parse(REPORT).unwrap();
        assert_eq!((point.tps, point.queries_s, point.retried), (99.97, 1999.48, 3));
        assert_eq!((point.mean_ns, point.p99_ns, point.longest_ns), (19_960_000, 38_940_000, 61_480_000));
        assert_eq!(point.seconds, 5.0101);
        assert_eq!(parse("FATAL: no connection"), None);
    }
}
