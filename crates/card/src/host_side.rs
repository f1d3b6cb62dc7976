//! Requests of the host, from submission to completion.

use crate::card::Card;
use crate::dies::Work;
use crate::store::SectorData;
use device::{Cause, Completion, Operation, Parts, Request, RequestError, RequestId, SECTOR_BYTES, Time};
use ftl::canary::{Canary, planted};
use ftl::{Lba, StreamId};

/// Where a request stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stage {
    /// The id is free.
    #[default]
    Free,
    /// On its way to the card.
    GoingDown,
    /// Its reads are on the flash (or the reads that a write of part of a sector needs first).
    Reading,
    /// A write that waits for room in the buffer.
    Waiting,
    /// Waits until what was written is on flash.
    Durable,
    /// Its data are on their way to the host.
    GoingUp,
}

/// One request.
#[derive(Clone, Copy, Debug)]
pub struct HostRequest {
    pub stage: Stage,
    operation: Operation,
    fua: bool,
    submitted: Time,
    /// First sector of a read; next sector to take into the buffer of a write.
    sector: u32,
    sectors_left: u32,
    bytes: u32,
    /// The first sector is covered in part; the last one is, and it is another one.
    partial_first: bool,
    partial_last: bool,
    /// Bytes of the first sector that lie before the request, and of the last one up to its end.
    first_bytes: u16,
    last_bytes: u16,
    reads_left: u32,
    /// A flush that has to tell the media of holes once everything before it is durable; as of which version.
    pub holes_as_of: Option<u64>,
}

impl Default for HostRequest {
    fn default() -> Self {
        HostRequest {
            stage: Stage::Free,
            operation: Operation::Flush,
            fua: false,
            submitted: Time::ZERO,
            sector: 0,
            sectors_left: 0,
            bytes: 0,
            partial_first: false,
            partial_last: false,
            first_bytes: 0,
            last_bytes: 0,
            reads_left: 0,
            holes_as_of: None,
        }
    }
}

impl Card {
    /// Takes a request from the host.
    ///
    /// # Panics
    /// When the id is in use or the range lies beyond the card: a bug of the caller.
    pub(crate) fn accept(&mut self, now: Time, id: RequestId, request: Request, done: &mut Vec<Completion>) {
        let end = request.range.offset_bytes + u64::from(request.range.len_bytes);
        assert!(end <= self.ftl.user_sectors() * SECTOR_BYTES, "request beyond the card: {request:?}");
        assert!(
            self.store.is_some()
                || request.range.offset_bytes.is_multiple_of(512) && request.range.len_bytes.is_multiple_of(512),
            "request is not a multiple of 512: {request:?}"
        );
        if matches!(request.operation, Operation::Write | Operation::Trim) {
            self.note_risk();
        }
        let first = request.range.offset_bytes / SECTOR_BYTES;
        let sectors = end.div_ceil(SECTOR_BYTES) - first;
        let sectors = if request.range.len_bytes == 0 { 0 } else { sectors };
        let ragged_start = !request.range.offset_bytes.is_multiple_of(SECTOR_BYTES);
        let ragged_end = !end.is_multiple_of(SECTOR_BYTES);
        let slot = &mut self.requests[id.0 as usize];
        assert_eq!(slot.stage, Stage::Free, "request {id:?} is in flight");
        *slot = HostRequest {
            stage: Stage::GoingDown,
            operation: request.operation,
            fua: request.fua,
            submitted: now,
            sector: first as u32,
            sectors_left: sectors as u32,
            bytes: request.range.len_bytes,
            partial_first: sectors > 0 && (ragged_start || (sectors == 1 && ragged_end)),
            partial_last: sectors > 1 && ragged_end,
            first_bytes: (request.range.offset_bytes % SECTOR_BYTES) as u16,
            last_bytes: ((end + SECTOR_BYTES - 1) % SECTOR_BYTES + 1) as u16,
            reads_left: 0,
            holes_as_of: None,
        };
        if let Some(store) = &mut self.store {
            store.requests[id.0 as usize].begin(first as u32, sectors as usize, request.operation == Operation::Write);
        }
        self.life.tick(now);
        if self.in_flight == 0 {
            self.pause_ends();
            self.life.busy(now);
        }
        self.submitted += 1;
        self.in_flight += 1;
        let passage = match request.operation {
            Operation::Write => self.link.send_write(now, u64::from(request.range.len_bytes)),
            Operation::Read | Operation::Flush | Operation::Trim => self.link.send_command(now),
        };
        if let Some(record) = self.records.get_mut(id.0 as usize) {
            *record = Default::default();
            record.settled.add(Cause::CommandQueue, passage.taken - now);
            record.settled.add(Cause::Link, passage.arrived - passage.taken);
        }
        if passage.arrived == now {
            self.arrived(now, id, done);
            self.notice_the_end(now, done);
            self.begin_on_medium();
        } else {
            // The map entry will be needed when the command arrives.
            if sectors > 0 && request.operation != Operation::Flush {
                self.ftl.prefetch(Lba(first as u32));
            }
            self.events.set(self.request_slot(id), passage.arrived);
        }
    }

