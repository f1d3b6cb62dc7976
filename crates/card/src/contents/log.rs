//! The write-ahead log: what a flush has made durable before its stripe is full.
//!
//! Without it, a flush pads the open stripe and waits for all of it. With it, the sectors that are not durable yet go to two
//! modules as one record, and the stripe is filled on. All flushes that wait when a record is written go with the next one.
//! Invariants:
//! - a flush is answered from the log when its record is on two modules;
//! - a record is overwritten only when everything that was written before it is durable in stripes, and a later record or
//!   the headers say so: a start must tell a record that was overwritten from one that was lost;
//! - nothing is written to the log before all that a start has found in it is durable in stripes;
//! - no module counts as rebuilt while a record that is needed lost its other copy.

use crate::contents::store::Content;
use bytes::Bytes;
use device::RequestId;
use ftl::Lba;
use ftl::canary::{Canary, planted};
use media::{LogArea, Payload};
use std::collections::VecDeque;

/// Counts of the write-ahead log since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogCounters {
    /// Records that were written.
    pub records: u64,
    /// Sectors in them.
    pub sectors: u64,
    /// Bytes of the records, on one of their two modules.
    pub bytes: u64,
    /// Flushes and FUA writes that were answered by them.
    pub flushes: u64,
    /// Sectors that the start found in the log only.
    pub replayed_sectors: u64,
    /// Records that answered several flushes or FUA writes together.
    pub shared_records: u64,
    /// Times that the log was used again from its beginning.
    pub wraps: u64,
    /// Records that were written anew because a module of theirs went meanwhile.
    pub moved_records: u64,
    /// Flushes and FUA writes that padded a stripe, for the log had no room for them.
    pub flushes_without_room: u64,
    /// Headers that were written to make room in the log.
    pub headers_for_room: u64,
    /// Times that the end of a rebuild waited for a record with one copy.
    pub exposed_waits: u64,
}

/// A sector of the host that is not known to be durable.
#[derive(Clone, Debug)]
pub struct Written {
    pub lba: Lba,
    pub version: u64,
    pub payload: Payload,
    pub payload_crc: u32,
    /// It is durable in its stripe when this barrier of the host's stream is.
    pub barrier: u64,
}

/// A record on the media that may not be overwritten.
#[derive(Clone, Debug)]
struct Record {
    sequence: u64,
    offset_bytes: u64,
    lbas: Box<[Lba]>,
    /// All of it is durable in stripes when this barrier of the host's stream is.
    barrier: u64,
    /// The modules that it lies on.
    on: [u32; 2],
    /// One of them is gone.
    is_exposed: bool,
}

/// A record that is being written.
#[derive(Clone, Debug)]
pub struct Writing {
    sequence: u64,
    /// The oldest record that it names as needed.
    needed_from: u64,
    pub offset_bytes: u64,
    pub bytes: Bytes,
    /// The modules that it is written to, by number within the card, with their slots.
    pub to: [(u32, u32); 2],
    /// Flushes that are answered when it is there.
    pub waiting: Vec<RequestId>,
    sectors: Vec<Written>,
    barrier: u64,
}

/// The sectors that a start has found in the log only.
#[derive(Clone, Debug)]
struct Replay {
    to_place: VecDeque<Content>,
    /// All of it has its place in a stripe, and is durable there when this barrier is.
    barrier: Option<u64>,
}

/// The log of a card.
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// `None`: flushes do not use a log.
    area: Option<LogArea>,
    /// Sectors that no record holds, in the order in which they were written. At most what the buffer holds.
    unlogged: VecDeque<Written>,
    records: VecDeque<Record>,
    /// The number of first records that are durable in stripes; nothing on the media says so yet.
    released: usize,
    /// Where the next record begins, if there is room.
    head_bytes: u64,
    next_sequence: u64,
    writing: Option<Box<Writing>>,
    /// Flushes for the next record.
    waiting: Vec<RequestId>,
    replay: Option<Box<Replay>>,
    /// The end of a rebuild waits for a record with one copy.
    holds_rebuild: bool,
    pub counters: LogCounters,
}

impl Log {
    /// The log of a card whose modules have such an area, with the number of the next record and what was found.
    pub fn new(area: Option<LogArea>, next_sequence: u64, found: Vec<Content>) -> Log {
        let counters = LogCounters { replayed_sectors: found.len() as u64, ..LogCounters::default() };
        let replay = (!found.is_empty()).then(|| Box::new(Replay { to_place: found.into(), barrier: None }));
        Log { area, next_sequence, replay, counters, ..Log::default() }
    }

