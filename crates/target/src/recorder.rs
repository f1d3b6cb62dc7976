//! Records of a running load.

use crate::tail::Tail;
use device::{Operation, Parts, Time};
use results::{IoClass, LatencyRecorder, SeriesRow, TailReport};

/// Nanoseconds of a row of the series, as long as there are not too many.
const ROW_NS: u64 = 1_000_000_000;
/// Most rows of a recorder whose end nobody knows: then each two become one.
const MANY_ROWS: usize = 3600;

/// Requests of one kind.
#[derive(Clone, Debug, Default)]
struct Class {
    latency: LatencyRecorder,
    bytes: u64,
}

impl Class {
    fn summary(&self, elapsed_s: f64, histogram: bool) -> IoClass {
        let ios = self.latency.count();
        let rate = |n: u64| if elapsed_s > 0.0 { n as f64 / elapsed_s } else { 0.0 };
        IoClass {
            total_ios: ios,
            io_bytes: self.bytes,
            iops: rate(ios),
            bw_bytes: rate(self.bytes),
            lat_ns: self.latency.summary(),
            histogram: (histogram && ios > 0).then(|| self.latency.histogram()),
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Row {
    read_bytes: u64,
    write_bytes: u64,
    ios: u64,
    lat_max_ns: u64,
}

/// Latencies and throughput from one moment on.
#[derive(Clone, Debug)]
pub struct Recorder {
    since: Time,
    read: Class,
    write: Class,
    sync: Class,
    rows: Vec<Row>,
    row_ns: u64,
    rows_limit: usize,
    tail: Option<Tail>,
}

impl Recorder {
    /// From `since` on; with `explain` it keeps where the time went.
    pub fn new(since: Time, explain: bool) -> Recorder {
        Recorder {
            since,
            read: Class::default(),
            write: Class::default(),
            sync: Class::default(),
            rows: Vec::new(),
            row_ns: ROW_NS,
            rows_limit: usize::MAX,
            tail: explain.then(Tail::default),
        }
    }

    /// The same for a run of any length: rows are of one second, or of two, four, eight …, so that there are never more
    /// than an hour of seconds has.
    pub fn endless(since: Time, explain: bool) -> Recorder {
        Recorder { rows_limit: MANY_ROWS, ..Recorder::new(since, explain) }
    }

    /// Seconds of a row of the series.
    pub fn row_s(&self) -> u64 {
        self.row_ns / ROW_NS
    }

    /// A request that took from `start` to `end`.
    #[inline]
    pub fn record(&mut self, op: Operation, bytes: u32, start: Time, end: Time, parts: impl FnOnce() -> Parts) {
        let lat_ns = end - start;
        let class = match op {
            Operation::Read => &mut self.read,
            Operation::Write => &mut self.write,
            Operation::Flush => &mut self.sync,
            // Trims move no data and are in nobody's latency figures.
            Operation::Trim => return,
        };
        class.latency.record(lat_ns);
        class.bytes += u64::from(bytes);
        // A row ends with its second: what finishes on the border belongs to it.
        let mut row = ((end - self.since).saturating_sub(1) / self.row_ns) as usize;
        while row >= self.rows_limit {
            self.halve_rows();
            row /= 2;
        }
        if row >= self.rows.len() {
            self.rows.resize(row + 1, Row::default());
        }
        let row = &mut self.rows[row];
        match op {
            Operation::Read => row.read_bytes += u64::from(bytes),
            Operation::Write => row.write_bytes += u64::from(bytes),
            Operation::Flush | Operation::Trim => {}
        }
        row.ios += 1;
        row.lat_max_ns = row.lat_max_ns.max(lat_ns);
        if let Some(tail) = &mut self.tail {
            let name = match op {
                Operation::Read => "read",
                Operation::Write => "write",
                Operation::Flush | Operation::Trim => "sync",
            };
            // A request in flight when measurement began counts, as submitted at its beginning.
            tail.record(name, start.since_ns(self.since) as f64 / 1e9, lat_ns, parts());
        }
    }

    /// Makes one row of each two.
    #[cold]
    fn halve_rows(&mut self) {
        let pair = |pair: &[Row]| Row {
            read_bytes: pair.iter().map(|row| row.read_bytes).sum(),
            write_bytes: pair.iter().map(|row| row.write_bytes).sum(),
            ios: pair.iter().map(|row| row.ios).sum(),
            lat_max_ns: pair.iter().map(|row| row.lat_max_ns).max().unwrap_or(0),
        };
        self.rows = self.rows.chunks(2).map(pair).collect();
        self.row_ns *= 2;
    }

    /// Adds what another recorder saw from the same moment on (one for each thread of a real run). Causes of latency
    /// are not merged: only models know them, and they have one recorder.
    pub fn merge(&mut self, other: &Recorder) {
        debug_assert_eq!((self.since, self.row_ns), (other.since, other.row_ns));
        let classes = [(&mut self.read, &other.read), (&mut self.write, &other.write), (&mut self.sync, &other.sync)];
        for (class, other) in classes {
            class.latency.merge(&other.latency);
            class.bytes += other.bytes;
        }
        self.rows.resize(self.rows.len().max(other.rows.len()), Row::default());
        for (row, other) in self.rows.iter_mut().zip(&other.rows) {
            row.read_bytes += other.read_bytes;
            row.write_bytes += other.write_bytes;
            row.ios += other.ios;
            row.lat_max_ns = row.lat_max_ns.max(other.lat_max_ns);
        }
    }

    /// Bytes moved so far.
    pub fn bytes(&self) -> u64 {
        self.read.bytes + self.write.bytes
    }

    /// Reads, writes and syncs until `now`; with their histograms where asked for.
    pub fn classes(&self, now: Time, histograms: bool) -> (IoClass, IoClass, IoClass) {
        let elapsed_s = (now - self.since) as f64 / 1e9;
        let summary = |class: &Class| class.summary(elapsed_s, histograms);
        (summary(&self.read), summary(&self.write), summary(&self.sync))
    }

    /// A row a second (or more, see [`Recorder::endless`]) until `now`, of seconds without requests too; the last may be shorter.
    pub fn series(&self, now: Time) -> Vec<SeriesRow> {
        let elapsed_ns = now - self.since;
        let row = |i: u64| {
            let row = self.rows.get(i as usize).copied().unwrap_or_default();
            let end_ns = ((i + 1) * self.row_ns).min(elapsed_ns);
            let seconds = (end_ns - i * self.row_ns) as f64 / 1e9;
            SeriesRow {
                t_s: end_ns as f64 / 1e9,
                read_bw_bytes: row.read_bytes as f64 / seconds,
                write_bw_bytes: row.write_bytes as f64 / seconds,
                iops: row.ios as f64 / seconds,
                lat_max_ns: row.lat_max_ns,
            }
        };
        let mut rows = elapsed_ns.div_ceil(self.row_ns);
        if self.rows_limit != usize::MAX {
            // After the last request time may have gone on.
            rows = rows.min(self.rows.len() as u64);
        }
        (0..rows).map(row).collect()
    }

    /// Returns the causes of latency, if they were kept.
    pub fn tail(&self) -> Option<TailReport> {
        self.tail.as_ref().map(Tail::report)
    }
}
