//! Pieces in flight: what the device has, by id.

use crate::canary::{Canary, planted};
use crate::piece::Piece;
use device::{RequestId, Time};

/// A piece that the device has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InFlight {
    /// The request that it belongs to.
    pub request: usize,
    pub piece: Piece,
    /// When the device got it.
    pub since: Time,
}

/// The ids that the device was built for, and what is in flight under each.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    pieces: Vec<Option<InFlight>>,
    /// A bit for each id that is free, so that the lowest one is found at once.
    free: Vec<u64>,
    /// Pieces in flight that write a part of a sector.
    ragged: u32,
}

impl Slots {
    pub fn new(count: u32) -> Slots {
        let mut slots = Slots { pieces: Vec::new(), free: Vec::new(), ragged: 0 };
        slots.pieces.resize(count as usize, None);
        slots.free = (0..count.div_ceil(64)).map(|word| u64::MAX >> (64 - (count - word * 64).min(64))).collect();
        slots
    }

    pub fn is_full(&self) -> bool {
        self.free.iter().all(|word| *word == 0)
    }

    /// A piece in flight writes to the same sector, and one of the two covers only a part of it. Where reads see durable
    /// bytes only, one of them may also be a read.
    pub fn conflicts(&self, piece: &Piece, reads_wait: bool) -> bool {
        if planted(Canary::OrderIgnored) {
            return false;
        }
        if reads_wait && self.pieces.iter().flatten().any(|in_flight| piece.is_seen_by(&in_flight.piece)) {
            return true;
        }
        // Nearly all requests cover whole sectors.
        (self.ragged > 0 || piece.is_ragged())
            && self.pieces.iter().flatten().any(|in_flight| piece.conflicts(&in_flight.piece))
    }

    /// Gives a piece the lowest free id.
    pub fn take(&mut self, in_flight: InFlight) -> RequestId {
        let word = self.free.iter().position(|word| *word != 0).expect("an id is free");
        let id = word * 64 + self.free[word].trailing_zeros() as usize;
        self.free[word] &= self.free[word] - 1;
        self.ragged += u32::from(in_flight.piece.is_ragged());
        self.pieces[id] = Some(in_flight);
        RequestId(id as u32)
    }

    /// The piece is in flight no longer. `None`: there is none.
    pub fn release(&mut self, id: RequestId) -> Option<InFlight> {
        let id = id.0 as usize;
        let in_flight = self.pieces[id].take()?;
        self.free[id / 64] |= 1 << (id % 64);
        self.ragged -= u32::from(in_flight.piece.is_ragged());
        Some(in_flight)
    }

    /// The requests that have pieces in flight, which are not in flight any more. A request comes once for each piece.
    pub fn take_all(&mut self) -> Vec<usize> {
        let count = self.pieces.len() as u32;
        let taken = std::mem::replace(self, Slots::new(count));
        taken.pieces.into_iter().flatten().map(|in_flight| in_flight.request).collect()
    }
}
