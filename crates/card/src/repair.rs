//! Sectors that can't be read where they lie are rebuilt from the rest of their stripe.

use crate::card::Card;
use crate::contents::readable;
use crate::dies::Work;
use crate::store::{Content, SectorData, Store, is_for, stripe_of};
use device::{Completion, RequestId, Time};
use ftl::recover::{Rebuild, Rebuilt};
use ftl::{Ftl, Lba, Ppa, Relocation, StripeId, UnitAddress};
use media::Unit;

/// For whom a unit is rebuilt.
#[derive(Clone, Copy, Debug)]
enum For {
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
    left: u32,
    purpose: For,
}

impl Card {
    pub(crate) fn repair_for_host(
        &mut self,
        now: Time,
        id: RequestId,
        at: UnitAddress,
        wanted: Vec<(Lba, Ppa)>,
        done: &mut Vec<Completion>,
    ) {
        self.repair(now, at, wanted, For::Host(id), done);
    }

    pub(crate) fn repair_for_relocation(
        &mut self,
        now: Time,
        relocation: Relocation,
        wanted: Vec<(Lba, Ppa)>,
        done: &mut Vec<Completion>,
    ) {
        self.repair(now, relocation.unit, wanted, For::Relocation(relocation), done);
    }

    /// Reads all members of a stripe.
    pub(crate) fn read_for_scrub(&mut self, now: Time, stripe: StripeId, done: &mut Vec<Completion>) {
        let units = self.ftl.stripe_units(stripe);
        self.read_members(now, stripe, 0, units.data | units.parity, Vec::new(), For::Scrub, done);
    }

    pub(crate) fn repair_for_rebuild(&mut self, now: Time, at: UnitAddress, done: &mut Vec<Completion>) {
        self.repair(now, at, Vec::new(), For::Rebuild(at), done);
    }

    fn repair(
        &mut self,
        now: Time,
        at: UnitAddress,
        wanted: Vec<(Lba, Ppa)>,
        purpose: For,
        done: &mut Vec<Completion>,
    ) {
        let layout = *self.ftl.layout();
        let stripe = stripe_of(&layout, at);
        let unit = at.die % layout.width;
        let units = self.ftl.stripe_units(stripe);
        let others = if units.parity == 0 { 0 } else { (units.data | units.parity) & !(1 << unit) };
        self.read_members(now, stripe, unit, others, wanted, purpose, done);
    }

    #[expect(clippy::too_many_arguments, reason = "a job, put together by its two callers")]
    fn read_members(
        &mut self,
        now: Time,
        stripe: StripeId,
        unit: u32,
        members: u64,
        wanted: Vec<(Lba, Ppa)>,
        purpose: For,
        done: &mut Vec<Completion>,
    ) {
        let layout = *self.ftl.layout();
        let others = Others { units: vec![None; layout.width as usize], near: 0 };
        let repair = Repair { stripe, unit, wanted, others, left: members.count_ones(), purpose };
        let index = self.repairs.insert(repair) as u32;
        if members == 0 {
            return self.repaired(now, index, done);
        }
        let mode = self.ftl.cell_mode(stripe.band);
        for member in (0..layout.width).filter(|member| members >> member & 1 == 1) {
            let address = layout.unit_address(stripe, member);
            self.start(now, Work::RepairRead(index), address, mode, layout.unit_sectors);
        }
    }

    /// Another member of the stripe has come from its die.
    pub(crate) fn repair_read(&mut self, now: Time, index: u32, at: UnitAddress, done: &mut Vec<Completion>) {
        let width = self.ftl.layout().width;
        let store = self.store.as_mut().expect("the card has contents");
        let mut unit = Unit::new(store.media.shape());
        let read = store.read_unit(at, u64::MAX, &mut unit);
        if self.read_ended(now, at, read) {
            return;
        }
        let repair = &mut self.repairs[index as usize];
        if read.is_ok_and(|report| report.refresh_advised) {
            repair.others.near |= 1 << (at.die % width);
        }
        repair.others.units[(at.die % width) as usize] = read.is_ok().then_some(unit);
        repair.left -= 1;
        if repair.left == 0 {
            self.repaired(now, index, done);
        }
    }

