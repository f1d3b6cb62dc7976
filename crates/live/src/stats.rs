//! What a live card has done, and how fast.

use crate::ask::Op;
use hdrhistogram::Histogram;
use serde::Serialize;

/// Latencies of one kind of request, from being asked to being answered, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Latency {
    /// Requests that were answered without an error.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Half were faster.
    pub p50_ns: u64,
    /// 95 % were faster.
    pub p95_ns: u64,
    /// 99 % were faster.
    pub p99_ns: u64,
    /// 99.9 % were faster.
    pub p999_ns: u64,
    /// The slowest.
    pub max_ns: u64,
}

/// What was asked since the card was started, and how long it took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Stats {
    /// Reads.
    pub reads: Latency,
    /// Writes.
    pub writes: Latency,
    /// Flushes.
    pub flushes: Latency,
    /// Trims, and zeroes that were written.
    pub trims: Latency,
    /// Requests that did not work.
    pub errors: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Read,
    Write,
    Flush,
    Trim,
}

impl Kind {
    pub fn of(op: &Op) -> Kind {
        match op {
            Op::Read => Kind::Read,
            Op::Write(_) => Kind::Write,
            Op::Flush => Kind::Flush,
            Op::WriteZeroes { .. } | Op::Trim => Kind::Trim,
        }
    }
}

/// One kind.
#[derive(Debug)]
struct Recorder {
    latencies: Histogram<u64>,
    bytes: u64,
}

impl Recorder {
    fn latency(&self) -> Latency {
        let h = &self.latencies;
        Latency {
            count: h.len(),
            bytes: self.bytes,
            p50_ns: h.value_at_quantile(0.5),
            p95_ns: h.value_at_quantile(0.95),
            p99_ns: h.value_at_quantile(0.99),
            p999_ns: h.value_at_quantile(0.999),
            max_ns: h.max(),
        }
    }
}

/// All kinds.
#[derive(Debug)]
pub(crate) struct Recorders {
    kinds: [Recorder; 4],
    pub errors: u64,
}

/// The longest latency that is told apart: an hour.
const LONGEST_NS: u64 = 3_600_000_000_000;

impl Recorders {
    pub fn new() -> Recorders {
        let recorder = || Recorder {
            latencies: Histogram::new_with_max(LONGEST_NS, 2).expect("within what a histogram can hold"),
            bytes: 0,
        };
        Recorders { kinds: std::array::from_fn(|_| recorder()), errors: 0 }
    }

    pub fn note(&mut self, kind: Kind, ns: u64, bytes: u64) {
        let recorder = &mut self.kinds[kind as usize];
        recorder.latencies.saturating_record(ns.max(1));
        recorder.bytes += bytes;
    }

    pub fn stats(&self) -> Stats {
        let of = |kind: Kind| self.kinds[kind as usize].latency();
        Stats {
            reads: of(Kind::Read),
            writes: of(Kind::Write),
            flushes: of(Kind::Flush),
            trims: of(Kind::Trim),
            errors: self.errors,
        }
    }
}
