//! One run of sysbench fileio, line by line.

use crate::Problem;
use crate::number::{PERCENTS, count, figure, size};
use crate::sweeps::{Condition, Mode, PointAt};
use results::{IoClass, LatencySummary, Point, SeriesRow};
use serde_json::json;

const MIB: f64 = 1_048_576.0;
const NS_PER_MS: f64 = 1e6;
/// Seconds of `--report-interval` that are kept: a day, one row each.
const SERIES_LIMIT: usize = 86_400;

/// Remarks that a reader of a file's points needs.
#[derive(Default)]
pub(crate) struct Remarks {
    mixed: bool,
    flushes_counted: bool,
    unfinished: u64,
    pub other_tests: u64,
}

impl Remarks {
    pub fn note(&self) -> String {
        let mut notes = Vec::new();
        if self.mixed {
            notes.push("sysbench has one latency for reads and writes together, which is left out".to_string());
        }
        if self.flushes_counted {
            notes.push("latencies are of flushes too".into());
        }
        if self.unfinished > 0 {
            notes.push(format!("{} of the file's runs did not finish", self.unfinished));
        }
        if self.other_tests > 0 {
            notes.push(format!("{} of the file's runs were other tests", self.other_tests));
        }
        notes.join("; ")
    }
}

/// The lines of a run read so far.
#[derive(Default)]
pub(crate) struct Run {
    line: u64,
    threads: Option<u32>,
    block_bytes: Option<u64>,
    mode: Option<Mode>,
    seconds: Option<f64>,
    events: Option<f64>,
    /// Reads, writes, flushes: how many, as 0.4 and 0.5 say.
    counts: Option<[f64; 3]>,
    /// The same a second, as 1.0 says.
    rates: [Option<f64>; 3],
    /// Bytes read and written a second.
    bw_bytes: [Option<f64>; 2],
    min: Option<f64>,
    mean: Option<f64>,
    max: Option<f64>,
    percentile: Option<(f64, f64)>,
    series: Vec<SeriesRow>,
}

impl Run {
    /// A run that begins in a line.
    pub fn new(line: u64) -> Run {
        Run { line, ..Run::default() }
    }

    /// Returns the line at which it begins.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Takes what a line says. Lines that say nothing that is used are most.
    pub fn take(&mut self, line: &str) -> Result<(), Problem> {
        if let Some(row) = line.strip_prefix('[') {
            return self.interval(row);
        }
        if let Some(rest) = line.strip_prefix("Block size ") {
            self.block_bytes = size(rest);
        } else if let Some(mode) = line.strip_prefix("Doing ").and_then(|rest| rest.strip_suffix(" test")) {
            self.mode = mode_of(mode);
        }
        let Some((key, value)) = line.split_once(':') else { return Ok(()) };
        let value = value.trim();
        match key {
            "Number of threads" => self.threads = count(value),
            "Operations performed" => self.counts = Some(operations(value)?),
            "reads/s" => self.rates[0] = Some(figure("reads/s", value)?),
            "writes/s" => self.rates[1] = Some(figure("writes/s", value)?),
            "fsyncs/s" => self.rates[2] = Some(figure("fsyncs/s", value)?),
            "read, MiB/s" => self.bw_bytes[0] = Some(figure("MiB/s read", value)? * MIB),
            "written, MiB/s" => self.bw_bytes[1] = Some(figure("MiB/s written", value)? * MIB),
            "read" => self.rate_and_throughput(0, value)?,
            "write" => self.rate_and_throughput(1, value)?,
            "fsync" => self.rate_and_throughput(2, value)?,
            "total time" | "time elapsed" => {
                self.seconds = Some(figure("total time", value.trim_end_matches('s'))?);
            }
            "total number of events" => self.events = Some(figure("number of events", value)?),
            "min" => self.min = Some(nanoseconds("shortest latency", value)?),
            "avg" => self.mean = Some(nanoseconds("mean latency", value)?),
            "max" => self.max = Some(nanoseconds("longest latency", value)?),
            _ => {
                if let Some(percent) = key.strip_suffix("percentile") {
                    self.percentile(percent, value)?;
                }
            }
        }
        Ok(())
    }

    /// `95th`, `approx.  95`.
    fn percentile(&mut self, percent: &str, value: &str) -> Result<(), Problem> {
        let percent = percent.trim_start_matches("approx.").trim().trim_end_matches("th");
        let percent = figure("percentile", percent)?;
        if PERCENTS.contains(&percent) {
            self.percentile = Some((percent, nanoseconds("percentile of latencies", value)?));
        }
        Ok(())
    }

    /// 1.1: `IOPS=4341.55 67.84 MiB/s (71.13 MB/s)`.
    fn rate_and_throughput(&mut self, which: usize, value: &str) -> Result<(), Problem> {
        let Some(value) = value.strip_prefix("IOPS=") else { return Ok(()) };
        let mut words = value.split_whitespace();
        self.rates[which] = Some(figure("IOPS", words.next().unwrap_or(""))?);
        if let (Some(bw), true) = (words.next(), which < 2) {
            self.bw_bytes[which] = Some(figure("MiB/s", bw)? * MIB);
        }
        Ok(())
    }