    /// A request has reached the card.
    pub(crate) fn arrived(&mut self, now: Time, id: RequestId, done: &mut Vec<Completion>) {
        let request = self.requests[id.0 as usize];
        match request.operation {
            Operation::Read => {
                self.requests[id.0 as usize].stage = Stage::Reading;
                self.read_sectors(now, id, request.sector, request.sectors_left);
                if self.requests[id.0 as usize].reads_left == 0 {
                    self.send_up(now, id, done);
                }
            }
            Operation::Write if request.partial_first || request.partial_last => {
                // Read-modify-write of the sectors at the edges.
                self.requests[id.0 as usize].stage = Stage::Reading;
                if request.partial_first {
                    self.read_sectors(now, id, request.sector, 1);
                }
                if request.partial_last {
                    self.read_sectors(now, id, request.sector + request.sectors_left - 1, 1);
                }
                if self.requests[id.0 as usize].reads_left == 0 {
                    self.queue_write(now, id, done);
                }
            }
            Operation::Write => self.queue_write(now, id, done),
            Operation::Flush => self.make_durable(now, id, done),
            Operation::Trim if self.read_only => self.fail(now, id, RequestError::ReadOnly, done),
            Operation::Trim => {
                self.trim(&request);
                self.limit_owed_holes(now);
                if request.fua {
                    return self.make_durable(now, id, done);
                }
                self.complete(now, id, done);
            }
        }
    }

    fn trim(&mut self, request: &HostRequest) {
        // Sectors at the edges that are covered in part stay.
        let first = request.sector + u32::from(request.partial_first);
        for sector in first..request.sector + request.sectors_left - u32::from(request.partial_last) {
            if self.ftl.lookup(Lba(sector)).is_some() {
                self.ftl.trim(Lba(sector));
                self.trimmed(Lba(sector));
            }
        }
    }

    /// Starts the reads of sectors that lie on flash; unwritten sectors and those in the buffer need none.
    pub(crate) fn read_sectors(&mut self, now: Time, id: RequestId, first: u32, count: u32) {
        let unit_sectors = self.ftl.layout().unit_sectors;
        let mut sector = first;
        let end = first + count;
        while sector < end {
            let Some(ppa) = self.ftl.lookup(Lba(sector)) else {
                if let Some(store) = &mut self.store {
                    store.requests[id.0 as usize].set(Lba(sector), SectorData::Zero);
                }
                sector += 1;
                continue;
            };
            let unit = self.ftl.layout().locate(ppa);
            // Sectors that follow in the same unit come with the same command.
            let in_unit = unit_sectors - ppa.0 % unit_sectors;
            let mut run = 1;
            while run < in_unit
                && sector + run < end
                && self.ftl.lookup(Lba(sector + run)).is_some_and(|p| p.0 == ppa.0 + run)
            {
                run += 1;
            }
            let first_lba = Lba(sector);
            sector += run;
            let on_flash = match self.store {
                Some(_) => self.begin_read_part(id, unit, first_lba, ppa, run),
                None => self.ftl.is_programmed(unit),
            };
            if !on_flash {
                continue;
            }
            self.requests[id.0 as usize].reads_left += 1;
            let mode = self.ftl.cell_mode(unit.band);
            self.start(now, Work::HostRead(id), unit, mode, run);
        }
    }

    /// One read of a request is done.
    pub(crate) fn flash_read_done(&mut self, now: Time, id: RequestId, done: &mut Vec<Completion>) {
        let request = &mut self.requests[id.0 as usize];
        request.reads_left -= 1;
        if request.reads_left > 0 {
            return;
        }
        let (operation, submitted) = (request.operation, request.submitted);
        if let Some(record) = self.records.get_mut(id.0 as usize) {
            if self.store.is_some() {
                // What could not be read was rebuilt from its stripe meanwhile.
                let known = record.settled.total_ns() + record.flash.total_ns();
                record.flash.add(Cause::ReadRetry, (now - submitted) - known);
            }
            record.settle_flash();
        }
        match operation {
            Operation::Write => self.queue_write(now, id, done),
            _ => self.send_up(now, id, done),
        }
    }

