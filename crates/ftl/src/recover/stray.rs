//! Units that lie where they were not written for: programs that went astray.
//!
//! Such a program was reported. So of a unit that is found astray it can't be said that it was never programmed, however
//! erased its own place is. With a module missing that is what parts a stripe that a cut has left half written from one
//! that was durable.

use super::place::unit_at;
use super::reader::Reader;
use crate::layout::{BandId, StripeId, UnitAddress};
use format::Spare;
use media::{Media, SectorState};
use std::collections::BTreeSet;

/// A unit by what its spare area says: band, number of the opening, stripe, its place in the stripe.
type Named = (u32, u64, u32, u8);

/// Units of the card that lie somewhere else on the die that they were written for. At most all units of its dies.
pub(super) struct Strays(BTreeSet<Named>);

impl Strays {
    /// Reads all that can be read of the dies that answer.
    pub fn find<M: Media + ?Sized>(reader: &mut Reader<M>) -> Result<Strays, super::ScanError> {
        let (card, layout) = (reader.card, reader.card.layout);
        let mut found = BTreeSet::new();
        for die in (0..layout.dies).filter(|die| unit_at(card.modules, address(0, *die, 0)).is_some()) {
            for (band, row) in (0..card.bands).flat_map(|band| (0..layout.rows).map(move |row| (band, row))) {
                if !reader.read(address(band, die, row))? {
                    break;
                }
                let here = StripeId { band: BandId(band), index: row * layout.groups + die / layout.width };
                for sector in (0..reader.unit.sectors()).filter(|s| reader.unit.state(*s) == SectorState::Good) {
                    let Ok(spare) = Spare::decode(reader.unit.spare(sector)) else { continue };
                    let written_for = StripeId { band: BandId(spare.band), index: spare.stripe };
                    if spare.card == card.card && written_for != here {
                        found.insert((spare.band, spare.band_sequence, spare.stripe, spare.unit));
                    }
                }
            }
        }
        Ok(Strays(found))
    }

    /// Of the units of a stripe, at this opening of its band, those that went astray, as bits.
    pub fn of(&self, stripe: StripeId, sequence: u64, units: u64) -> u64 {
        let named = |unit: u32| (stripe.band.0, sequence, stripe.index, unit as u8);
        super::place::units(units).filter(|unit| self.0.contains(&named(*unit))).map(|unit| 1 << unit).sum()
    }
}

fn address(band: u32, die: u32, row: u32) -> UnitAddress {
    UnitAddress { band: BandId(band), die, row }
}
