//! Is what was read what its place says it should be?

use format::{Role, Spare, SpareError, payload_crc};
use ftl::{Ftl, Lba};
use media::{SectorState, Unit};

/// Where a sector was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub card: u64,
    pub band: u32,
    pub band_sequence: u64,
    pub stripe: u32,
    pub unit: u8,
}

/// Why a sector can't be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Nothing is written there.
    Erased,
    /// More bits are wrong than can be corrected.
    Uncorrectable,
    /// The spare area is damaged.
    Spare(SpareError),
    /// It was written for another place, at another time, or by another card.
    Misplaced,
    /// The payload is not what its checksum says.
    Payload,
    /// It holds another sector.
    Other,
}

/// Everything that can be known without the map.
pub fn check(place: &Place, unit: &Unit, sector: u32) -> Result<Spare, Why> {
    match unit.state(sector as usize) {
        SectorState::Erased => return Err(Why::Erased),
        SectorState::Uncorrectable => return Err(Why::Uncorrectable),
        SectorState::Good => {}
    }
    let spare = Spare::decode(unit.spare(sector as usize)).map_err(Why::Spare)?;
    let found = Place {
        card: spare.card,
        band: spare.band,
        band_sequence: spare.band_sequence,
        stripe: spare.stripe,
        unit: spare.unit,
    };
    if found != *place || u32::from(spare.sector) != sector {
        return Err(Why::Misplaced);
    }
    if payload_crc(unit.payload(sector as usize)) != spare.payload_crc {
        return Err(Why::Payload);
    }
    Ok(spare)
}

/// The sector holds an LBA of the host, or holes.
pub fn is_for(ftl: &Ftl, spare: &Spare, lba: Lba) -> Result<(), Why> {
    let expected = match ftl.segment_of(lba) {
        None => matches!(spare.role, Role::Data | Role::Lost) && spare.lba == lba.0,
        Some(segment) => spare.role == Role::Holes && spare.lba == segment,
    };
    if expected { Ok(()) } else { Err(Why::Other) }
}
