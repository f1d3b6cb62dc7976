//! Ranges of any length that are to read as zeroes, in pieces that hold nobody up.

use device::SECTOR_BYTES;
use live::Request;

/// Trimmed at once.
const TRIM_BYTES: u64 = 1 << 30;
/// Zeroes that are written at once: the card holds them in memory until it has room.
const WRITE_BYTES: u64 = 4 << 20;

/// The part of a range that is left to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::fuse) struct Range {
    offset_bytes: u64,
    end_bytes: u64,
    allocate: bool,
}

impl Range {
    /// `allocate`: it must have room afterwards.
    pub fn new(offset_bytes: u64, end_bytes: u64, allocate: bool) -> Range {
        Range { offset_bytes, end_bytes, allocate }
    }

    /// The next piece to ask for, until there is none.
    pub fn next(&mut self) -> Option<Request<'static>> {
        let offset = self.offset_bytes;
        let piece = if self.allocate { WRITE_BYTES } else { TRIM_BYTES };
        // Pieces end at multiples of a piece, so that only the range's own ends may lie within a sector.
        let end = (offset / piece * piece + piece).min(self.end_bytes);
        if offset >= end {
            return None;
        }
        self.offset_bytes = end;
        let is_whole = offset.is_multiple_of(SECTOR_BYTES) && end.is_multiple_of(SECTOR_BYTES);
        let len = (end - offset) as u32;
        Some(match self.allocate || !is_whole {
            // A hole in a file reads as zeroes from its first byte to its last.
            true => Request::write_zeroes(0, offset, len, self.allocate),
            false => Request::trim(0, offset, len),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(mut range: Range) -> Vec<Request<'static>> {
        std::iter::from_fn(|| range.next()).collect()
    }

    #[test]
    fn pieces_follow_each_other_and_only_ragged_ends_are_written() {
        let hole = pieces(Range::new(100, (5 << 30) + 4096, false));
        assert_eq!(hole[0], Request::write_zeroes(0, 100, (1 << 30) - 100, false));
        assert!(hole[1..].iter().all(|r| *r == Request::trim(0, r.range.offset_bytes, r.range.len_bytes)), "{hole:?}");
        let zeroes = pieces(Range::new(4096, 10 << 20, true));
        assert!(zeroes.iter().all(|request| request.keeps_room && request.range.len_bytes <= 4 << 20));
        for (list, from, to) in [(hole, 100, (5 << 30) + 4096), (zeroes, 4096, 10 << 20)] {
            let end = list.iter().fold(from, |at, request| {
                assert_eq!(at, request.range.offset_bytes);
                at + u64::from(request.range.len_bytes)
            });
            assert_eq!(end, to);
        }
        assert_eq!(pieces(Range::new(7, 7, false)), []);
    }
}
