//! Requests of a volume of any size, laid onto a card.
//!
//! Offsets count modulo the card's size. A request that does not begin and end on a boundary of 512 bytes is widened to
//! them. A request that crosses the card's end continues at its beginning, and one that exceeds the largest request is
//! cut: both make pieces. A trim longer than the card trims all of it.

use crate::MAX_REQUEST_BYTES;
use crate::trace::Record;
use device::{ByteRange, Operation, Request};

/// Boundaries of requests.
const UNIT_BYTES: u64 = 512;

/// The rest of a record that is being asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Folded {
    op: Operation,
    fua: bool,
    offset_bytes: u64,
    left_bytes: u64,
    /// It lay, at least in part, beyond the card's size.
    pub folded: bool,
    /// It was widened to boundaries.
    pub widened: bool,
}

impl Folded {
    /// A record on a card of so many bytes, a multiple of 512.
    pub fn new(record: &Record, capacity_bytes: u64) -> Folded {
        let Record { op, fua, offset_bytes, len_bytes, .. } = *record;
        let before = offset_bytes % UNIT_BYTES;
        // At most 511 bytes on both sides: a reader has made sure that the end is below 2^64.
        let end = u128::from(offset_bytes) + u128::from(len_bytes);
        let behind = (UNIT_BYTES - (end % u128::from(UNIT_BYTES)) as u64) % UNIT_BYTES;
        let all_bytes = len_bytes.saturating_add(before + behind);
        let left_bytes = if op == Operation::Trim { all_bytes.min(capacity_bytes) } else { all_bytes };
        Folded {
            op,
            fua,
            offset_bytes: (offset_bytes - before) % capacity_bytes,
            left_bytes,
            folded: end > u128::from(capacity_bytes),
            widened: before + behind > 0,
        }
    }

    /// The next piece, and whether more follow.
    pub fn next_piece(&mut self, capacity_bytes: u64) -> (Request, bool) {
        if self.op == Operation::Flush {
            return (Request::flush(), false);
        }
        let len = self.left_bytes.min(MAX_REQUEST_BYTES).min(capacity_bytes - self.offset_bytes);
        let range = ByteRange {
            offset_bytes: self.offset_bytes,
            len_bytes: u32::try_from(len).expect("the largest request is below 4 GiB"),
        };
        let request = Request { operation: self.op, range, fua: self.fua, data: () };
        self.left_bytes -= len;
        self.offset_bytes = (self.offset_bytes + len) % capacity_bytes;
        (request, self.left_bytes > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(op: Operation, offset_bytes: u64, len_bytes: u64, capacity_bytes: u64) -> (Vec<(u64, u32)>, bool, bool) {
        let record = Record { at_ns: 0, op, fua: false, offset_bytes, len_bytes };
        let mut folded = Folded::new(&record, capacity_bytes);
        let mut found = Vec::new();
        loop {
            let (request, more) = folded.next_piece(capacity_bytes);
            found.push((request.range.offset_bytes, request.range.len_bytes));
            if !more {
                return (found, folded.folded, folded.widened);
            }
        }
    }

    const MIB: u64 = 1 << 20;

    #[test]
    fn what_lies_on_the_card_stays_where_it_is() {
        assert_eq!(pieces(Operation::Read, 4096, 8192, MIB), (vec![(4096, 8192)], false, false));
        assert_eq!(pieces(Operation::Write, MIB - 512, 512, MIB), (vec![(MIB - 512, 512)], false, false));
    }

    #[test]
    fn what_lies_beyond_it_comes_back_and_goes_on_at_its_beginning() {
        assert_eq!(pieces(Operation::Read, 5 * MIB + 4096, 512, MIB), (vec![(4096, 512)], true, false));
        assert_eq!(pieces(Operation::Write, MIB - 512, 1536, MIB), (vec![(MIB - 512, 512), (0, 1024)], true, false));
        assert_eq!(pieces(Operation::Write, 0, 2 * MIB, MIB), (vec![(0, MIB as u32), (0, MIB as u32)], true, false));
    }

    #[test]
    fn requests_are_widened_to_boundaries_and_cut_to_what_a_request_may_have() {
        assert_eq!(pieces(Operation::Read, 1, 1, MIB), (vec![(0, 512)], false, true));
        assert_eq!(pieces(Operation::Read, 511, 2, MIB), (vec![(0, 1024)], false, true));
        let most = MAX_REQUEST_BYTES as u32;
        let (found, folded, _) = pieces(Operation::Write, 512, MAX_REQUEST_BYTES + 512, 1 << 40);
        assert_eq!((found, folded), (vec![(512, most), (512 + MAX_REQUEST_BYTES, 512)], false));
    }

    #[test]
    fn a_trim_is_never_longer_than_the_card_and_a_flush_has_no_place() {
        let (found, folded, _) = pieces(Operation::Trim, 4096, 1 << 60, MIB);
        assert_eq!((found, folded), (vec![(4096, (MIB - 4096) as u32), (0, 4096)], true));
        assert_eq!(pieces(Operation::Flush, 0, 0, MIB).0, [(0, 0)]);
        // The last bytes that there can be.
        assert_eq!(pieces(Operation::Read, u64::MAX - 100, 100, MIB), (vec![(MIB - 512, 512)], true, true));
    }
}
