//! Programs, erases and reads of a card with contents, when their time on the die is over.

use crate::card::{Card, Done};
use crate::contents::Storage;
use crate::contents::store::Content;
use crate::core::stripes::StripeInFlight;
use device::{RequestId, Time};
use format::Role;
use ftl::canary::{Canary, planted};
use ftl::{Ftl, Lba, Ppa, Relocation, StreamId, StripeId, UnitAddress};
use media::{MediaError, UnderWay};

impl Card<Storage> {
    fn width(&self) -> u32 {
        self.core.ftl.layout().width
    }

    /// A program of a unit ends on the medium. Nothing happens when its module was lost since it was queued.
    pub(crate) fn program_contents(&mut self, now: Time, stripe: u32, unit: UnitAddress) {
        let width = self.width();
        if self.contents.store.program_contents(stripe, unit, width).is_none() {
            return;
        }
        self.core.ftl.unit_programmed(unit);
        if let Err(error) = self.contents.store.program(stripe, unit, width) {
            self.media_failed(now, unit.band.0, unit.die, error);
        }
    }

    /// An erase of a die's share of a band ends on the medium.
    pub(crate) fn erase_contents(&mut self, now: Time, erasing: usize, die: u32) {
        let band = self.core.erasing[erasing].band;
        // Its module went since; one that came in its stead is erased by its rebuild.
        if !self.core.erasing[erasing].dies.contains(&die) {
            return;
        }
        let erased = self.contents.store.erase(die, band.0);
        if let Err(error) = erased {
            self.core.erasing[erasing].failed.push(die);
            if error != MediaError::Failed {
                self.media_failed(now, band.0, die, error);
            }
        }
    }

    /// A program or erase did not work.
    pub(crate) fn media_failed(&mut self, now: Time, band: u32, die: u32, error: MediaError) {
        let band = ftl::BandId(band);
        match error {
            MediaError::Host | MediaError::NoSpace if self.contents.store.refuses(die) => {
                self.give_up_module_of(now, die)
            }
            MediaError::Failed | MediaError::Host | MediaError::NoSpace => {
                match self.contents.store.retire_later(band.0, die) {
                    Ok(()) => {}
                    // The file or drive that holds the module does not even take the mark.
                    Err(MediaError::Host | MediaError::NoSpace) => return self.give_up_module_of(now, die),
                    Err(MediaError::NoAnswer | MediaError::NoModule) => return self.die_is_dead(now, die),
                    Err(_) => {
                        self.core.phase.halt();
                        return;
                    }
                }
                for stream in StreamId::ALL {
                    if self.core.ftl.open_band_of(stream) == Some(band) {
                        self.abandon_band(now, stream);
                    }
                }
                self.core.ftl.evacuate(band);
                self.program_sealed(now);
            }
            MediaError::NoAnswer | MediaError::NoModule => self.die_is_dead(now, die),
            MediaError::NoPower => self.core.phase.halt(),
            MediaError::Fenced => {
                self.core.phase.halt_without_headers();
            }
        }
    }

    /// All programs of a stripe have ended. True when all of it is on flash; else what it holds goes elsewhere, and the
    /// stripe is safe when that is.
    pub(crate) fn stripe_contents_safe(
        &mut self,
        now: Time,
        index: u32,
        s: StripeInFlight,
        done: &mut Done<Storage>,
    ) -> bool {
        let store = &mut self.contents.store;
        let (whole, sealed, contents) = store.finish_stripe(&self.core.ftl, index);
        if whole || planted(Canary::FailedProgramIgnored) {
            for (_, content) in contents {
                store.keep_memory(content.payload);
                for failed in content.awaited_by {
                    self.contents.failed.rewritten_in(sealed.stripe, failed);
                }
            }
            self.settle_rewritten(now, done);
            return true;
        }
        if contents.is_empty() || self.core.phase.is_halted() {
            return !self.core.phase.is_halted();
        }
        if s.stream == StreamId::Checkpoint {
            // Nobody needs it.
            self.give_up_checkpoint(now);
            return true;
        }
        let failed = self.contents.failed.add(s, contents.len() as u32);
        for (ppa, mut content) in contents {
            content.awaited_by.push(failed);
            self.contents.store.put(ppa, content);
            self.contents.failed.displace(ppa);
        }
        self.rehome(now);
        false
    }

