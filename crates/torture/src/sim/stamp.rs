//! Stamps, which stand for the contents of sectors.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Parts of a sector that a host can write for themselves: 512 bytes each.
pub const PARTS: u32 = 8;

/// Address of a 4 KiB sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Lba(pub u32);

impl Lba {
    /// The `count` sectors from this one on.
    pub fn run(self, count: u32) -> impl Iterator<Item = Lba> {
        (self.0..self.0 + count).map(Lba)
    }
}

impl fmt::Display for Lba {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LBA {}", self.0)
    }
}

/// Contents of a sector: the LBA it was written to and the number of its version there.
///
/// The two are mixed so that every byte depends on both. Parts of two stamps put together, or a stamp with a wrong bit,
/// name an LBA and a version that were never written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Stamp(pub u64);

impl Stamp {
    /// The stamp of a version.
    pub fn new(lba: Lba, version: u32) -> Stamp {
        // The finaliser of splitmix64: a bijection in which each bit of the input changes half of the output.
        let mut x = u64::from(lba.0) << 32 | u64::from(version);
        x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
        x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        Stamp(x ^ x >> 31)
    }

    /// The LBA and the version that it names. Nonsense when it is not a stamp.
    pub fn names(self) -> (Lba, u32) {
        let mut x = self.0;
        x = (x ^ x >> 31 ^ x >> 62).wrapping_mul(0x3196_42b2_d24d_8ec3);
        x = (x ^ x >> 27 ^ x >> 54).wrapping_mul(0x96de_1b17_3f11_9089);
        x = x ^ x >> 30 ^ x >> 60;
        x = x.wrapping_sub(0x9e37_79b9_7f4a_7c15);
        (Lba((x >> 32) as u32), x as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_names_what_it_was_made_of() {
        for (lba, version) in [(0, 0), (1, 0), (0, 1), (u32::MAX, u32::MAX), (77, 123_456), (1 << 31, 1 << 31)] {
            assert_eq!(Stamp::new(Lba(lba), version).names(), (Lba(lba), version));
        }
    }

    #[test]
    fn parts_of_two_stamps_name_neither() {
        for version in 1..1000u32 {
            let (old, new) = (Stamp::new(Lba(3), version).0, Stamp::new(Lba(3), version + 1).0);
            for bytes in 1..8 {
                let mask = u64::MAX << (8 * bytes);
                let mixed = old & mask | new & !mask;
                // The bytes in which they differ may all be on one side.
                assert!(mixed == old || mixed == new || Stamp(mixed).names().0 != Lba(3));
            }
        }
    }
}
