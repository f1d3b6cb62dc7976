//! Sectors that can't be read where they lie are rebuilt from the rest of their stripe.

use crate::card::{Card, Done};
use crate::contents::Storage;
use crate::contents::repair::{For, Repair};
use crate::contents::store::{Content, is_for};
use crate::core::die_op::Work;
use device::{RequestId, Time};
use ftl::recover::Rebuilt;
use ftl::{Lba, Ppa, Relocation, StripeId, UnitAddress};
use media::SectorData;
use media::Unit;

impl Card<Storage> {
    pub(crate) fn repair_for_host(
        &mut self,
        now: Time,
        id: RequestId,
        at: UnitAddress,
        wanted: Vec<(Lba, Ppa)>,
        done: &mut Done<Storage>,
    ) {
        self.repair(now, at, wanted, For::Host(id), done);
    }

    pub(crate) fn repair_for_relocation(
        &mut self,
        now: Time,
        relocation: Relocation,
        wanted: Vec<(Lba, Ppa)>,
        done: &mut Done<Storage>,
    ) {
        self.repair(now, relocation.unit, wanted, For::Relocation(relocation), done);
    }

    /// Reads all members of a stripe.
    pub(crate) fn read_for_scrub(&mut self, now: Time, stripe: StripeId, done: &mut Done<Storage>) {
        let units = self.core.ftl.stripe_units(stripe);
        self.read_members(now, stripe, 0, units.data | units.parity, Vec::new(), For::Scrub, done);
    }

    pub(crate) fn repair_for_rebuild(&mut self, now: Time, at: UnitAddress, done: &mut Done<Storage>) {
        self.repair(now, at, Vec::new(), For::Rebuild(at), done);
    }

    fn repair(&mut self, now: Time, at: UnitAddress, wanted: Vec<(Lba, Ppa)>, purpose: For, done: &mut Done<Storage>) {
        let layout = *self.core.ftl.layout();
        let stripe = layout.stripe_of(at);
        let unit = at.die % layout.width;
        let units = self.core.ftl.stripe_units(stripe);
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
        done: &mut Done<Storage>,
    ) {
        let layout = *self.core.ftl.layout();
        let repair = Repair::begin(stripe, unit, wanted, layout.width, members.count_ones(), purpose);
        let index = self.contents.repairs.insert(repair) as u32;
        if members == 0 {
            return self.repaired(now, index, done);
        }
        let mode = self.core.ftl.cell_mode(stripe.band);
        for member in (0..layout.width).filter(|member| members >> member & 1 == 1) {
            let address = layout.unit_address(stripe, member);
            self.start(now, Work::RepairRead(index), address, mode, layout.unit_sectors);
        }
    }

    /// Another member of the stripe has come from its die.
    pub(crate) fn repair_read(&mut self, now: Time, index: u32, at: UnitAddress, done: &mut Done<Storage>) {
        let width = self.core.ftl.layout().width;
        let store = &mut self.contents.store;
        let mut unit = Unit::new(store.media.shape());
        let read = store.read_unit(at, u64::MAX, &mut unit);
        if self.read_ended(now, at, read) {
            return;
        }
        let repair = &mut self.contents.repairs[index as usize];
        let refresh_advised = read.is_ok_and(|report| report.refresh_advised);
        if repair.member_read(at.die % width, read.is_ok().then_some(unit), refresh_advised) {
            self.repaired(now, index, done);
        }
    }

