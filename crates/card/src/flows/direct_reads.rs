//! Reads of the host on modules that are drives: of the sectors that were asked for, past the dies.
//!
//! A sector is believed when it has the checksum that stands beside the map. Where none is known yet, the spare areas of
//! the unit are read as well, and tell it. A sector that does not fit, or can't be read, is read again by its die, as a
//! whole unit with all that describes it; what that can't tell either is rebuilt from the stripe (`flows/repair.rs`).
//!
//! A read waits for nothing, so its unit may be moved, erased and programmed anew meanwhile. Then the map has another
//! address for the sector, and the read goes there.

use crate::card::{Card, Done, ReadRun};
use crate::contents::Storage;
use crate::contents::direct_reads::DirectRead;
use crate::contents::store::{Content, ReadPart};
use crate::core::dies::Work;
use crate::core::timers::Timer;
use device::{Cause, RequestId, Time};
use format::payload_crc;
use ftl::canary::{Canary, planted};
use ftl::{Lba, Ppa};
use media::{SectorState, SectorsAt, Unit};

/// The finding about a sector that was read.
enum Found {
    Content(Content),
    /// The map has another address for the sector by now.
    Moved,
    Unfit,
}

impl Card<Storage> {
    /// Begins a read past the dies; false where it has to go by its die.
    pub(crate) fn begin_direct(&mut self, now: Time, id: RequestId, run: &ReadRun) -> bool {
        let slow = self.is_on_slow_medium();
        let store = &mut self.contents.store;
        if !store.media.reads_beside_programs() || self.core.phase.waits_at_once() || self.core.phase.is_draining() {
            return false;
        }
        let ReadRun { unit, lba, ppa, sectors } = *run;
        let Some(place) = store.place(unit) else { return false };
        let slot = place.block.module;
        if store.media.is_stuck(slot) || store.media.slow_percent(slot) != 100 {
            return false;
        }
        let with_spares = !(0..sectors).all(|i| self.contents.store.checksums.knows(Lba(lba.0 + i)));
        let first = ppa.0 % self.core.ftl.layout().unit_sectors;
        let at = SectorsAt { unit: place, first, count: sectors, with_spares };
        // A medium that is slow itself says when the read has ended.
        let due = match slow {
            true => now + self.core.config.module_timeout_ns,
            false => now + self.core.dies.read_ns(self.core.ftl.cell_mode(unit.band)),
        };
        let tag = self.contents.direct_reads.begin(DirectRead::of(id, unit, at, lba, ppa), now, due);
        self.core.account.read_beside_dies();
        self.set_direct_timer();
        if slow {
            self.contents.store.media.begin_sectors(tag, &at);
        }
        true
    }

    fn set_direct_timer(&mut self) {
        self.core.timers.set(Timer::DirectReads, self.contents.direct_reads.next_due());
    }

    /// The medium has ended a read of sectors that was begun.
    pub fn answered_sectors(&mut self, now: Time, tag: u64, done: &mut Done<Storage>) {
        self.end_direct(now, tag, done);
        self.set_direct_timer();
    }

    /// The time of reads is over: they have ended, or their modules don't answer.
    pub(crate) fn direct_reads_are_due(&mut self, now: Time, done: &mut Done<Storage>) {
        while let Some(tag) = self.contents.direct_reads.first_due(now) {
            if self.contents.store.media.reads_sectors(tag) {
                let read = self.contents.direct_reads.give_up(tag);
                self.lose_module_of(now, read.unit.die);
                self.read_by_die(now, &read, 0..read.at.count);
                self.core.host[read.id].reads_left -= 1;
            } else {
                self.end_direct(now, tag, done);
            }
        }
        self.set_direct_timer();
    }

    /// A module is gone: nobody waits for its reads any more.
    pub(crate) fn hasten_direct_reads(&mut self, now: Time, logical: u32) {
        let modules = self.contents.store.slots.len() as u32;
        self.contents.direct_reads.hasten(now, |die| die % modules == logical);
        self.set_direct_timer();
    }

    /// Waits for all reads in flight.
    pub(crate) fn end_direct_reads(&mut self, now: Time, done: &mut Done<Storage>) {
        self.contents.direct_reads.hasten(now, |_| true);
        while let Some(tag) = self.contents.direct_reads.first_due(now) {
            self.end_direct(now, tag, done);
        }
        self.set_direct_timer();
    }

