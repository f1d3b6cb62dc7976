//! A point that was measured, and its figures.

use crate::fit::condition::Condition;

/// A figure of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Figure {
    /// Bytes a second, both ways.
    Throughput,
    /// Mean latency of reads.
    ReadMean,
    /// 5th percentile of reads.
    ReadP05,
    /// 25th percentile of reads.
    ReadP25,
    /// Median latency of reads.
    ReadP50,
    /// 75th percentile of reads.
    ReadP75,
    /// 90th percentile of reads.
    ReadP90,
    /// 95th percentile of reads.
    ReadP95,
    /// 99th percentile of reads.
    ReadP99,
    /// 99.9th percentile of reads.
    ReadP999,
    /// Mean latency of writes.
    WriteMean,
    /// 5th percentile of writes.
    WriteP05,
    /// 25th percentile of writes.
    WriteP25,
    /// Median latency of writes.
    WriteP50,
    /// 75th percentile of writes.
    WriteP75,
    /// 90th percentile of writes.
    WriteP90,
    /// 95th percentile of writes.
    WriteP95,
    /// 99th percentile of writes.
    WriteP99,
    /// 99.9th percentile of writes.
    WriteP999,
    /// The longest write, where writes wait for stalls.
    WriteLongest,
}

/// Percentiles of latency that are fitted.
pub(crate) const RANKS: [f64; 8] = [5.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9];
pub(crate) const READS: [Figure; 8] = [
    Figure::ReadP05,
    Figure::ReadP25,
    Figure::ReadP50,
    Figure::ReadP75,
    Figure::ReadP90,
    Figure::ReadP95,
    Figure::ReadP99,
    Figure::ReadP999,
];
pub(crate) const WRITES: [Figure; 8] = [
    Figure::WriteP05,
    Figure::WriteP25,
    Figure::WriteP50,
    Figure::WriteP75,
    Figure::WriteP90,
    Figure::WriteP95,
    Figure::WriteP99,
    Figure::WriteP999,
];

impl Figure {
    /// Returns the name for programs.
    pub fn name(self) -> &'static str {
        match self {
            Figure::Throughput => "bytes_per_s",
            Figure::ReadMean => "read_mean_ns",
            Figure::WriteMean => "write_mean_ns",
            Figure::ReadP05 => "read_p05_ns",
            Figure::ReadP25 => "read_p25_ns",
            Figure::ReadP50 => "read_p50_ns",
            Figure::ReadP75 => "read_p75_ns",
            Figure::ReadP90 => "read_p90_ns",
            Figure::ReadP95 => "read_p95_ns",
            Figure::ReadP99 => "read_p99_ns",
            Figure::ReadP999 => "read_p999_ns",
            Figure::WriteP05 => "write_p05_ns",
            Figure::WriteP25 => "write_p25_ns",
            Figure::WriteP50 => "write_p50_ns",
            Figure::WriteP75 => "write_p75_ns",
            Figure::WriteP90 => "write_p90_ns",
            Figure::WriteP95 => "write_p95_ns",
            Figure::WriteP99 => "write_p99_ns",
            Figure::WriteP999 => "write_p999_ns",
            Figure::WriteLongest => "write_longest_ns",
        }
    }

    /// Returns whether it is a 99th percentile or one beyond.
    pub fn is_tail(self) -> bool {
        matches!(self, Figure::ReadP99 | Figure::ReadP999 | Figure::WriteP99 | Figure::WriteP999)
    }

    /// Returns the percentile of reads that it is, as an index into [`RANKS`].
    pub(crate) fn rank_of_reads(self) -> Option<usize> {
        READS.iter().position(|figure| *figure == self)
    }

    /// Returns the percentile of writes that it is, as an index into [`RANKS`].
    pub(crate) fn rank_of_writes(self) -> Option<usize> {
        WRITES.iter().position(|figure| *figure == self)
    }
}

/// A figure that was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// The figure that was measured.
    pub figure: Figure,
    /// Bytes a second, or nanoseconds.
    pub value: f64,
    /// One standard deviation of its logarithm.
    pub noise: f64,
}

/// A point that was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// Name of the file that it is from.
    pub file: String,
    /// Sweep that it belongs to.
    pub sweep: String,
    /// The load of the point.
    pub condition: Condition,
    /// Figures that were measured.
    pub measured: Vec<Measured>,
}

impl Observation {
    /// A figure of it.
    pub fn value(&self, figure: Figure) -> Option<f64> {
        self.measured.iter().find(|m| m.figure == figure).map(|m| m.value)
    }
}
