//! A unit: the sectors of one program command.

use crate::payload::Payload;
use crate::sectors::Sectors;
use bytes::Bytes;
use format::{Shape, crc_append, joined_crc, payload_crc};

/// The outcome of reading a sector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SectorState {
    /// The sector was not programmed since the last erase.
    #[default]
    Erased,
    /// The sector was read with all bits corrected, as far as the medium can tell.
    Good,
    /// More bits are wrong than can be corrected.
    Uncorrectable,
}

/// The sectors of a unit, each with its payload and its spare area.
#[derive(Clone, Debug)]
pub struct Unit {
    sectors: Sectors,
    states: Vec<SectorState>,
    /// The checksums of payloads, where whoever set them has said so.
    crcs: Vec<Option<u32>>,
}

impl Unit {
    /// A unit of erased sectors.
    pub fn new(shape: &Shape) -> Unit {
        let (sectors, payload_bytes) = (shape.unit_sectors as usize, shape.payload_bytes as usize);
        Unit {
            sectors: Sectors::new(sectors, payload_bytes),
            states: vec![SectorState::Erased; sectors],
            crcs: vec![None; sectors],
        }
    }

    /// The number of sectors.
    pub fn sectors(&self) -> usize {
        self.states.len()
    }

    /// The spare area of a sector, to read.
    pub fn spare(&self, sector: usize) -> &[u8] {
        self.sectors.spare(sector)
    }

    /// The spare area of a sector, to write.
    pub fn spare_mut(&mut self, sector: usize) -> &mut [u8] {
        self.sectors.spare_mut(sector)
    }

    /// The payload of a sector, to read.
    pub fn payload(&self, sector: usize) -> &[u8] {
        self.sectors.payload(sector)
    }

    /// The payload of a sector, to write. It is not shared any more afterwards.
    pub fn payload_mut(&mut self, sector: usize) -> &mut [u8] {
        self.crcs[sector] = None;
        self.sectors.payload_mut(sector)
    }

    /// The payload of a sector that is a part of a longer write: see [`Payload::as_part`].
    pub fn part(&self, sector: usize) -> Option<&Bytes> {
        self.sectors.part(sector)
    }

    /// A share of the payload of a sector.
    pub fn share(&self, sector: usize) -> Payload {
        self.sectors.share(sector)
    }

    /// Makes this the payload of a sector, with its [`format::payload_crc`].
    pub fn set_payload(&mut self, sector: usize, payload: &Payload, payload_crc: u32) {
        self.crcs[sector] = Some(payload_crc);
        self.sectors.set_payload(sector, payload);
    }

    /// The checksum of all payloads, one after the other, from their own where these are known.
    pub fn payloads_crc(&self) -> u32 {
        let computed = || (0..self.sectors()).fold(0, |crc, sector| crc_append(crc, self.payload(sector)));
        let of_sector = |sector: usize| self.crcs[sector].unwrap_or_else(|| payload_crc(self.payload(sector)));
        let joined = joined_crc(self.sectors.payload_bytes(), (0..self.sectors()).map(of_sector));
        debug_assert!(joined.is_none_or(|crc| crc == computed()), "checksums of other payloads");
        joined.unwrap_or_else(computed)
    }

    /// Gives a sector memory of its own to read into, if it has none; what its payload is then is undefined. The memory has
    /// no other owner, and the length of a payload.
    pub fn provide(&mut self, sector: usize, memory: &mut Vec<Payload>) {
        self.crcs[sector] = None;
        self.sectors.provide(sector, memory);
    }

    /// Copies these bytes into the payload of a sector.
    ///
    /// # Panics
    /// If the length differs.
    pub fn write_payload(&mut self, sector: usize, bytes: &[u8]) {
        assert_eq!(bytes.len(), self.sectors.payload_bytes(), "a payload of another length");
        self.crcs[sector] = None;
        self.sectors.write_payload(sector, bytes);
    }

    /// Makes this, whose checksum is not known, the payload of a sector.
    pub fn lend_payload(&mut self, sector: usize, payload: &Payload) {
        self.crcs[sector] = None;
        self.sectors.set_payload(sector, payload);
    }

    /// Makes the payload of a sector all zeroes.
    pub fn zero_payload(&mut self, sector: usize) {
        self.crcs[sector] = None;
        self.sectors.zero_payload(sector);
    }

    /// Drops the payloads, which are undefined afterwards. Appends their memory to `freed` where it is not shared.
    pub fn forget(&mut self, freed: &mut Vec<Payload>) {
        self.crcs.fill(None);
        self.sectors.forget(0..self.states.len(), freed);
    }

    /// The outcome of reading a sector. It has no meaning for a unit to be programmed.
    pub fn state(&self, sector: usize) -> SectorState {
        self.states[sector]
    }

    /// Sets the outcome of reading a sector.
    pub fn set_state(&mut self, sector: usize, state: SectorState) {
        self.states[sector] = state;
    }

    /// The spare areas and payloads of all sectors.
    pub(crate) fn contents(&self) -> &Sectors {
        &self.sectors
    }

    /// The spare areas and payloads of all sectors, to write.
    pub(crate) fn contents_mut(&mut self) -> &mut Sectors {
        self.crcs.fill(None);
        &mut self.sectors
    }

    /// Panics if the unit was made for another shape.
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

/// Units with the same contents and states are equal, whether their checksums are known or not.
impl PartialEq for Unit {
    fn eq(&self, other: &Unit) -> bool {
        self.sectors == other.sectors && self.states == other.states
    }
}

impl Eq for Unit {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_of_all_payloads_is_theirs_whoever_has_set_them() {
        let shape = Shape {
            modules: 1,
            dies_per_module: 1,
            blocks_per_die: 1,
            rows_per_block: 1,
            unit_sectors: 3,
            payload_bytes: 4096,
            rows_sharing_cells: 1,
        };
        let mut unit = Unit::new(&shape);
        let of_bytes =
            |unit: &Unit| payload_crc(&(0..3).flat_map(|sector| unit.payload(sector).to_vec()).collect::<Vec<_>>());
        assert_eq!(unit.payloads_crc(), of_bytes(&unit), "none is known");
        for sector in 0..3 {
            let payload: Payload = vec![sector as u8 + 1; 4096].into();
            unit.set_payload(sector, &payload, payload_crc(&payload));
        }
        assert_eq!(unit.payloads_crc(), of_bytes(&unit), "all are known");
        unit.payload_mut(0)[7] = 9;
        unit.write_payload(1, &[5; 4096]);
        unit.zero_payload(2);
        assert_eq!(unit.payloads_crc(), of_bytes(&unit), "all were changed since");
        let payload: Payload = vec![8; 4096].into();
        unit.set_payload(1, &payload, payload_crc(&payload));
        assert_eq!(unit.payloads_crc(), of_bytes(&unit), "one is known");
        unit.forget(&mut Vec::new());
        assert_eq!(unit.payloads_crc(), of_bytes(&unit), "all are zeroes");
    }
}
