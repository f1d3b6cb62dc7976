//! Is what was read what its place says it should be?

use crate::canary::{Canary, planted};
use crate::layout::Layout;
use crate::stream::split_units;
use format::{Role, Spare, SpareError, payload_crc};
use media::{SectorState, Unit};

/// Where a sector was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Low bits of the card's id.
    pub card: u64,
    /// Its band.
    pub band: u32,
    /// Its stripe in the band.
    pub stripe: u32,
    /// Its unit in the stripe.
    pub unit: u8,
    /// Its place in the unit.
    pub sector: u8,
}

/// What all sectors of a band have in common, from one opening of the band to its erase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Opening {
    /// Number of the opening.
    pub sequence: u64,
    /// The cells are used with one bit each.
    pub slc: bool,
    /// Where the sectors came from.
    pub stream: u8,
}

/// Why a sector can't be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// Nothing is written there.
    #[error("erased")]
    Erased,
    /// More bits are wrong than can be corrected.
    #[error("uncorrectable")]
    Uncorrectable,
    /// Its die or module is missing or does not answer.
    #[error("no answer")]
    NoAnswer,
    /// The spare area is damaged.
    #[error("{0}")]
    Spare(#[from] SpareError),
    /// It belongs to another card.
    #[error("written by card {card:016x}")]
    Foreign {
        /// Low bits of that card's id.
        card: u64,
    },
    /// It was written for another place.
    #[error("written for band {band} stripe {stripe} unit {unit} sector {sector}")]
    Misplaced {
        /// Band it was written for.
        band: u32,
        /// Stripe.
        stripe: u32,
        /// Unit.
        unit: u8,
        /// Sector.
        sector: u8,
    },
    /// It is from another opening of the band.
    #[error("written at opening {sequence} of the band")]
    OtherOpening {
        /// Number of that opening.
        sequence: u64,
    },
    /// It says of its band or stripe what others of them don't.
    #[error("its stripe's members, mode, stream or role contradict the others'")]
    Contradiction,
    /// The payload is not what its checksum says.
    #[error("payload has checksum {computed:#010x} instead of {found:#010x}")]
    PayloadChecksum {
        /// What the spare area says.
        found: u32,
        /// Of what was read.
        computed: u32,
    },
}

/// A sector that was read at `place` was written for it by this card, at some opening of the band: its spare area. The
/// payload is not looked at.
pub fn check_place(unit: &Unit, place: &Place) -> Result<Spare, Why> {
    let sector = usize::from(place.sector);
    match unit.state(sector) {
        SectorState::Good => {}
        SectorState::Erased => return Err(Why::Erased),
        SectorState::Uncorrectable => return Err(Why::Uncorrectable),
    }
    let spare = Spare::decode(unit.spare(sector))?;
    if spare.card != place.card {
        return Err(Why::Foreign { card: spare.card });
    }
    let Spare { card, band, stripe, unit, sector, .. } = spare;
    if (Place { card, band, stripe, unit, sector }) != *place && !planted(Canary::PlaceIgnored) {
        return Err(Why::Misplaced { band, stripe, unit, sector });
    }
    Ok(spare)
}

/// What a spare area says of its stripe can be so: it is a member of it, and is parity where parity belongs.
pub(super) fn is_consistent(spare: &Spare, layout: &Layout) -> bool {
    let bit = 1u64.checked_shl(spare.unit.into()).unwrap_or(0);
    spare.members & !layout.all_units() == 0
        && spare.members & bit != 0
        && (split_units(spare.stripe, spare.members, layout).parity & bit != 0) == (spare.role == Role::Parity)
}

/// A sector that was read at `place` is the one that was written there at this opening of the band, in a stripe with
/// these members, and all of it is as it was written.
pub fn check(unit: &Unit, place: &Place, opening: &Opening, members: u64, layout: &Layout) -> Result<Spare, Why> {
    let spare = check_place(unit, place)?;
    if spare.band_sequence != opening.sequence {
        return Err(Why::OtherOpening { sequence: spare.band_sequence });
    }
    let said = Opening { sequence: spare.band_sequence, slc: spare.slc, stream: spare.stream };
    if said != *opening || spare.members != members || !is_consistent(&spare, layout) {
        return Err(Why::Contradiction);
    }
    let computed = payload_crc(unit.payload(usize::from(place.sector)));
    if computed != spare.payload_crc && !planted(Canary::ChecksumIgnored) {
        return Err(Why::PayloadChecksum { found: spare.payload_crc, computed });
    }
    Ok(spare)
}
