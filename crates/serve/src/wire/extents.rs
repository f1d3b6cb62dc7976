//! The extents of an export that are allocated or zero, as a client sees them.

use crate::wire::limits::MAX_EXTENTS;
use crate::wire::numbers::{STATE_HOLE, STATE_ZERO};

/// A run of bytes with the same state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The length of the run, a multiple of the minimum block size.
    pub bytes: u64,
    /// No space is allocated for the run.
    pub hole: bool,
    /// The run reads as zeroes.
    pub zero: bool,
}

impl Extent {
    fn state(&self) -> u32 {
        (if self.hole { STATE_HOLE } else { 0 }) | (if self.zero { STATE_ZERO } else { 0 })
    }
}

/// Appends the descriptors of the first `length_bytes` of `extents`, and returns their size in bytes. Neighbours with
/// the same state become one descriptor. There are at most [`MAX_EXTENTS`] descriptors, or one if only one is wanted.
/// Takes no more of `extents` than needed.
pub fn put_descriptors(
    extents: impl IntoIterator<Item = Extent>,
    length_bytes: u32,
    only_one: bool,
    out: &mut Vec<u8>,
) -> usize {
    let begin = out.len();
    let most = if only_one { 1 } else { MAX_EXTENTS };
    let mut put = |bytes: u32, state: u32| {
        out.extend_from_slice(&bytes.to_be_bytes());
        out.extend_from_slice(&state.to_be_bytes());
    };
    let mut left = length_bytes;
    let mut last = (0_u32, 0_u32);
    let mut written = 0;
    for extent in extents {
        // The extent is cut to the length of the request, so that it fits into 32 bits.
        let bytes = u32::try_from(extent.bytes).map_or(left, |bytes| bytes.min(left));
        if bytes == 0 {
            continue;
        }
        if last.0 > 0 && last.1 != extent.state() {
            put(last.0, last.1);
            written += 1;
            last.0 = 0;
            if written == most {
                break;
            }
        }
        last = (last.0 + bytes, extent.state());
        left -= bytes;
        if left == 0 {
            break;
        }
    }
    if last.0 > 0 {
        put(last.0, last.1);
    }
    out.len() - begin
}