    fn send_up(&mut self, now: Time, id: RequestId, done: &mut Vec<Completion>) {
        let bytes = u64::from(self.requests[id.0 as usize].bytes);
        let at = self.link.send_up(now, bytes);
        if let Some(record) = self.records.get_mut(id.0 as usize) {
            record.settled.add(Cause::Link, at - now);
        }
        if at == now {
            return self.complete(now, id, done);
        }
        self.requests[id.0 as usize].stage = Stage::GoingUp;
        self.events.set(self.request_slot(id), at);
    }

    /// A write is complete at the card's door: takes it into the buffer, or lines it up.
    fn queue_write(&mut self, now: Time, id: RequestId, done: &mut Vec<Completion>) {
        if self.read_only {
            return self.fail(now, id, RequestError::ReadOnly, done);
        }
        if !self.merge_edges(id) {
            return self.fail(now, id, RequestError::EdgeUnreadable, done);
        }
        let needs_room = self.requests[id.0 as usize].sectors_left > 0;
        if (needs_room && !self.waiting_writes.is_empty()) || !self.admit(now, id, done) {
            let request = &mut self.requests[id.0 as usize];
            request.stage = Stage::Waiting;
            self.ftl.prefetch_overwrite(Lba(request.sector));
            self.waiting_writes.push_back(id);
            if !self.records.is_empty() {
                let activity = self.activity_at(now);
                let record = &mut self.records[id.0 as usize];
                record.wait_since = now;
                record.activity = activity;
            }
        }
        self.go_on_after_write(now, done);
    }

    /// Sectors that are covered in part get the rest of what they held; false: it can't be read.
    fn merge_edges(&mut self, id: RequestId) -> bool {
        let request = &self.requests[id.0 as usize];
        let Some(store) = &mut self.store else { return true };
        if !(request.partial_first || request.partial_last) {
            return true;
        }
        // A payload that stands for a sector may have fewer bytes; so have its parts.
        let payload_bytes = store.payload_bytes();
        let scaled = |bytes: u16| usize::from(bytes) * payload_bytes / SECTOR_BYTES as usize;
        let (first, last) = (scaled(request.first_bytes), scaled(request.last_bytes));
        let data = &mut store.requests[id.0 as usize];
        let sectors = data.read.len();
        let mut merged = true;
        if request.partial_first {
            merged &= data.fill(0, 0..first);
        }
        if last < payload_bytes {
            merged &= data.fill(sectors - 1, last..payload_bytes);
        }
        merged
    }

    /// Relocations that the write earned; cheaper than the full round when nothing waits.
    fn go_on_after_write(&mut self, now: Time, done: &mut Vec<Completion>) {
        if self.waiting_writes.is_empty() {
            self.relocate_due(now);
        } else {
            self.go_on(now, done);
        }
    }

    /// Takes as much of a write into the buffer as there is room for; true when that was all of it.
    fn admit(&mut self, now: Time, id: RequestId, done: &mut Vec<Completion>) -> bool {
        let (mut sector, mut left) = {
            let request = &self.requests[id.0 as usize];
            (request.sector, request.sectors_left)
        };
        while left > 0 && self.buffer_free_sectors > 0 && self.ftl.can_write() && self.has_energy() {
            self.buffer_free_sectors -= 1;
            let over_hole = self.store.is_some() && self.ftl.lookup(Lba(sector)).is_none();
            let ppa = self.ftl.write(Lba(sector));
            self.put_host_sector(id, Lba(sector), ppa);
            if over_hole {
                self.written_over_hole(Lba(sector));
            }
            sector += 1;
            left -= 1;
            self.program_sealed(now);
        }
        let request = &mut self.requests[id.0 as usize];
        request.sector = sector;
        request.sectors_left = left;
        if left > 0 {
            return false;
        }
        if request.fua && !planted(Canary::FuaIgnored) {
            self.make_durable(now, id, done)
        } else {
            self.complete(now, id, done)
        }
        true
    }

    /// Admits writes in the order in which they came.
    pub(crate) fn admit_waiting(&mut self, now: Time, done: &mut Vec<Completion>) {
        while let Some(&id) = self.waiting_writes.front() {
            let left = self.requests[id.0 as usize].sectors_left;
            if left == 0 || self.buffer_free_sectors == 0 || !self.ftl.can_write() || !self.has_energy() {
                break;
            }
            // The last sector admits the whole: its wait ends now.
            if !self.records.is_empty() && self.buffer_free_sectors >= left {
                let activity = self.activity_at(now);
                let record = &mut self.records[id.0 as usize];
                record.settle_wait(now, &activity);
                record.wait_since = now;
                record.activity = activity;
            }
            if !self.admit(now, id, done) {
                break;
            }
            self.waiting_writes.pop_front();
        }
    }

