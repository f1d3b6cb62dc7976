//! Group commit: one process writes the log, and one write serves every transaction that waits for it.
//!
//! Oracle calls the process LGWR and the wait `log file sync`; in PostgreSQL the first backend that gets the lock
//! does the same work for the ones behind it. Records gather in the log buffer while the previous group is on its way
//! to the device; then the next group is everything that has gathered. The log is a circular area, written front to
//! back.
//!
//! ```text
//!   durable          group_end           appended          (counts of record bytes, never decreasing)
//!      |---- being written ----|---- gathering ----|
//! ```
//!
//! Invariants:
//! - `durable <= group_end <= appended`;
//! - a committer is woken exactly once, after all it appended is durable;
//! - the log writer parks only when nobody waits and less than a third of the buffer is filled;
//! - `appended - durable` stays below `buffer_bytes` plus one record for each session.

use crate::error::{in_range, multiple_of};
use crate::{LoadError, MAX_REQUEST_BYTES, ProcessId, Step};
use device::Request;

/// Treatment of the log block that a group leaves half full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LogTail {
    /// It is padded, the next group begins with the next block (Oracle: redo wastage).
    Pad,
    /// The next group writes it again (PostgreSQL).
    Rewrite,
}

impl LogTail {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            LogTail::Pad => "pad",
            LogTail::Rewrite => "rewrite",
        }
    }
}

/// The request that makes a group durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LogSync {
    /// An acknowledged write counts as durable (`fsync = off`, or a cache that is trusted).
    None,
    /// A flush follows the group's last write (fsync).
    Flush,
    /// Each write has force unit access (`O_DSYNC`).
    Fua,
}

impl LogSync {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            LogSync::None => "none",
            LogSync::Flush => "flush",
            LogSync::Fua => "fua",
        }
    }
}

/// A database's log: redo or WAL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogConfig {
    /// The circular area on the device.
    pub area_bytes: u64,
    /// The log is written in whole blocks of this size.
    pub block_bytes: u32,
    /// Treatment of a half full block.
    pub tail: LogTail,
    /// A larger group takes several writes, one after the other.
    pub max_write_bytes: u32,
    /// The log buffer in memory. A group is written when a third is filled, even if nobody commits; sessions wait
    /// when it is full.
    pub buffer_bytes: u64,
    /// The request that makes a group durable.
    pub sync: LogSync,
}

impl LogConfig {
    /// Oracle's habits: 512-byte blocks, padded; 1 MiB writes; files opened with `O_DSYNC`.
    pub const ORACLE: LogConfig = LogConfig {
        area_bytes: 256 << 20,
        block_bytes: 512,
        tail: LogTail::Pad,
        max_write_bytes: 1 << 20,
        buffer_bytes: 16 << 20,
        sync: LogSync::Fua,
    };

    /// PostgreSQL's habits: 8 KiB pages, the last one written again; fdatasync.
    pub const POSTGRESQL: LogConfig = LogConfig {
        area_bytes: 256 << 20,
        block_bytes: 8192,
        tail: LogTail::Rewrite,
        max_write_bytes: 1 << 20,
        buffer_bytes: 1 << 20,
        sync: LogSync::Flush,
    };

    /// Checks every parameter.
    pub fn validate(&self) -> Result<(), LoadError> {
        let block_bytes = u64::from(self.block_bytes);
        in_range("log.block_bytes", block_bytes, 512, 1 << 20)?;
        multiple_of("log.block_bytes", block_bytes, 512)?;
        in_range("log.max_write_bytes", self.max_write_bytes.into(), block_bytes, MAX_REQUEST_BYTES)?;
        multiple_of("log.max_write_bytes", self.max_write_bytes.into(), block_bytes)?;
        in_range("log.buffer_bytes", self.buffer_bytes, block_bytes, 1 << 40)?;
        // A group must not overtake its own tail.
        in_range("log.area_bytes", self.area_bytes, 2 * self.buffer_bytes, 1 << 60)?;
        multiple_of("log.area_bytes", self.area_bytes, block_bytes)
    }
}

