//! Figures of a cache since a moment.

use super::directory::Moves;
use device::Time;
use results::LatencyRecorder;

/// Requests and bytes since the start of measurement.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// When it began.
    pub since: Time,
    /// Reads and writes that found all of their blocks on the flash.
    pub hits: u64,
    /// Reads and writes that did not.
    pub misses: u64,
    /// Requests of a long sequential stream, hits or misses.
    pub passed_by: u64,
    /// Reads that waited for the fetch of another request.
    pub delayed: u64,
    /// Bytes that the host wrote.
    pub written_bytes: u64,
    /// Blocks that were asked for.
    pub blocks: u64,
    /// Those of them that were on the flash.
    pub block_hits: u64,
    /// Bytes written to the flash by the cache, its map included.
    pub flash_bytes: u64,
    /// Requests written back: runs of neighbouring blocks.
    pub write_backs: u64,
    /// Latency of reads that hit and that missed, and of writes.
    pub latency: [LatencyRecorder; 4],
    pub(super) moves: Moves,
}

/// The kind of a request, in the order of [`Counts::latency`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    ReadHit,
    ReadMiss,
    WriteHit,
    WriteMiss,
    Other,
}

impl Counts {
    /// Figures from now on.
    pub(super) fn new(since: Time, moves: Moves) -> Counts {
        Counts { since, moves, latency: std::array::from_fn(|_| LatencyRecorder::new()), ..Counts::default() }
    }

    pub(super) fn note(&mut self, kind: Kind) {
        match kind {
            Kind::ReadHit | Kind::WriteHit => self.hits += 1,
            Kind::ReadMiss | Kind::WriteMiss => self.misses += 1,
            Kind::Other => {}
        }
    }

    pub(super) fn finish(&mut self, kind: Kind, ns: u64) {
        if kind != Kind::Other {
            self.latency[kind as usize].record(ns);
        }
    }
}