    /// Completes a request once everything written before is durable.
    fn make_durable(&mut self, now: Time, id: RequestId, done: &mut Vec<Completion>) {
        let skipped = planted(Canary::FlushSkipped) && self.requests[id.0 as usize].operation == Operation::Flush;
        if self.config.power_loss_protection || self.config.acknowledge_flush_early || skipped {
            return self.complete(now, id, done);
        }
        self.ftl.seal_for_durability(StreamId::Host);
        self.program_sealed(now);
        let barrier = self.ftl.host_barrier();
        let owed = self.store.as_ref().filter(|store| !store.dirty_holes.is_empty());
        let holes_as_of = owed.map(|store| store.next_version - 1);
        if self.ftl.host_is_durable(barrier) && holes_as_of.is_none() {
            return self.complete(now, id, done);
        }
        self.requests[id.0 as usize].holes_as_of = holes_as_of;
        self.requests[id.0 as usize].stage = Stage::Durable;
        if let Some(record) = self.records.get_mut(id.0 as usize) {
            record.wait_since = now;
        }
        self.waiting_durable.push_back((barrier, id));
        self.wake_durable(now, done);
    }

    /// Completes the flushes whose barrier is durable now.
    pub(crate) fn wake_durable(&mut self, now: Time, done: &mut Vec<Completion>) {
        while let Some(&(barrier, id)) = self.waiting_durable.front()
            && (self.ftl.host_is_durable(barrier) || self.believes_early(barrier))
        {
            if self.requests[id.0 as usize].holes_as_of.is_some()
                && (!self.ftl.can_write() || !self.has_room_for_owed_holes())
            {
                // Collection makes room first.
                return;
            }
            self.waiting_durable.pop_front();
            let holes_as_of = self.requests[id.0 as usize].holes_as_of.take();
            if holes_as_of.is_some_and(|as_of| as_of < self.checkpoint_version) {
                // A checkpoint was begun since: what is written now must not look older than it.
                self.ftl.seal_for_durability(StreamId::Host);
                self.program_sealed(now);
                self.requests[id.0 as usize].holes_as_of = Some(self.contents().next_version - 1);
                self.waiting_durable.push_back((self.ftl.host_barrier(), id));
                continue;
            }
            if let Some(as_of) = holes_as_of {
                self.durable_up_to(as_of);
                self.write_owed_holes(now, as_of);
                self.ftl.seal_for_durability(StreamId::Host);
                self.program_sealed(now);
                self.waiting_durable.push_back((self.ftl.host_barrier(), id));
                continue;
            }
            if let Some(record) = self.records.get_mut(id.0 as usize) {
                let waited = now - record.wait_since;
                record.settled.add(Cause::Durable, waited);
            }
            self.complete(now, id, done);
        }
    }

    fn believes_early(&self, barrier: u64) -> bool {
        let waits = |s: &crate::card::StripeInFlight| s.stream == StreamId::Host && s.sequence < barrier;
        planted(Canary::StripeBelievedEarly)
            && self.failed_stripes.is_empty()
            && self.stripes.iter().all(|(_, s)| !waits(s) || s.units_left < 3)
    }

    /// The request has worked.
    pub(crate) fn complete(&mut self, now: Time, id: RequestId, done: &mut Vec<Completion>) {
        self.finish(now, id, Ok(()), done);
    }

    /// The request is finished.
    pub(crate) fn finish(
        &mut self,
        now: Time,
        id: RequestId,
        result: Result<(), RequestError>,
        done: &mut Vec<Completion>,
    ) {
        let request = &mut self.requests[id.0 as usize];
        request.stage = Stage::Free;
        let submitted = request.submitted;
        match request.operation {
            _ if result.is_err() => {}
            Operation::Read => self.life.read(request.bytes),
            Operation::Write => self.life.wrote(request.bytes),
            Operation::Flush | Operation::Trim => {}
        }
        let parts = match self.records.get(id.0 as usize) {
            Some(record) => {
                assert_eq!(record.settled.total_ns(), now - submitted, "the parts of {id:?} do not add up");
                record.settled
            }
            None => Parts::default(),
        };
        self.finished += 1;
        self.in_flight -= 1;
        assert_eq!(self.submitted, self.finished + self.in_flight, "a request was lost");
        done.push(Completion { id, result, data: (), parts });
        if self.store.is_some() {
            self.save_totals_if_due();
        }
        if self.in_flight == 0 {
            self.life.idle(now);
            self.pause_begins(now, done);
        }
    }
}
