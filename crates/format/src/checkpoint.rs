//! Checkpoints: the map and the state of the bands as they were at one moment, so that recovery need not read every
//! band. A checkpoint is a stream of bytes (head, map, bands, owed segments), cut into payloads of sectors with
//! [`Role::Checkpoint`](crate::Role::Checkpoint). These parts are numbered from 0, and zeros follow the end of the
//! stream.
//!
//! ```text
//!       0       1       2       3       4       5       6       7
//!    +---------------------------------------------------------------+
//!  0 | "FRIGCKPT"                                                    |
//!    +---------------+---------------+-------------------------------+
//!  8 | format version| 0             | map entries                   |
//!    +---------------+---------------+-------------------------------+
//! 16 | id                                                            |
//!    +---------------------------------------------------------------+
//! 24 | replay from                                                   |
//!    +---------------------------------------------------------------+
//! 32 | version start                                                 |
//!    +---------------------------------------------------------------+
//! 40 | next version                                                  |
//!    +---------------------------------------------------------------+
//! 48 | next band sequence                                            |
//!    +---------------------------------------------------------------+
//! 56 | body bytes                                                    |
//!    +-------------------------------+-------------------------------+
//! 64 | bands                         | crc32c of the body            |
//!    +-------------------------------+-------------------------------+
//! 72 | owed segments                 | crc32c of bytes 0 to 75       |
//!    +-------------------------------+-------------------------------+
//! 80 | body: map entries, 4 bytes each                               |
//!    +---------------------------------------------------------------+
//!    | body: bands, 16 bytes each                                    |
//!    +---------------------------------------------------------------+
//!    | body: owed segments, 4 bytes each                             |
//!    +---------------------------------------------------------------+
//!
//!    a band
//!    +---------------------------------------------------------------+
//!  0 | sequence                                                      |
//!    +-------------------------------+-------+-----------------------+
//!  8 | cycles                        | state | 0                     |
//!    +-------------------------------+-------+-----------------------+
//! ```

use crate::version::VERSION;
use std::mem::offset_of;
use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// The size of a checkpoint's head.
pub const CHECKPOINT_HEAD_BYTES: usize = 80;
/// The size of a band's record in a checkpoint.
pub const BAND_RECORD_BYTES: usize = 16;
/// The size of an entry of the map in a checkpoint.
const MAP_ENTRY_BYTES: usize = 4;

const MAGIC: [u8; 8] = *b"FRIGCKPT";

/// The head as it lies on the medium.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Raw {
    magic: [u8; 8],
    version: U16,
    reserved: U16,
    map_entries: U32,
    id: U64,
    replay_from: U64,
    version_start: U64,
    next_version: U64,
    next_band_sequence: U64,
    body_bytes: U64,
    bands: U32,
    body_crc: U32,
    owed_segments: U32,
    crc: U32,
}

/// A band as it lies on the medium.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct RawBand {
    sequence: U64,
    cycles: U32,
    state: u8,
    reserved: [u8; 3],
}

const _: () = assert!(size_of::<Raw>() == CHECKPOINT_HEAD_BYTES);
const _: () = assert!(size_of::<RawBand>() == BAND_RECORD_BYTES);
/// The number of bytes that the head's checksum covers.
const CHECKED_BYTES: usize = offset_of!(Raw, crc);

/// The head of a checkpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CheckpointHead {
    /// The number of the checkpoint; the newest has the highest.
    pub id: u64,
    /// The number of map entries; [`Checkpoint::encode`] sets it.
    pub map_entries: u32,
    /// The number of bands; [`Checkpoint::encode`] sets it.
    pub bands: u32,
    /// Bands with this sequence or a higher one may hold sectors that the checkpoint doesn't know.
    pub replay_from: u64,
    /// The lowest version that the checkpoint may not know, from the moment when it was begun.
    pub version_start: u64,
    /// The version of the next write, when the checkpoint was finished.
    pub next_version: u64,
    /// The sequence of the next band to be opened, when the checkpoint was finished.
    pub next_band_sequence: u64,
    /// The number of bytes after the head; [`Checkpoint::encode`] sets it.
    pub body_bytes: u64,
    /// The crc32c of the bytes after the head; [`Checkpoint::encode`] sets it.
    pub body_crc: u32,
    /// The number of owed segments; [`Checkpoint::encode`] sets it.
    pub owed_segments: u32,
}

/// A band in a checkpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct BandRecord {
    /// The number of the band's last opening.
    pub sequence: u64,
    /// The number of times that the band was erased.
    pub cycles: u32,
    /// The state of the band; flash management defines its values.
    pub state: u8,
}

