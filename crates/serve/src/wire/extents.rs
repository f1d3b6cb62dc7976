//! What is allocated and what is zero, as a client is told of it.

use crate::wire::limits::MAX_EXTENTS;
use crate::wire::numbers::{STATE_HOLE, STATE_ZERO};

/// A run of bytes that stand the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Its length; a multiple of the minimum block size.
    pub bytes: u64,
    /// Nothing is allocated for it.
    pub hole: bool,
    /// It reads as zeroes.
    pub zero: bool,
}

impl Extent {
    fn state(&self) -> u32 {
        (if self.hole { STATE_HOLE } else { 0 }) | (if self.zero { STATE_ZERO } else { 0 })
    }
}

/// Appends the descriptors of the first `length_bytes` of `extents`, and tells how many bytes they take. Neighbours that
/// stand the same way become one; there are at most [`MAX_EXTENTS`], or one if only one is wanted. No more of `extents`
/// is asked for than is needed.
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
        // Cut to what was asked for, so that it fits into 32 bits.
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
