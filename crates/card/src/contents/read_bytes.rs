//! The bytes that a read past the dies has brought: in a unit, or where the medium has put them.

use bytes::Bytes;
use media::{SectorData, SectorState, SectorsAt, Unit};

/// See the module. Sectors are counted from the start of their unit.
#[derive(Debug)]
pub enum ReadBytes {
    /// Copied into a unit, with spare areas where they were asked for.
    Unit(Unit),
    /// The payloads of neighbouring sectors, and nothing else.
    Lent {
        /// The sector that the payloads begin with.
        first: u32,
        /// The length of a payload.
        payload_bytes: usize,
        bytes: Bytes,
    },
}

impl ReadBytes {
    /// The payloads of the sectors `at`, in memory of the medium.
    pub fn lent(at: &SectorsAt, bytes: Bytes) -> ReadBytes {
        ReadBytes::Lent { first: at.first, payload_bytes: bytes.len() / at.count as usize, bytes }
    }

    /// The unit that the sectors were copied into, with all that describes them.
    pub fn unit(&self) -> Option<&Unit> {
        match self {
            ReadBytes::Unit(unit) => Some(unit),
            ReadBytes::Lent { .. } => None,
        }
    }

    /// The payload of a sector, if the medium could read it.
    pub fn payload(&self, sector: u32) -> Option<&[u8]> {
        match self {
            ReadBytes::Unit(unit) => is_good(unit, sector).then(|| unit.payload(sector as usize)),
            ReadBytes::Lent { first, payload_bytes, bytes } => {
                bytes[(sector - first) as usize * payload_bytes..].get(..*payload_bytes)
            }
        }
    }

    /// A share of the payload of a sector, if the medium could read it.
    pub fn share(&self, sector: u32) -> Option<SectorData> {
        match self {
            ReadBytes::Unit(unit) => is_good(unit, sector).then(|| SectorData::Data(unit.share(sector as usize))),
            ReadBytes::Lent { bytes, .. } => self.payload(sector).map(|part| SectorData::Lent(bytes.slice_ref(part))),
        }
    }
}

fn is_good(unit: &Unit, sector: u32) -> bool {
    unit.state(sector as usize) == SectorState::Good
}

#[cfg(test)]
mod tests {
    use super::*;
    use media::{BlockAt, UnitAt};

    #[test]
    fn sectors_that_were_lent_are_counted_from_the_start_of_their_unit() {
        let unit = UnitAt { block: BlockAt { module: 0, die: 0, block: 0 }, row: 0 };
        let at = SectorsAt { unit, first: 5, count: 2, with_spares: false };
        let read = ReadBytes::lent(&at, Bytes::from_static(b"abcdefgh"));
        assert_eq!((read.payload(5), read.payload(6)), (Some(&b"abcd"[..]), Some(&b"efgh"[..])));
        assert_eq!(read.share(6), Some(SectorData::Lent(Bytes::from_static(b"efgh"))));
        assert!(read.unit().is_none());
    }
}