    /// All that can be had of the stripe is there.
    fn repaired(&mut self, now: Time, index: u32, done: &mut Vec<Completion>) {
        let repair = self.repairs.remove(index as usize);
        match repair.purpose {
            For::Rebuild(at) => return self.rebuild_read(now, &repair.others, at, done),
            For::Scrub => return self.scrubbed(now, repair.stripe, &repair.others, done),
            For::Host(_) | For::Relocation(_) => {}
        }
        let mut found: Vec<(Lba, Ppa, Option<Content>)> = Vec::new();
        for &(lba, ppa) in &repair.wanted {
            found.push((lba, ppa, self.rebuild(&repair, lba, ppa)));
        }
        if found.iter().any(|(.., content)| content.is_none()) && self.finds_itself_fenced() {
            return;
        }
        match repair.purpose {
            For::Rebuild(_) | For::Scrub => unreachable!("handled above"),
            For::Host(id) => self.repaired_for_host(now, id, found, done),
            For::Relocation(relocation) => {
                for (_, ppa, content) in found.iter_mut().filter(|(.., content)| content.is_none()) {
                    *content = self.rescued(*ppa).cloned();
                }
                let mut contents = self.contents().take_relocation(relocation.first);
                for (lba, ppa, content) in found {
                    let content = match (content, self.ftl.segment_of(lba)) {
                        (Some(content), _) => {
                            self.contents().counters.rebuilt_sectors += 1;
                            content
                        }
                        // A list of holes is no loss: the map knows them.
                        (None, Some(segment)) => self.list_of_holes(segment),
                        (None, None) => self.contents().lost(lba),
                    };
                    contents.push((ppa, content));
                }
                contents.sort_by_key(|(ppa, _)| *ppa);
                self.contents().relocation_read(relocation.first, contents);
                self.relocation_complete(now, relocation, done);
            }
        }
    }

    fn repaired_for_host(
        &mut self,
        now: Time,
        id: RequestId,
        found: Vec<(Lba, Ppa, Option<Content>)>,
        done: &mut Vec<Completion>,
    ) {
        for (lba, ppa, content) in found {
            let rescued = self.rescued(ppa).cloned();
            let store = self.store.as_mut().expect("the card has contents");
            match content {
                Some(content) => {
                    store.counters.rebuilt_sectors += 1;
                    store.requests[id.0 as usize].set(lba, readable(&content));
                }
                // It was moved or overwritten while its stripe was read: its band may have been erased since.
                None if self.ftl.lookup(lba) != Some(ppa) => self.read_sectors(now, id, lba.0, 1),
                None => {
                    // It may have been read for relocation while it could be.
                    let read = store.being_relocated(ppa).or(rescued.as_ref());
                    let data = read.map(readable).unwrap_or(SectorData::Unreadable);
                    store.counters.lost_sectors += u64::from(data == SectorData::Unreadable);
                    store.requests[id.0 as usize].set(lba, data);
                }
            }
        }
        self.flash_read_done(now, id, done);
    }

    /// Rebuilds a sector from the other members of its stripe.
    fn rebuild(&mut self, repair: &Repair, lba: Lba, ppa: Ppa) -> Option<Content> {
        let sector = ppa.0 % self.ftl.layout().unit_sectors;
        let store = self.store.as_ref().expect("the card has contents");
        let folded = repair.others.fold(store, &self.ftl, repair.stripe, repair.unit, sector)?;
        let Rebuilt { role, lba: found, version } = folded.finish().ok()?;
        is_for(&self.ftl, role, found, lba).then(|| Content::new(role, version, lba, folded.payload().into()))
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

    /// What the sectors of all members but one make together; `None` when one of them is not as it should be.
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
