//! Replies of a live card, and the bytes that reads bring.

use device::{ByteRange, SECTOR_BYTES};
use media::SectorData;
use session::ReplyError;

/// Tells a client that there are replies.
pub trait Bell: Send + Sync {
    /// There are replies. Called by whichever thread has them; must not block, and must not call the card.
    fn ring(&self);
}

/// The reply to a request.
#[derive(Debug)]
pub struct Reply {
    /// The request's tag.
    pub tag: u64,
    /// The bytes of a read (of all else nothing), or why the request did not work.
    pub result: Result<ReadData, ReplyError>,
    /// It is the reply to a part of a request that was divided over shards.
    pub(crate) is_part: bool,
}

/// Bytes that were read.
#[derive(Debug, Default)]
pub struct ReadData {
    sectors: Vec<SectorData>,
    /// Bytes of the first sector that come before the range.
    before: usize,
    len: usize,
}

static ZEROES: [u8; SECTOR_BYTES as usize] = [0; SECTOR_BYTES as usize];

impl ReadData {
    /// The bytes of a range, in the sectors that hold it.
    pub(crate) fn new(sectors: Vec<SectorData>, range: ByteRange) -> ReadData {
        ReadData { sectors, before: (range.offset_bytes % SECTOR_BYTES) as usize, len: range.len_bytes as usize }
    }

    /// The bytes of neighbouring ranges that meet between sectors, in their order.
    pub(crate) fn joined(parts: Vec<ReadData>) -> ReadData {
        let mut all = ReadData::default();
        for (index, part) in parts.into_iter().enumerate() {
            if index == 0 {
                all.before = part.before;
            }
            all.len += part.len;
            all.sectors.extend(part.sectors);
        }
        all
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bytes, in order, a piece of a sector at a time.
    pub fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        let (mut skip, mut left) = (self.before, self.len);
        self.sectors.iter().map(move |sector| {
            let bytes = sector.payload().unwrap_or(&ZEROES);
            let piece = &bytes[skip..(skip + left).min(bytes.len())];
            skip = 0;
            left -= piece.len();
            piece
        })
    }

    /// All bytes in one piece.
    pub fn to_vec(&self) -> Vec<u8> {
        self.pieces().flatten().copied().collect()
    }
}
