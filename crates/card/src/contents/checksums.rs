//! The checksum of each sector of the host, beside the map.
//!
//! A read of a drive brings the sectors and nothing else, and is believed when they have the checksums that stand here. So
//! a write that the drive lost, put elsewhere or overwrote with something older is found as well as a flipped bit. The
//! table belongs to addresses of the host, so a relocation changes nothing in it.
//!
//! After a start no checksum is known. Each is learned from the spare area of its sector, with the first read of its unit.

use ftl::{Lba, Table};

/// A checksum that is not known. A payload that has it is entered as [`OTHER`].
const UNKNOWN: u32 = 0;
/// The entry of a payload whose checksum is [`UNKNOWN`].
const OTHER: u32 = 1;

/// See the module. Four bytes for each sector of the host.
#[derive(Clone, Debug)]
pub struct Checksums {
    by_lba: Table<UNKNOWN>,
}

fn entry(payload_crc: u32) -> u32 {
    if payload_crc == UNKNOWN { OTHER } else { payload_crc }
}

impl Checksums {
    /// The checksums of so many sectors, none of which is known.
    pub fn unknown(sectors: u64) -> Checksums {
        Checksums { by_lba: Table::new(sectors as usize) }
    }

    /// Enters the checksum of what an address of the map holds from now on. Addresses beyond those of the host have none.
    pub fn set(&mut self, lba: Lba, payload_crc: u32) {
        self.enter(lba, entry(payload_crc));
    }

    /// Enters a checksum that was found on the medium, unless one is known.
    pub fn learn(&mut self, lba: Lba, payload_crc: u32) {
        if !self.knows(lba) {
            self.set(lba, payload_crc);
        }
    }

    /// The sector's contents can't be told by a checksum any more.
    pub fn forget(&mut self, lba: Lba) {
        self.enter(lba, UNKNOWN);
    }

    fn enter(&mut self, lba: Lba, value: u32) {
        if (lba.0 as usize) < self.by_lba.len() {
            self.by_lba.set(lba.0 as usize, value);
        }
    }

    pub fn knows(&self, lba: Lba) -> bool {
        (lba.0 as usize) < self.by_lba.len() && self.by_lba.get(lba.0 as usize) != UNKNOWN
    }

    /// Whether a payload with this checksum may be the sector's; `None` when the sector's checksum is not known.
    pub fn fits(&self, lba: Lba, payload_crc: u32) -> Option<bool> {
        self.knows(lba).then(|| self.by_lba.get(lba.0 as usize) == entry(payload_crc))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checksum_is_known_once_it_was_entered_whatever_its_value() {
        let mut checksums = Checksums::unknown(4);
        for crc in [UNKNOWN, OTHER, 7, u32::MAX] {
            assert_eq!(checksums.fits(Lba(2), crc), None);
            checksums.set(Lba(2), crc);
            assert!(checksums.knows(Lba(2)) && !checksums.knows(Lba(1)));
            assert_eq!(checksums.fits(Lba(2), crc), Some(true));
            assert_eq!(checksums.fits(Lba(2), crc ^ 6), Some(false));
            checksums.learn(Lba(2), crc ^ 6);
            assert_eq!(checksums.fits(Lba(2), crc), Some(true), "what is known counts");
            checksums.forget(Lba(2));
        }
        checksums.learn(Lba(3), 9);
        assert_eq!(checksums.fits(Lba(3), 9), Some(true));
        checksums.set(Lba(4), 9);
        assert!(!checksums.knows(Lba(4)), "beyond the host's sectors");
    }
}
