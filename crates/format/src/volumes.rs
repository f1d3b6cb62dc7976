//! Pages of the volume table, which divides a card into volumes. They lie among the sectors of the host, at the card's
//! first addresses, so that stripes, parity and the log protect them as they do all else.
//!
//! A page has 4,096 bytes and two copies, one after the other. Among the copies that can be read
//! the one with the higher `sequence` counts; its lowest bit says which copy it is. Page 0 is the directory, all others have the owners of
//! extents: page `p` those from `(p - 1) * 506` on.
//!
//! ```text
//!        0       1       2       3       4       5       6       7
//!     +---------------------------------------------------------------+
//!   0 | "FRIGVOLS"                                                    |
//!     +---------------+---------------+-------------------------------+
//!   8 | format version| 0             | crc32c of all from byte 16 on |
//!     +---------------+---------------+-------------------------------+
//!  16 | sequence                                                      |
//!     +---------------------------------------------------------------+
//!  24 | card                                                          |
//!  32 |                                                               |
//!     +-------------------------------+-------------------------------+
//!  40 | page                          | 0                             |
//!     +-------------------------------+-------------------------------+
//!     | directory: 48 extent bytes, 56 extents, 60 next volume id,    |
//!     |   64 volumes, 68 0, 72 volumes of 96 bytes each:              |
//!     |     0 id, 4 name bytes, 8 size in bytes, 16 UUID, 32 name     |
//!     +---------------------------------------------------------------+
//!     | owners: 48 entries of 8 bytes: 0 volume, 4 extent of it       |
//!     +---------------------------------------------------------------+
//! ```
//!
//! The volume 0 in an entry: the extent is free, and was never used. The highest number: it is free, and may hold what a
//! volume has left in it.

use crate::ids::CardId;
use crate::version::VERSION;
use std::mem::offset_of;
use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

const MAGIC: [u8; 8] = *b"FRIGVOLS";
/// The number of bytes of a page.
pub const VOLUME_PAGE_BYTES: usize = 4096;
/// The number of owners in a page.
pub const OWNERS_PER_PAGE: usize = 506;
/// The most volumes that a directory holds.
pub const MAX_VOLUMES: usize = 40;
/// The most bytes of a volume's name.
pub const MAX_VOLUME_NAME_BYTES: usize = 64;

#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct RawHead {
    magic: [u8; 8],
    version: U16,
    reserved: U16,
    crc: U32,
    sequence: U64,
    card: [u8; 16],
    page: U32,
    reserved_too: U32,
}

#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned, Clone, Copy)]
#[repr(C)]
struct RawOwner {
    volume: U32,
    extent: U32,
}

#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct RawDirectory {
    extent_bytes: U64,
    extents: U32,
    next_id: U32,
    volumes: U32,
    reserved: U32,
}

#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct RawVolume {
    id: U32,
    name_bytes: U32,
    size_bytes: U64,
    uuid: [u8; 16],
    name: [u8; MAX_VOLUME_NAME_BYTES],
}

const HEAD_BYTES: usize = size_of::<RawHead>();
const CRC_FROM: usize = offset_of!(RawHead, sequence);
const _: () = assert!(HEAD_BYTES + OWNERS_PER_PAGE * size_of::<RawOwner>() == VOLUME_PAGE_BYTES);
const _: () =
    assert!(HEAD_BYTES + size_of::<RawDirectory>() + MAX_VOLUMES * size_of::<RawVolume>() <= VOLUME_PAGE_BYTES);

/// The owner of an extent of the card.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Owner {
    /// No volume has it, and none ever had.
    #[default]
    Unused,
    /// No volume has it. It may hold what one has left there.
    Freed,
    /// A volume has it.
    Volume {
        /// The number of the volume.
        volume: u32,
        /// The number of the extent within the volume.
        extent: u32,
    },
}

/// A volume in the directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeRecord {
    /// The volume's number, from 1 on; a number is never used again.
    pub id: u32,
    /// The name that people gave it.
    pub name: String,
    /// The bytes that a host sees.
    pub size_bytes: u64,
    /// The UUID by which hosts know it.
    pub uuid: [u8; 16],
}