    fn end_direct(&mut self, now: Time, tag: u64, done: &mut Done<Storage>) {
        let Some(&DirectRead { at, unit: address, .. }) = self.contents.direct_reads.get(tag) else { return };
        let store = &mut self.contents.store;
        let mut unit = store.take_scratch();
        let result = store.read_sectors(tag, address, &at, &mut unit);
        let Some(read) = self.contents.direct_reads.end(tag) else { return self.contents.store.give_scratch(unit) };
        if self.read_ended(now, address, result) {
            return self.contents.store.give_scratch(unit);
        }
        if result.is_ok() && at.with_spares {
            self.learn_checksums(&read, &unit);
        }
        let (mut unfit, mut moved) = (Vec::new(), Vec::new());
        for i in 0..at.count {
            let found = if result.is_ok() { self.look_at_sector(&read, &unit, i) } else { Found::Unfit };
            match found {
                Found::Content(content) => self.core.host[read.id].owned.set(content.lba, content.into_readable()),
                Found::Moved => moved.push(Lba(read.lba.0 + i)),
                Found::Unfit => unfit.push(i),
            }
        }
        self.contents.store.give_scratch(unit);
        if result.is_ok_and(|report| report.refresh_advised) {
            self.core.ftl.evacuate(address.band);
        }
        if result.is_ok() {
            self.contents.store.counters.mismatched_sectors += unfit.len() as u64;
        }
        for i in unfit {
            self.read_by_die(now, &read, i..i + 1);
        }
        for lba in moved {
            self.read_sectors(now, read.id, lba.0, 1);
        }
        if let Some(record) = self.core.account.record(read.id) {
            record.flash.add(Cause::FlashRead, now - read.began - record.flash.total_ns().min(now - read.began));
        }
        self.flash_read_done(now, read.id, done);
    }

    /// The sector at a place within a read.
    fn look_at_sector(&self, read: &DirectRead, unit: &Unit, i: u32) -> Found {
        let (lba, ppa) = (Lba(read.lba.0 + i), Ppa(read.ppa.0 + i));
        if self.core.ftl.lookup(lba) != Some(ppa) {
            return Found::Moved;
        }
        let store = &self.contents.store;
        let sector = read.at.first + i;
        if unit.state(sector as usize) != SectorState::Good {
            return Found::Unfit;
        }
        let crc = payload_crc(unit.payload(sector as usize));
        match self.contents.store.checksums.fits(lba, crc) {
            Some(fits) if fits || planted(Canary::MapChecksumIgnored) => {
                Found::Content(Content::checked(format::Role::Data, 0, lba, unit.share(sector as usize), crc))
            }
            Some(_) => Found::Unfit,
            // The sector is no data, as its spare area says; or the checksum was forgotten since the read began.
            None if read.at.with_spares => {
                let content = store.check_content(&self.core.ftl, read.unit, unit, sector, lba);
                content.map_or(Found::Unfit, Found::Content)
            }
            None => Found::Unfit,
        }
    }

    /// Takes the checksums of all current sectors of a unit from its spare areas.
    fn learn_checksums(&mut self, read: &DirectRead, unit: &Unit) {
        let start = read.ppa.0 - read.at.first;
        for sector in 0..self.core.ftl.layout().unit_sectors {
            let ppa = Ppa(start + sector);
            if !self.core.ftl.is_current(ppa) {
                continue;
            }
            let lba = self.core.ftl.written_for(ppa);
            if let Some(crc) = self.contents.store.checksum_in_spare(&self.core.ftl, read.unit, unit, sector, lba) {
                self.contents.store.checksums.learn(lba, crc);
            }
        }
    }

    /// Reads sectors of a read by their die, with all that describes their unit.
    fn read_by_die(&mut self, now: Time, read: &DirectRead, sectors: std::ops::Range<u32>) {
        let count = sectors.end - sectors.start;
        let (first_lba, first) = (Lba(read.lba.0 + sectors.start), Ppa(read.ppa.0 + sectors.start));
        let request = &mut self.core.host[read.id];
        request.owned.parts.push(ReadPart { unit: read.unit, first_lba, first, sectors: count });
        request.reads_left += 1;
        let mode = self.core.ftl.cell_mode(read.unit.band);
        self.start(now, Work::HostRead(read.id), read.unit, mode, count);
    }
}
