//! Payload: data that neither compresses nor deduplicates, and that says what it is.
//!
//! A device (or file system) that compresses or deduplicates must not be measured with zeros. Each 512-byte sector is
//! written as, little-endian:
//!
//! ```text
//!   0   8  nonce    hash of (MAGIC, sector, version, run): magic, format version and checksum in one
//!   8   8  sector   number of the sector on the device, XOR mix(nonce + 1)
//!  16   8  version  number of the write within the run, XOR mix(nonce + 2)
//!  24   8  run      number of the run, XOR mix(nonce + 3)
//!  32 480  body     60 words of the pool from word mix(nonce + 4) on, each XOR mix(nonce + 5)
//! ```
//!
//! - *It does not deduplicate*, at 512 bytes or anything larger: the header is an invertible function of (sector,
//!   version, run), so two sectors are equal only if the same sector was written twice under the same version.
//! - *It does not compress*: headers are hashed, the pool is random, and where two bodies take the same words of it they
//!   are XORed with different keys, so a window of past data repeats nothing.
//! - *It can be verified* without knowing the seed of the run: the nonce proves the header, the header says where the
//!   sector belongs, and the whole body follows from the nonce.
//! - *It costs next to nothing*: one XOR a word, from a pool that stays in the processor's cache.

use device::Rng;
use std::sync::LazyLock;

/// Bytes of a sector of payload.
pub const SECTOR_BYTES: usize = 512;

/// Also the version of the format: another format has another magic.
const MAGIC: u64 = u64::from_le_bytes(*b"flashrg1");
const HEADER_BYTES: usize = 32;
const BODY_WORDS: usize = (SECTOR_BYTES - HEADER_BYTES) / 8;
/// Half a megabyte: stays in the second-level cache of today's processors.
const POOL_WORDS: u64 = 1 << 16;

/// The same for all runs, part of the format.
static POOL: LazyLock<Box<[u64]>> = LazyLock::new(|| {
    let mut rng = Rng::stream(MAGIC, "payload pool");
    (0..POOL_WORDS as usize + BODY_WORDS).map(|_| rng.bits()).collect()
});

/// Identity of the write that a sector is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Number of the run, different for each.
    pub run: u64,
    /// Number of the write within the run.
    pub version: u64,
}

/// A fault of a sector that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum Fault {
    /// No header of this program: never written, or destroyed.
    #[error("holds nothing that flashrig wrote")]
    Foreign,
    /// A good header of another place.
    #[error("holds what belongs to offset {}", .sector * SECTOR_BYTES as u64)]
    Misplaced { sector: u64 },
    /// A good header, but not its data.
    #[error("byte {byte} of the sector is not what was written")]
    Corrupt {
        /// First wrong byte within the sector.
        byte: usize,
    },
}