    /// All that can be had of the stripe is there.
    fn repaired(&mut self, now: Time, index: u32, done: &mut Done<Storage>) {
        let repair = self.contents.repairs.remove(index as usize);
        match repair.purpose() {
            For::Rebuild(at) => return self.rebuild_read(now, repair.others(), at, done),
            For::Scrub => return self.scrubbed(now, repair.stripe(), repair.others(), done),
            For::Host(_) | For::Relocation(_) => {}
        }
        let mut found: Vec<(Lba, Ppa, Option<Content>)> = Vec::new();
        for &(lba, ppa) in repair.wanted() {
            found.push((lba, ppa, self.rebuild(&repair, lba, ppa)));
        }
        if found.iter().any(|(.., content)| content.is_none()) && self.finds_itself_fenced() {
            return;
        }
        match repair.purpose() {
            For::Rebuild(_) | For::Scrub => unreachable!("handled above"),
            For::Host(id) => self.repaired_for_host(now, id, found, done),
            For::Relocation(relocation) => {
                for (_, ppa, content) in found.iter_mut().filter(|(.., content)| content.is_none()) {
                    *content = self.rescued(*ppa).cloned();
                }
                let mut contents = self.contents.store.take_relocation(relocation.first);
                for (lba, ppa, content) in found {
                    let content = match (content, self.core.ftl.segment_of(lba)) {
                        (Some(content), _) => {
                            self.contents.store.counters.rebuilt_sectors += 1;
                            content
                        }
                        // A list of holes is no loss: the map knows them.
                        (None, Some(segment)) => self.list_of_holes(segment),
                        (None, None) => {
                            self.contents.store.checksums.forget(lba);
                            self.contents.store.lost(lba)
                        }
                    };
                    contents.push((ppa, content));
                }
                contents.sort_by_key(|(ppa, _)| *ppa);
                self.contents.store.relocation_read(relocation.first, contents);
                self.relocation_complete(now, relocation, done);
            }
        }
    }

    fn repaired_for_host(
        &mut self,
        now: Time,
        id: RequestId,
        found: Vec<(Lba, Ppa, Option<Content>)>,
        done: &mut Done<Storage>,
    ) {
        for (lba, ppa, content) in found {
            let rescued = self.rescued(ppa).cloned();
            let store = &mut self.contents.store;
            match content {
                Some(content) => {
                    store.counters.rebuilt_sectors += 1;
                    self.core.host[id].owned.set(lba, content.readable());
                    self.mend(now, ppa, content);
                }
                // It was moved or overwritten while its stripe was read: its band may have been erased since.
                None if self.core.ftl.lookup(lba) != Some(ppa) => self.read_sectors(now, id, lba.0, 1),
                None => {
                    // It may have been read for relocation while it could be.
                    let read = store.being_relocated(ppa).or(rescued.as_ref());
                    let data = read.map(Content::readable).unwrap_or(SectorData::Unreadable);
                    store.counters.lost_sectors += u64::from(data == SectorData::Unreadable);
                    self.core.host[id].owned.set(lba, data);
                }
            }
        }
        self.flash_read_done(now, id, done);
    }

    /// Writes a sector that was rebuilt elsewhere, if its module is there and did not hold it: the next read finds it.
    fn mend(&mut self, now: Time, ppa: Ppa, content: Content) {
        let at = self.core.ftl.layout().locate(ppa);
        let is_there = self.contents.store.place(at).is_some() && !self.core.ftl.blocks().is_dead(at.die);
        // Room that is kept for stripes that fail is not taken.
        let has_room = self.contents.failed.is_empty() && self.core.ftl.can_relocate(1);
        if is_there && has_room && self.core.ftl.is_current(ppa) && !self.core.phase.is_read_only() {
            let to = self.core.ftl.rewrite(ppa);
            self.core.relocations.add_sectors(1);
            self.contents.store.put(to, content);
            self.program_sealed(now);
        }
    }

    /// Rebuilds a sector from the other members of its stripe.
    fn rebuild(&mut self, repair: &Repair, lba: Lba, ppa: Ppa) -> Option<Content> {
        let sector = ppa.0 % self.core.ftl.layout().unit_sectors;
        let store = &self.contents.store;
        let folded = repair.fold(store, &self.core.ftl, sector)?;
        let Rebuilt { role, lba: found, version } = folded.finish().ok()?;
        let is_its = is_for(&self.core.ftl, role, found, lba);
        let content = is_its.then(|| Content::new(role, version, lba, folded.payload().into()))?;
        self.is_newest(lba, ppa, content.payload_crc).then_some(content)
    }
}
