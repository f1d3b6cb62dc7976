//! Cards striped by the host (RAID 0 over cards).

use card::ModelCard;
use device::{ByteRange, Completion, Device, Operation, Parts, Request, RequestId, Time};

/// Cards with consecutive stripes of the host's address space in turn. A contiguous range is contiguous on each card,
/// so a request becomes at most one piece for each card, under the same id.
#[derive(Clone, Debug)]
pub struct Striped {
    cards: Vec<ModelCard>,
    stripe_bytes: u64,
    /// By request: pieces that are not done.
    pieces_left: Vec<u32>,
    in_flight: u64,
    scratch: Vec<Completion>,
}

impl Striped {
    /// Over at least one card of equal capacity.
    pub fn new(cards: Vec<ModelCard>, stripe_bytes: u64, max_requests: u32) -> Striped {
        assert!(!cards.is_empty() && stripe_bytes > 0);
        Striped { cards, stripe_bytes, pieces_left: vec![0; max_requests as usize], in_flight: 0, scratch: Vec::new() }
    }

    /// Returns the cards over which it stripes.
    pub fn cards(&self) -> &[ModelCard] {
        &self.cards
    }

    /// The cards, to precondition.
    pub fn cards_mut(&mut self) -> &mut [ModelCard] {
        &mut self.cards
    }

    /// Bytes of card `i` that lie below host offset `end`.
    pub fn card_offset(&self, i: u64, end: u64) -> u64 {
        card_offset(i, end, self.cards.len() as u64, self.stripe_bytes)
    }

    fn collect(&mut self, done: &mut Vec<Completion>) {
        for piece in self.scratch.drain(..) {
            let left = &mut self.pieces_left[piece.id.0 as usize];
            *left -= 1;
            if *left == 0 {
                // The piece that finished last is the critical path; all began together.
                self.in_flight -= 1;
                done.push(piece);
            }
        }
    }
}

fn card_offset(i: u64, end: u64, cards: u64, stripe_bytes: u64) -> u64 {
    let row_bytes = stripe_bytes * cards;
    let in_row = (end % row_bytes).saturating_sub(i * stripe_bytes).min(stripe_bytes);
    end / row_bytes * stripe_bytes + in_row
}

impl Device for Striped {
    type Data = ();

    fn submit(&mut self, now: Time, id: RequestId, request: Request, done: &mut Vec<Completion>) {
        let (start, end) =
            (request.range.offset_bytes, request.range.offset_bytes + u64::from(request.range.len_bytes));
        let piece = |i: u64| {
            let (from, to) = (self.card_offset(i, start), self.card_offset(i, end));
            Request { range: ByteRange { offset_bytes: from, len_bytes: (to - from) as u32 }, ..request }
        };
        let to_all = request.operation == Operation::Flush;
        let pieces: Vec<(usize, Request)> = (0..self.cards.len() as u64)
            .map(|i| (i as usize, piece(i)))
            .filter(|(_, r)| to_all || r.range.len_bytes > 0)
            .collect();
        self.in_flight += 1;
        if pieces.is_empty() {
            self.in_flight -= 1;
            return done.push(Completion { id, result: Ok(()), data: (), parts: Parts::default() });
        }
        self.pieces_left[id.0 as usize] = pieces.len() as u32;
        for (i, request) in pieces {
            self.cards[i].submit(now, id, request, &mut self.scratch);
        }
        self.collect(done);
    }

    fn next_event(&self) -> Time {
        self.cards.iter().map(Device::next_event).min().unwrap_or(Time::NEVER)
    }

    fn advance(&mut self, now: Time, done: &mut Vec<Completion>) {
        for card in &mut self.cards {
            if card.next_event() <= now {
                card.advance(now, &mut self.scratch);
            }
        }
        self.collect(done);
    }

    fn capacity_bytes(&self) -> u64 {
        // Whole rows of stripes: what is left at the end of each card is not used.
        let stripes = self.cards.iter().map(|c| c.capacity_bytes() / self.stripe_bytes).min().unwrap_or(0);
        stripes * self.stripe_bytes * self.cards.len() as u64
    }

    fn in_flight(&self) -> u64 {
        self.in_flight
    }
}

#[cfg(test)]
mod tests {
    use super::card_offset;

    #[test]
    fn every_byte_of_the_host_lies_on_exactly_one_card_in_order() {
        for cards in 1..4u64 {
            let mut next = vec![0; cards as usize];
            for byte in 0..1_000u64 {
                let on: Vec<u64> = (0..cards)
                    .filter(|&i| card_offset(i, byte + 1, cards, 64) > card_offset(i, byte, cards, 64))
                    .collect();
                assert_eq!(on.len(), 1, "byte {byte} of {cards} cards");
                let i = on[0] as usize;
                assert_eq!(card_offset(on[0], byte, cards, 64), next[i]);
                next[i] += 1;
            }
        }
    }
}
