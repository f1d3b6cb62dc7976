//! Flushes and FUA writes that are answered from the write-ahead log. `contents/log.rs` has the invariants.
//!
//! A flush goes to the log while less than a stripe is to be made durable and the log has room; else it pads its stripe,
//! as on a card without a log. So does one that has to make trims durable: those have lists of their own.

use crate::card::{Card, Done};
use crate::contents::Storage;
use crate::contents::log::Written;
use crate::contents::store::{Content, Store};
use crate::core::host_request::Stage;
use crate::core::timers::Timer;
use device::{Cause, RequestId, Time};
use format::{LogHead, LogSector, SlotState, encode_log_record, log_record_bytes};
use ftl::canary::{Canary, planted};
use ftl::{Lba, Ppa, StreamId};
use media::{MediaError, UnderWay, persist};

/// Records that go to the same two modules, one after the other.
const RECORDS_IN_TURN: u64 = 64;

impl Card<Storage> {
    /// Counts of the write-ahead log since the start; `None` if flushes do not use one.
    pub fn log_counters(&self) -> Option<crate::LogCounters> {
        self.contents.log.is_on().then_some(self.contents.log.counters)
    }

    /// A sector of the host was put into the buffer.
    pub(crate) fn note_for_log(&mut self, lba: Lba, ppa: Ppa) {
        if !self.contents.log.is_on() {
            return;
        }
        let barrier = self.core.ftl.host_barrier();
        let content = self.contents.store.buffered(ppa).expect("it was just put there");
        let (version, payload, payload_crc) = (content.version, content.payload.clone(), content.payload_crc);
        self.contents.log.written(Written { lba, version, payload, payload_crc, barrier });
    }

    /// Forgets what is durable in stripes by now.
    pub(crate) fn release_log(&mut self) {
        if self.contents.log.is_on() {
            let (ftl, store) = (&self.core.ftl, &mut self.contents.store);
            self.contents.log.release(|barrier| ftl.host_is_durable(barrier), |payload| store.keep_memory(payload));
        }
    }

    /// Has a flush answered by the log; false: it has to wait for its stripe.
    pub(crate) fn flush_by_log(&mut self, now: Time, id: RequestId, done: &mut Done<Storage>) -> bool {
        if !self.contents.log.is_on() || !self.core.phase.start_is_over() || self.core.phase.is_draining() {
            return false;
        }
        let holes = &self.contents.holes;
        if holes.are_owed() || !self.core.ftl.host_is_durable(holes.written_barrier()) {
            return false;
        }
        self.release_log();
        if self.contents.log.has_unlogged() {
            if !self.contents.log.is_writing() && !self.makes_room_in_log() {
                self.contents.log.counters.flushes_without_room += 1;
                return false;
            }
            self.contents.log.wait_for_next(id);
        } else if self.contents.log.is_writing() {
            self.contents.log.wait_for_present(id);
        } else {
            self.complete(now, id, done);
            return true;
        }
        self.core.host[id].stage = Stage::Durable;
        if let Some(record) = self.core.account.record(id) {
            record.wait_since = now;
        }
        self.begin_record(now, done);
        true
    }

    /// Less than a stripe is not durable, and the log has room for it, or gets it.
    fn makes_room_in_log(&mut self) -> bool {
        let log = &self.contents.log;
        let bytes = log.aligned(log_record_bytes(log.unlogged(), self.contents.store.payload_bytes()));
        let stripe = self.core.ftl.layout().stripe_sectors as usize;
        if log.unlogged() >= stripe || self.log_modules().is_none() {
            return false;
        }
        if self.contents.log.room_for(bytes).is_none() && self.contents.log.has_unannounced() {
            self.contents.log.counters.headers_for_room += 1;
            self.announce_log();
        }
        !self.core.phase.is_halted() && self.contents.log.room_for(bytes).is_some()
    }

    /// Writes the headers, with the totals. They say which records are not needed any more, so that these may be
    /// overwritten; both copies of each header, for the newer one may be lost.
    pub(crate) fn announce_log(&mut self) {
        let needed_from = self.tell_headers_of_log();
        if self.save_totals() && self.contents.log.is_on() && self.save_totals() {
            self.contents.log.announced(needed_from);
        }
    }

    /// Puts the oldest record that is needed into the headers, to be written.
    pub(crate) fn tell_headers_of_log(&mut self) -> u64 {
        let needed_from = self.contents.log.needed_from();
        if self.contents.log.is_on() {
            self.contents.store.headers.common.log_begins = needed_from;
        }
        needed_from
    }

    /// A record that is needed holds a version of the LBA.
    pub fn log_holds(&self, lba: Lba) -> bool {
        self.contents.log.holds(lba)
    }

