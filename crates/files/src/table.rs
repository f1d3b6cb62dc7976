//! The table of blocks: the last erase of each block, the number of its erases, and whether it is bad.
//!
//! The file has two copies of the table. An entry is written to one copy, durably, and then to the other, so a cut
//! write spoils at most one copy of it; if both can be read, the later one counts. If neither copy of an entry can be
//! read, nothing is known of the block, and it reads as uncorrectable until it is erased.
//!
//! ```text
//!       0       1       2       3       4       5       6       7
//!     +-------------------------------+-------------------------------+
//!   0 | crc32c of bytes 4 to 31       | 0xb1 | bad   | 0              |
//!     +-------------------------------+-------------------------------+
//!   8 | epoch                                                         |
//!     +-------------------------------+-------------------------------+
//!  16 | times erased                  | block                         |
//!     +-------------------------------+-------------------------------+
//!  24 | file                                                          |
//!     +---------------------------------------------------------------+
//! ```

use crate::sizes::{PAGE_BYTES, SESSION_BITS};
use std::mem::offset_of;
use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// The size of an entry.
pub(crate) const ENTRY_BYTES: usize = 32;
/// The number of entries in a page.
pub(crate) const ENTRIES_PER_PAGE: usize = PAGE_BYTES as usize / ENTRY_BYTES;

const MAGIC: u8 = 0xb1;

#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Raw {
    crc: U32,
    magic: u8,
    bad: u8,
    reserved: U16,
    epoch: U64,
    cycles: U32,
    block: U32,
    file: U64,
}

const _: () = assert!(size_of::<Raw>() == ENTRY_BYTES);
const CHECKED_FROM: usize = offset_of!(Raw, magic);

/// The state of a block. It takes 16 bytes of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Each erase raises the epoch. Units of a lower epoch are gone.
    pub epoch: u64,
    /// Times that the block was erased.
    pub cycles: u32,
    /// The block is marked bad.
    pub is_bad: bool,
    /// The file holds this entry. Otherwise the block may hold units of any epoch up to `epoch`.
    pub is_known: bool,
}

/// Epochs stay below this number, so that the next one never overflows.
const MAX_EPOCH: u64 = u64::MAX - (1 << SESSION_BITS);

/// The epoch of a block that was never erased.
pub(crate) const FIRST_EPOCH: u64 = 1;

impl Entry {
    pub const BLANK: Entry = Entry { epoch: FIRST_EPOCH, cycles: 0, is_bad: false, is_known: true };

    /// Writes the entry of a block. The entry of a block that is not known is written as zeroes, which no read accepts.
    pub fn encode(&self, block: u32, file: u64, out: &mut [u8]) {
        if !self.is_known {
            return out.fill(0);
        }
        let mut raw = Raw {
            crc: 0.into(),
            magic: MAGIC,
            bad: self.is_bad.into(),
            reserved: 0.into(),
            epoch: self.epoch.into(),
            cycles: self.cycles.into(),
            block: block.into(),
            file: file.into(),
        };
        raw.crc = crc32c::crc32c(&raw.as_bytes()[CHECKED_FROM..]).into();
        out.copy_from_slice(raw.as_bytes());
    }

    /// Decodes the entry of a block; `None` if the bytes are no entry of this block.
    pub fn decode(block: u32, file: u64, bytes: &[u8]) -> Option<Entry> {
        let raw = Raw::ref_from_bytes(bytes).ok()?;
        let is_legal = raw.magic == MAGIC
            && raw.crc.get() == crc32c::crc32c(&bytes[CHECKED_FROM..])
            && (raw.block.get(), raw.file.get()) == (block, file)
            && raw.bad <= 1
            && raw.epoch.get() < MAX_EPOCH;
        let entry = Entry { epoch: raw.epoch.get(), cycles: raw.cycles.get(), is_bad: raw.bad == 1, is_known: true };
        is_legal.then_some(entry)
    }

    /// The entry that two copies make together, and the copies that must be written again.
    pub fn merge(copies: [Option<Entry>; 2]) -> (Entry, [bool; 2]) {
        match copies {
            [None, None] => (Entry::default(), [false; 2]),
            [Some(entry), None] => (entry, [false, true]),
            [None, Some(entry)] => (entry, [true, false]),
            [Some(a), Some(b)] => {
                let newer = if (a.epoch, a.is_bad) < (b.epoch, b.is_bad) { b } else { a };
                (newer, [newer != a, newer != b])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTRY: Entry = Entry { epoch: 77, cycles: 9, is_bad: false, is_known: true };

    #[test]
    fn an_entry_is_read_as_it_was_written_and_nowhere_else() {
        let mut bytes = [0; ENTRY_BYTES];
        ENTRY.encode(5, 1, &mut bytes);
        assert_eq!(Entry::decode(5, 1, &bytes), Some(ENTRY));
        assert_eq!(Entry::decode(6, 1, &bytes), None, "another block's");
        assert_eq!(Entry::decode(5, 2, &bytes), None, "another file's");
        for bit in 0..ENTRY_BYTES * 8 {
            let mut damaged = bytes;
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Entry::decode(5, 1, &damaged), None, "bit {bit}");
        }
        Entry { is_known: false, ..ENTRY }.encode(5, 1, &mut bytes);
        assert_eq!(Entry::decode(5, 1, &bytes), None);
    }

    #[test]
    fn the_later_copy_counts_and_the_other_is_to_be_written() {
        let later = Entry { epoch: 78, cycles: 10, ..ENTRY };
        let bad = Entry { is_bad: true, ..ENTRY };
        assert_eq!(Entry::merge([Some(ENTRY), Some(later)]), (later, [true, false]));
        assert_eq!(Entry::merge([Some(bad), Some(ENTRY)]), (bad, [false, true]));
        assert_eq!(Entry::merge([None, Some(ENTRY)]), (ENTRY, [true, false]));
        assert_eq!(Entry::merge([Some(ENTRY), Some(ENTRY)]), (ENTRY, [false, false]));
        assert!(!Entry::merge([None, None]).0.is_known);
    }
}
