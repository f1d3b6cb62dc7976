//! Signatures in a device's first and last sectors.
//!
//! Finds what would be destroyed: partition tables, file systems, members of arrays and volume groups, encryption. It
//! looks only where formats have their marks; a device without any may still hold data (a database on a raw device).
//!
//! Not looked at: copies of superblocks further in (ext, XFS, Btrfs, F2FS), because `wipefs` leaves them; formats whose
//! mark is two bytes and nothing else can be checked (Minix, HFS, AIX), because what a benchmark wrote would be taken
//! for them.
//!
//! Invariant: no bytes, no size and no error of the reader make this panic.

mod media;
mod partitions;
mod signature;
mod special;
mod table;

pub use signature::{Class, ReadAt, Signature};

use media::Media;

/// The signatures that were found on a device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Marks, each format once, by offset.
    pub signatures: Vec<Signature>,
    /// Offsets that should have been looked at and couldn't be read: there may be more.
    pub unreadable: Vec<u64>,
}

/// Finds all marks on a device of `size` bytes.
pub fn find(reader: &dyn ReadAt, size: u64) -> Found {
    let mut media = Media::new(reader, size);
    let mut signatures = Vec::new();
    table::find(&mut media, &mut signatures);
    special::find(&mut media, &mut signatures);
    partitions::find(&mut media, &mut signatures);
    signatures.sort_by_key(|signature: &Signature| signature.offset);
    let mut names = std::collections::HashSet::new();
    signatures.retain(|signature| names.insert(signature.name));
    Found { signatures, unreadable: media.into_unreadable() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io;

    /// A medium that is broken in places.
    struct Broken {
        bytes: Vec<u8>,
        bad: std::ops::Range<u64>,
        most: usize,
    }

    impl ReadAt for Broken {
        fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
            let end = offset.saturating_add(buf.len() as u64);
            if offset < self.bad.end && end > self.bad.start {
                return Err(io::Error::from(io::ErrorKind::InvalidData));
            }
            let most = buf.len().min(self.most);
            self.bytes.read_at(offset, &mut buf[..most])
        }
    }

    #[test]
    fn a_blank_device_has_none() {
        for size in [0, 1, 511, 512, 4096, 65_536, 1 << 20, 3 << 20] {
            let found = find(&vec![0; size], size as u64);
            assert_eq!(found, Found::default(), "{size}");
        }
    }

    #[test]
    fn a_bad_sector_hides_only_itself() {
        let mut bytes = vec![0; 4 << 20];
        bytes[0x10040..0x10048].copy_from_slice(b"_BHRfS_M");
        let broken = Broken { bytes, bad: 8192..8193, most: usize::MAX };
        let found = find(&broken, 4 << 20);
        assert_eq!(found.signatures.iter().map(|signature| signature.name).collect::<Vec<_>>(), ["btrfs"]);
        assert_eq!(found.unreadable, [8192]);
    }

    #[test]
    fn a_device_shorter_than_it_claims_is_unreadable_at_its_end() {
        let found = find(&vec![0; 1 << 20], 8 << 20);
        assert!(found.signatures.is_empty());
        assert!(!found.unreadable.is_empty());
    }

    #[test]
    fn short_reads_are_continued() {
        let mut bytes = vec![0; 2 << 20];
        bytes[0..4].copy_from_slice(b"XFSB");
        let found = find(&Broken { bytes, bad: 0..0, most: 1000 }, 2 << 20);
        assert_eq!(found.signatures[0].name, "xfs");
        assert!(found.unreadable.is_empty());
    }

    #[test]
    fn what_a_benchmark_wrote_is_taken_for_nothing() {
        // Random bytes, as a review leaves them: a thousand devices with 55 AA, 53 EF where it hurts most.
        let mut state = 1u64;
        for _ in 0..1000 {
            let mut bytes: Vec<u8> = std::iter::repeat_with(|| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 56) as u8
            })
            .take(16 << 10)
            .collect();
            bytes[510..512].copy_from_slice(&[0x55, 0xaa]);
            bytes[0x438..0x43a].copy_from_slice(&[0x53, 0xef]);
            assert_eq!(find(&bytes, bytes.len() as u64).signatures, []);
        }
    }

    proptest! {
        #[test]
        fn no_bytes_and_no_size_make_it_panic(
            bytes in prop::collection::vec(any::<u8>(), 0..70_000),
            size in prop_oneof![0..200_000u64, any::<u64>()],
            bad in 0..100_000u64,
            most in 1..5000usize,
        ) {
            find(&bytes, bytes.len() as u64);
            find(&Broken { bytes, bad: bad..bad + 1, most }, size);
        }

        #[test]
        fn no_damage_to_a_real_mark_makes_it_panic(
            at in prop::sample::select(vec![0usize, 446, 510, 0x400, 0x438, 0x1000, 0x8000, 131_072]),
            mark in prop::collection::vec(any::<u8>(), 0..600),
        ) {
            let mut bytes = vec![0; 256 << 10];
            bytes[510..512].copy_from_slice(&[0x55, 0xaa]);
            bytes[0x438..0x43a].copy_from_slice(&[0x53, 0xef]);
            bytes[at..at + mark.len()].copy_from_slice(&mark);
            find(&bytes, bytes.len() as u64);
        }
    }
}
