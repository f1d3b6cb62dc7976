//! The spare area of a sector: the kind of the sector, its place, and the checksum of its payload.
//!
//! A spare area is read and written for every sector, so nothing is allocated, and the only work is one checksum over
//! 60 bytes.
//!
//! ```text
//!       0      1       2     3      4       5            6     7
//!    +------+-------+------+------+-------+------------+-----+-------+
//!  0 | 0xf1 | format| role | slc  | stream| member role| unit| sector|
//!    +------+-------+------+------+-------+------------+-----+-------+
//!  8 | card: the first eight bytes of its id                         |
//!    +---------------------------------------------------------------+
//! 16 | version                                                       |
//!    +---------------------------------------------------------------+
//! 24 | band sequence                                                 |
//!    +---------------------------------------------------------------+
//! 32 | members of the stripe, one bit each                           |
//!    +-------------------------------+-------------------------------+
//! 40 | lba                           | band                          |
//!    +-------------------------------+-------------------------------+
//! 48 | stripe                        | crc32c of the payload         |
//!    +-------------------------------+-------------------------------+
//! 56 | crc of the members (parity)   | crc32c of bytes 0 to 59       |
//!    +-------------------------------+-------------------------------+
//! ```

use crate::header::{MAX_STRIPE_UNITS, MAX_UNIT_SECTORS};
use crate::version::VERSION;
use std::mem::offset_of;
use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// The size of a sector's spare area.
pub const SPARE_BYTES: usize = 64;

/// The first byte of a spare area that was written.
const MAGIC: u8 = 0xf1;
/// The version of the format, in the one byte that a spare area has for it.
const SPARE_VERSION: u8 = VERSION as u8;
const _: () = assert!(VERSION <= u8::MAX as u16, "a spare area has one byte for the version");

/// The spare area as it lies on the medium.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Raw {
    magic: u8,
    format: u8,
    role: u8,
    slc: u8,
    stream: u8,
    member_role: u8,
    unit: u8,
    sector: u8,
    card: U64,
    version: U64,
    band_sequence: U64,
    members: U64,
    lba: U32,
    band: U32,
    stripe: U32,
    payload_crc: U32,
    member_crc: U32,
    crc: U32,
}

const _: () = assert!(size_of::<Raw>() == SPARE_BYTES);
/// The number of bytes that the spare area's own checksum covers.
const CHECKED_BYTES: usize = offset_of!(Raw, crc);

/// The role of a sector: the kind of its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Role {
    /// A sector of the host.
    Data = 1,
    /// A list of holes: the LBAs of a segment that are unmapped.
    Holes = 2,
    /// A part of the summary: the roles, LBAs and versions of the band's data sectors.
    Summary = 3,
    /// A part of a checkpoint.
    Checkpoint = 4,
    /// The XOR of the same-numbered sectors of the stripe's other members.
    Parity = 5,
    /// An empty sector, because the stripe had to be filled.
    Padding = 6,
    /// A sector of the host that could not be read when it was relocated. It reads as an error until it is overwritten.
    Lost = 7,
}

impl Role {
    /// The role that a byte stands for, if any.
    pub fn from_byte(byte: u8) -> Option<Role> {
        Some(match byte {
            1 => Role::Data,
            2 => Role::Holes,
            3 => Role::Summary,
            4 => Role::Checkpoint,
            5 => Role::Parity,
            6 => Role::Padding,
            7 => Role::Lost,
            _ => return None,
        })
    }
}

/// The spare area of one 4 KiB sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spare {
    /// The card's [`CardId::short`](crate::CardId::short).
    pub card: u64,
    /// The kind of the payload.
    pub role: Role,
    /// The band's cells are used with one bit a cell.
    pub slc: bool,
    /// The stream that the band's sectors came from: 0 host, 1 relocation, 2 checkpoint.
    pub stream: u8,
    /// Data and Lost: the LBA. Holes: the segment. Summary: the index of its first entry. Checkpoint: the part. Parity:
    /// XOR over the members' same-numbered sectors. Padding: 0.
    pub lba: u32,
    /// Data, Holes and Lost: the write sequence number. Summary: the band sequence. Checkpoint: its id. Parity: XOR as
    /// with `lba`. Padding: 0.
    pub version: u64,
    /// The band, by its place on the medium.
    pub band: u32,
    /// The number of the opening of the band. Openings are numbered through the card's life.
    pub band_sequence: u64,
    /// The number of the stripe within the band.
    pub stripe: u32,
    /// The number of the unit within the stripe, below 64.
    pub unit: u8,
    /// The number of the sector within the unit, below 64.
    pub sector: u8,
    /// The units of the stripe that are in use, including parity, one bit each.
    pub members: u64,
    /// The crc32c of the payload.
    pub payload_crc: u32,
    /// The XOR of the members' role bytes in a parity sector; 0 in others.
    pub member_role: u8,
    /// The XOR of the members' `payload_crc` in a parity sector; 0 in others.
    pub member_crc: u32,
}