    /// The two modules that the next record goes to, with their slots: neighbours, so that a start without modules that are
    /// none has all records. Modules take turns, but not with each record: a file system writes the time of a file's last
    /// change with the first sync after the clock's tick.
    fn log_modules(&self) -> Option<[(u32, u32); 2]> {
        let store = &self.contents.store;
        let modules = store.slots.len() as u32;
        let there = |logical: u32| {
            let is_active = store.headers.common.slots[logical as usize].state == SlotState::Active;
            Some((logical, store.slots[logical as usize].filter(|_| is_active)?))
        };
        let pair = |logical: u32| Some([there(logical)?, there((logical + 1) % modules)?]);
        let pairs: Vec<[(u32, u32); 2]> = (0..modules).filter(|_| modules > 1).filter_map(pair).collect();
        let turn = self.contents.log.next_sequence() / RECORDS_IN_TURN;
        pairs.get(turn as usize % pairs.len().max(1)).copied()
    }

    /// Writes the next record, if flushes wait for it and none is being written.
    fn begin_record(&mut self, now: Time, done: &mut Done<Storage>) {
        if self.contents.log.is_writing() || !self.contents.log.has_waiting() {
            return;
        }
        self.release_log();
        if !self.contents.log.has_unlogged() {
            let waiting = self.contents.log.take_waiting();
            return self.answer_from_log(now, waiting, done);
        }
        let has_room = self.makes_room_in_log();
        let Some(to) = self.log_modules().filter(|_| has_room) else {
            let waiting = self.contents.log.take_waiting();
            self.contents.log.counters.flushes_without_room += waiting.len() as u64;
            return self.wait_for_stripes(now, waiting, done);
        };
        let (ftl, store) = (&self.core.ftl, &self.contents.store);
        // One that was trimmed meanwhile too: the trim may not be durable when the write is said to be.
        let is_needed = |written: &Written| !planted(Canary::LogWithoutTrimmed) || ftl.lookup(written.lba).is_some();
        let sectors = self.contents.log.sectors(is_needed);
        let bytes = self.contents.log.aligned(log_record_bytes(sectors.len(), store.payload_bytes()));
        let offset_bytes = self.contents.log.room_for(bytes).expect("there is room for more");
        let head = LogHead {
            card: store.headers.common.card.short(),
            sequence: self.contents.log.next_sequence(),
            offset_bytes,
            needed_from: self.contents.log.needed_from(),
            previous: self.contents.log.previous().unwrap_or(0),
        };
        let mut entries = Vec::with_capacity(sectors.len());
        for Written { lba, version, payload_crc, payload, .. } in &sectors {
            entries.push(LogSector { lba: lba.0, version: *version, payload_crc: *payload_crc, payload });
        }
        let mut record = Vec::with_capacity(bytes as usize);
        encode_log_record(&head, store.payload_bytes(), &entries, &mut record);
        record.resize(bytes as usize, 0);
        self.contents.log.begin(offset_bytes, record.into(), to, sectors);
        self.begin_record_on_modules(now);
    }

    fn begin_record_on_modules(&mut self, now: Time) {
        let is_slow = self.is_on_slow_medium();
        let Some(writing) = self.contents.log.writing() else { return };
        let (offset_bytes, bytes, to) = (writing.offset_bytes, writing.bytes.clone(), writing.to);
        if !is_slow {
            // As long as a program takes on the flash that is emulated.
            return self.core.timers.set(Timer::Log, now + self.core.config.nand.timing.native.program_ns);
        }
        for (_, slot) in to {
            self.contents.store.media.begin_log(slot, offset_bytes, &bytes);
        }
        self.core.timers.set(Timer::Log, now + self.core.config.care.module_timeout_ns);
    }

    /// The medium has written a record's copy.
    pub fn answered_log(&mut self, now: Time, done: &mut Done<Storage>) {
        self.record_may_be_written(now, done);
    }

    /// The time of a record is over: that which it takes, or that which a module has for it.
    pub(crate) fn record_is_due(&mut self, now: Time, done: &mut Done<Storage>) {
        let Some(writing) = self.contents.log.writing() else { return };
        for (logical, slot) in writing.to {
            if self.contents.store.media.writes_log(slot) {
                self.give_up_module(now, logical);
            }
        }
        self.record_may_be_written(now, done);
    }

