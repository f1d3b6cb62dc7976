//! The cost of a start: how much it read of files or drives, for which part, and how long that took.

use ftl::recover::ScanReport;
use media::ReadCount;
use serde::{Deserialize, Serialize};

/// Reads of a start, in all and by its parts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StartStatus {
    /// From the opening of the modules until hosts were answered; while they are not yet, until the card was found. Shards
    /// start side by side: the longest counts.
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
    /// `headers`, `checkpoint`, `spare areas`, `log`, `map` or `rescue`, which is the last and counts when it is over.
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

    /// Hosts are answered: all parts are over.
    pub fn is_over(&self) -> bool {
        self.parts.last().is_some_and(|rescue| rescue.seconds > 0.0)
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
            let is_over = all.is_over() && shard.is_over();
            let rescue = all.parts.len() - 1;
            for (number, (part, more)) in all.parts.iter_mut().zip(shard.parts).enumerate() {
                // The last part is over when it is over in all shards.
                let counts = number < rescue || is_over;
                part.seconds = if counts { part.seconds.max(more.seconds) } else { 0.0 };
                part.read_bytes += more.read_bytes;
                part.reads += more.reads;
            }
            let seconds = all.seconds.max(shard.seconds);
            StartStatus { seconds, ..StartStatus::sum(all.parts) }
        })
    }
}
