//! Payloads on their way to flash.

use format::{Role, payload_crc};
use ftl::{Lba, Ppa};
use media::{Payload, SectorData};
use rustc_hash::FxHashMap;

/// One sector's worth of what the card holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// Data, holes or a lost sector.
    pub role: Role,
    /// Its write sequence number.
    pub version: u64,
    /// The map's address of it.
    pub lba: Lba,
    pub payload: Payload,
    /// The checksum of the payload, from where the payload came.
    pub payload_crc: u32,
    /// Failed stripes that are not durable before this is.
    pub awaited_by: Vec<u32>,
}

impl Content {
    /// Makes the content of a payload that has just come, and computes its checksum.
    pub fn new(role: Role, version: u64, lba: Lba, payload: Payload) -> Content {
        let payload_crc = payload_crc(&payload);
        Content { role, version, lba, payload, payload_crc, awaited_by: Vec::new() }
    }

    /// The sector as the host reads it: its data, or that it is unreadable.
    pub fn readable(&self) -> SectorData {
        match self.role {
            Role::Data => SectorData::Data(self.payload.clone()),
            _ => SectorData::Unreadable,
        }
    }

    /// As [`Content::readable`], for a content that is not needed any more.
    pub fn into_readable(self) -> SectorData {
        match self.role {
            Role::Data => SectorData::Data(self.payload),
            _ => SectorData::Unreadable,
        }
    }

    /// Makes the content of a payload whose checksum was compared when it was read.
    pub fn checked(role: Role, version: u64, lba: Lba, payload: Payload, payload_crc: u32) -> Content {
        Content { role, version, lba, payload, payload_crc, awaited_by: Vec::new() }
    }
}

/// By the address at which a sector will lie. At most what the write buffer and relocations under way hold.
#[derive(Clone, Debug, Default)]
pub struct Buffer {
    sectors: FxHashMap<u32, Content>,
}

impl Buffer {
    pub fn put(&mut self, ppa: Ppa, content: Content) {
        let before = self.sectors.insert(ppa.0, content);
        assert!(before.is_none(), "address {} was given out twice", ppa.0);
    }

    pub fn get(&self, ppa: Ppa) -> Option<&Content> {
        self.sectors.get(&ppa.0)
    }

    pub fn take(&mut self, ppa: Ppa) -> Option<Content> {
        self.sectors.remove(&ppa.0)
    }
}
