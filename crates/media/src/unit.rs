//! What one program command carries.

use crate::{SPARE_BYTES, Shape};

/// How a sector came back from the medium.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SectorState {
    /// Nothing was programmed since the last erase.
    #[default]
    Erased,
    /// Read, with all bits corrected, as far as the medium can tell.
    Good,
    /// More bits are wrong than can be corrected.
    Uncorrectable,
}

/// The sectors of a unit, each with its payload and its spare area.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    sectors: usize,
    payload_bytes: usize,
    /// Spare area and payload of each sector, one after the other.
    bytes: Vec<u8>,
    states: Vec<SectorState>,
}

impl Unit {
    /// All erased.
    pub fn new(shape: &Shape) -> Unit {
        let (sectors, payload_bytes) = (shape.unit_sectors as usize, shape.payload_bytes as usize);
        Unit {
            sectors,
            payload_bytes,
            bytes: vec![0; sectors * (SPARE_BYTES + payload_bytes)],
            states: vec![SectorState::Erased; sectors],
        }
    }

    /// Sectors.
    pub fn sectors(&self) -> usize {
        self.sectors
    }

    fn start(&self, sector: usize) -> usize {
        sector * (SPARE_BYTES + self.payload_bytes)
    }

    /// Spare area of a sector.
    pub fn spare(&self, sector: usize) -> &[u8] {
        &self.bytes[self.start(sector)..][..SPARE_BYTES]
    }

    /// Spare area of a sector.
    pub fn spare_mut(&mut self, sector: usize) -> &mut [u8] {
        let start = self.start(sector);
        &mut self.bytes[start..][..SPARE_BYTES]
    }

    /// Payload of a sector.
    pub fn payload(&self, sector: usize) -> &[u8] {
        &self.bytes[self.start(sector) + SPARE_BYTES..][..self.payload_bytes]
    }

    /// Payload of a sector.
    pub fn payload_mut(&mut self, sector: usize) -> &mut [u8] {
        let start = self.start(sector) + SPARE_BYTES;
        &mut self.bytes[start..][..self.payload_bytes]
    }

    /// Spare area and payload of a sector, one after the other: what error correction protects as one.
    pub fn sector(&self, sector: usize) -> &[u8] {
        &self.bytes[self.start(sector)..][..SPARE_BYTES + self.payload_bytes]
    }

    /// Spare area and payload of a sector.
    pub fn sector_mut(&mut self, sector: usize) -> &mut [u8] {
        let start = self.start(sector);
        &mut self.bytes[start..][..SPARE_BYTES + self.payload_bytes]
    }

    /// How a sector came back; of a unit to be programmed it has no meaning.
    pub fn state(&self, sector: usize) -> SectorState {
        self.states[sector]
    }

    /// Says how a sector came back.
    pub fn set_state(&mut self, sector: usize, state: SectorState) {
        self.states[sector] = state;
    }

    /// Spare areas and payloads of all sectors, one after the other.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Spare areas and payloads of all sectors.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// Panics when the unit was made for another shape.
    #[inline]
    pub(crate) fn assert_shape(&self, sectors: usize, sector_bytes: usize) {
        assert!(
            self.sectors == sectors && SPARE_BYTES + self.payload_bytes == sector_bytes,
            "a unit of {} sectors of {} bytes on a medium of {sectors} of {sector_bytes}",
            self.sectors,
            SPARE_BYTES + self.payload_bytes
        );
    }
}
