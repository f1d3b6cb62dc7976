//! Reads one sector, or rebuilds it from its stripe.

use super::check::{Place, Rejection, check};
use super::place::{Card, units};
use super::rebuild::{Rebuild, RebuildError};
use crate::layout::{BandId, Layout, Ppa, StripeId, UnitAddress};
use crate::opening::Opening;
use crate::stripe_units::split_units;
use format::{Role, Spare};
use media::{Media, MediaError, Shape, Unit, UnitAt};

/// The place of a sector: stripe, unit and number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectorAt {
    /// The stripe that the sector lies in.
    pub stripe: StripeId,
    /// The number of the unit within the stripe.
    pub unit: u32,
    /// The number of the sector within the unit.
    pub sector: u32,
}

impl SectorAt {
    /// The place of an address.
    pub fn of(layout: &Layout, ppa: Ppa) -> SectorAt {
        let band = layout.band_of(ppa);
        let within = ppa.0 - layout.band_start(band);
        let (index, rest) = (within / layout.stripe_sectors, within % layout.stripe_sectors);
        SectorAt {
            stripe: StripeId { band, index },
            unit: rest / layout.unit_sectors,
            sector: rest % layout.unit_sectors,
        }
    }

    fn place(&self, card: u64, unit: u32) -> Place {
        let StripeId { band: BandId(band), index: stripe } = self.stripe;
        Place { card, band, stripe, unit: unit as u8, sector: self.sector as u8 }
    }
}

/// The memory that a sector is read into.
#[derive(Clone, Debug)]
pub struct Scratch {
    unit: Unit,
    rebuild: Rebuild,
}

impl Scratch {
    /// Memory for media of this shape.
    pub fn new(shape: &Shape) -> Scratch {
        Scratch { unit: Unit::new(shape), rebuild: Rebuild::new(shape.payload_bytes as usize) }
    }

    /// The payload of the sector that was read last.
    pub fn payload(&self, read: &SectorRead) -> &[u8] {
        if read.rebuilt { self.rebuild.payload() } else { self.unit.payload(read.sector as usize) }
    }
}

/// A sector that was read or rebuilt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectorRead {
    /// The kind of sector that the payload is.
    pub role: Role,
    /// The LBA, as in the spare area.
    pub lba: u32,
    /// The version, as in the spare area.
    pub version: u64,
    /// The sector was rebuilt, because it could not be read where it lies.
    pub rebuilt: bool,
    sector: u32,
}

/// The reason why a sector can be neither read nor rebuilt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum SectorError {
    /// Neither the sector nor some other member of its stripe can be read.
    #[error("{why}, and {others} others of its stripe can't be read")]
    Lost {
        why: Rejection,
        /// Other members of its stripe that can't be read; at least one.
        others: u32,
    },
    /// The sector can't be read, and its stripe has no parity.
    #[error("{0}, and its stripe has no parity")]
    NoParity(Rejection),
    /// The sector can't be read, and its rebuilt contents contradict themselves.
    #[error("{why}; {error}")]
    Rebuild { why: Rejection, error: RebuildError },
    /// A read failed in a way that tells nothing of the contents.
    #[error("slot {} die {} block {} row {}: {error}", .at.block.module, .at.block.die, .at.block.block, .at.row)]
    Media { at: UnitAt, error: MediaError },
}

/// Reads a sector where it lies, checked against its place, or rebuilds it from the other `members` of its stripe.
pub fn read_sector<M: Media + ?Sized>(
    media: &mut M,
    card: &Card,
    opening: &Opening,
    members: u64,
    at: SectorAt,
    scratch: &mut Scratch,
) -> Result<SectorRead, SectorError> {
    let read = |address: UnitAddress, unit: &mut Unit| {
        let Some(place) = card.unit_at(address) else { return Ok(false) };
        match media.read(place, unit) {
            Ok(_) => Ok(true),
            Err(MediaError::NoAnswer | MediaError::NoModule) => Ok(false),
            Err(error) => Err(SectorError::Media { at: place, error }),
        }
    };
    read_with(read, card, opening, members, at, scratch)
}

/// As [`read_sector`], with `read`, a function that reads a unit; `false` means that there is no answer.
pub(super) fn read_with<E: From<SectorError>>(
    mut read: impl FnMut(UnitAddress, &mut Unit) -> Result<bool, E>,
    card: &Card,
    opening: &Opening,
    members: u64,
    at: SectorAt,
    scratch: &mut Scratch,
) -> Result<SectorRead, E> {
    let Scratch { unit, rebuild } = scratch;
    let layout = card.layout;
    let mut read_member = |member: u32, unit: &mut Unit| -> Result<Result<Spare, Rejection>, E> {
        if !read(layout.unit_address(at.stripe, member), unit)? {
            return Ok(Err(Rejection::NoAnswer));
        }
        Ok(check(unit, &at.place(card.card, member), opening, members, layout))
    };
    let why = match read_member(at.unit, unit)? {
        Ok(spare) => {
            let (role, lba, version) = (spare.role, spare.lba, spare.version);
            return Ok(SectorRead { role, lba, version, rebuilt: false, sector: at.sector });
        }
        Err(why) => why,
    };
    let wanted = 1u64 << at.unit;
    if split_units(at.stripe.index, members, layout).parity & !wanted == 0 {
        return Err(SectorError::NoParity(why).into());
    }
    rebuild.clear();
    let mut others = 0;
    for member in units(members & !wanted) {
        match read_member(member, unit)? {
            Ok(spare) => rebuild.add(&spare, unit.payload(at.sector as usize)),
            Err(_) => others += 1,
        }
    }
    if others > 0 {
        return Err(SectorError::Lost { why, others }.into());
    }
    match rebuild.finish() {
        Ok(r) => Ok(SectorRead { role: r.role, lba: r.lba, version: r.version, rebuilt: true, sector: at.sector }),
        Err(error) => Err(SectorError::Rebuild { why, error }.into()),
    }
}
