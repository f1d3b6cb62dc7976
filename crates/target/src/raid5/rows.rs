//! Where the bytes of RAID 5 lie, and what a write to a row must read first.
//!
//! The layout is the left-symmetric one of Lee and Katz, "The performance of parity placements in disk arrays", IEEE
//! Trans. Computers 42(6), 1993, Linux's default: parity moves one card to the left from row to row, and the data
//! follow it. The way of a small write with fewer reads is taken, and reconstruction where both have as many, as Linux's
//! md does.

use std::ops::Range;

/// Rows of chunks over cards, one chunk of each for parity.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows {
    pub cards: u64,
    pub chunk_bytes: u64,
}

/// Bytes of a chunk on one card of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub card: usize,
    /// Within the chunk.
    pub bytes: Range<u64>,
}

/// Reads and writes of a write to a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    pub reads: Vec<Piece>,
    pub writes: Vec<Piece>,
    /// Bytes of the chunks that must not change meanwhile.
    pub held: Range<u64>,
}

impl Rows {
    pub fn row_bytes(&self) -> u64 {
        (self.cards - 1) * self.chunk_bytes
    }

    pub fn parity_card(&self, row: u64) -> usize {
        (self.cards - 1 - row % self.cards) as usize
    }

    fn data_card(&self, row: u64, column: u64) -> usize {
        ((self.parity_card(row) as u64 + 1 + column) % self.cards) as usize
    }

    /// The pieces of a part of a row's data, in order.
    pub fn pieces(&self, row: u64, part: Range<u64>) -> Vec<Piece> {
        let columns = part.start / self.chunk_bytes..part.end.div_ceil(self.chunk_bytes);
        let piece = |column: u64| {
            let from = column * self.chunk_bytes;
            let start = part.start.max(from) - from;
            let end = part.end.min(from + self.chunk_bytes) - from;
            Piece { card: self.data_card(row, column), bytes: start..end }
        };
        columns.map(piece).collect()
    }

    /// The reads that stand for a piece of a card that is gone.
    pub fn others(&self, piece: &Piece) -> Vec<Piece> {
        let cards = (0..self.cards as usize).filter(|card| *card != piece.card);
        cards.map(|card| Piece { card, bytes: piece.bytes.clone() }).collect()
    }

    /// The way of a write to a part of a row, of which a card may be gone.
    pub fn plan(&self, row: u64, part: Range<u64>, gone: Option<usize>) -> Plan {
        let parity_card = self.parity_card(row);
        let touched = self.pieces(row, part);
        let start = touched.iter().map(|piece| piece.bytes.start).min().unwrap_or(0);
        let end = touched.iter().map(|piece| piece.bytes.end).max().unwrap_or(0);
        let parity = Piece { card: parity_card, bytes: start..end };
        let writes: Vec<Piece> =
            touched.iter().chain([&parity]).filter(|piece| Some(piece.card) != gone).cloned().collect();
        // The old data and the old parity.
        let modify: Vec<Piece> = touched.iter().chain([&parity]).cloned().collect();
        // The data that are not written.
        let mut reconstruct = Vec::new();
        for card in (0..self.cards as usize).filter(|card| *card != parity_card) {
            let written = touched.iter().find(|piece| piece.card == card).map_or(end..end, |piece| piece.bytes.clone());
            for bytes in [start..written.start.min(end), written.end.max(start)..end] {
                if !bytes.is_empty() {
                    reconstruct.push(Piece { card, bytes });
                }
            }
        }
        let reads = match gone {
            // Nobody would have the parity.
            Some(gone) if gone == parity_card => Vec::new(),
            Some(gone) => {
                let needs = |pieces: &[Piece]| pieces.iter().any(|piece| piece.card == gone);
                match (needs(&modify), needs(&reconstruct)) {
                    (false, _) => modify,
                    (true, false) => reconstruct,
                    // Old data of the card that is gone follow from all the others.
                    (true, true) => self.others(&Piece { card: gone, bytes: start..end }),
                }
            }
            None if modify.len() < reconstruct.len() => modify,
            None => reconstruct,
        };
        Plan { reads, writes, held: start..end }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHUNK: u64 = 64 << 10;

    fn counts(cards: u64, part: Range<u64>, gone: Option<usize>) -> (usize, usize) {
        let plan = Rows { cards, chunk_bytes: CHUNK }.plan(0, part, gone);
        (plan.reads.len(), plan.writes.len())
    }

    #[test]
    fn every_byte_has_a_place_of_its_own_and_each_card_its_turn_of_parity() {
        for cards in 3..8 {
            let rows = Rows { cards, chunk_bytes: CHUNK };
            let mut parity = vec![0; cards as usize];
            for row in 0..3 * cards {
                parity[rows.parity_card(row)] += 1;
                let mut taken = vec![rows.parity_card(row)];
                taken.extend(rows.pieces(row, 0..rows.row_bytes()).iter().map(|piece| piece.card));
                taken.sort_unstable();
                assert_eq!(taken, (0..cards as usize).collect::<Vec<_>>());
            }
            assert!(parity.iter().all(|&turns| turns == 3));
        }
    }

    #[test]
    fn a_small_write_is_four_requests_and_a_whole_row_reads_nothing() {
        // Old data and old parity; with few cards there are fewer others to read.
        for (cards, reads) in [(3, 1), (4, 2), (5, 2), (6, 2), (12, 2)] {
            assert_eq!(counts(cards, 0..4096, None), (reads, 2), "{cards} cards");
            assert_eq!(counts(cards, 0..(cards - 1) * CHUNK, None), (0, cards as usize), "{cards} cards");
        }
        // Most of a row: the chunk that is left is read.
        assert_eq!(counts(6, 0..4 * CHUNK, None), (1, 5));
        // Two chunks of five in part: three reads either way, and old data are read.
        assert_eq!(counts(6, CHUNK - 4096..CHUNK + 4096, None), (3, 3));
    }

    #[test]
    fn without_a_card_a_write_reads_what_is_left() {
        let rows = Rows { cards: 5, chunk_bytes: CHUNK };
        let parity = rows.parity_card(0);
        let [first, second] = [0, 1].map(|column| rows.data_card(0, column));
        // The parity is gone: data are written and nothing else.
        assert_eq!(counts(5, 0..4096, Some(parity)), (0, 1));
        // The data that are written are gone: the parity is made from the three others.
        assert_eq!(counts(5, 0..4096, Some(first)), (3, 1));
        // Other data are gone: old data and old parity.
        assert_eq!(counts(5, 0..4096, Some(second)), (2, 2));
        // None of the ways reads from the card that is gone, or writes to it.
        for gone in 0..5 {
            for (start, end) in [(0, 4096), (CHUNK - 4096, CHUNK + 8192), (0, 3 * CHUNK), (8192, 4 * CHUNK)] {
                let plan = rows.plan(0, start..end, Some(gone));
                assert!(
                    plan.reads.iter().chain(&plan.writes).all(|piece| piece.card != gone && !piece.bytes.is_empty())
                );
            }
        }
    }
}
