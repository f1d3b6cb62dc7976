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
//!     +-------------------------------+-------------------------------+
//!  24 | marks                         | crc32c of the marks           |
//!     +-------------------------------+-------------------------------+
//!  32 | a mark: block                 | its last synced row           |
//!     +-------------------------------+-------------------------------+
//!  40 | epoch of the block                                            |
//!     +---------------------------------------------------------------+
//!     | and so on, up to 254 marks; where there are fewer: 0          |
//!     +---------------------------------------------------------------+
//! ```

use crate::marks::{MAX_MARKS, Mark};
use crate::sizes::PAGE_BYTES;
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

/// The head of the marks.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct RawMarks {
    count: U32,
    crc: U32,
}

#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct RawMark {
    block: U32,
    row: U32,
    epoch: U64,
}

const MARKS_FROM: usize = size_of::<Raw>() + size_of::<RawMarks>();
const _: () = assert!(MARKS_FROM + MAX_MARKS * size_of::<RawMark>() <= PAGE_BYTES as usize);

/// Writes a page with the record.
pub(crate) fn encode(file: u64, synced: u64, marks: &[Mark], page: &mut [u8]) {
    let mut raw = Raw { magic: MAGIC, crc: 0.into(), file: file.into(), synced: synced.into() };
    raw.crc = crc32c::crc32c(&raw.as_bytes()[CHECKED_FROM..]).into();
    page.fill(0);
    page[..size_of::<Raw>()].copy_from_slice(raw.as_bytes());
    let marks = &marks[..marks.len().min(MAX_MARKS)];
    for (out, mark) in page[MARKS_FROM..].chunks_exact_mut(size_of::<RawMark>()).zip(marks) {
        let Mark { block, row, epoch } = *mark;
        out.copy_from_slice(RawMark { block: block.into(), row: row.into(), epoch: epoch.into() }.as_bytes());
    }
    let listed = &page[MARKS_FROM..][..marks.len() * size_of::<RawMark>()];
    let head = RawMarks { count: (marks.len() as u32).into(), crc: crc32c::crc32c(listed).into() };
    page[size_of::<Raw>()..MARKS_FROM].copy_from_slice(head.as_bytes());
}

/// The marks in a page that holds a record of this file; none if they are damaged, or the record is of an earlier version.
pub(crate) fn decode_marks(page: &[u8]) -> Vec<Mark> {
    let Ok((head, _)) = RawMarks::ref_from_prefix(&page[size_of::<Raw>()..]) else { return Vec::new() };
    let Some(listed) = page[MARKS_FROM..].get(..head.count.get() as usize * size_of::<RawMark>()) else {
        return Vec::new();
    };
    if crc32c::crc32c(listed) != head.crc.get() {
        return Vec::new();
    }
    let raw = listed.chunks_exact(size_of::<RawMark>()).filter_map(|raw| RawMark::ref_from_bytes(raw).ok());
    raw.map(|raw| Mark { block: raw.block.get(), row: raw.row.get(), epoch: raw.epoch.get() }).collect()
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
        let marks: Vec<Mark> = (0..300).map(|block| Mark { block, row: block + 1, epoch: 1 << 40 }).collect();
        encode(5, 1234, &marks, &mut page);
        assert_eq!(decode(5, &page), 1234);
        assert_eq!(decode(6, &page), 0);
        for at in 0..size_of::<Raw>() {
            page[at] ^= 1;
            assert_eq!(decode(5, &page), 0, "byte {at}");
            page[at] ^= 1;
        }
        assert_eq!(decode_marks(&page), marks[..MAX_MARKS]);
        for at in size_of::<Raw>()..MARKS_FROM + 40 {
            page[at] ^= 1;
            assert_eq!(decode(5, &page), 1234);
            assert!(decode_marks(&page).is_empty(), "byte {at}");
            page[at] ^= 1;
        }
        assert_eq!(decode(5, &[0; 4096]), 0);
        assert!(decode_marks(&[0; 4096]).is_empty() && decode_marks(&[0xff; 4096]).is_empty());
    }
}