/// Counts of the log writer's work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LogCounts {
    /// Bytes of records appended.
    pub record_bytes: u64,
    /// Number of write requests.
    pub writes: u64,
    /// Bytes of write requests: whole blocks.
    pub written_bytes: u64,
    /// Groups made durable.
    pub groups: u64,
}

/// The log writer, and everyone who waits for it.
#[derive(Clone, Debug)]
pub(crate) struct GroupCommit {
    config: LogConfig,
    start_bytes: u64,
    writer: ProcessId,
    writing: Writing,
    appended: u64,
    group_end: u64,
    durable: u64,
    /// Position of the next group's first record, counted from the area's start without wrapping.
    position: u64,
    /// Committers of the group that gathers; at most one entry for each session.
    committers: Vec<ProcessId>,
    /// Committers of the group that is being written.
    group: Vec<ProcessId>,
    /// Sessions that wait for room in the log buffer.
    starved: Vec<ProcessId>,
    counts: LogCounts,
}

/// The log writer's last step.
#[derive(Clone, Copy, Debug)]
enum Writing {
    Idle,
    /// A write is out; bytes from `cursor` to `end` are left of the group.
    Write {
        cursor: u64,
        end: u64,
    },
    Flush,
}

impl GroupCommit {
    /// A log at `start_bytes` of the device, written by process `writer`.
    pub fn new(config: LogConfig, start_bytes: u64, writer: ProcessId) -> GroupCommit {
        GroupCommit {
            config,
            start_bytes,
            writer,
            writing: Writing::Idle,
            appended: 0,
            group_end: 0,
            durable: 0,
            position: 0,
            committers: Vec::new(),
            group: Vec::new(),
            starved: Vec::new(),
            counts: LogCounts::default(),
        }
    }

    /// A session appends records.
    pub fn append(&mut self, record_bytes: u64, wake: &mut Vec<ProcessId>) {
        self.appended += record_bytes;
        self.counts.record_bytes += record_bytes;
        self.wake_writer(wake);
    }

    /// `process` waits until everything appended so far is durable: it must park now, and goes on when it is woken.
    /// False: there is nothing to wait for.
    pub fn commit(&mut self, process: ProcessId, wake: &mut Vec<ProcessId>) -> bool {
        if self.durable == self.appended {
            return false;
        }
        self.committers.push(process);
        self.wake_writer(wake);
        true
    }

    /// Returns whether the log buffer is full: sessions may not go on appending.
    pub fn is_full(&self) -> bool {
        self.appended - self.durable >= self.config.buffer_bytes
    }

    /// `process` waits for room: it must park now, and looks again when it is woken.
    pub fn wait_for_room(&mut self, process: ProcessId, wake: &mut Vec<ProcessId>) {
        self.starved.push(process);
        self.wake_writer(wake);
    }

    /// The log writer's next step.
    pub fn step_writer(&mut self, wake: &mut Vec<ProcessId>) -> Step {
        match self.writing {
            Writing::Idle => {}
            Writing::Write { cursor, end } if cursor < end => return self.write(cursor, end),
            Writing::Write { .. } if self.config.sync == LogSync::Flush => {
                self.writing = Writing::Flush;
                return Step::io(Request::flush());
            }
            Writing::Write { .. } | Writing::Flush => self.group_is_durable(wake),
        }
        self.writing = Writing::Idle;
        if self.is_due() { self.next_group() } else { Step::Park }
    }

    /// Returns the counts since the last [`GroupCommit::reset_counts`].
    pub fn counts(&self) -> LogCounts {
        self.counts
    }

    /// Counts from 0 again.
    pub fn reset_counts(&mut self) {
        self.counts = LogCounts::default();
    }

