//! Parameters of a disk, from the shape of its card.

use device::SECTOR_BYTES;
use ublk::{Cache, Limits};

/// Bytes of the longest read or write: as many as each tag has memory for.
pub(in crate::ublk) const REQUEST_BYTES: u32 = 512 << 10;
/// Bytes of the longest discard: the next one lets others in between.
const DISCARD_BYTES: u64 = 1 << 30;
/// Bytes of the longest run of zeroes: those that keep their room lie in memory until the card has room.
const ZEROES_BYTES: u64 = 4 << 20;

/// The part of a card's shape that a disk shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ublk) struct Shape {
    pub size_bytes: u64,
    pub has_volatile_cache: bool,
    pub read_only: bool,
}

/// The parameters. A card has sectors of 4 KiB, and no request is better for being longer than one.
pub(in crate::ublk) fn limits(shape: &Shape) -> Limits {
    let sector = SECTOR_BYTES as u32;
    Limits {
        size_bytes: shape.size_bytes,
        logical_bytes: sector,
        physical_bytes: sector,
        io_min_bytes: sector,
        io_opt_bytes: sector,
        request_bytes: REQUEST_BYTES,
        discard_granularity_bytes: sector,
        discard_bytes: if shape.read_only { 0 } else { DISCARD_BYTES },
        zeroes_bytes: if shape.read_only { 0 } else { ZEROES_BYTES },
        cache: if shape.has_volatile_cache { Cache::Volatile } else { Cache::WriteThrough },
        read_only: shape.read_only,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_say_what_the_card_has() {
        let shape = Shape { size_bytes: 1 << 30, has_volatile_cache: true, read_only: false };
        let of_files = limits(&shape);
        assert_eq!((of_files.size_bytes, of_files.cache, of_files.read_only), (1 << 30, Cache::Volatile, false));
        let units = [of_files.logical_bytes, of_files.physical_bytes, of_files.io_min_bytes, of_files.io_opt_bytes];
        assert_eq!(units, [4096; 4]);
        assert_eq!((of_files.discard_granularity_bytes, of_files.discard_bytes), (4096, 1 << 30));
        assert_eq!((of_files.request_bytes, of_files.zeroes_bytes), (512 << 10, 4 << 20));
        let with_capacitors = limits(&Shape { has_volatile_cache: false, ..shape });
        assert_eq!(with_capacitors.cache, Cache::WriteThrough);
        // A disk that can't be written offers no discard either.
        let fixed = limits(&Shape { read_only: true, ..shape });
        assert_eq!((fixed.discard_bytes, fixed.zeroes_bytes, fixed.read_only), (0, 0, true));
    }
}
