//! Dividing a request into pieces that the device takes at once.
//!
//! A trim covers exactly the whole sectors of its range, in pieces that hold nobody up for long. Where the range has to
//! read as zeroes, zeroes are written to the parts of sectors at its edges.

use crate::{Limits, Request};
use device::{Op, SECTOR_BYTES};

/// A piece of a trim: a trim of everything holds nobody up.
pub const MAX_TRIM_BYTES: u64 = 64 << 20;
/// A piece of zeroes that are written.
pub const MAX_ZEROES_BYTES: u64 = 1 << 20;

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
    pub operation: Op,
    pub offset_bytes: u64,
    pub len_bytes: u32,
    pub source: Source,
}

impl Piece {
    fn zeroes(from: u64, to: u64) -> Piece {
        Piece { operation: Op::Write, offset_bytes: from, len_bytes: (to - from) as u32, source: Source::Zeroes }
    }

    pub fn first_sector(&self) -> u64 {
        self.offset_bytes / SECTOR_BYTES
    }

    fn end_bytes(&self) -> u64 {
        self.offset_bytes + u64::from(self.len_bytes)
    }

    fn changes(&self) -> bool {
        matches!(self.operation, Op::Write | Op::Trim)
    }

    /// It writes a part of a sector.
    pub fn is_ragged(&self) -> bool {
        self.operation == Op::Write
            && !(self.offset_bytes.is_multiple_of(SECTOR_BYTES) && self.end_bytes().is_multiple_of(SECTOR_BYTES))
    }

    /// Both change a sector, and one of them only a part of what it writes to: they may not be in flight together.
    pub fn conflicts(&self, other: &Piece) -> bool {
        let shares_sectors = self.first_sector() < other.end_bytes().div_ceil(SECTOR_BYTES)
            && other.first_sector() < self.end_bytes().div_ceil(SECTOR_BYTES);
        (self.is_ragged() || other.is_ragged()) && self.changes() && other.changes() && shares_sectors
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

    /// Of a request that ends within what a device can have.
    pub fn of(request: &Request) -> Pieces {
        let Request { operation, offset_bytes, len_bytes, .. } = *request;
        let end = offset_bytes + u64::from(len_bytes);
        match operation {
            Op::Flush => {
                let flush = Piece { operation, offset_bytes: 0, len_bytes: 0, source: Source::Nothing };
                Pieces { whole: Some(flush), ..Pieces::NONE }
            }
            Op::Read | Op::Write => {
                let source = if operation == Op::Write { Source::Client } else { Source::Nothing };
                Pieces { whole: Some(Piece { operation, offset_bytes, len_bytes, source }), ..Pieces::NONE }
            }
            Op::Trim if request.keeps_room => Pieces { zeroes: (offset_bytes, end), ..Pieces::NONE },
            Op::Trim => {
                let first_whole = offset_bytes.next_multiple_of(SECTOR_BYTES).min(end);
                let end_whole = (end - end % SECTOR_BYTES).max(first_whole);
                let edge = |from, to| (request.reads_zero && from < to).then(|| Piece::zeroes(from, to));
                let edges = [edge(offset_bytes, first_whole), edge(end_whole, end)];
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
            self.trim.0 = to;
            let len_bytes = (to - at) as u32;
            return Some(Piece { operation: Op::Trim, offset_bytes: at, len_bytes, source: Source::Nothing });
        }
        None
    }

    /// No piece is left.
    pub fn is_empty(&self) -> bool {
        let Pieces { whole, edges, zeroes, trim } = self;
        whole.is_none() && edges.iter().all(Option::is_none) && zeroes.0 >= zeroes.1 && trim.0 >= trim.1
    }
}
