//! Dividing a request into pieces that the device takes at once.
//!
//! A trim covers exactly the whole sectors of its range, in pieces that hold nobody up for long. Where the range has to
//! read as zeroes, zeroes are written to the parts of sectors at its edges.

use crate::canary::{Canary, planted};
use crate::limits::Limits;
use crate::request::Request;
use device::{ByteRange, Operation, SECTOR_BYTES};

/// Where the bytes of a piece come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// There are none.
    Nothing,
    /// The client has sent them.
    Client,
    /// They are zeroes.
    Zeroes,
}

/// A piece of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub operation: Operation,
    pub range: ByteRange,
    pub source: Source,
}

impl Piece {
    fn zeroes(from: u64, to: u64) -> Piece {
        Piece { operation: Operation::Write, range: between(from, to), source: Source::Zeroes }
    }

    pub fn first_sector(&self) -> u64 {
        self.range.offset_bytes / SECTOR_BYTES
    }

    fn end_sector(&self) -> u64 {
        self.range.end_bytes().div_ceil(SECTOR_BYTES)
    }

    fn changes(&self) -> bool {
        matches!(self.operation, Operation::Write | Operation::Trim)
    }

    /// It writes a part of a sector.
    pub fn is_ragged(&self) -> bool {
        self.operation == Operation::Write
            && !(self.range.offset_bytes.is_multiple_of(SECTOR_BYTES)
                && self.range.end_bytes().is_multiple_of(SECTOR_BYTES))
    }

    /// Both change a sector, and one of them only a part of what it writes to: they may not be in flight together.
    pub fn conflicts(&self, other: &Piece) -> bool {
        (self.is_ragged() || other.is_ragged()) && self.changes() && other.changes() && self.shares_sectors(other)
    }

    /// One of the two changes a sector that the other one reads.
    pub fn is_seen_by(&self, other: &Piece) -> bool {
        let reads = |piece: &Piece| piece.operation == Operation::Read;
        let is_pair = self.changes() && reads(other) || reads(self) && other.changes();
        is_pair && self.shares_sectors(other)
    }

    fn shares_sectors(&self, other: &Piece) -> bool {
        self.first_sector() < other.end_sector() && other.first_sector() < self.end_sector()
    }
}

/// The pieces of a request that are still to come, in order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pieces {
    /// A request that is not divided.
    whole: Option<Piece>,
    /// The parts of the first and of the last sector that are zeroed.
    edges: [Option<Piece>; 2],
    /// Begin and end of what is zeroed otherwise.
    zeroes: (u64, u64),
    /// Begin and end of the sectors that are trimmed.
    trim: (u64, u64),
}

impl Pieces {
    pub const NONE: Pieces = Pieces { whole: None, edges: [None, None], zeroes: (0, 0), trim: (0, 0) };

    /// The pieces of a request; its range ends within the bytes that a device can have.
    pub fn of(request: &Request) -> Pieces {
        let Request { operation, range, .. } = *request;
        let (offset_bytes, end) = (range.offset_bytes, range.end_bytes());
        let whole = |range, source| Pieces { whole: Some(Piece { operation, range, source }), ..Pieces::NONE };
        match operation {
            Operation::Flush => whole(between(0, 0), Source::Nothing),
            Operation::Read => whole(range, Source::Nothing),
            Operation::Write => whole(range, Source::Client),
            Operation::Trim if request.keeps_room => Pieces { zeroes: (offset_bytes, end), ..Pieces::NONE },
            Operation::Trim => {
                if planted(Canary::TrimTooWide) && !request.reads_zero {
                    let first = offset_bytes - offset_bytes % SECTOR_BYTES;
                    return Pieces { trim: (first, end.next_multiple_of(SECTOR_BYTES)), ..Pieces::NONE };
                }
                let first_whole = offset_bytes.next_multiple_of(SECTOR_BYTES).min(end);
                let end_whole = (end - end % SECTOR_BYTES).max(first_whole);
                let edge = |from, to| (request.reads_zero && from < to).then(|| Piece::zeroes(from, to));
                let tail = edge(end_whole, end).filter(|_| !planted(Canary::EdgeLost));
                let edges = [edge(offset_bytes, first_whole), tail];
                Pieces { edges, trim: (first_whole, end_whole), ..Pieces::NONE }
            }
        }
    }

    /// Takes the next piece.
    pub fn next(&mut self, limits: &Limits) -> Option<Piece> {
        let [head, tail] = &mut self.edges;
        if let Some(piece) = self.whole.take().or_else(|| head.take()).or_else(|| tail.take()) {
            return Some(piece);
        }
        let (at, end) = self.zeroes;
        if at < end {
            // Pieces end at multiples of their size, so that whole sectors stay whole.
            let to = (at / limits.max_zeroes_bytes + 1).saturating_mul(limits.max_zeroes_bytes).min(end);
            self.zeroes.0 = to;
            return Some(Piece::zeroes(at, to));
        }
        let (at, end) = self.trim;
        if at < end {
            let to = at.saturating_add(limits.max_trim_bytes).min(end);
            self.trim.0 = if planted(Canary::TrimCutShort) { end } else { to };
            return Some(Piece { operation: Operation::Trim, range: between(at, to), source: Source::Nothing });
        }
        None
    }

    /// No piece is left.
    pub fn is_empty(&self) -> bool {
        let Pieces { whole, edges, zeroes, trim } = self;
        whole.is_none() && edges.iter().all(Option::is_none) && zeroes.0 >= zeroes.1 && trim.0 >= trim.1
    }
}

/// A range that is not longer than a request can be.
fn between(from: u64, to: u64) -> ByteRange {
    ByteRange { offset_bytes: from, len_bytes: (to - from) as u32 }
}