    /// Gives sectors of failed stripes another place, as far as there is room.
    pub(crate) fn rehome(&mut self, now: Time) {
        if self.contents.failed.is_empty() {
            return;
        }
        while self.core.ftl.can_rewrite()
            && let Some(ppa) = self.contents.failed.next_displaced()
        {
            let content = self.contents.store.take(ppa);
            let to = if self.core.ftl.is_current(ppa) {
                self.core.ftl.rewrite(ppa)
            } else {
                self.core.ftl.write_outdated(content.lba)
            };
            self.core.relocations.add_sectors(1);
            self.contents.store.put(to, content);
        }
        if self.core.stripes.is_empty() {
            // Nobody else may come to fill the stripe that they went to.
            self.core.ftl.seal_for_durability(StreamId::Relocation);
        }
        self.program_sealed(now);
    }

    /// Sectors of failed stripes are on flash elsewhere. They count when no program that shares their cells can be cut any
    /// more: what shares them is filled with padding now.
    pub(crate) fn settle_rewritten(&mut self, now: Time, done: &mut Done<Storage>) {
        if self.contents.failed.rewritten().is_empty() {
            return;
        }
        let end = |ftl: &Ftl, stripe: StripeId| StripeId { index: ftl.cells_end(stripe), ..stripe };
        let ftl = &self.core.ftl;
        if self.contents.failed.rewritten().iter().any(|(stripe, _)| ftl.will_fill_before(end(ftl, *stripe))) {
            self.core.ftl.seal_for_durability(StreamId::Relocation);
            self.program_sealed(now);
        }
        let (ftl, store) = (&self.core.ftl, &self.contents.store);
        let waits = |stripe: StripeId| {
            let end = end(ftl, stripe);
            let shares = |index| index > stripe.index && index < end.index;
            store.in_programming(stripe.band).any(shares) || ftl.will_fill_before(end)
        };
        for failed in self.contents.failed.take_settled(waits) {
            if let Some(s) = self.contents.failed.settle(failed) {
                self.stripe_written(now, s, done);
            }
        }
    }

    /// A sector of the host was given its place.
    pub(crate) fn put_host_sector(&mut self, id: RequestId, lba: Lba, ppa: Ppa) {
        let store = &mut self.contents.store;
        let version = store.take_version();
        let written = self.core.host[id].owned.take_written(lba);
        let payload_crc = written.crc();
        let content = Content::checked(Role::Data, version, lba, written.payload, payload_crc);
        match planted(Canary::ChecksumOfMapStale) {
            true => store.checksums.learn(lba, content.payload_crc),
            false => store.checksums.set(lba, content.payload_crc),
        }
        store.put(ppa, content);
    }

    /// A read of the host has come from a die. False when more has to be read for it.
    pub(crate) fn host_read_arrived(
        &mut self,
        now: Time,
        id: RequestId,
        at: UnitAddress,
        done: &mut Done<Storage>,
    ) -> bool {
        let store = &mut self.contents.store;
        let parts = &mut self.core.host[id].owned.parts;
        let part = parts.iter().position(|part| part.unit == at).expect("the read was noted");
        let part = parts.swap_remove(part);
        let mut unit = store.take_scratch();
        let first = part.first.0 % self.core.ftl.layout().unit_sectors;
        let wanted = (0..part.sectors).fold(0, |wanted, sector| wanted | 1 << (first + sector));
        let read = store.read_unit(at, wanted, &mut unit);
        let mut missing = Vec::new();
        for i in 0..part.sectors {
            let (lba, ppa) = (Lba(part.first_lba.0 + i), Ppa(part.first.0 + i));
            let sector = ppa.0 % self.core.ftl.layout().unit_sectors;
            let content = match read {
                Ok(_) => self.contents.store.check_content(&self.core.ftl, at, &unit, sector, lba),
                Err(_) => None,
            };
            match content.filter(|content| self.is_newest(lba, ppa, content.payload_crc)) {
                Some(content) => self.core.host[id].owned.set(lba, content.into_readable()),
                None => missing.push((lba, ppa)),
            }
        }
        self.contents.store.give_scratch(unit);
        if self.read_ended(now, at, read) {
            return false;
        }
        if read.is_ok_and(|report| report.refresh_advised) {
            self.core.ftl.evacuate(at.band);
        }
        if missing.is_empty() {
            return true;
        }
        self.repair_for_host(now, id, at, missing, done);
        false
    }

