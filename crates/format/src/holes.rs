//! Lists of holes. A hole is an LBA that is unmapped, because it was trimmed or never written. Lists are payloads of
//! sectors with [`Role::Holes`](crate::Role::Holes); the sector's `lba` is the segment.
//!
//! The payload begins with the version as of which its bits hold. Data of a later version count, whatever the bit of
//! their LBA is. A segment has as many LBAs as the rest of a payload has bits. LBA `i` of a segment is bit `i % 8` (0
//! is the lowest) of byte `8 + i / 8`; 1 is a hole. All bit patterns are legal, and the checksum is that of the
//! payload.
//!
//! ```text
//!        0       1       2       3       4       5       6       7
//!     +---------------------------------------------------------------+
//!   0 | as of                                                         |
//!     +---------------------------------------------------------------+
//!        byte 8                             byte 9
//!     +----+----+----+----+----+----+----+----+----+----
//!     |  7 |  6 |  5 |  4 |  3 |  2 |  1 |  0 | 15 | 14   ...   LBA of the segment, highest bit of a byte first
//!     +----+----+----+----+----+----+----+----+----+----
//! ```

/// The number of bytes before the bits.
pub const HOLES_HEAD_BYTES: usize = 8;

/// The number of LBAs of a segment.
pub fn hole_segment_lbas(payload_bytes: usize) -> u32 {
    u32::try_from(payload_bytes.saturating_sub(HOLES_HEAD_BYTES) * 8).expect("a payload is no longer than a sector")
}

/// The segment of an LBA, and the LBA's index within the segment.
pub fn hole_place(lba: u32, payload_bytes: usize) -> (u32, u32) {
    let lbas = hole_segment_lbas(payload_bytes);
    (lba / lbas, lba % lbas)
}

/// The version as of which the bits hold.
pub fn holes_as_of(payload: &[u8]) -> u64 {
    payload.first_chunk().map_or(0, |head| u64::from_le_bytes(*head))
}

/// Sets the version as of which the bits hold.
pub fn set_holes_as_of(payload: &mut [u8], version: u64) {
    payload[..HOLES_HEAD_BYTES].copy_from_slice(&version.to_le_bytes());
}

/// The byte and the bit of an LBA of a segment.
fn place(index: u32) -> (usize, u8) {
    (HOLES_HEAD_BYTES + index as usize / 8, 1 << (index % 8))
}

/// Makes an LBA a hole. `index` is the LBA's place within the segment, below [`hole_segment_lbas`].
pub fn set_hole(payload: &mut [u8], index: u32) {
    let (byte, bit) = place(index);
    payload[byte] |= bit;
}

/// Takes an LBA off the holes. `index` is the LBA's place within the segment.
pub fn clear_hole(payload: &mut [u8], index: u32) {
    let (byte, bit) = place(index);
    payload[byte] &= !bit;
}

/// Whether an LBA is a hole.
pub fn is_hole(payload: &[u8], index: u32) -> bool {
    let (byte, bit) = place(index);
    payload[byte] & bit != 0
}

/// The holes of a segment by their places within it, ascending.
pub fn holes(payload: &[u8]) -> impl Iterator<Item = u32> {
    payload.iter().skip(HOLES_HEAD_BYTES).zip((0u32..).step_by(8)).flat_map(|(byte, first)| {
        let mut left = *byte;
        std::iter::from_fn(move || {
            let bit = (left != 0).then(|| left.trailing_zeros())?;
            left &= left - 1;
            Some(first + bit)
        })
    })
}
