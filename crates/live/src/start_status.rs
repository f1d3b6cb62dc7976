//! The cost of a start: how much it read of files or drives, for which part, and how long that took.

use ftl::recover::ScanReport;
use media::ReadCount;
use serde::{Deserialize, Serialize};

/// Reads of a start, in all and by its parts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StartStatus {
    /// From the opening of the modules until the card was found. Shards start side by side: the longest counts.
    pub seconds: f64,
    /// Bytes that were read.
    pub read_bytes: u64,
    /// Requests for them.
    pub reads: u64,
    /// The parts, in their order.
    pub parts: Vec<StartPart>,
}

/// A part of a start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StartPart {
    /// `headers`, `checkpoint`, `spare areas`, `log` or `map`.
    pub name: String,
    /// The time that it took.
    pub seconds: f64,
    /// Bytes that were read.
    pub read_bytes: u64,
    /// Requests for them.
    pub reads: u64,
}

impl StartStatus {
    /// The cost of a start that has read something; emulated flash counts nothing.
    pub(crate) fn of(report: &ScanReport) -> Option<StartStatus> {
        let part = |(name, ReadCount { requests, bytes, ns }): (&str, ReadCount)| StartPart {
            name: name.into(),
            seconds: ns as f64 / 1e9,
            read_bytes: bytes,
            reads: requests,
        };
        let start = StartStatus::sum(report.start_reads.parts().map(part).into());
        (start.reads > 0).then_some(start)
    }

    fn sum(parts: Vec<StartPart>) -> StartStatus {
        StartStatus {
            seconds: parts.iter().map(|part| part.seconds).sum(),
            read_bytes: parts.iter().map(|part| part.read_bytes).sum(),
            reads: parts.iter().map(|part| part.reads).sum(),
            parts,
        }
    }

    /// The start of a card whose shards have started side by side.
    pub(crate) fn of_shards(shards: impl Iterator<Item = StartStatus>) -> Option<StartStatus> {
        shards.reduce(|mut all, shard| {
            for (part, more) in all.parts.iter_mut().zip(shard.parts) {
                part.seconds = part.seconds.max(more.seconds);
                part.read_bytes += more.read_bytes;
                part.reads += more.reads;
            }
            let seconds = all.seconds.max(shard.seconds);
            StartStatus { seconds, ..StartStatus::sum(all.parts) }
        })
    }
}
