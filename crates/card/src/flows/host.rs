//! Requests of the host, from submission to completion.

use crate::card::{AtBarrier, Card, Contents, Done, ReadBy};
use crate::core::host_request::Stage;
use crate::core::read_run::ReadRun;
use crate::core::timers::Timer;
use device::{Cause, Completion, Operation, Parts, Request, RequestError, RequestId, SECTOR_BYTES, Time};
use ftl::canary::{Canary, planted};
use ftl::{Lba, StreamId};

impl<C: Contents> Card<C> {
    /// Takes a request from the host.
    ///
    /// # Panics
    /// When the id is in use or the range lies beyond the card: a bug of the caller.
    pub(crate) fn accept(&mut self, now: Time, id: RequestId, request: Request<C::Data>, done: &mut Done<C>) {
        let Request { operation, range, fua, data } = request;
        let end = range.end_bytes();
        assert!(end <= self.core.ftl.user_sectors() * SECTOR_BYTES, "request beyond the card: {range:?}");
        assert!(
            C::ANY_BYTES || range.offset_bytes.is_multiple_of(512) && range.len_bytes.is_multiple_of(512),
            "request is not a multiple of 512: {range:?}"
        );
        C::accepting(self, now, operation);
        let first = range.offset_bytes / SECTOR_BYTES;
        let sectors = end.div_ceil(SECTOR_BYTES) - first;
        let sectors = if range.len_bytes == 0 { 0 } else { sectors };
        let ragged_start = !range.offset_bytes.is_multiple_of(SECTOR_BYTES);
        let ragged_end = !end.is_multiple_of(SECTOR_BYTES);
        let slot = &mut self.core.host[id];
        assert_eq!(slot.stage, Stage::Free, "request {id:?} is in flight");
        let partial_first = sectors > 0 && (ragged_start || (sectors == 1 && ragged_end));
        let partial_last = sectors > 1 && ragged_end;
        slot.stage = Stage::GoingDown;
        slot.operation = operation;
        slot.fua = fua;
        slot.submitted = now;
        slot.sector = first as u32;
        slot.sectors_left = sectors as u32;
        slot.bytes = range.len_bytes;
        slot.partial_first = partial_first;
        slot.partial_last = partial_last;
        slot.first_bytes = (range.offset_bytes % SECTOR_BYTES) as u16;
        slot.last_bytes = ((end + SECTOR_BYTES - 1) % SECTOR_BYTES + 1) as u16;
        slot.reads_left = 0;
        slot.holes_as_of = None;
        let edges = partial_first || partial_last;
        C::begin(&mut slot.owned, data, operation, first as u32, sectors as usize, edges);
        if self.core.host.is_idle() {
            self.pause_ends(now);
        }
        self.core.host.count_submitted();
        if self.core.host.holds(id) || self.core.phase.is_halted() {
            return;
        }
        let arrives = self.send_down(now, id);
        if arrives == now {
            self.arrived(now, id, done);
            self.notice_the_end(now, done);
            C::begin_on_medium(self);
        } else {
            // The map entry will be needed when the command arrives.
            if sectors > 0 && operation != Operation::Flush {
                self.core.ftl.prefetch(Lba(first as u32));
            }
            self.core.timers.set(Timer::Request(id), arrives);
        }
    }

    /// A request leaves the host; returns when it is there.
    fn send_down(&mut self, now: Time, id: RequestId) -> Time {
        let request = &self.core.host[id];
        let submitted = request.submitted;
        if self.core.host.zones.is_some() {
            let extra_ns = self.extra_command_ns(id);
            self.core.link.occupy(now, extra_ns);
        }
        let request = &self.core.host[id];
        let passage = match request.operation {
            Operation::Write => self.core.link.send_write(now, u64::from(request.bytes)),
            Operation::Read | Operation::Flush | Operation::Trim => self.core.link.send_command(now),
        };
        if let Some(record) = self.core.account.record(id) {
            *record = Default::default();
            record.settled.add(Cause::CommandQueue, passage.taken - submitted);
            record.settled.add(Cause::Link, passage.arrived - passage.taken);
        }
        passage.arrived
    }

    /// A request has reached the card.
    pub(crate) fn arrived(&mut self, now: Time, id: RequestId, done: &mut Done<C>) {
        if self.core.ftl.has_map_cache() && self.looks_up(now, id) {
            return;
        }
        if self.core.host.zones.is_some() {
            return self.arrived_at_zone(now, id, done);
        }
        self.go_on(now, id, done);
    }