/// The reason why a spare area can't be decoded. Offsets are in bytes from its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum SpareError {
    /// There are more or fewer bytes than a spare area has.
    #[error("spare area: {found} bytes instead of {SPARE_BYTES}")]
    Size { found: usize },
    /// The spare area does not begin with the magic byte.
    #[error("spare area: magic {found:#04x} at offset 0 instead of {MAGIC:#04x}")]
    Magic { found: u8 },
    /// The checksum of the spare area does not match.
    #[error("spare area: checksum {found:#010x} at offset {CHECKED_BYTES} instead of {computed:#010x}")]
    Checksum { found: u32, computed: u32 },
    /// The spare area was written in a newer version of the format.
    #[error("spare area: format version {found}, supported up to {supported}")]
    NewerVersion { found: u16, supported: u16 },
    /// A field has a value that it can't have.
    #[error("spare area: {field} at offset {offset} is {value}")]
    Field { field: &'static str, offset: usize, value: u64 },
}

impl Spare {
    /// Writes the spare area to `out`, which must be [`SPARE_BYTES`] long.
    pub fn encode(&self, out: &mut [u8]) {
        assert!(u32::from(self.unit) < MAX_STRIPE_UNITS, "unit {} of a stripe", self.unit);
        assert!(u32::from(self.sector) < MAX_UNIT_SECTORS, "sector {} of a unit", self.sector);
        let mut raw = Raw {
            magic: MAGIC,
            format: SPARE_VERSION,
            role: self.role as u8,
            slc: self.slc.into(),
            stream: self.stream,
            member_role: self.member_role,
            unit: self.unit,
            sector: self.sector,
            card: self.card.into(),
            version: self.version.into(),
            band_sequence: self.band_sequence.into(),
            members: self.members.into(),
            lba: self.lba.into(),
            band: self.band.into(),
            stripe: self.stripe.into(),
            payload_crc: self.payload_crc.into(),
            member_crc: self.member_crc.into(),
            crc: 0.into(),
        };
        raw.crc = crc32c::crc32c(&raw.as_bytes()[..CHECKED_BYTES]).into();
        out.copy_from_slice(raw.as_bytes());
    }

    /// Decodes a spare area.
    pub fn decode(bytes: &[u8]) -> Result<Spare, SpareError> {
        let Ok(raw) = Raw::ref_from_bytes(bytes) else { return Err(SpareError::Size { found: bytes.len() }) };
        if raw.magic != MAGIC {
            return Err(SpareError::Magic { found: raw.magic });
        }
        let computed = crc32c::crc32c(&bytes[..CHECKED_BYTES]);
        if raw.crc.get() != computed {
            return Err(SpareError::Checksum { found: raw.crc.get(), computed });
        }
        if raw.format > SPARE_VERSION {
            return Err(SpareError::NewerVersion { found: raw.format.into(), supported: VERSION });
        }
        let wrong = |field, offset, value: u8| Err(SpareError::Field { field, offset, value: value.into() });
        if raw.format == 0 {
            return wrong("format version", offset_of!(Raw, format), raw.format);
        }
        let Some(role) = Role::from_byte(raw.role) else { return wrong("role", offset_of!(Raw, role), raw.role) };
        if raw.slc > 1 {
            return wrong("slc", offset_of!(Raw, slc), raw.slc);
        }
        if u32::from(raw.unit) >= MAX_STRIPE_UNITS {
            return wrong("unit", offset_of!(Raw, unit), raw.unit);
        }
        if u32::from(raw.sector) >= MAX_UNIT_SECTORS {
            return wrong("sector", offset_of!(Raw, sector), raw.sector);
        }
        Ok(Spare {
            card: raw.card.get(),
            role,
            slc: raw.slc == 1,
            stream: raw.stream,
            lba: raw.lba.get(),
            version: raw.version.get(),
            band: raw.band.get(),
            band_sequence: raw.band_sequence.get(),
            stripe: raw.stripe.get(),
            unit: raw.unit,
            sector: raw.sector,
            members: raw.members.get(),
            payload_crc: raw.payload_crc.get(),
            member_role: raw.member_role,
            member_crc: raw.member_crc.get(),
        })
    }
}
