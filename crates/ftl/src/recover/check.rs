//! Checks a sector that was read against its place: was it written there, and is it intact?

use crate::canary::{Canary, planted};
use crate::layout::Layout;
use crate::opening::Opening;
use crate::stripe_units::split_units;
use format::{Role, Spare, SpareError, payload_crc};
use media::{SectorState, Unit};

/// The place that a sector was read at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Low bits of the card's id.
    pub card: u64,
    /// The number of the band.
    pub band: u32,
    /// The number of the stripe within the band.
    pub stripe: u32,
    /// The number of the unit within the stripe.
    pub unit: u8,
    /// The number of the sector within the unit.
    pub sector: u8,
}

/// The reason why a sector is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum Rejection {
    /// The sector is erased.
    #[error("erased")]
    Erased,
    /// More bits are wrong than can be corrected.
    #[error("uncorrectable")]
    Uncorrectable,
    /// The die or module is missing or does not answer.
    #[error("no answer")]
    NoAnswer,
    /// The spare area is damaged.
    #[error("{0}")]
    Spare(#[from] SpareError),
    /// The sector belongs to another card.
    #[error("written by card {card:016x}")]
    Foreign { card: u64 },
    /// The sector was written for another place.
    #[error("written for band {band} stripe {stripe} unit {unit} sector {sector}")]
    Misplaced { band: u32, stripe: u32, unit: u8, sector: u8 },
    /// The sector is from another opening of the band.
    #[error("written at opening {sequence} of the band")]
    OtherOpening { sequence: u64 },
    /// The spare area contradicts the others of its band or stripe.
    #[error("its stripe's members, mode, stream or role contradict the others'")]
    Contradiction,
    /// The payload does not match its checksum.
    #[error("payload has checksum {computed:#010x} instead of {found:#010x}")]
    PayloadChecksum { found: u32, computed: u32 },
}

/// The spare area of a sector that was read at `place`, if this card wrote the sector for that place, at any opening of
/// the band. Does not check the payload.
pub fn check_place(unit: &Unit, place: &Place) -> Result<Spare, Rejection> {
    let sector = usize::from(place.sector);
    match unit.state(sector) {
        SectorState::Good => {}
        SectorState::Erased => return Err(Rejection::Erased),
        SectorState::Uncorrectable => return Err(Rejection::Uncorrectable),
    }
    let spare = Spare::decode(unit.spare(sector))?;
    if spare.card != place.card {
        return Err(Rejection::Foreign { card: spare.card });
    }
    let Spare { card, band, stripe, unit, sector, .. } = spare;
    if (Place { card, band, stripe, unit, sector }) != *place && !planted(Canary::PlaceIgnored) {
        return Err(Rejection::Misplaced { band, stripe, unit, sector });
    }
    Ok(spare)
}

/// Whether a spare area agrees with itself: its unit is a member of the stripe, and is parity where parity belongs.
pub(super) fn is_consistent(spare: &Spare, layout: &Layout) -> bool {
    let bit = 1u64.checked_shl(spare.unit.into()).unwrap_or(0);
    spare.members & !layout.all_units() == 0
        && spare.members & bit != 0
        && (split_units(spare.stripe, spare.members, layout).parity & bit != 0) == (spare.role == Role::Parity)
}

/// The spare area of a sector that was read at `place`, if the sector was written there at this opening of the band, in
/// a stripe with these members. Does not check the payload.
pub fn check_spare(
    unit: &Unit,
    place: &Place,
    opening: &Opening,
    members: u64,
    layout: &Layout,
) -> Result<Spare, Rejection> {
    let spare = check_place(unit, place)?;
    if spare.band_sequence != opening.sequence {
        return Err(Rejection::OtherOpening { sequence: spare.band_sequence });
    }
    let said = Opening { sequence: spare.band_sequence, slc: spare.slc, stream: spare.stream };
    if said != *opening || spare.members != members || !is_consistent(&spare, layout) {
        return Err(Rejection::Contradiction);
    }
    Ok(spare)
}

/// As [`check_spare`], for a sector whose payload is intact too.
pub fn check(unit: &Unit, place: &Place, opening: &Opening, members: u64, layout: &Layout) -> Result<Spare, Rejection> {
    let spare = check_spare(unit, place, opening, members, layout)?;
    let computed = payload_crc(unit.payload(usize::from(place.sector)));
    if computed != spare.payload_crc && !planted(Canary::ChecksumIgnored) {
        return Err(Rejection::PayloadChecksum { found: spare.payload_crc, computed });
    }
    Ok(spare)
}