    /// A request that has reached the card knows where its sectors lie.
    pub(crate) fn go_on(&mut self, now: Time, id: RequestId, done: &mut Done<C>) {
        let request = &self.core.host[id];
        let (operation, fua, first, sectors) = (request.operation, request.fua, request.sector, request.sectors_left);
        let (partial_first, partial_last) = (request.partial_first, request.partial_last);
        match operation {
            Operation::Read => {
                self.core.host[id].stage = Stage::Reading;
                self.read_sectors(now, id, first, sectors);
                if self.core.host[id].reads_left == 0 {
                    self.send_up(now, id, done);
                }
                C::host_reads(self, now, first, sectors);
            }
            Operation::Write if self.core.config.ftl.mapping_sectors > 1 => self.write_whole_units(now, id, done),
            Operation::Write if partial_first || partial_last => {
                // Read-modify-write of the sectors at the edges.
                self.core.host[id].stage = Stage::Reading;
                if partial_first {
                    self.read_sectors(now, id, first, 1);
                }
                if partial_last {
                    self.read_sectors(now, id, first + sectors - 1, 1);
                }
                if self.core.host[id].reads_left == 0 {
                    self.queue_write(now, id, done);
                }
            }
            Operation::Write => self.queue_write(now, id, done),
            Operation::Flush => self.make_durable(now, id, done),
            Operation::Trim if self.core.phase.is_read_only() => self.fail(now, id, RequestError::ReadOnly, done),
            Operation::Trim => {
                // Sectors at the edges that are covered in part stay.
                self.trim(now, first + u32::from(partial_first), first + sectors - u32::from(partial_last));
                C::trim_done(self, now);
                if fua {
                    return self.make_durable(now, id, done);
                }
                self.complete(now, id, done);
            }
        }
    }

    /// A write takes whole mapping units: what it does not cover of the first and the last is read before.
    fn write_whole_units(&mut self, now: Time, id: RequestId, done: &mut Done<C>) {
        let request = &self.core.host[id];
        let (first, end) = (request.sector, request.sector + request.sectors_left);
        let (edge_first, edge_end) = (first + u32::from(request.partial_first), end - u32::from(request.partial_last));
        let units = self.core.ftl.whole_units(first.into()..end.into());
        let (units_first, units_end) = (units.start as u32, units.end as u32);
        let request = &mut self.core.host[id];
        request.sent = first..end;
        request.sector = units_first;
        request.sectors_left = units_end - units_first;
        request.stage = Stage::Reading;
        self.read_sectors(now, id, units_first, edge_first - units_first);
        // A sector that is covered at both ends was read with those before it.
        let after = edge_end.max(edge_first);
        self.read_sectors(now, id, after, units_end - after);
        if self.core.host[id].reads_left == 0 {
            self.queue_write(now, id, done);
        }
    }

    fn trim(&mut self, now: Time, first: u32, end: u32) {
        for lba in (first..end).map(Lba) {
            if self.core.ftl.lookup(lba).is_some() {
                self.core.ftl.trim(lba);
                C::trimmed(self, lba);
            }
        }
        if self.core.ftl.has_map_cache() {
            self.move_map_pages(now);
        }
    }

    /// The sectors from `sector` on, and before `end`, that follow each other in the same unit; `None`: it is a hole.
    #[inline]
    pub(crate) fn next_run(&self, sector: u32, end: u32) -> Option<ReadRun> {
        let ppa = self.core.ftl.lookup(Lba(sector))?;
        let unit_sectors = self.core.ftl.layout().unit_sectors;
        let in_unit = unit_sectors - ppa.0 % unit_sectors;
        let mut run = 1;
        while run < in_unit
            && sector + run < end
            && self.core.ftl.lookup(Lba(sector + run)).is_some_and(|p| p.0 == ppa.0 + run)
        {
            run += 1;
        }
        Some(ReadRun { unit: self.core.ftl.layout().locate(ppa), lba: Lba(sector), ppa, sectors: run })
    }

    /// Starts the reads of sectors that lie on flash; unwritten sectors and those in the buffer need none.
    pub(crate) fn read_sectors(&mut self, now: Time, id: RequestId, first: u32, count: u32) {
        if self.core.ftl.compresses() {
            return self.read_compressed(now, id, first, count);
        }
        let mut sector = first;
        let end = first + count;
        while sector < end {
            let Some(read) = self.next_run(sector, end) else {
                C::read_hole(self, id, Lba(sector));
                sector += 1;
                continue;
            };
            sector += read.sectors;
            self.read_run(now, id, &read);
        }
    }

