//! Records of the write-ahead log: sectors of the host that a flush made durable before their stripe is full.
//!
//! The log area of a module is a ring of records. A record lies on two modules, at the same offset. Each sector in it
//! has the version that it keeps when it is written to a stripe, so a record is a copy of its sectors like any other:
//! the highest version counts, wherever it lies. A record names the records before it that are needed beside it, so a
//! reader notices when one of them is lost.
//!
//! ```text
//!        0       1       2       3       4       5       6       7
//!     +---------------------------------------------------------------+
//!   0 | "FRIGLOGR"                                                    |
//!     +---------------+---------------+-------------------------------+
//!   8 | format version| 0             | crc32c of all from byte 16 on |
//!     +---------------+---------------+-------------------------------+
//!  16 | card: the first eight bytes of its id                         |
//!     +---------------------------------------------------------------+
//!  24 | sequence                                                      |
//!     +---------------------------------------------------------------+
//!  32 | offset of the record in the log area                          |
//!     +---------------------------------------------------------------+
//!  40 | oldest sequence that is needed                                |
//!     +---------------------------------------------------------------+
//!  48 | sequence of the needed record before this one, or 0           |
//!     +-------------------------------+-------------------------------+
//!  56 | sectors                       | payload bytes                 |
//!     +-------------------------------+-------------------------------+
//!  64 | lba                           | crc32c of the payload         |
//!     +-------------------------------+-------------------------------+
//!  72 | version                                                       |
//!     +---------------------------------------------------------------+
//!     | and so on for each sector, then the payloads in this order    |
//!     +---------------------------------------------------------------+
//! ```

use crate::header::MAX_PAYLOAD_BYTES;
use crate::version::VERSION;
use std::mem::offset_of;
use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

const MAGIC: [u8; 8] = *b"FRIGLOGR";
/// The number of bytes before the first sector's entry.
pub const LOG_HEAD_BYTES: usize = 64;
/// The number of bytes of a sector's entry.
pub const LOG_ENTRY_BYTES: usize = 16;
/// The highest number of sectors in a record, so that its size stays far from overflowing.
pub const MAX_LOG_SECTORS: u32 = 1 << 16;

#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct RawHead {
    magic: [u8; 8],
    version: U16,
    reserved: U16,
    crc: U32,
    card: U64,
    sequence: U64,
    offset_bytes: U64,
    needed_from: U64,
    previous: U64,
    sectors: U32,
    payload_bytes: U32,
}

const _: () = assert!(size_of::<RawHead>() == LOG_HEAD_BYTES);
const CRC_FROM: usize = offset_of!(RawHead, card);

#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct RawEntry {
    lba: U32,
    payload_crc: U32,
    version: U64,
}

const _: () = assert!(size_of::<RawEntry>() == LOG_ENTRY_BYTES);

/// The part of a record that is no sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogHead {
    /// The first eight bytes of the card's id.
    pub card: u64,
    /// The number of the record. A later record of the card has a higher one.
    pub sequence: u64,
    /// The offset at which the record lies in the log area.
    pub offset_bytes: u64,
    /// The oldest record that was needed when this one was written; its own number if none was.
    pub needed_from: u64,
    /// The record before this one, if it was needed; else 0.
    pub previous: u64,
}

/// A sector of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogSector<'a> {
    /// The LBA that was written.
    pub lba: u32,
    /// The write sequence number of the sector.
    pub version: u64,
    /// The checksum of the payload.
    pub payload_crc: u32,
    /// The payload, as it will lie in a stripe.
    pub payload: &'a [u8],
}

/// A record that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogRecord<'a> {
    /// The head of the record.
    pub head: LogHead,
    payload_bytes: usize,
    entries: &'a [u8],
    payloads: &'a [u8],
}

