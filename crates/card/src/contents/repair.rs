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
    stripe: StripeId,
    /// The unit's place in the stripe.
    unit: u32,
    /// Sectors that are wanted.
    wanted: Vec<(Lba, Ppa)>,
    others: Others,
    /// Members that are still to be read.
    left: u32,
    purpose: For,
}

impl Repair {
    /// A repair of a stripe's unit, for which so many others of a stripe of `width` units are read.
    pub fn begin(stripe: StripeId, unit: u32, wanted: Vec<(Lba, Ppa)>, width: u32, left: u32, purpose: For) -> Repair {
        let others = Others { units: vec![None; width as usize], near: 0 };
        Repair { stripe, unit, wanted, others, left, purpose }
    }

    /// Another member was read, as far as it could be. True when it was the last.
    pub fn member_read(&mut self, number: u32, unit: Option<Unit>, refresh_advised: bool) -> bool {
        self.others.near |= u64::from(refresh_advised) << number;
        self.others.units[number as usize] = unit;
        self.left -= 1;
        self.left == 0
    }

    pub fn purpose(&self) -> For {
        self.purpose
    }

    pub fn stripe(&self) -> StripeId {
        self.stripe
    }

    pub fn others(&self) -> &Others {
        &self.others
    }

    pub fn wanted(&self) -> &[(Lba, Ppa)] {
        &self.wanted
    }

    /// Folds the others into a sector of the unit that is being rebuilt; `None` when one of them is not as it should be.
    pub fn fold(&self, store: &Store, ftl: &Ftl, sector: u32) -> Option<Rebuild> {
        self.others.fold(store, ftl, self.stripe, self.unit, sector)
    }
}

/// The members of a stripe but one, as far as they could be read.
#[derive(Clone, Debug)]
pub struct Others {
    /// By their place in the stripe.
    units: Vec<Option<Unit>>,
    /// Those that should be written elsewhere soon, as bits.
    near: u64,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tiny;
    use ftl::BandId;

    #[test]
    fn a_repair_is_complete_with_its_last_member_and_a_member_near_its_end_is_flawed() {
        let card = tiny::card();
        let (store, ftl) = (&card.contents.store, &card.core.ftl);
        let stripe = StripeId { band: BandId(0), index: 0 };
        let unit = || Some(Unit::new(store.media.shape()));
        let mut repair = Repair::begin(stripe, 0, Vec::new(), 3, 2, For::Scrub);
        assert!(!repair.member_read(1, unit(), true));
        assert!(repair.member_read(2, None, false));
        let sectors = u64::from(ftl.layout().unit_sectors);
        for number in 1..3 {
            assert_eq!(repair.others().flaws(store, ftl, ftl.layout().unit_address(stripe, number)), sectors);
        }
        assert!(!repair.others().any_good(store, ftl, stripe) && repair.fold(store, ftl, 0).is_none());
        assert_eq!(repair.others.near, 1 << 1);
    }
}
