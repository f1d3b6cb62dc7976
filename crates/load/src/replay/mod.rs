//! A recorded trace, asked again.
//!
//! As recorded, each request is due at its own time, faster or slower by a factor, however long others take (open
//! loop); or all are asked as fast as the device answers, so many at a time (closed loop). A process stands for each
//! request that is in flight. Each that has nothing to do sleeps until one of the next requests is due, and whoever
//! wakes first takes the one in front: requests are asked in the trace's order. When all of them wait for the device,
//! the trace falls behind its schedule, which is counted; the latency of such a request counts from when it was due.
//!
//! Invariants:
//! - for each of the next requests (as many as processes sleep) one of them wakes no later than it is due;
//! - memory is what the batches and the processes need, however long the trace is.

mod fold;

use crate::trace::{Batch, Feed, LineCounts, Record, TraceError};
use crate::{Load, ProcessId, Step};
use device::{Operation, Request, Time};
use fold::Folded;
use results::{TraceReport, TraceRequests};
use std::collections::VecDeque;

/// Most requests outstanding at once.
pub const MAX_REPLAY_DEPTH: u32 = 1 << 16;
/// Latest time at which anything is due: a trace of a hundred years that is slowed down ends here.
const LATEST_NS: u64 = 1 << 62;
/// When the first request is due: after measurement has begun.
const BEGIN_NS: u64 = 1;

/// The times at which a trace's requests are issued.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Speed {
    /// At its recorded times, so many times faster. Above 0.
    Recorded(f64),
    /// As fast as it goes.
    Max,
}

/// Parameters of a replay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReplayConfig {
    /// Times at which requests are issued.
    pub speed: Speed,
    /// Requests outstanding at once, 1 to [`MAX_REPLAY_DEPTH`].
    pub depth: u32,
    /// Requests of the trace after which it ends; `None`: all.
    pub requests: Option<u64>,
}

/// A source of requests, in batches.
pub trait Batches: Send {
    /// The next ones; `None` after the last.
    fn next_batch(&mut self) -> Result<Option<Batch>, TraceError>;
}

impl Batches for Feed {
    fn next_batch(&mut self) -> Result<Option<Batch>, TraceError> {
        Feed::next_batch(self)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    Nothing,
    Sleeps,
    Waits,
}

/// A process: what it does, and what is left of its record.
#[derive(Clone, Copy, Debug)]
struct Process {
    doing: Doing,
    rest: Option<(Folded, Option<Time>)>,
}

/// A trace in action.
pub struct Replay<S> {
    source: S,
    config: ReplayConfig,
    capacity_bytes: u64,
    /// Records that are read and not issued yet.
    ahead: VecDeque<Record>,
    /// The source has no more.
    ended: bool,
    error: Option<TraceError>,
    processes: Vec<Process>,
    asleep: usize,
    in_flight: u32,
    measuring: bool,
    lines: LineCounts,
    report: TraceReport,
}

impl<S: Batches> Replay<S> {
    /// A replay on a device of so many bytes.
    ///
    /// # Panics
    /// When the depth or the speed is out of range: whoever reads them from a person checks them.
    pub fn new(source: S, config: ReplayConfig, capacity_bytes: u64) -> Replay<S> {
        assert!((1..=MAX_REPLAY_DEPTH).contains(&config.depth), "depth {}", config.depth);
        assert!(!matches!(config.speed, Speed::Recorded(factor) if !(factor > 0.0 && factor.is_finite())));
        let capacity_bytes = capacity_bytes / 512 * 512;
        assert!(capacity_bytes > 0, "a device without room");
        Replay {
            source,
            config,
            capacity_bytes,
            ahead: VecDeque::new(),
            ended: false,
            error: None,
            processes: vec![Process { doing: Doing::Nothing, rest: None }; config.depth as usize],
            asleep: 0,
            in_flight: 0,
            measuring: false,
            lines: LineCounts::default(),
            report: TraceReport::default(),
        }
    }

    /// Returns the error at which the trace ended, if it had one.
    pub fn into_error(self) -> Option<TraceError> {
        self.error
    }

    /// Reports on the trace as far as it was replayed.
    pub fn trace_report(&self) -> TraceReport {
        let LineCounts { lines, other, bad, backwards, other_volumes, volumes } = self.lines;
        TraceReport {
            lines,
            other_lines: other,
            bad_lines: bad,
            backwards,
            other_volumes,
            volumes,
            ..self.report.clone()
        }
    }

