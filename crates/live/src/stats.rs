//! Requests to a live card: how many there were, and how long they took.

use device::{Operation, Parts};
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// Latencies of one kind of request, from submission to reply, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Latency {
    /// Requests that worked.
    pub count: u64,
    /// Bytes of these requests, in all.
    pub bytes: u64,
    /// Half were faster.
    pub p50_ns: u64,
    /// 95 % were faster.
    pub p95_ns: u64,
    /// 99 % were faster.
    pub p99_ns: u64,
    /// 99.9 % were faster.
    pub p999_ns: u64,
    /// Latency of the slowest of them.
    pub max_ns: u64,
}

/// Requests since the card was started, and how long they took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stats {
    /// Reads that worked; the others are among the errors.
    pub reads: Latency,
    /// Writes of data; zeroes count as trims.
    pub writes: Latency,
    /// Flushes of all writes answered before.
    pub flushes: Latency,
    /// Trims, and zeroes that were written.
    pub trims: Latency,
    /// Requests that did not work.
    pub errors: u64,
}

/// A kind of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Reads of any length.
    Read,
    /// Writes of data; zeroes count as trims.
    Write,
    /// Flushes of all writes answered before.
    Flush,
    /// Trims, and zeroes that were written.
    Trim,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 4] = [Kind::Read, Kind::Write, Kind::Flush, Kind::Trim];

    pub(crate) fn of(operation: Operation) -> Kind {
        match operation {
            Operation::Read => Kind::Read,
            Operation::Write => Kind::Write,
            Operation::Flush => Kind::Flush,
            Operation::Trim => Kind::Trim,
        }
    }

    /// In one word.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Read => "read",
            Kind::Write => "write",
            Kind::Flush => "flush",
            Kind::Trim => "trim",
        }
    }
}

/// Upper bounds of [`Buckets`], in nanoseconds: 1, 2 and 5 of each decade from a microsecond to ten seconds.
pub const BOUNDS_NS: [u64; 22] = {
    let mut bounds = [0; 22];
    let mut i = 0;
    while i < bounds.len() {
        bounds[i] = [1_000, 2_000, 5_000][i % 3] * 10u64.pow((i / 3) as u32);
        i += 1;
    }
    bounds
};

/// Latencies of one kind of request, exactly counted between fixed bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Buckets {
    /// Requests above the bound before and up to this one; the last are above all bounds.
    pub counts: [u64; BOUNDS_NS.len() + 1],
    /// All of them together.
    pub sum_ns: u64,
    /// Bytes of these requests, in all.
    pub bytes: u64,
}

/// Requests of one kind, and where their time went in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Explained {
    /// Requests whose time is explained.
    pub requests: u64,
    /// Their time by cause.
    pub parts: Parts,
}

impl Explained {
    fn note(&mut self, parts: &Parts) {
        self.requests += 1;
        self.parts.merge(parts);
    }

    fn add(&mut self, other: &Explained) {
        self.requests += other.requests;
        self.parts.merge(&other.parts);
    }
}

/// Requests of one kind whose time is explained: all of them, and the slow ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Explanation {
    /// All requests that are explained.
    pub all: Explained,
    /// Requests that took longer than the bound that was in force, see [`crate::Live::slow_above`].
    pub slow: Explained,
}

/// Latencies of one kind of request.
#[derive(Debug)]
struct Recorder {
    latencies: Histogram<u64>,
    buckets: Buckets,
    explanation: Explanation,
    /// A request that took longer is a slow one.
    slow_above_ns: u64,
}

impl Recorder {
    fn latency(&self) -> Latency {
        let h = &self.latencies;
        Latency {
            count: h.len(),
            bytes: self.buckets.bytes,
            p50_ns: h.value_at_quantile(0.5),
            p95_ns: h.value_at_quantile(0.95),
            p99_ns: h.value_at_quantile(0.99),
            p999_ns: h.value_at_quantile(0.999),
            max_ns: h.max(),
        }
    }
}

/// Latencies of all kinds of requests, and the number of those that failed.
#[derive(Debug)]
pub(crate) struct Recorders {
    kinds: [Recorder; Kind::ALL.len()],
    pub errors: u64,
}

