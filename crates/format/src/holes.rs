//! Holes: which LBAs are unmapped, because they were trimmed or never written. Payloads of sectors with
//! [`Role::Holes`](crate::Role::Holes); the sector's `lba` is the segment, its `version` is when that was so.
//!
//! A segment has as many LBAs as a payload has bits. LBA `i` of a segment is bit `i % 8` (0 is the lowest) of byte `i / 8`;
//! 1 is a hole. All bit patterns are legal, and the checksum is that of the payload.
//!
//! ```text
//!       byte 0                             byte 1
//!    +----+----+----+----+----+----+----+----+----+----
//!    |  7 |  6 |  5 |  4 |  3 |  2 |  1 |  0 | 15 | 14   ...   LBA of the segment, highest bit of a byte first
//!    +----+----+----+----+----+----+----+----+----+----
//! ```

/// LBAs of a segment.
pub fn hole_segment_lbas(payload_bytes: usize) -> u32 {
    u32::try_from(payload_bytes * 8).expect("a payload is no longer than a sector")
}

/// Segment of an LBA, and the LBA's index within it.
pub fn hole_place(lba: u32, payload_bytes: usize) -> (u32, u32) {
    let lbas = hole_segment_lbas(payload_bytes);
    (lba / lbas, lba % lbas)
}

/// Byte and bit of an LBA of a segment.
fn place(index: u32) -> (usize, u8) {
    (index as usize / 8, 1 << (index % 8))
}

/// Says that an LBA is a hole. `index` is its place within the segment, below [`hole_segment_lbas`].
pub fn set_hole(payload: &mut [u8], index: u32) {
    let (byte, bit) = place(index);
    payload[byte] |= bit;
}

/// Says that an LBA is none.
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
    payload.iter().zip((0u32..).step_by(8)).flat_map(|(byte, first)| {
        let mut left = *byte;
        std::iter::from_fn(move || {
            let bit = (left != 0).then(|| left.trailing_zeros())?;
            left &= left - 1;
            Some(first + bit)
        })
    })
}