/// A checkpoint, decoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checkpoint {
    /// The fields that the stream begins with.
    pub head: CheckpointHead,
    /// The physical sector of each LBA; [`u32::MAX`] if it is unmapped.
    pub map: Vec<u32>,
    /// The bands, by their place on the medium.
    pub bands: Vec<BandRecord>,
    /// Segments with holes that the map knew and that no list of holes named.
    pub owed_segments: Vec<u32>,
}

/// The reason why a checkpoint can't be decoded. Offsets are in bytes from the beginning of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum CheckpointError {
    /// The stream ends too early.
    #[error("checkpoint: {found} bytes of {needed}")]
    Size {
        found: u64,
        /// Bytes of the head, or of the whole where the head could be read.
        needed: u64,
    },
    /// The stream does not begin with the magic of a checkpoint.
    #[error("checkpoint: magic \"{}\" at offset 0 instead of \"FRIGCKPT\"", .found.escape_ascii())]
    Magic { found: [u8; 8] },
    /// The checksum of the head does not match.
    #[error("checkpoint: checksum {found:#010x} of the head at offset {CHECKED_BYTES} instead of {computed:#010x}")]
    Checksum { found: u32, computed: u32 },
    /// The checksum of the body does not match: the body is damaged, or some parts belong to another checkpoint.
    #[error("checkpoint: checksum {computed:#010x} of the body instead of {found:#010x}")]
    BodyChecksum { found: u32, computed: u32 },
    /// The checkpoint was written in a newer version of the format.
    #[error("checkpoint: format version {found}, supported up to {supported}")]
    NewerVersion { found: u16, supported: u16 },
    /// A field has a value that it can't have.
    #[error("checkpoint: {field} at offset {offset} is {value}")]
    Field { field: &'static str, offset: u64, value: u64 },
}

/// The number of bytes after the head.
fn body_bytes(map_entries: u32, bands: u32, owed_segments: u32) -> u64 {
    let words = u64::from(map_entries) + u64::from(owed_segments);
    words * MAP_ENTRY_BYTES as u64 + u64::from(bands) * BAND_RECORD_BYTES as u64
}

impl BandRecord {
    /// The record as it lies in the stream.
    pub fn encode(&self) -> [u8; BAND_RECORD_BYTES] {
        let mut bytes = [0; BAND_RECORD_BYTES];
        let (sequence, cycles, state) = (self.sequence.into(), self.cycles.into(), self.state);
        bytes.copy_from_slice(RawBand { sequence, cycles, state, reserved: [0; 3] }.as_bytes());
        bytes
    }
}

impl CheckpointHead {
    /// The number of bytes after the head that the counts in the head require.
    pub fn expected_body_bytes(&self) -> u64 {
        body_bytes(self.map_entries, self.bands, self.owed_segments)
    }

    /// The head as it lies in the stream.
    pub fn encode(&self) -> [u8; CHECKPOINT_HEAD_BYTES] {
        let mut raw = Raw {
            magic: MAGIC,
            version: VERSION.into(),
            reserved: 0.into(),
            map_entries: self.map_entries.into(),
            id: self.id.into(),
            replay_from: self.replay_from.into(),
            version_start: self.version_start.into(),
            next_version: self.next_version.into(),
            next_band_sequence: self.next_band_sequence.into(),
            body_bytes: self.body_bytes.into(),
            bands: self.bands.into(),
            body_crc: self.body_crc.into(),
            owed_segments: self.owed_segments.into(),
            crc: 0.into(),
        };
        raw.crc = crc32c::crc32c(&raw.as_bytes()[..CHECKED_BYTES]).into();
        let mut bytes = [0; CHECKPOINT_HEAD_BYTES];
        bytes.copy_from_slice(raw.as_bytes());
        bytes
    }

    /// Decodes a head from the first [`CHECKPOINT_HEAD_BYTES`]. Ignores the bytes that follow.
    pub fn decode(bytes: &[u8]) -> Result<CheckpointHead, CheckpointError> {
        let Ok((raw, _)) = Raw::ref_from_prefix(bytes) else {
            return Err(CheckpointError::Size { found: bytes.len() as u64, needed: CHECKPOINT_HEAD_BYTES as u64 });
        };
        if raw.magic != MAGIC {
            return Err(CheckpointError::Magic { found: raw.magic });
        }
        let computed = crc32c::crc32c(&bytes[..CHECKED_BYTES]);
        if raw.crc.get() != computed {
            return Err(CheckpointError::Checksum { found: raw.crc.get(), computed });
        }
        let version = raw.version.get();
        if version > VERSION {
            return Err(CheckpointError::NewerVersion { found: version, supported: VERSION });
        }
        let within = |good: bool, field, offset: usize, value| {
            if good { Ok(()) } else { Err(CheckpointError::Field { field, offset: offset as u64, value }) }
        };
        within(version != 0, "version", offset_of!(Raw, version), version.into())?;
        within(raw.reserved == 0, "reserved", offset_of!(Raw, reserved), raw.reserved.into())?;
        let head = CheckpointHead {
            id: raw.id.get(),
            map_entries: raw.map_entries.get(),
            bands: raw.bands.get(),
            replay_from: raw.replay_from.get(),
            version_start: raw.version_start.get(),
            next_version: raw.next_version.get(),
            next_band_sequence: raw.next_band_sequence.get(),
            body_bytes: raw.body_bytes.get(),
            body_crc: raw.body_crc.get(),
            owed_segments: raw.owed_segments.get(),
        };
        let right = head.body_bytes == head.expected_body_bytes();
        within(right, "body_bytes", offset_of!(Raw, body_bytes), head.body_bytes)?;
        Ok(head)
    }
}

