//! Reads ahead of a host that reads in order, on modules that are drives. `contents/read_ahead.rs` has the rules.

use crate::card::{Card, Done, ReadBy};
use crate::contents::Storage;
use crate::contents::direct_reads::DirectRead;
use crate::contents::read_ahead::Look;
use crate::contents::read_bytes::ReadBytes;
use crate::core::read_run::{ReadRun, Wanted};
use crate::flows::direct_reads::Findings;
use device::Time;
use format::payload_crc;
use ftl::canary::{Canary, planted};
use ftl::{Lba, Ppa};

impl Card<Storage> {
    /// A host has begun to read: reads on from there if it reads in order.
    pub(crate) fn read_ahead_of(&mut self, now: Time, first: u32, count: u32) {
        if !self.contents.store.media.reads_beside_programs()
            || self.core.phase.waits_at_once()
            || self.core.phase.is_draining()
        {
            return;
        }
        let (unit, end) = (self.core.ftl.layout().unit_sectors, self.core.ftl.user_sectors() as u32);
        let Some(range) = self.contents.direct_reads.ahead.asked(first, count, unit, end) else { return };
        let mut sector = range.start;
        while sector < range.end {
            let Some(run) = self.next_run(sector, range.end) else {
                sector += 1;
                continue;
            };
            sector += run.sectors;
            if self.contents.store.buffered(run.ppa).is_none() {
                self.begin_read_ahead(now, &run);
            }
        }
    }

    fn begin_read_ahead(&mut self, now: Time, run: &ReadRun) {
        let Some(ends) = self.end_of_direct(now, run.unit) else { return };
        let with_spares = !(0..run.sectors).all(|i| self.contents.store.checksums.knows(Lba(run.lba.0 + i)));
        let at = self.sectors_at(run.unit, run.ppa, run.sectors, with_spares).expect("its module is there");
        let tag = self.contents.direct_reads.begin_ahead(*run, at, now, ends);
        self.begin_direct_on_medium(tag, &at);
    }

    /// Gives a request sectors that were read ahead. `None`: they were not.
    pub(crate) fn read_from_ahead(&mut self, wanted: Wanted) -> Option<ReadBy> {
        match self.contents.direct_reads.ahead.look(wanted.lba, wanted.ppa, wanted.count) {
            Look::Nowhere => None,
            Look::InFlight(tag) => {
                self.contents.direct_reads.ahead.wait(tag, wanted);
                Some(ReadBy::Contents)
            }
            Look::There(sectors) => {
                let checksums = &self.contents.store.checksums;
                let lbas = || (wanted.lba.0..).map(Lba);
                // The address may have been given out again since, for another version of the same sector.
                let is_newest = lbas().zip(&sectors).all(|(lba, (_, crc))| checksums.fits(lba, *crc) == Some(true));
                if !is_newest && !planted(Canary::ReadAheadStale) {
                    return None;
                }
                let owned = &mut self.core.host[wanted.id].owned;
                lbas().zip(sectors).for_each(|(lba, (data, _))| owned.set(lba, data));
                Some(ReadBy::Nobody)
            }
        }
    }

    /// A read ahead has ended; `None`: it can't be read.
    pub(crate) fn read_ahead_came(
        &mut self,
        now: Time,
        tag: u64,
        read: &DirectRead,
        run: &ReadRun,
        brought: Option<&ReadBytes>,
        done: &mut Done<Storage>,
    ) {
        for i in 0..run.sectors {
            let (lba, ppa) = (Lba(run.lba.0 + i), Ppa(run.ppa.0 + i));
            let data = brought.and_then(|brought| brought.share(read.at.first + i));
            let found = data.and_then(|data| data.payload().map(payload_crc).map(|crc| (data, crc)));
            let is_current = self.core.ftl.lookup(lba) == Some(ppa);
            match found {
                Some((data, crc)) if is_current && self.contents.store.checksums.fits(lba, crc) == Some(true) => {
                    self.contents.direct_reads.ahead.came(lba, ppa, data, crc);
                }
                _ => self.contents.direct_reads.ahead.forget(lba),
            }
        }
        for wanted in self.contents.direct_reads.ahead.take_waiting(tag) {
            let findings = match brought {
                Some(brought) => self.look_at_sectors(read, &wanted, brought),
                None => Findings { unfit: (0..wanted.count).collect(), ..Findings::default() },
            };
            self.contents.store.counters.mismatched_sectors +=
                if brought.is_some() { findings.unfit.len() as u64 } else { 0 };
            self.deliver(now, &wanted, read.began, findings, done);
        }
    }
}
