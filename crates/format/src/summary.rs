//! Band summaries. A summary lists the data sectors of a band in the order in which the band was filled, so that
//! recovery knows the band without reading all of it. Summaries are payloads of sectors with
//! [`Role::Summary`](crate::Role::Summary) in the band's last stripes. The sector's `lba` is the index of its first
//! entry.
//!
//! ```text
//!       0       1       2       3       4       5       6       7
//!    +---------------------------------------------------------------+
//!  0 | version                                                       |
//!    +-------------------------------+-------+-----------------------+
//!  8 | lba                           | role  | 0                     |
//!    +-------------------------------+-------+-----------------------+
//! ```
//!
//! Summaries have no checksum of their own, because the checksum of the payload covers them.

use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// The size of an entry.
pub const SUMMARY_ENTRY_BYTES: usize = 16;

#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Raw {
    version: U64,
    lba: U32,
    role: u8,
    reserved: [u8; 3],
}

const _: () = assert!(size_of::<Raw>() == SUMMARY_ENTRY_BYTES);

/// The entry of one data sector of a band.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SummaryEntry {
    /// The LBA, as in the sector's spare area.
    pub lba: u32,
    /// The byte of the sector's [`Role`](crate::Role); 0 for padding, or for no sector.
    pub role: u8,
    /// The version, as in the sector's spare area.
    pub version: u64,
}

/// The number of entries that a payload has room for.
pub fn entries_per_sector(payload_bytes: usize) -> usize {
    payload_bytes / SUMMARY_ENTRY_BYTES
}

/// Writes entries to a payload, at most [`entries_per_sector`], and zeros to the rest of it.
pub fn encode_summary(entries: &[SummaryEntry], payload: &mut [u8]) {
    let (used, rest) = payload.split_at_mut(entries.len() * SUMMARY_ENTRY_BYTES);
    for (entry, out) in entries.iter().zip(used.chunks_exact_mut(SUMMARY_ENTRY_BYTES)) {
        let raw = Raw { version: entry.version.into(), lba: entry.lba.into(), role: entry.role, reserved: [0; 3] };
        out.copy_from_slice(raw.as_bytes());
    }
    rest.fill(0);
}

/// The entries of a payload, including the empty ones (all 0) after the last. Does not check reserved bytes.
pub fn decode_summary(payload: &[u8]) -> impl Iterator<Item = SummaryEntry> {
    payload
        .chunks_exact(SUMMARY_ENTRY_BYTES)
        .filter_map(|bytes| Raw::ref_from_bytes(bytes).ok())
        .map(|raw| SummaryEntry { lba: raw.lba.get(), role: raw.role, version: raw.version.get() })
}
