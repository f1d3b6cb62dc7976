//! The record of syncs: the last program of the session that a sync has covered.
//!
//! The record is written after a sync has ended, to one copy and then to the other, and is durable with the next sync.
//! So it may lag behind, and never runs ahead. Programs that it does not cover count as not synced.
//!
//! ```text
//!       0       1       2       3       4       5       6       7
//!     +-------------------------------+-------------------------------+
//!   0 | "FLRS"                        | crc32c of bytes 8 to 23       |
//!     +-------------------------------+-------------------------------+
//!   8 | file                                                          |
//!     +---------------------------------------------------------------+
//!  16 | last program that was synced                                  |
//!     +---------------------------------------------------------------+
//! ```

use std::mem::offset_of;
use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

const MAGIC: [u8; 4] = *b"FLRS";

#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Raw {
    magic: [u8; 4],
    crc: U32,
    file: U64,
    synced: U64,
}

const CHECKED_FROM: usize = offset_of!(Raw, file);

/// Writes a page with the record.
pub(crate) fn encode(file: u64, synced: u64, page: &mut [u8]) {
    let mut raw = Raw { magic: MAGIC, crc: 0.into(), file: file.into(), synced: synced.into() };
    raw.crc = crc32c::crc32c(&raw.as_bytes()[CHECKED_FROM..]).into();
    page.fill(0);
    page[..size_of::<Raw>()].copy_from_slice(raw.as_bytes());
}

/// The last synced program in a page; 0 if the page holds no record of this file.
pub(crate) fn decode(file: u64, page: &[u8]) -> u64 {
    match Raw::ref_from_prefix(page) {
        Ok((raw, _))
            if raw.magic == MAGIC
                && raw.crc.get() == crc32c::crc32c(&raw.as_bytes()[CHECKED_FROM..])
                && raw.file.get() == file =>
        {
            raw.synced.get()
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_written_or_says_nothing() {
        let mut page = vec![9; 4096];
        encode(5, 1234, &mut page);
        assert_eq!(decode(5, &page), 1234);
        assert_eq!(decode(6, &page), 0);
        for at in 0..size_of::<Raw>() {
            page[at] ^= 1;
            assert_eq!(decode(5, &page), 0, "byte {at}");
            page[at] ^= 1;
        }
        assert_eq!(decode(5, &[0; 4096]), 0);
    }
}