/// The contents of page 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeDirectory {
    /// The bytes of an extent.
    pub extent_bytes: u64,
    /// The number of extents of the card.
    pub extents: u32,
    /// The number of the next volume.
    pub next_id: u32,
    /// The volumes, in the order in which they were made.
    pub volumes: Vec<VolumeRecord>,
}

/// The contents of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VolumePageContents {
    /// The volumes of the card: page 0.
    Directory(VolumeDirectory),
    /// The owners of extents, as many as a page has; those beyond the card's last extent are unused.
    Owners(Vec<Owner>),
}

/// A page of the volume table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumePage {
    /// The card that the page is of.
    pub card: CardId,
    /// The number of the page; 0 is the directory.
    pub page: u32,
    /// The number of the writing; a later one of the same page has a higher one.
    pub sequence: u64,
    /// The part of the table that the page has.
    pub contents: VolumePageContents,
}

/// The reason why bytes are no page of a volume table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VolumePageError {
    /// The bytes do not begin as a page does.
    #[error("no page of a volume table begins here")]
    Magic,
    /// There are not as many bytes as a page has.
    #[error("the page is cut short")]
    Short,
    /// The checksum is wrong.
    #[error("the checksum of the page is wrong")]
    Checksum,
    /// The page has another version of the format.
    #[error("the page has version {0} of the format")]
    Version(u16),
    /// A field has a value that is never written.
    #[error("a field of the page makes no sense")]
    Field,
}

impl VolumePage {
    /// The bytes of the page.
    ///
    /// # Panics
    /// When the contents do not fit: see [`MAX_VOLUMES`], [`MAX_VOLUME_NAME_BYTES`] and [`OWNERS_PER_PAGE`].
    pub fn encode(&self) -> [u8; VOLUME_PAGE_BYTES] {
        let mut bytes = [0; VOLUME_PAGE_BYTES];
        let (head, rest) = RawHead::mut_from_prefix(&mut bytes).expect("a page is longer than its head");
        head.magic = MAGIC;
        head.version = VERSION.into();
        head.sequence = self.sequence.into();
        head.card = self.card.0;
        head.page = self.page.into();
        match &self.contents {
            VolumePageContents::Directory(directory) => {
                assert!(self.page == 0, "a directory in page {}", self.page);
                directory.encode(rest);
            }
            VolumePageContents::Owners(owners) => {
                assert!(
                    self.page > 0 && owners.len() == OWNERS_PER_PAGE,
                    "{} owners in page {}",
                    owners.len(),
                    self.page
                );
                for (raw, owner) in rest.chunks_exact_mut(size_of::<RawOwner>()).zip(owners) {
                    raw.copy_from_slice(RawOwner::from(*owner).as_bytes());
                }
            }
        }
        let crc = crate::payload_crc(&bytes[CRC_FROM..]);
        bytes[offset_of!(RawHead, crc)..CRC_FROM].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// The page in these bytes.
    pub fn decode(bytes: &[u8]) -> Result<VolumePage, VolumePageError> {
        if !bytes.starts_with(&MAGIC) {
            return Err(VolumePageError::Magic);
        }
        let bytes: &[u8; VOLUME_PAGE_BYTES] = bytes.first_chunk().ok_or(VolumePageError::Short)?;
        let (head, rest) = RawHead::ref_from_prefix(bytes).map_err(|_| VolumePageError::Short)?;
        if head.crc.get() != crate::payload_crc(&bytes[CRC_FROM..]) {
            return Err(VolumePageError::Checksum);
        }
        if head.version.get() != VERSION {
            return Err(VolumePageError::Version(head.version.get()));
        }
        if head.reserved.get() != 0 || head.reserved_too.get() != 0 {
            return Err(VolumePageError::Field);
        }
        let contents = match head.page.get() {
            0 => VolumePageContents::Directory(VolumeDirectory::decode(rest)?),
            _ => VolumePageContents::Owners(owners(rest)?),
        };
        Ok(VolumePage { card: CardId(head.card), page: head.page.get(), sequence: head.sequence.get(), contents })
    }
}

fn owners(bytes: &[u8]) -> Result<Vec<Owner>, VolumePageError> {
    let raw = <[RawOwner]>::ref_from_bytes(bytes).map_err(|_| VolumePageError::Short)?;
    raw.iter().map(|raw| Owner::try_from(*raw)).collect()
}

impl From<Owner> for RawOwner {
    fn from(owner: Owner) -> RawOwner {
        let (volume, extent) = match owner {
            Owner::Unused => (0, 0),
            Owner::Freed => (u32::MAX, 0),
            Owner::Volume { volume, extent } => (volume, extent),
        };
        RawOwner { volume: volume.into(), extent: extent.into() }
    }
}

impl TryFrom<RawOwner> for Owner {
    type Error = VolumePageError;

