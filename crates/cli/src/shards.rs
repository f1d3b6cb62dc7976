//! The number of shards of a card that nobody has given one.

use std::num::NonZeroUsize;
use std::thread::available_parallelism;

/// The least size of a shard: a card of smaller ones takes more than 3 % more room.
const MIN_SHARD_BYTES: u64 = 8 << 30;

/// The number of shards of a card of so many bytes on this machine.
pub fn usual_shards(user_bytes: u64) -> u32 {
    let processors = available_parallelism().map_or(1, NonZeroUsize::get) as u64;
    shards(user_bytes, processors)
}

fn shards(user_bytes: u64, processors: u64) -> u32 {
    let by_size = user_bytes / MIN_SHARD_BYTES;
    // A sector of a shard has a number of 32 bits.
    let least = user_bytes.div_ceil((1 << 32) * device::SECTOR_BYTES);
    // A shard drives its flash from one thread at a time.
    processors.min(by_size).max(least).clamp(1, live::MAX_SHARDS.into()) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_as_many_as_processors_drive_and_bytes_fill() {
        const GIB: u64 = 1 << 30;
        let of = |gib, processors| shards(gib * GIB, processors);
        assert_eq!([of(4, 64), of(1024, 2), of(1024, 8), of(1024, 64), of(40, 64)], [1, 2, 8, 64, 5]);
        // Sector numbers end at 16 TiB.
        assert_eq!([of(16 << 10, 1), of((16 << 10) + 1, 1), of(1 << 20, 2), of(1 << 20, 1024)], [1, 2, 64, 64]);
    }
}