/// The reason why bytes are no record of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogError {
    /// The bytes do not begin as a record does.
    #[error("no record of a log begins here")]
    Magic,
    /// The record would be longer than the bytes that there are.
    #[error("the record is cut short")]
    Short,
    /// The checksum is wrong.
    #[error("the checksum of the record is wrong")]
    Checksum,
    /// The record has another version of the format.
    #[error("the record has version {0} of the format")]
    Version(u16),
    /// A field has a value that is never written.
    #[error("a field of the record makes no sense")]
    Field,
}

/// The number of bytes of a record of so many sectors.
pub fn log_record_bytes(sectors: usize, payload_bytes: usize) -> usize {
    LOG_HEAD_BYTES + sectors * (LOG_ENTRY_BYTES + payload_bytes)
}

/// Appends a record of these sectors, whose payloads have `payload_bytes` each.
///
/// # Panics
/// If there are too many sectors, or a payload has another length.
pub fn encode_log_record(head: &LogHead, payload_bytes: usize, sectors: &[LogSector], out: &mut Vec<u8>) {
    assert!(sectors.len() <= MAX_LOG_SECTORS as usize, "a record of {} sectors", sectors.len());
    let start = out.len();
    let mut raw = RawHead {
        magic: MAGIC,
        version: VERSION.into(),
        reserved: 0.into(),
        crc: 0.into(),
        card: head.card.into(),
        sequence: head.sequence.into(),
        offset_bytes: head.offset_bytes.into(),
        needed_from: head.needed_from.into(),
        previous: head.previous.into(),
        sectors: (sectors.len() as u32).into(),
        payload_bytes: (payload_bytes as u32).into(),
    };
    out.extend_from_slice(raw.as_bytes());
    for sector in sectors {
        let entry =
            RawEntry { lba: sector.lba.into(), payload_crc: sector.payload_crc.into(), version: sector.version.into() };
        out.extend_from_slice(entry.as_bytes());
    }
    for sector in sectors {
        assert_eq!(sector.payload.len(), payload_bytes, "a payload of another length");
        out.extend_from_slice(sector.payload);
    }
    raw.crc = crate::payload_crc(&out[start + CRC_FROM..]).into();
    out[start..start + LOG_HEAD_BYTES].copy_from_slice(raw.as_bytes());
}