    /// Starts the read of sectors that follow each other in a unit.
    #[inline]
    pub(crate) fn read_run(&mut self, now: Time, id: RequestId, read: &ReadRun) {
        let by = C::begin_read(self, now, id, read);
        if by == ReadBy::Nobody {
            return;
        }
        self.core.host[id].reads_left += 1;
        if by == ReadBy::Die {
            // Sectors that follow in the same unit come with the same command.
            let mode = self.core.ftl.cell_mode(read.unit.band);
            self.start_read(now, id, read, mode);
        }
    }

    /// One read of a request is done.
    pub(crate) fn flash_read_done(&mut self, now: Time, id: RequestId, done: &mut Done<C>) {
        let request = &mut self.core.host[id];
        request.reads_left -= 1;
        if request.reads_left > 0 {
            return;
        }
        let operation = request.operation;
        if self.core.account.explains() {
            C::explain_reads(self, now, id);
            self.core.account.record(id).expect("it explains").settle_flash();
        }
        match operation {
            Operation::Write => self.queue_write(now, id, done),
            _ => self.send_up(now, id, done),
        }
    }

    /// Sectors that could not be read were rebuilt from their stripe, in the time that nothing else accounts for.
    pub(crate) fn explain_rebuilding(&mut self, now: Time, id: RequestId) {
        let submitted = self.core.host[id].submitted;
        let record = self.core.account.record(id).expect("it explains");
        let known = record.settled.total_ns() + record.flash.total_ns();
        record.flash.add(Cause::ReadRetry, (now - submitted).saturating_sub(known));
    }

    fn send_up(&mut self, now: Time, id: RequestId, done: &mut Done<C>) {
        let bytes = u64::from(self.core.host[id].bytes);
        let at = self.core.link.send_up(now, bytes);
        if let Some(record) = self.core.account.record(id) {
            record.settled.add(Cause::Link, at - now);
        }
        if at == now {
            return self.complete(now, id, done);
        }
        self.core.host[id].stage = Stage::GoingUp;
        self.core.timers.set(Timer::Request(id), at);
    }

    /// A write is complete at the card's door: takes it into the buffer, or lines it up.
    pub(crate) fn queue_write(&mut self, now: Time, id: RequestId, done: &mut Done<C>) {
        if self.core.phase.is_read_only() {
            return self.fail(now, id, RequestError::ReadOnly, done);
        }
        if !C::merge_edges(self, id) {
            return self.fail(now, id, RequestError::EdgeUnreadable, done);
        }
        let needs_room = self.core.host[id].sectors_left > 0;
        if (needs_room && !self.core.host.waiting_writes.is_empty()) || !self.admit(now, id, done) {
            let request = &mut self.core.host[id];
            request.stage = Stage::Waiting;
            self.core.ftl.prefetch_overwrite(Lba(request.sector));
            self.core.host.waiting_writes.push_back(id);
            if self.core.account.explains() {
                let activity = self.core.account.activity_at(now);
                let record = self.core.account.record(id).expect("it explains");
                record.wait_since = now;
                record.activity = activity;
            }
        }
        self.resume_after_write(now, done);
    }

    /// Relocations that the write earned; cheaper than the full round when nothing waits.
    fn resume_after_write(&mut self, now: Time, done: &mut Done<C>) {
        if self.core.host.waiting_writes.is_empty() {
            self.relocate_due(now);
        } else {
            self.resume(now, done);
        }
    }

