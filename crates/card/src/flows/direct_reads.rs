//! Reads of the host on modules that are drives: of the sectors that were asked for, past the dies.
//!
//! A sector is believed when it has the checksum that stands beside the map. Where none is known yet, the spare areas of
//! the unit are read as well, and tell it. A sector that does not fit, or can't be read, is read again by its die, as a
//! whole unit with all that describes it; what that can't tell either is rebuilt from the stripe, and written elsewhere
//! (`flows/repair.rs`). A module that is missing or slow is gone round: `flows/read_rebuilds.rs`.
//!
//! A read waits for nothing, so its unit may be moved, erased and programmed anew meanwhile. Then the map has another
//! address for the sector, and the read goes there.

use crate::card::{Card, Done};
use crate::contents::Storage;
use crate::contents::direct_reads::{DirectRead, For};
use crate::contents::read_bytes::ReadBytes;
use crate::contents::store::ReadPart;
use crate::core::die_op::Work;
use crate::core::read_run::{ReadRun, Wanted};
use crate::core::timers::Timer;
use device::{Cause, RequestId, Time};
use format::payload_crc;
use ftl::canary::{Canary, planted};
use ftl::{Lba, Ppa, UnitAddress};
use media::{MediaError, ReadReport, SectorData, SectorsAt, Unit};

/// The findings about the sectors that a request wants.
#[derive(Default)]
pub(crate) struct Findings {
    /// The sectors as the request reads them.
    pub contents: Vec<(Lba, SectorData)>,
    /// The map has another address for these by now.
    pub moved: Vec<Lba>,
    /// These are not what they should be: by their places among the wanted ones.
    pub unfit: Vec<u32>,
}

impl Findings {
    fn with_room_for(wanted: &Wanted) -> Findings {
        Findings { contents: Vec::with_capacity(wanted.count as usize), ..Findings::default() }
    }
}

impl Card<Storage> {
    /// Begins a read past the dies; false where it has to go by its die.
    pub(crate) fn begin_direct(&mut self, now: Time, id: RequestId, run: &ReadRun) -> bool {
        if !self.contents.store.media.reads_beside_programs()
            || self.core.phase.waits_at_once()
            || self.core.phase.is_draining()
        {
            return false;
        }
        let ReadRun { unit, lba, ppa, sectors: count } = *run;
        let wanted = Wanted { id, unit, lba, ppa, count };
        let Some(ends) = self.end_of_direct(now, unit) else { return self.begin_read_rebuild(now, wanted, None) };
        let with_spares = !self.knows_checksums(&wanted);
        let at = self.sectors_at(unit, ppa, count, with_spares).expect("its module is there");
        let tag = self.contents.direct_reads.begin(wanted, at, now, ends);
        self.begin_direct_on_medium(tag, &at);
        true
    }

    /// All checksums of what a request wants are known.
    pub(crate) fn knows_checksums(&self, wanted: &Wanted) -> bool {
        (0..wanted.count).all(|i| self.contents.store.checksums.knows(Lba(wanted.lba.0 + i)))
    }

    /// The place of as many sectors of a unit; `None`: its module is missing, or does not hold them.
    pub(crate) fn sectors_at(&self, unit: UnitAddress, ppa: Ppa, count: u32, with_spares: bool) -> Option<SectorsAt> {
        let first = ppa.0 % self.core.ftl.layout().unit_sectors;
        Some(SectorsAt { unit: self.contents.store.place(unit)?, first, count, with_spares })
    }

    /// When a read that begins now ends, or the card stops to wait for it; `None`: its module is missing.
    pub(crate) fn end_of_direct(&self, now: Time, unit: UnitAddress) -> Option<Time> {
        let store = &self.contents.store;
        let slot = store.place(unit)?.block.module;
        // A medium that is slow itself says when the read has ended.
        if self.is_on_slow_medium() || store.media.is_stuck(slot) {
            return Some(now + self.core.config.care.module_timeout_ns);
        }
        let read_ns = self.core.dies.read_ns(self.core.ftl.cell_mode(unit.band));
        Some(now + read_ns * u64::from(store.media.slow_percent(slot)) / 100)
    }

