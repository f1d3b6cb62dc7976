//! Lookups of a card that holds a part of its map in memory: requests wait until the map's pages are there.
//!
//! A read asks for its pages once, when it has reached the card. A write is taken into the buffer at once, and its pages come
//! behind it, as those of moved sectors do: the buffer knows its sectors by itself. Too many pages that are still to come hold
//! the next writes back, as flash management says. Pages are read ahead of programs, as reads of the host are.

use crate::card::{Card, Contents, Done};
use crate::core::die_op::Work;
use crate::core::host_request::Stage;
use crate::core::timers::Timer;
use device::{Cause, Operation, RequestId, Time};
use ftl::{Lba, MapLookup, Relocation};

impl<C: Contents> Card<C> {
    /// A request has reached a card that holds a part of its map: true when it has to wait until it knows where its sectors lie.
    #[cold]
    #[inline(never)]
    pub(crate) fn looks_up(&mut self, now: Time, id: RequestId) -> bool {
        let request = &self.core.host[id];
        let (first, sectors) = (request.sector, request.sectors_left);
        let reads = match request.operation {
            Operation::Read => true,
            // Those that it covers in part are read first, and so are the rest of its mapping units.
            Operation::Write => {
                let units = self.core.ftl.whole_units(first.into()..(first + sectors).into());
                request.partial_first || request.partial_last || units.end - units.start > sectors.into()
            }
            Operation::Flush | Operation::Trim => false,
        };
        if !reads || sectors == 0 {
            return false;
        }
        let [first_page, last_page] = [first, first + sectors - 1].map(|sector| self.core.ftl.map_page_of(Lba(sector)));
        let mut coming = 0;
        for page in first_page..=last_page {
            if self.core.ftl.look_up_map(page) == MapLookup::Coming {
                self.core.map_reads.wait(page, id);
                coming += 1;
            }
        }
        self.move_map_pages(now);
        let hit_ns = self.core.config.model.map_hit_ns;
        if coming == 0 && hit_ns == 0 {
            return false;
        }
        let request = &mut self.core.host[id];
        request.stage = Stage::LookingUp;
        request.reads_left = coming;
        if coming == 0 {
            self.core.timers.set(Timer::Request(id), now + hit_ns);
        }
        if let Some(record) = self.core.account.record(id) {
            record.wait_since = now;
        }
        true
    }

    /// Asks dies for the pages of the map that are wanted in memory, and then sends them those that have left it.
    #[cold]
    #[inline(never)]
    pub(crate) fn move_map_pages(&mut self, now: Time) {
        while let Some((page, ppa)) = self.core.ftl.next_map_read() {
            let layout = self.core.ftl.layout();
            let unit = layout.locate(ppa);
            let within = ppa.0 % layout.unit_sectors;
            let mode = self.core.ftl.cell_mode(unit.band);
            let first = ftl::Ppa(ppa.0 - within);
            let unit = C::read_to_relocate(self, now, &Relocation { unit, first, mask: 1 << within, mode, room: 1 });
            self.core.map_reads.begin();
            self.start_first(now, Work::MapRead(page), unit, mode, [within, 1]);
        }
        self.program_sealed(now);
    }

    /// A die has read a page of the map.
    pub(crate) fn map_page_read(&mut self, now: Time, page: u32, done: &mut Done<C>) {
        self.core.ftl.map_page_came(page);
        for id in self.core.map_reads.end(page) {
            let request = &mut self.core.host[id];
            request.reads_left -= 1;
            if request.reads_left == 0 {
                self.knows_where(now, id, done);
            }
        }
        self.resume(now, done);
    }

    /// A request knows where its sectors lie.
    pub(crate) fn knows_where(&mut self, now: Time, id: RequestId, done: &mut Done<C>) {
        if let Some(record) = self.core.account.record(id) {
            let waited = now - record.wait_since;
            record.settled.add(Cause::MapLookup, waited);
        }
        self.go_on(now, id, done);
    }
}