    fn try_from(raw: RawOwner) -> Result<Owner, VolumePageError> {
        match (raw.volume.get(), raw.extent.get()) {
            (0, 0) => Ok(Owner::Unused),
            (u32::MAX, 0) => Ok(Owner::Freed),
            (0 | u32::MAX, _) => Err(VolumePageError::Field),
            (volume, extent) => Ok(Owner::Volume { volume, extent }),
        }
    }
}

impl VolumeDirectory {
    fn encode(&self, bytes: &mut [u8]) {
        assert!(self.volumes.len() <= MAX_VOLUMES, "{} volumes", self.volumes.len());
        let (head, rest) = RawDirectory::mut_from_prefix(bytes).expect("a page is longer than a directory's head");
        head.extent_bytes = self.extent_bytes.into();
        head.extents = self.extents.into();
        head.next_id = self.next_id.into();
        head.volumes = (self.volumes.len() as u32).into();
        for (raw, volume) in rest.chunks_exact_mut(size_of::<RawVolume>()).zip(&self.volumes) {
            let mut name = [0; MAX_VOLUME_NAME_BYTES];
            name[..volume.name.len()].copy_from_slice(volume.name.as_bytes());
            let record = RawVolume {
                id: volume.id.into(),
                name_bytes: (volume.name.len() as u32).into(),
                size_bytes: volume.size_bytes.into(),
                uuid: volume.uuid,
                name,
            };
            raw.copy_from_slice(record.as_bytes());
        }
    }

    fn decode(bytes: &[u8]) -> Result<VolumeDirectory, VolumePageError> {
        let (head, rest) = RawDirectory::ref_from_prefix(bytes).map_err(|_| VolumePageError::Short)?;
        let count = head.volumes.get() as usize;
        let is_sound = count <= MAX_VOLUMES && head.reserved.get() == 0 && head.extent_bytes.get().is_power_of_two();
        if !is_sound {
            return Err(VolumePageError::Field);
        }
        let (used, unused) = rest.split_at(count * size_of::<RawVolume>());
        if unused.iter().any(|byte| *byte != 0) {
            return Err(VolumePageError::Field);
        }
        let raw = <[RawVolume]>::ref_from_bytes(used).map_err(|_| VolumePageError::Short)?;
        let volumes = raw.iter().map(VolumeRecord::try_from).collect::<Result<Vec<_>, _>>()?;
        let next_id = head.next_id.get();
        let differ = |at: usize| volumes[..at].iter().all(|other| other.id != volumes[at].id);
        if !(0..count).all(|at| volumes[at].id < next_id && differ(at)) {
            return Err(VolumePageError::Field);
        }
        Ok(VolumeDirectory { extent_bytes: head.extent_bytes.get(), extents: head.extents.get(), next_id, volumes })
    }
}

impl TryFrom<&RawVolume> for VolumeRecord {
    type Error = VolumePageError;

    fn try_from(raw: &RawVolume) -> Result<VolumeRecord, VolumePageError> {
        let len = raw.name_bytes.get() as usize;
        if !(1..=MAX_VOLUME_NAME_BYTES).contains(&len) || raw.name[len..].iter().any(|byte| *byte != 0) {
            return Err(VolumePageError::Field);
        }
        let name = std::str::from_utf8(&raw.name[..len]).map_err(|_| VolumePageError::Field)?;
        if raw.id.get() == 0 {
            return Err(VolumePageError::Field);
        }
        Ok(VolumeRecord { id: raw.id.get(), name: name.into(), size_bytes: raw.size_bytes.get(), uuid: raw.uuid })
    }
}