    fn record_may_be_written(&mut self, now: Time, done: &mut Done<Storage>) {
        let Some(writing) = self.contents.log.writing() else { return };
        let (offset_bytes, bytes, to) = (writing.offset_bytes, writing.bytes.clone(), writing.to);
        let store = &self.contents.store;
        let is_there = |store: &Store, (logical, slot): (u32, u32)| store.slots[logical as usize] == Some(slot);
        if self.core.phase.is_halted() || to.iter().any(|at| is_there(store, *at) && store.media.writes_log(at.1)) {
            return;
        }
        self.core.timers.clear(Timer::Log);
        let mut copies = 0;
        for at @ (logical, slot) in to {
            if !is_there(&self.contents.store, at) {
                continue;
            }
            // A file or drive may fail once: the loss of a module would be too much for that.
            match persist(|| self.contents.store.media.write_log(slot, offset_bytes, &bytes)) {
                Ok(()) => copies += 1,
                Err(MediaError::NoPower) => return self.core.phase.halt(),
                Err(MediaError::Fenced) => return self.core.phase.halt_without_headers(),
                Err(MediaError::Host | MediaError::NoSpace) => self.give_up_module(now, logical),
                Err(_) => self.lose_module(now, logical),
            }
            if self.core.phase.is_halted() {
                return;
            }
            if planted(Canary::LogOnOneModule) {
                copies = 2;
                break;
            }
        }
        // The loss of one module may have cost the other its place.
        if copies == 2 && (to.iter().all(|at| is_there(&self.contents.store, *at)) || planted(Canary::LogOnOneModule)) {
            let waiting = self.contents.log.written_to_both();
            self.answer_from_log(now, waiting, done);
        } else if let Some(to) = self.log_modules() {
            self.contents.log.write_to(to);
            return self.begin_record_on_modules(now);
        } else {
            let waiting = self.contents.log.give_up();
            self.wait_for_stripes(now, waiting, done);
        }
        self.begin_record(now, done);
    }

    fn answer_from_log(&mut self, now: Time, waiting: Vec<RequestId>, done: &mut Done<Storage>) {
        for id in waiting {
            if let Some(record) = self.core.account.record(id) {
                let waited = now - record.wait_since;
                record.settled.add(Cause::Durable, waited);
            }
            self.complete(now, id, done);
        }
    }

    /// Flushes that the log can't answer wait for their stripe.
    fn wait_for_stripes(&mut self, now: Time, waiting: Vec<RequestId>, done: &mut Done<Storage>) {
        self.core.ftl.seal_for_durability(StreamId::Host);
        self.program_sealed(now);
        let barrier = self.core.ftl.host_barrier();
        for id in waiting {
            self.core.host[id].holes_as_of = None;
            self.core.host.waiting_durable.push_back((barrier, id));
        }
        self.wake_durable(now, done);
        self.sync_rest(now, done);
    }

    /// The writes of records that have begun and not ended.
    pub(crate) fn log_under_way(&self) -> impl Iterator<Item = UnderWay> + '_ {
        let store = &self.contents.store;
        self.contents.log.writing().into_iter().flat_map(|writing| {
            let there = writing.to.into_iter().filter(|(logical, slot)| store.slots[*logical as usize] == Some(*slot));
            there.map(|(_, module)| UnderWay::Log {
                module,
                offset_bytes: writing.offset_bytes,
                bytes: writing.bytes.clone(),
            })
        })
    }

    /// A record that is needed lies on one module only, so that no module may count as rebuilt. It waits for its stripes.
    /// After a start that may be each that was found, until all that was found is in whole stripes.
    pub(crate) fn log_is_exposed(&mut self, now: Time) -> bool {
        self.release_log();
        self.forget_rescued();
        let is_found_exposed = self.contents.log.is_on() && self.is_rescuing();
        let is_exposed = self.contents.log.is_exposed() || is_found_exposed;
        self.contents.log.rebuild_waits(is_exposed);
        if is_exposed && self.core.stripes.is_empty() && !self.syncs() {
            self.core.ftl.seal_for_durability(StreamId::Host);
            self.program_sealed(now);
        }
        is_exposed
    }

    /// Gives what a start has found in the log only its place in stripes, as far as there is room.
    pub(crate) fn replay_log(&mut self, now: Time) {
        if self.contents.log.is_replayed() {
            return;
        }
        while self.core.buffer.free_sectors() > 0
            && (self.core.ftl.can_write() || self.core.ftl.can_replay())
            && let Some(content) = self.contents.log.next_to_place()
        {
            self.place_logged(content);
            self.program_sealed(now);
        }
        if self.contents.log.is_placed() {
            self.core.ftl.seal_for_durability(StreamId::Host);
            self.program_sealed(now);
            self.contents.log.placed(self.core.ftl.host_barrier());
        }
        let ftl = &self.core.ftl;
        self.contents.log.end_replay(|barrier| ftl.host_is_durable(barrier));
    }

    fn place_logged(&mut self, content: Content) {
        self.core.buffer.take(1);
        let ppa = self.core.ftl.write(content.lba);
        let store = &mut self.contents.store;
        store.checksums.set(content.lba, content.payload_crc);
        store.put(ppa, content);
    }
}