    /// Returns whether the log writer has a reason to write what has gathered.
    fn is_due(&self) -> bool {
        let gathered = self.appended - self.group_end;
        gathered > 0
            && (!self.committers.is_empty() || !self.starved.is_empty() || gathered >= self.config.buffer_bytes / 3)
    }

    /// A writer that is at work looks again by itself when its group is done.
    fn wake_writer(&self, wake: &mut Vec<ProcessId>) {
        if matches!(self.writing, Writing::Idle) && self.is_due() {
            wake.push(self.writer);
        }
    }

    fn next_group(&mut self) -> Step {
        let block_bytes = u64::from(self.config.block_bytes);
        let begin = self.position;
        let end = begin + (self.appended - self.group_end);
        let padded_end = end.next_multiple_of(block_bytes);
        self.position = match self.config.tail {
            LogTail::Pad => padded_end,
            LogTail::Rewrite => end,
        };
        self.group_end = self.appended;
        assert!(self.group.is_empty(), "committers of the last group were not woken");
        std::mem::swap(&mut self.group, &mut self.committers);
        self.write(begin - begin % block_bytes, padded_end)
    }

    fn write(&mut self, cursor: u64, end: u64) -> Step {
        let in_area = cursor % self.config.area_bytes;
        let len = (end - cursor).min(self.config.max_write_bytes.into()).min(self.config.area_bytes - in_area);
        self.writing = Writing::Write { cursor: cursor + len, end };
        self.counts.writes += 1;
        self.counts.written_bytes += len;
        let request =
            Request { fua: self.config.sync == LogSync::Fua, ..Request::write(self.start_bytes + in_area, len as u32) };
        Step::io(request)
    }