impl Checkpoint {
    /// The checkpoint as a stream of bytes. Computes the fields of the head that describe the body.
    pub fn encode(&self) -> Vec<u8> {
        let entries = |count: usize| u32::try_from(count).expect("counts of a card fit 32 bits");
        let mut head = CheckpointHead {
            map_entries: entries(self.map.len()),
            bands: entries(self.bands.len()),
            owed_segments: entries(self.owed_segments.len()),
            ..self.head
        };
        head.body_bytes = head.expected_body_bytes();
        let mut bytes = Vec::with_capacity(CHECKPOINT_HEAD_BYTES + head.body_bytes as usize);
        bytes.resize(CHECKPOINT_HEAD_BYTES, 0);
        bytes.extend(self.map.iter().flat_map(|entry| entry.to_le_bytes()));
        bytes.extend(self.bands.iter().flat_map(BandRecord::encode));
        bytes.extend(self.owed_segments.iter().flat_map(|segment| segment.to_le_bytes()));
        head.body_crc = crc32c::crc32c(&bytes[CHECKPOINT_HEAD_BYTES..]);
        bytes[..CHECKPOINT_HEAD_BYTES].copy_from_slice(&head.encode());
        bytes
    }

    /// Decodes a checkpoint from the payloads of all its parts in order. Ignores the bytes after its end.
    pub fn decode(bytes: &[u8]) -> Result<Checkpoint, CheckpointError> {
        let head = CheckpointHead::decode(bytes)?;
        let body = &bytes[CHECKPOINT_HEAD_BYTES..];
        let short = CheckpointError::Size {
            found: bytes.len() as u64,
            needed: head.body_bytes.saturating_add(CHECKPOINT_HEAD_BYTES as u64),
        };
        let body_bytes = usize::try_from(head.body_bytes).map_err(|_| short)?;
        let body = body.get(..body_bytes).ok_or(short)?;
        let computed = crc32c::crc32c(body);
        if head.body_crc != computed {
            return Err(CheckpointError::BodyChecksum { found: head.body_crc, computed });
        }
        let (map, rest) = body.split_at(head.map_entries as usize * MAP_ENTRY_BYTES);
        let (bands, owed_segments) = rest.split_at(head.bands as usize * BAND_RECORD_BYTES);
        let words = |bytes: &[u8]| bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        let (map, owed_segments) = (words(map), words(owed_segments));
        let first_band = CHECKPOINT_HEAD_BYTES as u64 + head.map_entries as u64 * MAP_ENTRY_BYTES as u64;
        let mut records = Vec::with_capacity(head.bands as usize);
        for (number, raw) in bands.chunks_exact(BAND_RECORD_BYTES).enumerate() {
            let Ok(raw) = RawBand::ref_from_bytes(raw) else { break };
            if let Some(value) = raw.reserved.into_iter().find(|byte| *byte != 0) {
                let offset = first_band + (number * BAND_RECORD_BYTES + offset_of!(RawBand, reserved)) as u64;
                return Err(CheckpointError::Field { field: "reserved bytes of a band", offset, value: value.into() });
            }
            records.push(BandRecord { sequence: raw.sequence.get(), cycles: raw.cycles.get(), state: raw.state });
        }
        Ok(Checkpoint { head, map, bands: records, owed_segments })
    }

    /// The number of sectors, which are its parts, that a checkpoint takes. `payload_bytes` must not be 0.
    pub fn sectors(map_entries: u32, bands: u32, owed_segments: u32, payload_bytes: u32) -> u32 {
        let bytes = CHECKPOINT_HEAD_BYTES as u64 + body_bytes(map_entries, bands, owed_segments);
        u32::try_from(bytes.div_ceil(payload_bytes.into())).unwrap_or(u32::MAX)
    }
}