    /// Reads on until so many requests are at hand, or there are no more.
    fn read_ahead(&mut self, enough: usize) {
        while self.ahead.len() < enough && !self.ended {
            match self.source.next_batch() {
                Ok(Some(batch)) => {
                    self.lines = batch.counts;
                    self.ahead.extend(batch.records);
                }
                Ok(None) => self.ended = true,
                Err(error) => {
                    self.error = Some(error);
                    self.ended = true;
                }
            }
        }
    }

    /// When a record is due; `None`: whenever somebody has time for it.
    #[inline]
    fn due(&self, record: &Record) -> Option<Time> {
        match self.config.speed {
            Speed::Max => None,
            Speed::Recorded(1.0) => Some(Time(BEGIN_NS + record.at_ns)),
            // The cast saturates.
            Speed::Recorded(factor) => Some(Time(BEGIN_NS + ((record.at_ns as f64 / factor) as u64).min(LATEST_NS))),
        }
    }

    /// The record in front, if it is due.
    fn take(&mut self, now: Time) -> Option<(Folded, Option<Time>)> {
        let front = *self.ahead.front()?;
        let due = self.due(&front);
        if due.is_some_and(|due| due > now) {
            return None;
        }
        self.ahead.pop_front();
        let folded = Folded::new(&front, self.capacity_bytes);
        let report = &mut self.report;
        let requests = match front.op {
            Operation::Read => &mut report.reads,
            Operation::Write => &mut report.writes,
            Operation::Trim => &mut report.trims,
            Operation::Flush => &mut report.flushes,
        };
        *requests =
            TraceRequests { requests: requests.requests + 1, bytes: requests.bytes.saturating_add(front.len_bytes) };
        report.requests += 1;
        report.span_ns = front.at_ns;
        report.folded += u64::from(folded.folded);
        report.widened += u64::from(folded.widened);
        let late_ns = due.map_or(0, |due| now.since_ns(due));
        report.behind += u64::from(late_ns > 0);
        report.behind_max_ns = report.behind_max_ns.max(late_ns);
        Some((folded, due))
    }

    /// Asks for a piece of a record.
    fn issue(&mut self, p: ProcessId, mut folded: Folded, due: Option<Time>, is_first: bool) -> Step {
        let (request, more): (Request, bool) = folded.next_piece(self.capacity_bytes);
        self.report.pieces += 1;
        self.report.split += u64::from(more && is_first);
        self.processes[p.index()] = Process { doing: Doing::Waits, rest: more.then_some((folded, due)) };
        self.in_flight += 1;
        self.report.deepest = self.report.deepest.max(self.in_flight);
        Step::Io { cpu_ns: 0, request, due }
    }

    /// Returns whether the trace ends before so many more requests.
    fn ends_before(&self, more: usize) -> bool {
        self.config.requests.is_some_and(|most| self.report.requests + more as u64 > most)
    }
}

impl<S: Batches> Load for Replay<S> {
    fn processes(&self) -> u32 {
        self.config.depth
    }

    #[inline]
    fn step(&mut self, p: ProcessId, now: Time, _: &mut Vec<ProcessId>) -> Step {
        if !self.measuring {
            return Step::Sleep { until: Time(BEGIN_NS) };
        }
        let process = &mut self.processes[p.index()];
        match process.doing {
            Doing::Nothing => {}
            Doing::Sleeps => self.asleep -= 1,
            Doing::Waits => self.in_flight -= 1,
        }
        process.doing = Doing::Nothing;
        if let Some((folded, due)) = process.rest.take() {
            return self.issue(p, folded, due, false);
        }
        if self.ends_before(1) {
            return Step::End;
        }
        // One more than those that others wait for.
        self.read_ahead(self.asleep + 1);
        if let Some((folded, due)) = self.take(now) {
            return self.issue(p, folded, due, true);
        }
        let next = self.ahead.get(self.asleep).filter(|_| !self.ends_before(self.asleep + 1));
        let Some(until) = next.and_then(|record| self.due(record)) else {
            // All that is left has somebody who waits for it.
            return Step::End;
        };
        self.processes[p.index()].doing = Doing::Sleeps;
        self.asleep += 1;
        Step::Sleep { until }
    }

    fn footprint_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    fn start_measurement(&mut self, _: Time) {
        self.measuring = true;
    }

    fn report(&self, _: Time) -> Option<results::Application> {
        None
    }
}

#[cfg(test)]
mod tests;
