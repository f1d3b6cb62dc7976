//! What is asked of a live card, and what it answers.

use device::SECTOR_BYTES;
use media::SectorData;

/// What is asked. Offsets and lengths are bytes, of any alignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op<'a> {
    /// Read a range.
    Read,
    /// Write this.
    Write(&'a [u8]),
    /// Make a range read as zeroes.
    WriteZeroes {
        /// It must have room afterwards: it may not be trimmed.
        allocate: bool,
    },
    /// Declare a range unused. Whole sectors of it read as zeroes afterwards.
    Trim,
    /// Make everything that was answered before durable.
    Flush,
}

/// One thing that is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask<'a> {
    /// Comes back with the answer.
    pub tag: u64,
    /// What is asked.
    pub op: Op<'a>,
    /// It is durable when it is answered.
    pub fua: bool,
    /// First byte; of a flush without meaning.
    pub offset_bytes: u64,
    /// Length; of a write the length of its payload, of a flush without meaning.
    pub len_bytes: u32,
}

/// An answer.
#[derive(Debug)]
pub struct Done {
    /// Of the ask.
    pub tag: u64,
    /// What was read (of all else nothing), or why it did not work.
    pub result: Result<ReadData, AskError>,
}

/// Why something that was asked was not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// It reaches beyond the end of the card.
    #[error("beyond the end of the card")]
    OutOfRange,
    /// The card takes no more writes.
    #[error("the card is read-only: bad blocks have used up its spare")]
    ReadOnly,
    /// Something of it can't be read.
    #[error("the sector at byte {offset_bytes} can't be read")]
    Unreadable {
        /// First byte of the first sector that can't be read.
        offset_bytes: u64,
    },
    /// The card has no power.
    #[error("the card has no power")]
    NoPower,
    /// The card has stopped: more is gone than parity stands for.
    #[error("the card has stopped: more is gone than parity stands for")]
    Stopped,
}

/// Bytes that were read.
#[derive(Debug, Default)]
pub struct ReadData {
    pub(crate) sectors: Vec<SectorData>,
    /// Bytes of the first sector that come before what was asked for.
    pub(crate) before: usize,
    pub(crate) len: usize,
}

static ZEROES: [u8; SECTOR_BYTES as usize] = [0; SECTOR_BYTES as usize];

impl ReadData {
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
            let bytes: &[u8] = match sector {
                SectorData::Data(payload) => payload,
                SectorData::Zero | SectorData::Unreadable | SectorData::Pending => &ZEROES,
            };
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