/// The longest latency that is told apart: an hour.
const LONGEST_NS: u64 = 3_600_000_000_000;

impl Recorders {
    pub fn new() -> Recorders {
        let recorder = || Recorder {
            latencies: Histogram::new_with_max(LONGEST_NS, 2).expect("within what a histogram can hold"),
            buckets: Buckets::default(),
            explanation: Explanation::default(),
            slow_above_ns: u64::MAX,
        };
        Recorders { kinds: std::array::from_fn(|_| recorder()), errors: 0 }
    }

    pub fn note(&mut self, kind: Kind, ns: u64, bytes: u64) {
        let recorder = &mut self.kinds[kind as usize];
        recorder.latencies.saturating_record(ns.max(1));
        let buckets = &mut recorder.buckets;
        buckets.counts[BOUNDS_NS.partition_point(|&bound| bound < ns)] += 1;
        buckets.sum_ns += ns;
        buckets.bytes += bytes;
    }

    /// Notes where the time of a request went, which [`Recorders::note`] counts.
    pub fn explain(&mut self, kind: Kind, parts: &Parts) {
        let recorder = &mut self.kinds[kind as usize];
        recorder.explanation.all.note(parts);
        if parts.total_ns() > recorder.slow_above_ns {
            recorder.explanation.slow.note(parts);
        }
    }

    /// From now on requests that take longer are slow ones, by kind.
    pub fn slow_above(&mut self, bounds_ns: [u64; Kind::ALL.len()]) {
        self.kinds.iter_mut().zip(bounds_ns).for_each(|(recorder, ns)| recorder.slow_above_ns = ns);
    }

    /// Adds the requests that others have counted.
    pub fn add(&mut self, others: &Recorders) {
        for (kind, other) in self.kinds.iter_mut().zip(&others.kinds) {
            kind.latencies.add(&other.latencies).expect("all have the same range");
            for (count, more) in kind.buckets.counts.iter_mut().zip(other.buckets.counts) {
                *count += more;
            }
            kind.buckets.sum_ns += other.buckets.sum_ns;
            kind.buckets.bytes += other.buckets.bytes;
            kind.explanation.all.add(&other.explanation.all);
            kind.explanation.slow.add(&other.explanation.slow);
        }
        self.errors += others.errors;
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

    pub fn buckets(&self) -> [Buckets; Kind::ALL.len()] {
        Kind::ALL.map(|kind| self.kinds[kind as usize].buckets)
    }

    pub fn explanations(&self) -> [Explanation; Kind::ALL.len()] {
        Kind::ALL.map(|kind| self.kinds[kind as usize].explanation)
    }

    /// How many requests took how long: pairs of nanoseconds and a count, ascending, exact to 1 %.
    pub fn recorded(&self, kind: Kind) -> Vec<(u64, u64)> {
        let values = self.kinds[kind as usize].latencies.iter_recorded();
        values.map(|value| (value.value_iterated_to(), value.count_at_value())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_latency_is_counted_up_to_its_bound_and_not_beyond() {
        assert_eq!((BOUNDS_NS[0], BOUNDS_NS[1], BOUNDS_NS[21]), (1_000, 2_000, 10_000_000_000));
        assert!(BOUNDS_NS.is_sorted());
        let mut recorders = Recorders::new();
        for ns in [0, 1_000, 1_001, 2_000, 10_000_000_000, 10_000_000_001] {
            recorders.note(Kind::Write, ns, 512);
        }
        let [_, writes, ..] = recorders.buckets();
        assert_eq!((writes.counts[0], writes.counts[1], writes.counts[21], writes.counts[22]), (2, 2, 1, 1));
        assert_eq!((writes.sum_ns, writes.bytes), (20_000_004_002, 6 * 512));
        let recorded = recorders.recorded(Kind::Write);
        assert_eq!(recorded.iter().map(|(_, count)| count).sum::<u64>(), 6);
        assert!(recorded.is_sorted() && recorders.recorded(Kind::Read).is_empty());
    }
}