    /// Whether a payload with this checksum may be what the map has at an address, as far as the card knows.
    pub(crate) fn is_newest(&self, lba: Lba, ppa: Ppa, payload_crc: u32) -> bool {
        self.core.ftl.lookup(lba) != Some(ppa) || self.contents.store.checksums.fits(lba, payload_crc) != Some(false)
    }

    /// The sectors of a relocation have come from a die. False when more has to be read for it.
    pub(crate) fn relocation_arrived(&mut self, now: Time, relocation: Relocation, done: &mut Done<Storage>) -> bool {
        let store = &mut self.contents.store;
        let mut unit = store.take_scratch();
        let read = store.read_unit(relocation.unit, relocation.mask, &mut unit);
        let (mut contents, mut missing) = (Vec::new(), Vec::new());
        for sector in (0..self.core.ftl.layout().unit_sectors).filter(|sector| relocation.mask >> sector & 1 == 1) {
            let ppa = Ppa(relocation.first.0 + sector);
            if !self.core.ftl.is_current(ppa) {
                continue;
            }
            let lba = self.core.ftl.written_for(ppa);
            let store = &self.contents.store;
            let content = match (store.buffered(ppa), read) {
                (Some(waiting), _) => Some(Content { awaited_by: Vec::new(), ..waiting.clone() }),
                (None, Ok(_)) => store.check_content(&self.core.ftl, relocation.unit, &unit, sector, lba),
                (None, Err(_)) => None,
            };
            match content.filter(|content| self.is_newest(lba, ppa, content.payload_crc)) {
                Some(content) => {
                    if content.role == Role::Data {
                        self.contents.store.checksums.learn(lba, content.payload_crc);
                    }
                    contents.push((ppa, content));
                }
                None => missing.push((lba, ppa)),
            }
        }
        self.contents.store.give_scratch(unit);
        self.contents.store.relocation_read(relocation.first, contents);
        if self.read_ended(now, relocation.unit, read) {
            return false;
        }
        if missing.is_empty() {
            return true;
        }
        self.repair_for_relocation(now, relocation, missing, done);
        false
    }

    /// The contents of a relocation are all there.
    pub(crate) fn relocation_complete(&mut self, now: Time, relocation: Relocation, done: &mut Done<Storage>) {
        self.core.relocations.end_filling();
        self.relocation_came(now, relocation, done);
    }

    /// Puts the relocated sectors of a unit where they will lie.
    pub(crate) fn relocate_contents(&mut self, relocation: Relocation) {
        let store = &mut self.contents.store;
        let contents = store.take_relocation(relocation.first);
        let mut contents = contents.into_iter();
        self.core.ftl.relocate(relocation, |from, to| {
            // Both are in the order of addresses; what was overwritten meanwhile is passed over.
            let (_, content) = contents.find(|(ppa, _)| *ppa == from).expect("each sector was read");
            store.put(to, content);
        });
    }

    /// The operations under way on the media: begun, and not reported.
    pub fn under_way(&self) -> Vec<UnderWay> {
        let store = &self.contents.store;
        let mut all = Vec::new();
        for op in self.core.dies.under_way() {
            match op.work {
                crate::core::die_op::Work::Program { stripe, .. } => {
                    let contents = store.program_contents(stripe, op.unit, self.core.ftl.layout().width);
                    if let (Some(unit), Some(at)) = (contents, store.place(op.unit)) {
                        all.push(UnderWay::Program { at, unit: unit.clone() });
                    }
                }
                crate::core::die_op::Work::Erase(band) => {
                    if let Some(at) = store.block_at(op.unit.die, band.0) {
                        all.push(UnderWay::Erase { at });
                    }
                }
                work => all.extend(self.rebuild_under_way(work, op.unit)),
            }
        }
        all.extend(self.log_under_way());
        all
    }
}