    /// Tells a slow medium of a read, and sets the timer.
    pub(crate) fn begin_direct_on_medium(&mut self, tag: u64, at: &SectorsAt) {
        self.core.account.read_beside_dies();
        self.set_direct_timer();
        if self.is_on_slow_medium() {
            self.contents.store.media.begin_sectors(tag, at);
        }
    }

    pub(crate) fn set_direct_timer(&mut self) {
        self.core.timers.set(Timer::DirectReads, self.contents.direct_reads.next_due());
    }

    /// The medium has ended a read of sectors that was begun.
    pub fn answered_sectors(&mut self, now: Time, tag: u64, done: &mut Done<Storage>) {
        self.end_direct(now, tag, done);
        self.set_direct_timer();
    }

    /// The time of reads is over: they have ended, take too long, or their modules don't answer.
    pub(crate) fn direct_reads_are_due(&mut self, now: Time, done: &mut Done<Storage>) {
        while let Some(tag) = self.contents.direct_reads.first_due(now) {
            let read = *self.contents.direct_reads.get(tag).expect("it is due");
            if read.ends > now {
                self.hedge(now, tag, &read);
            } else if self.contents.store.media.reads_sectors(tag) {
                self.contents.direct_reads.give_up(tag);
                self.give_up_module_of(now, read.unit.die);
                self.direct_is_unfit(now, tag, &read, done);
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
        let (brought, result) = match store.lend_sectors(tag, address, &at) {
            Some(bytes) => (ReadBytes::lent(&at, bytes), Ok(ReadReport::default())),
            None => {
                let mut unit = store.take_scratch();
                let result = store.read_sectors(tag, address, &at, &mut unit);
                (ReadBytes::Unit(unit), result)
            }
        };
        self.direct_brought(now, tag, &brought, result, done);
        if let ReadBytes::Unit(unit) = brought {
            self.contents.store.give_scratch(unit);
        }
    }

    fn direct_brought(
        &mut self,
        now: Time,
        tag: u64,
        brought: &ReadBytes,
        result: Result<ReadReport, MediaError>,
        done: &mut Done<Storage>,
    ) {
        let Some(read) = self.contents.direct_reads.end(now, tag) else { return };
        let (at, address) = (read.at, read.unit);
        if self.read_ended(now, address, result) {
            return;
        }
        if result.is_ok_and(|report| report.refresh_advised) {
            self.core.ftl.evacuate(address.band);
        }
        let found = result.is_ok().then_some(brought);
        if let (Some(unit), Some(first)) = (found.and_then(ReadBytes::unit), read.first_ppa())
            && at.with_spares
        {
            self.learn_checksums(&read, first, unit);
        }
        let wanted = match read.purpose {
            For::Host(wanted) => wanted,
            For::Ahead(run) => return self.read_ahead_came(now, tag, &read, &run, found, done),
            For::Member(rebuild) => return self.member_came(now, rebuild, &read, found, done),
        };
        let Some(brought) = found else { return self.direct_is_unfit(now, tag, &read, done) };
        let findings = self.look_at_sectors(&read, &wanted, brought);
        self.contents.store.counters.mismatched_sectors += findings.unfit.len() as u64;
        if !findings.unfit.is_empty() && self.contents.direct_reads.leave_to_hedge(tag) {
            return;
        }
        self.contents.direct_reads.end_hedge_of(tag);
        self.deliver(now, &wanted, read.began, findings, done);
    }

    /// A read brought nothing that can be believed.
    fn direct_is_unfit(&mut self, now: Time, tag: u64, read: &DirectRead, done: &mut Done<Storage>) {
        match read.purpose {
            For::Host(_) if self.contents.direct_reads.leave_to_hedge(tag) => {}
            For::Host(wanted) => {
                let unfit = (0..wanted.count).collect();
                self.deliver(now, &wanted, read.began, Findings { unfit, ..Findings::default() }, done);
            }
            For::Ahead(run) => self.read_ahead_came(now, tag, read, &run, None, done),
            For::Member(rebuild) => self.member_came(now, rebuild, read, None, done),
        }
    }

    /// Gives a request what was found, and reads the rest of it elsewhere.
    pub(crate) fn deliver(
        &mut self,
        now: Time,
        wanted: &Wanted,
        began: Time,
        findings: Findings,
        done: &mut Done<Storage>,
    ) {
        for (lba, data) in findings.contents {
            self.core.host[wanted.id].owned.set(lba, data);
        }
        for i in findings.unfit {
            self.read_by_die(now, wanted, i);
        }
        for lba in findings.moved {
            self.read_sectors(now, wanted.id, lba.0, 1);
        }
        let submitted = self.core.host[wanted.id].submitted;
        if let Some(record) = self.core.account.record(wanted.id) {
            // A read may have been under way when the request came.
            let since_arrival = (now - submitted).saturating_sub(record.settled.total_ns());
            let took = (now - began).min(since_arrival);
            record.flash.add(Cause::FlashRead, took.saturating_sub(record.flash.total_ns()));
        }
        self.flash_read_done(now, wanted.id, done);
    }

    /// The findings about sectors that a request wants, in what a read has brought.
    pub(crate) fn look_at_sectors(&self, read: &DirectRead, wanted: &Wanted, brought: &ReadBytes) -> Findings {
        let mut findings = Findings::with_room_for(wanted);
        for i in 0..wanted.count {
            let sector = wanted.ppa.0 % self.core.ftl.layout().unit_sectors + i;
            if !self.find(&mut findings, wanted, i, brought.share(sector)) {
                // The sector is no data, as its spare area says; or its checksum was forgotten since the read began.
                let lba = Lba(wanted.lba.0 + i);
                let store = &self.contents.store;
                let is_told = read.at.with_spares && brought.payload(sector).is_some() && !store.checksums.knows(lba);
                let told = brought
                    .unit()
                    .filter(|_| is_told)
                    .and_then(|unit| store.check_content(&self.core.ftl, read.unit, unit, sector, lba));
                match told {
                    Some(content) => findings.contents.push((lba, content.into_readable())),
                    None => findings.unfit.push(i),
                }
            }
        }
        findings
    }

    /// Adds the finding about a wanted sector, by its checksum in the map; false when that does not settle it.
    pub(crate) fn find(&self, findings: &mut Findings, wanted: &Wanted, i: u32, data: Option<SectorData>) -> bool {
        let (lba, ppa) = (Lba(wanted.lba.0 + i), Ppa(wanted.ppa.0 + i));
        if self.core.ftl.lookup(lba) != Some(ppa) {
            findings.moved.push(lba);
            return true;
        }
        let Some(data) = data else { return false };
        let Some(crc) = data.payload().map(payload_crc) else { return false };
        let fits = match self.contents.store.checksums.fits(lba, crc) {
            Some(fits) => fits || planted(Canary::MapChecksumIgnored),
            None => false,
        };
        if fits {
            findings.contents.push((lba, data));
        }
        fits
    }

    /// Takes the checksums of all current sectors of a unit from its spare areas.
    fn learn_checksums(&mut self, read: &DirectRead, first: Ppa, unit: &Unit) {
        let start = first.0 - read.at.first;
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

    /// Reads a wanted sector by its die, with all that describes its unit.
    fn read_by_die(&mut self, now: Time, wanted: &Wanted, i: u32) {
        let (first_lba, first) = (Lba(wanted.lba.0 + i), Ppa(wanted.ppa.0 + i));
        let request = &mut self.core.host[wanted.id];
        request.owned.parts.push(ReadPart { unit: wanted.unit, first_lba, first, sectors: 1 });
        request.reads_left += 1;
        let mode = self.core.ftl.cell_mode(wanted.unit.band);
        self.start(now, Work::HostRead(wanted.id), wanted.unit, mode, 1);
    }
}