    /// Takes as much of a write into the buffer as there is room for; true when that was all of it.
    fn admit(&mut self, now: Time, id: RequestId, done: &mut Done<C>) -> bool {
        let (mut sector, mut left) = {
            let request = &self.core.host[id];
            (request.sector, request.sectors_left)
        };
        while left > 0 && self.core.buffer.has_room() && self.core.ftl.can_write() && C::admits(self) {
            let was_hole = C::is_hole(self, Lba(sector));
            let ppa = if self.core.host[id].is_sent(sector) {
                self.core.ftl.write(Lba(sector))
            } else {
                self.core.ftl.write_rest(Lba(sector))
            };
            self.core.buffer.take(self.core.ftl.room_of(Lba(sector)));
            C::admitted(self, id, Lba(sector), ppa, was_hole);
            sector += 1;
            left -= 1;
            self.program_sealed(now);
        }
        if self.core.ftl.has_map_cache() {
            self.move_map_pages(now);
        }
        let request = &mut self.core.host[id];
        request.sector = sector;
        request.sectors_left = left;
        if left > 0 {
            C::write_waits(self, now);
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
    pub(crate) fn admit_waiting(&mut self, now: Time, done: &mut Done<C>) {
        while let Some(&id) = self.core.host.waiting_writes.front() {
            let left = self.core.host[id].sectors_left;
            if left == 0 || !self.core.buffer.has_room() || !self.core.ftl.can_write() || !C::admits(self) {
                C::write_waits(self, now);
                break;
            }
            // The last sector admits the whole: its wait ends now.
            if self.core.account.explains() && self.core.buffer.free_sectors() >= left {
                let activity = self.core.account.activity_at(now);
                let record = self.core.account.record(id).expect("it explains");
                record.settle_wait(now, &activity);
                record.wait_since = now;
                record.activity = activity;
            }
            if !self.admit(now, id, done) {
                break;
            }
            self.core.host.waiting_writes.pop_front();
        }
    }

    /// Completes a request once everything written before is durable.
    fn make_durable(&mut self, now: Time, id: RequestId, done: &mut Done<C>) {
        let skipped = planted(Canary::FlushSkipped) && self.core.host[id].operation == Operation::Flush;
        if self.core.config.power_loss_protection || self.core.config.acknowledge_flush_early || skipped {
            return self.complete(now, id, done);
        }
        if C::flush_by_log(self, now, id, done) {
            return;
        }
        self.core.ftl.seal_for_durability(StreamId::Host);
        self.program_sealed(now);
        let barrier = self.core.ftl.host_barrier();
        let holes_as_of = C::owed_holes_as_of(self);
        if self.core.ftl.host_is_durable(barrier) && holes_as_of.is_none() {
            return self.complete(now, id, done);
        }
        self.core.host[id].holes_as_of = holes_as_of;
        self.core.host[id].stage = Stage::Durable;
        if let Some(record) = self.core.account.record(id) {
            record.wait_since = now;
        }
        self.core.host.waiting_durable.push_back((barrier, id));
        self.wake_durable(now, done);
    }

    /// Completes the flushes whose barrier is durable now.
    pub(crate) fn wake_durable(&mut self, now: Time, done: &mut Done<C>) {
        while let Some(&(barrier, id)) = self.core.host.waiting_durable.front()
            && (self.core.ftl.host_is_durable(barrier) || C::believes_early(self, barrier))
        {
            if self.core.host[id].holes_as_of.is_some() {
                match C::at_barrier(self, now, id) {
                    AtBarrier::NoRoom => return,
                    AtBarrier::WaitAgain => {
                        self.core.host.waiting_durable.pop_front();
                        self.core.host.waiting_durable.push_back((self.core.ftl.host_barrier(), id));
                        continue;
                    }
                    AtBarrier::Answer => {}
                }
            }
            self.core.host.waiting_durable.pop_front();
            if let Some(record) = self.core.account.record(id) {
                let waited = now - record.wait_since;
                record.settled.add(Cause::Durable, waited);
            }
            self.complete(now, id, done);
        }
    }

    /// The request has worked.
    pub(crate) fn complete(&mut self, now: Time, id: RequestId, done: &mut Done<C>) {
        self.finish(now, id, Ok(()), done);
    }

    /// The request is finished.
    pub(crate) fn finish(&mut self, now: Time, id: RequestId, result: Result<(), RequestError>, done: &mut Done<C>) {
        let request = &mut self.core.host[id];
        request.stage = Stage::Free;
        let (submitted, operation, bytes) = (request.submitted, request.operation, request.bytes);
        let parts = match self.core.account.record(id) {
            Some(record) => {
                // A wrong account is no reason to stop a card that is being served.
                debug_assert_eq!(record.settled.total_ns(), now - submitted, "the parts of {id:?} do not add up");
                record.settled
            }
            None => Parts::default(),
        };
        self.core.host.count_finished();
        let worked = result.is_ok();
        let data = C::end(self, id);
        done.push(Completion { id, result, data, parts });
        C::answered(self, now, operation, bytes, worked);
        if let Some(next) = self.core.host.release() {
            let arrives = self.send_down(now, next);
            self.core.timers.set(Timer::Request(next), arrives);
        }
        if self.core.host.is_idle() {
            self.pause_begins(now, done);
        }
    }
}
