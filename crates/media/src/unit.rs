//! What one program command carries.

use crate::Shape;
use crate::sectors::{Payload, Sectors};

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
    sectors: Sectors,
    states: Vec<SectorState>,
}

impl Unit {
    /// All erased.
    pub fn new(shape: &Shape) -> Unit {
        let (sectors, payload_bytes) = (shape.unit_sectors as usize, shape.payload_bytes as usize);
        Unit { sectors: Sectors::new(sectors, payload_bytes), states: vec![SectorState::Erased; sectors] }
    }

    /// Sectors.
    pub fn sectors(&self) -> usize {
        self.states.len()
    }

    /// Spare area of a sector.
    pub fn spare(&self, sector: usize) -> &[u8] {
        self.sectors.spare(sector)
    }

    /// Spare area of a sector.
    pub fn spare_mut(&mut self, sector: usize) -> &mut [u8] {
        self.sectors.spare_mut(sector)
    }

    /// Payload of a sector.
    pub fn payload(&self, sector: usize) -> &[u8] {
        self.sectors.payload(sector)
    }

    /// Payload of a sector, to be changed: nobody else has a share of it then.
    pub fn payload_mut(&mut self, sector: usize) -> &mut [u8] {
        self.sectors.payload_mut(sector)
    }

    /// A share of the payload of a sector.
    pub fn share(&self, sector: usize) -> Payload {
        self.sectors.share(sector)
    }

    /// The payload of a sector is this one.
    pub fn set_payload(&mut self, sector: usize, payload: &Payload) {
        self.sectors.set_payload(sector, payload);
    }

    /// The payload of a sector is a copy of these bytes.
    ///
    /// # Panics
    /// When it has another length.
    pub fn write_payload(&mut self, sector: usize, bytes: &[u8]) {
        assert_eq!(bytes.len(), self.sectors.payload_bytes(), "a payload of another length");
        self.sectors.write_payload(sector, bytes);
    }

    /// The payload of a sector is all zeroes.
    pub fn zero_payload(&mut self, sector: usize) {
        self.sectors.zero_payload(sector);
    }

    /// Lets go of the payloads, which are undefined then. Their memory is appended to `freed` where nobody else has it.
    pub fn forget(&mut self, freed: &mut Vec<Payload>) {
        self.sectors.forget(0..self.states.len(), freed);
    }

    /// How a sector came back; of a unit to be programmed it has no meaning.
    pub fn state(&self, sector: usize) -> SectorState {
        self.states[sector]
    }

    /// Says how a sector came back.
    pub fn set_state(&mut self, sector: usize, state: SectorState) {
        self.states[sector] = state;
    }

    /// Spare areas and payloads of all sectors.
    pub(crate) fn contents(&self) -> &Sectors {
        &self.sectors
    }

    /// Spare areas and payloads of all sectors.
    pub(crate) fn contents_mut(&mut self) -> &mut Sectors {
        &mut self.sectors
    }

    /// Panics when the unit was made for another shape.
    #[inline]
    pub(crate) fn assert_shape(&self, sectors: usize, payload_bytes: usize) {
        assert!(
            self.states.len() == sectors && self.sectors.payload_bytes() == payload_bytes,
            "a unit of {} sectors of {} bytes on a medium of {sectors} of {payload_bytes}",
            self.states.len(),
            self.sectors.payload_bytes()
        );
    }
}