    /// Flushes use the log.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.area.is_some()
    }

    /// The first number of a record that is not written yet.
    pub fn next_sequence(&self) -> u64 {
        self.next_sequence
    }

    /// A sector was written by the host.
    pub fn written(&mut self, written: Written) {
        self.unlogged.push_back(written);
    }

    /// Forgets what is durable in stripes by now, and gives the payloads away.
    pub fn release(&mut self, is_durable: impl Fn(u64) -> bool, mut to: impl FnMut(Payload)) {
        let durable = self.unlogged.iter().take_while(|written| is_durable(written.barrier)).count();
        self.unlogged.drain(..durable).for_each(|written| to(written.payload));
        let early = planted(Canary::LogReleasedEarly);
        while self.records.get(self.released).is_some_and(|record| early || is_durable(record.barrier)) {
            self.released += 1;
        }
    }

    /// The oldest record that is needed; the next one, if none is.
    pub fn needed_from(&self) -> u64 {
        let written = self.records.get(self.released).map(|record| record.sequence);
        written.or(self.writing.as_ref().map(|writing| writing.sequence)).unwrap_or(self.next_sequence)
    }

    /// The record before the next one, if it is needed.
    pub fn previous(&self) -> Option<u64> {
        self.records.iter().skip(self.released).next_back().map(|record| record.sequence)
    }

    /// Records may be overwritten as soon as the media say that they are not needed.
    pub fn has_unannounced(&self) -> bool {
        self.released > 0
    }

    /// The media say that no record before this one is needed.
    pub fn announced(&mut self, needed_from: u64) {
        while self.released > 0 && self.records.front().is_some_and(|record| record.sequence < needed_from) {
            self.records.pop_front();
            self.released -= 1;
        }
    }

    /// A record that is needed holds a version of the LBA.
    pub fn holds(&self, lba: Lba) -> bool {
        self.records.iter().skip(self.released).any(|record| record.lbas.contains(&lba))
    }

    /// Something that the host wrote is neither durable in a stripe nor in a record.
    pub fn has_unlogged(&self) -> bool {
        !self.unlogged.is_empty()
    }

    /// The number of sectors that the next record would hold at most.
    pub fn unlogged(&self) -> usize {
        self.unlogged.len()
    }

    pub fn is_writing(&self) -> bool {
        self.writing.is_some()
    }

    /// The record that is being written.
    pub fn writing(&self) -> Option<&Writing> {
        self.writing.as_deref()
    }

    /// A flush waits for the record that is being written.
    pub fn wait_for_present(&mut self, id: RequestId) {
        self.writing.as_mut().expect("a record is being written").waiting.push(id);
    }

    /// A flush waits for the next record.
    pub fn wait_for_next(&mut self, id: RequestId) {
        self.waiting.push(id);
    }

    /// Flushes wait for the next record.
    pub fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// The flushes that wait for the next record, which is not written.
    pub fn take_waiting(&mut self) -> Vec<RequestId> {
        std::mem::take(&mut self.waiting)
    }

    /// The offset at which a record of so many bytes can be written; `None` if what is needed leaves no room.
    pub fn room_for(&self, bytes: u64) -> Option<u64> {
        let area = self.area?;
        let head = self.head_bytes;
        let fits = |from: u64, end: u64| (from + bytes <= end).then_some(from);
        match self.records.front() {
            None => fits(head, area.bytes).or_else(|| fits(0, area.bytes)),
            Some(first) if head > first.offset_bytes => fits(head, area.bytes).or_else(|| fits(0, first.offset_bytes)),
            Some(first) => fits(head, first.offset_bytes),
        }
    }

    /// Records that are not durable in stripes yet fill half of the area.
    pub fn is_half_full(&self) -> bool {
        let (Some(area), Some(oldest)) = (self.area, self.records.get(self.released)) else { return false };
        let (begin, end) = (oldest.offset_bytes, self.head_bytes);
        let used = if end > begin { end - begin } else { end + area.bytes - begin };
        used * 2 >= area.bytes
    }

    /// The number of bytes that a record of this length takes in the area.
    pub fn aligned(&self, bytes: usize) -> u64 {
        (bytes as u64).next_multiple_of(self.area.map_or(1, |area| u64::from(area.align_bytes)))
    }

    /// The sectors for the next record: of each LBA the last that was written, unless `is_needed` refuses it.
    pub fn sectors(&self, is_needed: impl Fn(&Written) -> bool) -> Vec<Written> {
        let mut newest: Vec<&Written> = self.unlogged.iter().rev().collect();
        // The last that was written stays the first of those with one LBA.
        newest.sort_by_key(|written| written.lba.0);
        newest.dedup_by_key(|written| written.lba.0);
        newest.into_iter().filter(|written| is_needed(written)).cloned().collect()
    }

    /// A record of `sectors` begins to be written.
    pub fn begin(&mut self, offset_bytes: u64, bytes: Bytes, to: [(u32, u32); 2], sectors: Vec<Written>) {
        assert!(self.writing.is_none(), "one record is written at a time");
        let barrier = self.unlogged.back().map_or(0, |written| written.barrier);
        self.unlogged.clear();
        let (sequence, needed_from) = (self.next_sequence, self.needed_from());
        self.next_sequence += 1;
        let waiting = std::mem::take(&mut self.waiting);
        let writing = Writing { sequence, needed_from, offset_bytes, bytes, to, waiting, sectors, barrier };
        self.writing = Some(Box::new(writing));
    }

    /// The record that is being written goes to other modules.
    pub fn write_to(&mut self, to: [(u32, u32); 2]) {
        self.writing.as_mut().expect("a record is being written").to = to;
        self.counters.moved_records += 1;
    }

    /// The record is on both modules: the flushes that waited for it.
    pub fn written_to_both(&mut self) -> Vec<RequestId> {
        let writing = self.writing.take().expect("a record is being written");
        let Writing { sequence, needed_from, offset_bytes, bytes, to, waiting, sectors, barrier } = *writing;
        let lbas = sectors.iter().map(|written| written.lba).collect();
        let on = to.map(|(logical, _)| logical);
        self.records.push_back(Record { sequence, offset_bytes, lbas, barrier, on, is_exposed: false });
        self.announced(needed_from);
        self.counters.wraps += u64::from(offset_bytes < self.head_bytes);
        self.counters.shared_records += u64::from(waiting.len() > 1);
        self.head_bytes = offset_bytes + bytes.len() as u64;
        self.counters.records += 1;
        self.counters.sectors += sectors.len() as u64;
        self.counters.bytes += bytes.len() as u64;
        self.counters.flushes += waiting.len() as u64;
        waiting
    }

    /// The record can't be written to two modules: its sectors are in no record, and the flushes that waited wait for
    /// something else.
    pub fn give_up(&mut self) -> Vec<RequestId> {
        let Some(writing) = self.writing.take() else { return Vec::new() };
        for written in writing.sectors.into_iter().rev() {
            // They are durable when all that was in the record is.
            self.unlogged.push_front(Written { barrier: writing.barrier, ..written });
        }
        writing.waiting
    }

    /// A module is gone, or its contents don't count.
    pub fn module_went(&mut self, logical: u32) {
        for record in self.records.iter_mut().filter(|record| record.on.contains(&logical)) {
            record.is_exposed = true;
        }
    }

    /// A record that is needed has lost its other copy, or may have: the loss of one more module would cost it.
    pub fn is_exposed(&self) -> bool {
        self.replay.is_some() || self.records.iter().skip(self.released).any(|record| record.is_exposed)
    }

    /// The end of a rebuild waits for a record with one copy, or does not.
    pub fn rebuild_waits(&mut self, waits: bool) {
        self.counters.exposed_waits += u64::from(waits && !self.holds_rebuild);
        self.holds_rebuild = waits;
    }

    /// The next sector that the start has found in the log only, to be placed.
    pub fn next_to_place(&mut self) -> Option<Content> {
        self.replay.as_mut()?.to_place.pop_front()
    }

    /// The start has found something in the log that has no place yet.
    pub fn has_to_place(&self) -> bool {
        self.replay.as_ref().is_some_and(|replay| !replay.to_place.is_empty())
    }

    /// The newest version of the LBA lies in the log, and has no place yet.
    pub fn is_to_place(&self, lba: Lba) -> bool {
        self.replay.as_ref().is_some_and(|replay| replay.to_place.iter().any(|content| content.lba == lba))
    }

    /// All that the start has found has its place, and nobody has asked when it is durable.
    pub fn is_placed(&self) -> bool {
        self.replay.as_ref().is_some_and(|replay| replay.to_place.is_empty() && replay.barrier.is_none())
    }

    /// All that was placed is durable when a barrier is.
    pub fn placed(&mut self, barrier: u64) {
        self.replay.as_mut().expect("something was found").barrier = Some(barrier);
    }

    /// Forgets what was found when it is durable in stripes.
    pub fn end_replay(&mut self, is_durable: impl Fn(u64) -> bool) {
        let early = planted(Canary::LogReusedBeforeReplay);
        self.replay.take_if(|replay| replay.barrier.is_some_and(|barrier| early || is_durable(barrier)));
    }

    /// Nothing is in the log only that the start has found.
    pub fn is_replayed(&self) -> bool {
        self.replay.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(lba: u32, version: u64, barrier: u64) -> Written {
        Written { lba: Lba(lba), version, payload: vec![0; 4].into(), payload_crc: 0, barrier }
    }

    fn log() -> Log {
        Log::new(Some(LogArea { bytes: 100, align_bytes: 10 }), 1, Vec::new())
    }

    /// Writes a record of so many bytes; where.
    fn write(log: &mut Log, bytes: u64, barrier: u64) -> Option<u64> {
        log.written(written(1, barrier, barrier));
        let at = log.room_for(bytes)?;
        log.begin(at, vec![0; bytes as usize].into(), [(0, 0), (1, 1)], Vec::new());
        log.written_to_both();
        Some(at)
    }

    #[test]
    fn a_record_goes_behind_the_last_and_never_over_one_that_is_needed() {
        let mut log = log();
        assert_eq!(log.aligned(11), 20);
        assert_eq!([1, 2, 3].map(|barrier| write(&mut log, 30, barrier)), [Some(0), Some(30), Some(60)]);
        assert_eq!(write(&mut log, 30, 4), None, "all are needed");
        log.release(|barrier| barrier <= 1, drop);
        assert_eq!((log.needed_from(), log.previous(), log.room_for(30)), (2, Some(3), None), "nothing says so yet");
        log.announced(log.needed_from());
        assert_eq!(write(&mut log, 30, 4), Some(0));
        assert_eq!(log.room_for(10), None, "the ring is full");
        log.release(|barrier| barrier <= 3, drop);
        log.announced(log.needed_from());
        assert_eq!(log.room_for(60), Some(30));
        log.release(|_| true, drop);
        assert_eq!((log.needed_from(), log.previous()), (5, None));
        log.announced(log.needed_from());
        assert_eq!(log.room_for(100), Some(0));
        assert_eq!(log.room_for(110), None);
    }

    #[test]
    fn a_record_says_that_others_are_not_needed_only_when_it_is_written() {
        let mut log = log();
        assert_eq!([1, 2].map(|barrier| write(&mut log, 40, barrier)), [Some(0), Some(40)]);
        log.release(|barrier| barrier <= 1, drop);
        log.written(written(1, 3, 3));
        log.begin(80, vec![0; 20].into(), [(0, 0), (1, 1)], Vec::new());
        // The record leaves out sectors that come to be durable meanwhile.
        log.release(|barrier| barrier <= 2, drop);
        assert_eq!(log.needed_from(), 3);
        log.written_to_both();
        assert_eq!((log.room_for(40), log.room_for(50)), (Some(0), None));
        assert!(log.has_unannounced());
    }

    #[test]
    fn of_each_lba_the_last_that_was_written_goes_into_the_record() {
        let mut log = log();
        for (lba, version) in [(3, 1), (1, 2), (3, 3), (2, 4)] {
            log.written(written(lba, version, version));
        }
        let sectors = log.sectors(|written| written.lba != Lba(2));
        assert_eq!(sectors.iter().map(|written| written.version).collect::<Vec<_>>(), [2, 3]);
        log.begin(0, vec![0; 10].into(), [(0, 0), (1, 1)], sectors);
        assert!(!log.has_unlogged());
        // Two modules are not there any more.
        log.give_up();
        assert_eq!(log.unlogged(), 2);
        log.release(|barrier| barrier <= 3, drop);
        assert_eq!(log.unlogged(), 2, "the record held all up to 4");
    }

    #[test]
    fn a_record_is_exposed_until_it_is_not_needed_when_a_module_of_it_goes() {
        let mut log = log();
        write(&mut log, 10, 5);
        log.module_went(2);
        assert!(!log.is_exposed());
        log.module_went(1);
        assert!(log.is_exposed());
        log.release(|barrier| barrier <= 5, drop);
        assert!(!log.is_exposed());
    }
}
