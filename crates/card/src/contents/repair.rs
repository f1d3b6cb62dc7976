//! Sectors that can't be read where they lie are rebuilt from the rest of their stripe.

use crate::contents::store::Store;
use device::RequestId;
use ftl::recover::Rebuild;
use ftl::{Ftl, Lba, Ppa, Relocation, StripeId, UnitAddress};
use media::Unit;

/// For whom a unit is rebuilt.
#[derive(Clone, Copy, Debug)]
pub enum For {
    Host(RequestId),
    Relocation(Relocation),
    Rebuild(UnitAddress),
    Scrub,
}

/// A unit being rebuilt.
#[derive(Clone, Debug)]
pub struct Repair {
    pub stripe: StripeId,
    /// The unit's place in the stripe.
    pub unit: u32,
    /// Sectors that are wanted.
    pub wanted: Vec<(Lba, Ppa)>,
    pub others: Others,
    pub left: u32,
    pub purpose: For,
}

/// The members of a stripe but one, as far as they could be read.
#[derive(Clone, Debug)]
pub struct Others {
    /// By their place in the stripe.
    pub units: Vec<Option<Unit>>,
    /// Those that should be written elsewhere soon, as bits.
    pub near: u64,
}

impl Others {
    /// Sectors of a unit that are not as they should be, or will soon not be.
    pub fn flaws(&self, store: &Store, ftl: &Ftl, at: UnitAddress) -> u64 {
        let layout = ftl.layout();
        let number = at.die % layout.width;
        let Some(unit) = &self.units[number as usize] else { return u64::from(layout.unit_sectors) };
        let is_flawed = |sector: &u32| self.near >> number & 1 == 1 || store.check(ftl, at, unit, *sector).is_err();
        (0..layout.unit_sectors).filter(is_flawed).count() as u64
    }

    /// A sector of the stripe is as it should be: it was written.
    pub fn any_good(&self, store: &Store, ftl: &Ftl, stripe: StripeId) -> bool {
        let layout = ftl.layout();
        (0..layout.width).any(|number| {
            let at = layout.unit_address(stripe, number);
            let unit = self.units[number as usize].as_ref();
            unit.is_some_and(|unit| (0..layout.unit_sectors).any(|sector| store.check(ftl, at, unit, sector).is_ok()))
        })
    }

    /// Folds the sectors of all members but one into the missing one; `None` when one of them is not as it should be.
    pub fn fold(&self, store: &Store, ftl: &Ftl, stripe: StripeId, missing: u32, sector: u32) -> Option<Rebuild> {
        let layout = ftl.layout();
        let units = ftl.stripe_units(stripe);
        if units.parity == 0 {
            return None;
        }
        let mut folded = Rebuild::new(store.payload_bytes());
        let others = (units.data | units.parity) & !(1 << missing);
        for other in (0..layout.width).filter(|other| others >> other & 1 == 1) {
            let unit = self.units[other as usize].as_ref()?;
            let spare = store.check(ftl, layout.unit_address(stripe, other), unit, sector).ok()?;
            folded.add(&spare, unit.payload(sector as usize));
        }
        Some(folded)
    }
}