    /// A line of `--report-interval`: `1s ] reads: 0.00 MiB/s writes: 650.81 MiB/s fsyncs: 1662.12/s latency …`. A line
    /// that looks otherwise is skipped: a series is a gift, not what the file is read for.
    fn interval(&mut self, row: &str) -> Result<(), Problem> {
        let words: Vec<&str> = row.split_whitespace().take(16).collect();
        let after = |key: &str| {
            let at = words.iter().position(|&word| word == key)?;
            figure("interval", words.get(at + 1)?.split('/').next()?).ok()
        };
        let t_s = words.first().and_then(|t| figure("interval", t.trim_end_matches(']').trim_end_matches('s')).ok());
        if let (Some(t_s), Some(read), Some(written), true) =
            (t_s, after("reads:"), after("writes:"), self.series.len() < SERIES_LIMIT)
        {
            let (read_bw_bytes, write_bw_bytes) = (read * MIB, written * MIB);
            let requests = self.block_bytes.map_or(0.0, |block| (read_bw_bytes + write_bw_bytes) / block as f64);
            let iops = requests + after("fsyncs:").unwrap_or(0.0);
            self.series.push(SeriesRow { t_s, read_bw_bytes, write_bw_bytes, iops, lat_max_ns: 0 });
        }
        Ok(())
    }

    /// The run's point; `None` where it didn't finish or was another test.
    pub fn point(self, remarks: &mut Remarks) -> Result<Option<PointAt>, Problem> {
        let Some(mode) = self.mode else {
            remarks.other_tests += 1;
            return Ok(None);
        };
        let Some(seconds) = self.seconds.filter(|&seconds| seconds > 0.0) else {
            remarks.unfinished += 1;
            return Ok(None);
        };
        let threads = self.threads.ok_or(Problem::Missing { what: "number of threads" })?;
        let block = self.block_bytes.ok_or(Problem::Missing { what: "block size" })?;
        let rates = match (self.counts, self.rates) {
            (Some(counts), _) => counts.map(|count| count / seconds),
            (None, [Some(read), Some(write), sync]) => [read, write, sync.unwrap_or(0.0)],
            _ => return Err(Problem::Missing { what: "reads and writes" }),
        };
        let class = |which: usize| {
            let iops = rates[which];
            let total_ios = self.counts.map_or(iops * seconds, |counts| counts[which]).round();
            let bw_bytes = match which {
                2 => 0.0,
                // Requests times block is exact where they were counted; else what was printed has the short reads.
                _ => self.bw_bytes[which].unwrap_or(iops * block as f64),
            };
            let io_bytes = (bw_bytes * seconds).round() as u64;
            IoClass { total_ios: total_ios as u64, io_bytes, iops, bw_bytes, ..IoClass::default() }
        };
        let (mut read, mut write, sync) = (class(0), class(1), class(2));
        match (read.total_ios > 0, write.total_ios > 0) {
            (true, false) => read.lat_ns = self.latencies(read.total_ios),
            (false, true) => write.lat_ns = self.latencies(write.total_ios),
            (true, true) => remarks.mixed = true,
            (false, false) => {
                remarks.unfinished += 1;
                return Ok(None);
            }
        }
        remarks.flushes_counted |= self.counts.is_none() && sync.total_ios > 0 && read.lat_ns.n + write.lat_ns.n > 0;
        let load = json!({
            "kind": "sysbench fileio",
            "mode": mode.name(),
            "block_bytes": block,
            "threads": threads,
        });
        let condition = Condition { mode, block_bytes: Some(block), threads, depth: 1, read_percent: None };
        let series = self.series;
        Ok(Some((condition, Point { load, seconds, read, write, sync, series, ..Point::default() })))
    }

    /// Its latencies, where they were printed.
    fn latencies(&self, requests: u64) -> LatencySummary {
        let (Some(mean), Some(max)) = (self.mean, self.max) else { return LatencySummary::default() };
        LatencySummary {
            min: self.min.unwrap_or(0.0) as u64,
            max: max as u64,
            mean,
            stddev: 0.0,
            n: self.events.map_or(requests, |events| events as u64),
            percentile: self.percentile.iter().map(|&(p, ns)| (LatencySummary::key(p), ns as u64)).collect(),
        }
    }
}

/// As the tests are called; 0.4 and 1.0 agree.
fn mode_of(title: &str) -> Option<Mode> {
    match title {
        "random read" => Some(Mode::RndRd),
        "random write" => Some(Mode::RndWr),
        "random r/w" => Some(Mode::RndRw),
        "sequential read" => Some(Mode::SeqRd),
        "sequential write (creation)" => Some(Mode::SeqWr),
        "sequential rewrite" => Some(Mode::SeqRewr),
        _ => None,
    }
}

/// 0.4: `6000 Read, 4000 Write, 12800 Other = 22800 Total`; 0.5: `6000 reads, 4000 writes, …`.
fn operations(value: &str) -> Result<[f64; 3], Problem> {
    let mut words = value.split_whitespace();
    let mut counts = [0.0; 3];
    for count in &mut counts {
        *count = figure("number of operations", words.next().unwrap_or(""))?;
        words.next();
    }
    Ok(counts)
}

/// `0.05ms` in 0.4, `0.05` in 1.0, where the unit stands in the heading; the first 0.4 had `0.0001s`.
fn nanoseconds(what: &'static str, value: &str) -> Result<f64, Problem> {
    if let Some(ms) = value.strip_suffix("ms") {
        Ok(figure(what, ms)? * NS_PER_MS)
    } else if let Some(s) = value.strip_suffix('s') {
        Ok(figure(what, s)? * 1e9)
    } else {
        Ok(figure(what, value)? * NS_PER_MS)
    }
}
