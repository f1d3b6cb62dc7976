//! Reads one sector, from its stripe where it has to.

use super::check::{Opening, Place, Why, check};
use super::place::{Card, units};
use super::rebuild::{Rebuild, RebuildError};
use crate::layout::{Layout, Ppa, StripeId};
use crate::stream::split_units;
use crate::{BandId, UnitAddress};
use format::{Role, Spare};
use media::{Media, MediaError, Shape, Unit, UnitAt};

/// Where a sector is among those of its stripe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectorAt {
    /// Its stripe.
    pub stripe: StripeId,
    /// Its unit in the stripe.
    pub unit: u32,
    /// Its place in the unit.
    pub sector: u32,
}

impl SectorAt {
    /// Where an address is.
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

/// Memory to read in.
#[derive(Clone, Debug)]
pub struct Scratch {
    unit: Unit,
    rebuild: Rebuild,
}

impl Scratch {
    /// For media of this shape.
    pub fn new(shape: &Shape) -> Scratch {
        Scratch { unit: Unit::new(shape), rebuild: Rebuild::new(shape.payload_bytes as usize) }
    }

    /// Payload of the sector that was read last.
    pub fn payload(&self, read: &SectorRead) -> &[u8] {
        if read.rebuilt { self.rebuild.payload() } else { self.unit.payload(read.sector as usize) }
    }
}

/// A sector that was read or rebuilt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectorRead {
    /// What its payload is.
    pub role: Role,
    /// As in its spare area.
    pub lba: u32,
    /// As in its spare area.
    pub version: u64,
    /// It could not be read where it lies.
    pub rebuilt: bool,
    sector: u32,
}

/// Why a sector can't be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SectorError {
    /// It can't be read where it lies, and neither can others of its stripe.
    #[error("{why}, and {others} others of its stripe can't be read")]
    Lost {
        /// Why it can't be read.
        why: Why,
        /// Other members of its stripe that can't be read; at least one.
        others: u32,
    },
    /// It can't be read where it lies, and its stripe has no parity.
    #[error("{0}, and its stripe has no parity")]
    NoParity(Why),
    /// It can't be read where it lies, and what is rebuilt contradicts itself.
    #[error("{why}; {error}")]
    Rebuild {
        /// Why it can't be read.
        why: Why,
        /// Why it can't be rebuilt.
        error: RebuildError,
    },
    /// A read ended in a way that says nothing of what lies there.
    #[error("slot {} die {} block {} row {}: {error}", .at.block.module, .at.block.die, .at.block.block, .at.row)]
    Media {
        /// Where.
        at: UnitAt,
        /// Why.
        error: MediaError,
    },
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

/// As [`read_sector`], with a function that reads a unit or says that there is no answer.
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
    let mut read_member = |member: u32, unit: &mut Unit| -> Result<Result<Spare, Why>, E> {
        if !read(layout.unit_address(at.stripe, member), unit)? {
            return Ok(Err(Why::NoAnswer));
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
