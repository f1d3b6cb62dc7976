//! Band summaries: what each data sector of a band holds, in the order in which the band was filled, so that a band is
//! known without reading all of it. Payloads of sectors with [`Role::Summary`](crate::Role::Summary), in the band's last
//! stripes. The sector's `lba` is the index of its first entry.
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
//! Summaries have no checksum of their own: that of the payload covers them.

use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Bytes of an entry.
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

/// What one sector of a band holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SummaryEntry {
    /// As in the sector's spare area.
    pub lba: u32,
    /// Byte of the sector's [`Role`](crate::Role); 0: padding, or no sector.
    pub role: u8,
    /// As in the sector's spare area.
    pub version: u64,
}

/// Entries that a payload has room for.
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

/// Entries of a payload, those behind the last one (all 0) among them. Reserved bytes are not looked at.
pub fn decode_summary(payload: &[u8]) -> impl Iterator<Item = SummaryEntry> {
    payload
        .chunks_exact(SUMMARY_ENTRY_BYTES)
        .filter_map(|bytes| Raw::ref_from_bytes(bytes).ok())
        .map(|raw| SummaryEntry { lba: raw.lba.get(), role: raw.role, version: raw.version.get() })
}