impl<'a> LogRecord<'a> {
    /// Reads the record that `bytes` begin with; more may follow it.
    pub fn decode(bytes: &'a [u8]) -> Result<LogRecord<'a>, LogError> {
        let record = LogRecord::decode_unchecked(bytes)?;
        let crc = crate::payload_crc(&bytes[CRC_FROM..record.len_bytes()]);
        let (raw, _) = RawHead::ref_from_prefix(bytes).map_err(|_| LogError::Short)?;
        if raw.crc.get() != crc {
            return Err(LogError::Checksum);
        }
        if raw.version.get() != VERSION {
            return Err(LogError::Version(raw.version.get()));
        }
        let LogHead { sequence, needed_from, previous, .. } = record.head;
        let names_earlier =
            needed_from <= sequence && previous < sequence && (previous == 0 || previous >= needed_from);
        if raw.reserved.get() != 0 || !names_earlier {
            return Err(LogError::Field);
        }
        Ok(record)
    }

    /// Reads a record without a look at its checksum, which a planted bug does.
    pub fn decode_unchecked(bytes: &'a [u8]) -> Result<LogRecord<'a>, LogError> {
        if !bytes.starts_with(&MAGIC) {
            return Err(LogError::Magic);
        }
        let (raw, rest) = RawHead::ref_from_prefix(bytes).map_err(|_| LogError::Short)?;
        let (sectors, payload_bytes) = (raw.sectors.get(), raw.payload_bytes.get());
        if sectors > MAX_LOG_SECTORS || payload_bytes > MAX_PAYLOAD_BYTES {
            return Err(LogError::Field);
        }
        let (entries_bytes, payload_bytes) = (sectors as usize * LOG_ENTRY_BYTES, payload_bytes as usize);
        let payloads_bytes = sectors as usize * payload_bytes;
        if rest.len() < entries_bytes + payloads_bytes {
            return Err(LogError::Short);
        }
        let (entries, rest) = rest.split_at(entries_bytes);
        let head = LogHead {
            card: raw.card.get(),
            sequence: raw.sequence.get(),
            offset_bytes: raw.offset_bytes.get(),
            needed_from: raw.needed_from.get(),
            previous: raw.previous.get(),
        };
        Ok(LogRecord { head, payload_bytes, entries, payloads: &rest[..payloads_bytes] })
    }

    /// The number of bytes that the record takes.
    pub fn len_bytes(&self) -> usize {
        LOG_HEAD_BYTES + self.entries.len() + self.payloads.len()
    }

    /// The number of bytes of each payload.
    pub fn payload_bytes(&self) -> usize {
        self.payload_bytes
    }

    /// The sectors of the record, in the order in which they were put there.
    pub fn sectors(&self) -> impl Iterator<Item = LogSector<'a>> + use<'a> {
        let (payloads, payload_bytes) = (self.payloads, self.payload_bytes);
        self.entries.chunks_exact(LOG_ENTRY_BYTES).enumerate().filter_map(move |(at, entry)| {
            let entry = RawEntry::ref_from_bytes(entry).ok()?;
            let payload = payloads.get(at * payload_bytes..(at + 1) * payload_bytes)?;
            Some(LogSector {
                lba: entry.lba.get(),
                version: entry.version.get(),
                payload_crc: entry.payload_crc.get(),
                payload,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: LogHead =
        LogHead { card: 0xa7a6_a5a4_a3a2_a1a0, sequence: 9, offset_bytes: 512, needed_from: 6, previous: 8 };

    fn record() -> Vec<u8> {
        record_of(&HEAD)
    }

    fn record_of(head: &LogHead) -> Vec<u8> {
        let sectors = [
            LogSector { lba: 7, version: 100, payload_crc: 5, payload: &[1; 16] },
            LogSector { lba: 3, version: 102, payload_crc: 6, payload: &[2; 16] },
        ];
        let mut bytes = Vec::new();
        encode_log_record(head, 16, &sectors, &mut bytes);
        bytes
    }

    #[test]
    fn a_record_is_read_as_it_was_written_whatever_follows_it() {
        let mut bytes = record();
        assert_eq!(bytes.len(), log_record_bytes(2, 16));
        bytes.extend_from_slice(&[9; 40]);
        let read = LogRecord::decode(&bytes).unwrap();
        assert_eq!((read.head, read.len_bytes(), read.payload_bytes()), (HEAD, log_record_bytes(2, 16), 16));
        let sectors: Vec<_> = read.sectors().map(|s| (s.lba, s.version, s.payload_crc, s.payload[0])).collect();
        assert_eq!(sectors, [(7, 100, 5, 1), (3, 102, 6, 2)]);
    }

    #[test]
    fn damage_and_a_cut_are_noticed_wherever_they_are() {
        let mut bytes = record();
        for at in 0..bytes.len() {
            assert!(LogRecord::decode(&bytes[..at]).is_err(), "{at} bytes");
            bytes[at] ^= 0x10;
            assert!(LogRecord::decode(&bytes).is_err(), "byte {at}");
            bytes[at] ^= 0x10;
        }
    }

    #[test]
    fn a_record_names_only_records_before_it() {
        let decoded = |needed_from, previous| {
            LogRecord::decode(&record_of(&LogHead { needed_from, previous, ..HEAD })).map(|record| record.head.previous)
        };
        assert_eq!([decoded(9, 0), decoded(1, 1)], [Ok(0), Ok(1)]);
        for (needed_from, previous) in [(10, 0), (9, 9), (6, 5)] {
            assert_eq!(decoded(needed_from, previous), Err(LogError::Field), "{needed_from} {previous}");
        }
    }
}
