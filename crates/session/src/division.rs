//! The division of a card's addresses over shards.
//!
//! Shards take turns by chunks, so that a host that asks in order uses all of them. The chunks that a shard holds follow
//! each other in its own addresses: whatever range of the card is meant, each shard has at most one range of it.

use device::{ByteRange, SECTOR_BYTES};

/// A chunk of a card's addresses: long enough that nearly all requests lie in one.
pub const CHUNK_BYTES: u64 = 1 << 20;

/// A card's addresses, divided over shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Division {
    shards: u32,
    chunk_bytes: u64,
    size_bytes: u64,
}

impl Division {
    /// The addresses of a card of so many bytes, over so many shards by chunks.
    ///
    /// # Panics
    /// When there is no shard, or a chunk is no power of two or no whole sectors.
    pub fn new(shards: u32, chunk_bytes: u64, size_bytes: u64) -> Division {
        assert!(shards > 0, "a card has a shard at least");
        assert!(chunk_bytes.is_power_of_two() && chunk_bytes >= SECTOR_BYTES, "chunks of {chunk_bytes} bytes");
        Division { shards, chunk_bytes, size_bytes }
    }

    /// The number of shards.
    pub fn shards(&self) -> u32 {
        self.shards
    }

    /// Bytes of the whole card.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Bytes of a chunk.
    pub fn chunk_bytes(&self) -> u64 {
        self.chunk_bytes
    }

    /// Bytes of the card that a shard holds. The first shard holds the most.
    pub fn shard_bytes(&self, shard: u32) -> u64 {
        self.below(shard, self.size_bytes)
    }

    /// The shard that holds an address of the card, and the address within it.
    pub fn inner(&self, offset_bytes: u64) -> (u32, u64) {
        let chunk = offset_bytes / self.chunk_bytes;
        let shards = u64::from(self.shards);
        ((chunk % shards) as u32, chunk / shards * self.chunk_bytes + offset_bytes % self.chunk_bytes)
    }

    /// The address of the card that an address within a shard stands for.
    pub fn outer(&self, shard: u32, offset_bytes: u64) -> u64 {
        let chunk = offset_bytes / self.chunk_bytes * u64::from(self.shards) + u64::from(shard);
        chunk * self.chunk_bytes + offset_bytes % self.chunk_bytes
    }

    /// The range within a shard that a range of the card covers; it may be empty.
    pub fn within(&self, shard: u32, range: ByteRange) -> ByteRange {
        let from = self.below(shard, range.offset_bytes);
        let end = self.below(shard, range.end_bytes());
        ByteRange { offset_bytes: from, len_bytes: (end - from) as u32 }
    }

    /// Bytes of a shard that stand for addresses of the card below this one.
    fn below(&self, shard: u32, offset_bytes: u64) -> u64 {
        let (chunks, rest) = (offset_bytes / self.chunk_bytes, offset_bytes % self.chunk_bytes);
        let (rounds, turn) = (chunks / u64::from(self.shards), chunks % u64::from(self.shards));
        let more = match u64::from(shard).cmp(&turn) {
            std::cmp::Ordering::Less => self.chunk_bytes,
            std::cmp::Ordering::Equal => rest,
            std::cmp::Ordering::Greater => 0,
        };
        rounds * self.chunk_bytes + more
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHUNK: u64 = 2 * SECTOR_BYTES;

    #[test]
    fn each_address_has_one_place_and_each_shard_is_filled_without_gaps() {
        for shards in 1..=4 {
            for sectors in 0..40 {
                let division = Division::new(shards, CHUNK, sectors * SECTOR_BYTES);
                let mut next = vec![0; shards as usize];
                for at in (0..sectors).map(|sector| sector * SECTOR_BYTES) {
                    let (shard, inner) = division.inner(at);
                    assert_eq!(division.outer(shard, inner), at);
                    assert_eq!(inner, next[shard as usize]);
                    next[shard as usize] += SECTOR_BYTES;
                }
                for (shard, bytes) in (0..).zip(next) {
                    assert_eq!(division.shard_bytes(shard), bytes);
                    assert!(bytes <= division.shard_bytes(0));
                }
            }
        }
    }

    #[test]
    fn a_range_is_one_range_in_each_shard() {
        let division = Division::new(3, CHUNK, 30 * SECTOR_BYTES);
        for from in (0..9 * SECTOR_BYTES).step_by(512) {
            for len in (0..9 * SECTOR_BYTES).step_by(1024) {
                let range = ByteRange { offset_bytes: from, len_bytes: len as u32 };
                let parts: Vec<ByteRange> = (0..3).map(|shard| division.within(shard, range)).collect();
                assert_eq!(parts.iter().map(|part| u64::from(part.len_bytes)).sum::<u64>(), len);
                for at in (from..from + len).step_by(512) {
                    let (shard, inner) = division.inner(at);
                    let part = parts[shard as usize];
                    assert!((part.offset_bytes..part.end_bytes()).contains(&inner), "{at} of {range:?}: {parts:?}");
                }
            }
        }
    }
}