/// The finaliser of SplitMix64: a bijection of 64 bits.
#[inline]
fn mix(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[inline]
fn nonce(sector: u64, stamp: Stamp) -> u64 {
    [sector, stamp.version, stamp.run].into_iter().fold(MAGIC, |hash, word| mix(hash ^ mix(word.wrapping_add(MAGIC))))
}

#[inline]
fn body_of(nonce: u64) -> (&'static [u64], u64) {
    let first = (mix(nonce.wrapping_add(4)) % POOL_WORDS) as usize;
    (&POOL[first..first + BODY_WORDS], mix(nonce.wrapping_add(5)))
}

#[inline]
fn word(bytes: &[u8], index: usize) -> u64 {
    u64::from_le_bytes(bytes[index * 8..index * 8 + 8].try_into().expect("8 bytes"))
}

/// Fills `bytes`, which are to be written at `offset_bytes`; both are multiples of 512.
pub fn fill(bytes: &mut [u8], offset_bytes: u64, stamp: Stamp) {
    debug_assert!(bytes.len().is_multiple_of(SECTOR_BYTES) && offset_bytes.is_multiple_of(SECTOR_BYTES as u64));
    let first = offset_bytes / SECTOR_BYTES as u64;
    for (sector, bytes) in (first..).zip(bytes.chunks_exact_mut(SECTOR_BYTES)) {
        let nonce = nonce(sector, stamp);
        let header = [
            nonce,
            sector ^ mix(nonce.wrapping_add(1)),
            stamp.version ^ mix(nonce.wrapping_add(2)),
            stamp.run ^ mix(nonce.wrapping_add(3)),
        ];
        let (head, body) = bytes.split_at_mut(HEADER_BYTES);
        for (bytes, word) in head.chunks_exact_mut(8).zip(header) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        let (pool, key) = body_of(nonce);
        for (bytes, word) in body.chunks_exact_mut(8).zip(pool) {
            bytes.copy_from_slice(&(word ^ key).to_le_bytes());
        }
    }
}

/// Checks one sector that was read at `offset_bytes`; says which write it is from.
pub fn check_sector(bytes: &[u8], offset_bytes: u64) -> Result<Stamp, Fault> {
    let nonce_read = word(bytes, 0);
    let sector = word(bytes, 1) ^ mix(nonce_read.wrapping_add(1));
    let stamp = Stamp {
        version: word(bytes, 2) ^ mix(nonce_read.wrapping_add(2)),
        run: word(bytes, 3) ^ mix(nonce_read.wrapping_add(3)),
    };
    if nonce(sector, stamp) != nonce_read {
        return Err(Fault::Foreign);
    }
    if sector != offset_bytes / SECTOR_BYTES as u64 {
        return Err(Fault::Misplaced { sector });
    }
    let (pool, key) = body_of(nonce_read);
    let body = &bytes[HEADER_BYTES..SECTOR_BYTES];
    let wrong = (0..BODY_WORDS).find(|&i| word(body, i) != pool[i] ^ key);
    wrong.map_or(Ok(stamp), |i| Err(Fault::Corrupt { byte: HEADER_BYTES + i * 8 }))
}

/// Checks all sectors of what was read at `offset_bytes`; the first fault and where it is.
pub fn check(bytes: &[u8], offset_bytes: u64) -> Result<(), (u64, Fault)> {
    for (i, sector) in bytes.chunks_exact(SECTOR_BYTES).enumerate() {
        let at = offset_bytes + (i * SECTOR_BYTES) as u64;
        check_sector(sector, at).map_err(|fault| (at, fault))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::io::Write;

    const STAMP: Stamp = Stamp { run: 7, version: 3 };

    /// Returns the data that a device could find in one window: sequential writes of 4 KiB, and rewrites of the same
    /// blocks.
    fn sample() -> Vec<u8> {
        let mut sample = vec![0; 4 << 20];
        for (i, block) in sample.chunks_exact_mut(4096).enumerate() {
            fill(block, (i as u64 % 512) * 4096, Stamp { run: 7, version: i as u64 });
        }
        sample
    }

    #[test]
    fn payload_does_not_compress() {
        let sample = sample();
        let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(&sample).unwrap();
        let compressed = encoder.finish().unwrap().len();
        assert!(compressed as f64 > 0.99 * sample.len() as f64, "{compressed} of {}", sample.len());
    }

    #[test]
    fn no_two_sectors_are_equal() {
        let sample = sample();
        let sectors: HashSet<&[u8]> = sample.chunks_exact(SECTOR_BYTES).collect();
        assert_eq!(sectors.len(), sample.len() / SECTOR_BYTES);
        // Nor are their bodies or halves: nothing for a device that looks at smaller pieces either.
        let halves: HashSet<&[u8]> = sample.chunks_exact(SECTOR_BYTES / 2).collect();
        assert_eq!(halves.len(), sample.len() / (SECTOR_BYTES / 2));
    }

    #[test]
    fn what_was_written_verifies_and_says_which_write_it_is_from() {
        let mut bytes = vec![0; 8192];
        fill(&mut bytes, 12_288, STAMP);
        assert_eq!(check(&bytes, 12_288), Ok(()));
        assert_eq!(check_sector(&bytes[512..1024], 12_800), Ok(STAMP));
    }

    #[test]
    fn every_fault_is_found() {
        let mut bytes = vec![0; 4096];
        assert_eq!(check(&bytes, 0), Err((0, Fault::Foreign)));
        fill(&mut bytes, 8192, STAMP);
        assert_eq!(check(&bytes, 4096), Err((4096, Fault::Misplaced { sector: 16 })));
        for byte in [0, 9, 17, 31] {
            bytes[byte] ^= 1;
            assert_eq!(check(&bytes, 8192), Err((8192, Fault::Foreign)));
            bytes[byte] ^= 1;
        }
        for byte in [32, 511] {
            bytes[512 + byte] ^= 0x80;
            assert_eq!(check(&bytes, 8192), Err((8704, Fault::Corrupt { byte: byte / 8 * 8 })));
            bytes[512 + byte] ^= 0x80;
        }
        // A torn 4 KiB write: its second half is of another version, and each sector is good.
        fill(&mut bytes[2048..], 8192 + 2048, Stamp { version: 4, ..STAMP });
        assert_eq!(check(&bytes, 8192), Ok(()));
    }

    #[test]
    fn the_format_does_not_change_unnoticed() {
        let mut bytes = [0; SECTOR_BYTES];
        fill(&mut bytes, 512, STAMP);
        let sum = (0..64).fold(0, |sum, i| mix(sum ^ word(&bytes, i)));
        assert_eq!(sum, FORMAT_SUM, "{sum:#x}");
    }

    const FORMAT_SUM: u64 = 0xc8db_86b9_9321_33ac;
}