    fn group_is_durable(&mut self, wake: &mut Vec<ProcessId>) {
        self.durable = self.group_end;
        self.counts.groups += 1;
        wake.append(&mut self.group);
        wake.append(&mut self.starved);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use device::Operation;

    const WRITER: ProcessId = ProcessId(9);

    fn request(step: Step) -> Request {
        match step {
            Step::Io { request, .. } => request,
            other => panic!("{other:?}"),
        }
    }

    fn small() -> LogConfig {
        LogConfig { area_bytes: 8192, max_write_bytes: 2048, buffer_bytes: 4096, ..LogConfig::ORACLE }
    }

    #[test]
    fn one_log_write_serves_many_committers_and_the_next_group_gathers_meanwhile() {
        let mut log = GroupCommit::new(small(), 1 << 20, WRITER);
        let mut wake = Vec::new();
        assert_eq!(log.step_writer(&mut wake), Step::Park);
        for session in 0..3 {
            log.append(100, &mut wake);
            assert!(log.commit(ProcessId(session), &mut wake));
        }
        assert!(wake.iter().all(|&p| p == WRITER) && !wake.is_empty());
        wake.clear();
        let first = request(log.step_writer(&mut wake));
        assert_eq!(
            (first.operation, first.range.offset_bytes, first.range.len_bytes, first.fua),
            (Operation::Write, 1 << 20, 512, true)
        );
        // These two come too late for the first group.
        for session in 3..5 {
            log.append(400, &mut wake);
            assert!(log.commit(ProcessId(session), &mut wake));
        }
        wake.clear();
        let second = request(log.step_writer(&mut wake));
        assert_eq!(wake, [0, 1, 2].map(ProcessId), "the first group's committers go on");
        assert_eq!((second.range.offset_bytes, second.range.len_bytes), ((1 << 20) + 512, 1024));
        wake.clear();
        assert_eq!(log.step_writer(&mut wake), Step::Park);
        assert_eq!(wake, [3, 4].map(ProcessId));
        assert_eq!(log.counts(), LogCounts { record_bytes: 1100, writes: 2, written_bytes: 1536, groups: 2 });
    }

    #[test]
    fn a_flush_follows_the_last_write_of_a_group_and_wakes_only_then() {
        let mut log = GroupCommit::new(LogConfig { sync: LogSync::Flush, ..small() }, 0, WRITER);
        let mut wake = Vec::new();
        log.append(3_000, &mut wake);
        log.commit(ProcessId(0), &mut wake);
        wake.clear();
        let ops: Vec<_> =
            (0..3).map(|_| request(log.step_writer(&mut wake))).map(|r| (r.operation, r.range.len_bytes)).collect();
        assert_eq!(ops, [(Operation::Write, 2048), (Operation::Write, 1024), (Operation::Flush, 0)]);
        assert!(wake.is_empty());
        assert_eq!(log.step_writer(&mut wake), Step::Park);
        assert_eq!(wake, [ProcessId(0)]);
    }

    #[test]
    fn the_log_goes_around_its_area_without_a_gap() {
        for tail in [LogTail::Pad, LogTail::Rewrite] {
            let config = LogConfig { tail, ..small() };
            let mut log = GroupCommit::new(config, 4096, WRITER);
            let (mut wake, mut last_end) = (Vec::new(), 4096);
            for round in 0..500u64 {
                log.append(1 + round * 37 % 3_000, &mut wake);
                log.commit(ProcessId(0), &mut wake);
                while let Step::Io { request, .. } = log.step_writer(&mut wake) {
                    let end = request.range.offset_bytes + u64::from(request.range.len_bytes);
                    assert!(request.range.offset_bytes >= 4096 && end <= 4096 + config.area_bytes);
                    assert!(
                        request.range.offset_bytes.is_multiple_of(512) && request.range.len_bytes.is_multiple_of(512)
                    );
                    let expected = if last_end == 4096 + config.area_bytes { 4096 } else { last_end };
                    // A rewritten tail begins one block before the end of the last write, also across the seam.
                    let back = if expected == 4096 { 4096 + config.area_bytes - 512 } else { expected - 512 };
                    let next = request.range.offset_bytes == expected;
                    assert!(next || (tail == LogTail::Rewrite && request.range.offset_bytes == back), "round {round}");
                    last_end = end;
                }
            }
        }
    }

    #[test]
    fn a_third_of_the_buffer_is_written_without_a_commit() {
        let mut log = GroupCommit::new(small(), 0, WRITER);
        let mut wake = Vec::new();
        log.append(1_364, &mut wake);
        assert!(wake.is_empty());
        assert_eq!(log.step_writer(&mut wake), Step::Park);
        log.append(1, &mut wake);
        assert_eq!(wake, [WRITER]);
        assert_eq!(request(log.step_writer(&mut wake)).range.len_bytes, 1536);
    }

    #[test]
    fn a_full_buffer_has_room_again_after_a_write_and_says_so() {
        let mut log = GroupCommit::new(small(), 0, WRITER);
        let mut wake = Vec::new();
        log.append(4_096, &mut wake);
        assert!(log.is_full());
        log.wait_for_room(ProcessId(5), &mut wake);
        wake.clear();
        while !matches!(log.step_writer(&mut wake), Step::Park) {}
        assert_eq!(wake, [ProcessId(5)]);
        assert!(!log.is_full());
    }

    #[test]
    fn a_commit_of_what_is_durable_waits_for_nothing() {
        let mut log = GroupCommit::new(small(), 0, WRITER);
        assert!(!log.commit(ProcessId(0), &mut Vec::new()));
    }

    #[test]
    fn a_wrong_log_is_refused() {
        for good in [LogConfig::ORACLE, LogConfig::POSTGRESQL] {
            good.validate().unwrap();
            for bad in [
                LogConfig { block_bytes: 1000, ..good },
                LogConfig { max_write_bytes: 100, ..good },
                LogConfig { buffer_bytes: 0, ..good },
                LogConfig { area_bytes: good.buffer_bytes, ..good },
                LogConfig { area_bytes: good.area_bytes + 100, ..good },
            ] {
                assert!(bad.validate().unwrap_err().to_string().starts_with("log."));
            }
        }
    }
}
