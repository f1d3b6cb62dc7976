//! The cache as a device: it sends the requests of the host to the flash, to the device behind it, or to both.
//!
//! The map decides at once; data move after it. A block that is asked for while it is fetched is answered with that
//! fetch. Reads under way do not hold their block, because the model carries no data that could change below them.

use super::counts::{Counts, Kind};
use super::directory::Directory;
use super::streams::Streams;
use crate::port::Port;
use device::{ByteRange, Cause, Completion, Device, Operation, Parts, Request, RequestId, Time};
use ftl::ReadOnly;
use profile::{CacheConfig, CacheMode};
use rustc_hash::FxHashMap;

/// Bytes written back at once: about a track of a disk, so that a read that comes waits for a turn at most.
const WRITE_BACK_BYTES: u32 = 512 << 10;
/// Writes back under way at most, just below the dirty limit.
const MAX_WRITE_BACKS: u32 = 64;
/// The map is written in sectors.
const MAP_SECTOR_BYTES: u32 = 4096;
const ENTRIES_PER_SECTOR: u64 = MAP_SECTOR_BYTES as u64 / CacheConfig::ENTRY_BYTES;

/// A device that can also be written without time, before anything is measured.
pub trait Instant: Device<Data = ()> {
    /// Writes a range at once.
    fn write_now(&mut self, range: ByteRange) -> Result<(), ReadOnly>;
}

#[derive(Clone, Copy, Debug)]
enum FrontJob {
    /// A part of a request of the host.
    Host(u32),
    /// The data of a flush, which the map follows.
    Flush(u32),
    /// The map, after the data of a request that must be durable.
    Map(u32),
    /// The map, for nobody who waits.
    MapAlone,
    /// Fetched data on their way to the flash.
    Fill(u32),
    /// Dirty data on their way back.
    WriteBack(u32),
}

#[derive(Clone, Copy, Debug)]
enum BackJob {
    Host(u32),
    Fetch(u32),
    WriteBack(u32),
}

/// A request of the host.
#[derive(Clone, Copy, Debug)]
struct Pending {
    kind: Kind,
    submitted: Time,
    parts_left: u32,
    /// The map must follow before it is complete.
    then_map: bool,
    /// The reason why its last part was not sent at once.
    waited_for: Cause,
    failed: Option<device::RequestError>,
}

/// Neighbouring blocks on their way from one device to the other, each with its slot.
#[derive(Clone, Debug, Default)]
struct Transfer {
    blocks: Vec<(u64, u32)>,
    parts_left: u32,
    /// The request that a fetch is for.
    request: u32,
}

/// A part of a request that waits for a fetch.
#[derive(Clone, Copy, Debug)]
struct Waiter {
    id: u32,
    request: Request,
}

/// Flash in front of a larger device.
#[derive(Clone, Debug)]
pub struct Cached<F, B> {
    pub(super) front: F,
    pub(super) back: B,
    pub(super) config: CacheConfig,
    pub(super) directory: Directory,
    pub(super) streams: Streams,
    explain: bool,
    front_port: Port<FrontJob>,
    back_port: Port<BackJob>,
    pending: Vec<Option<Pending>>,
    transfers: Vec<Transfer>,
    free_transfers: Vec<u32>,
    /// By slot: parts that wait for its fetch.
    waiters: FxHashMap<u32, Vec<Waiter>>,
    write_backs: u32,
    dirty_share_blocks: u32,
    pub(super) dirty_limit_blocks: u32,
    /// Changes of the map that the flash has not got.
    map_noted: u64,
    map_at: u64,
    pub(super) counts: Counts,
    in_flight: u64,
    submitted: u64,
    finished: u64,
}

impl<F: Device<Data = ()>, B: Device<Data = ()>> Cached<F, B> {
    /// An empty cache for `max_requests` requests at once. Each device takes [`Cached::depth`] of them.
    pub fn new(front: F, back: B, config: CacheConfig, max_requests: u32, explain: bool) -> Cached<F, B> {
        assert!(config.bytes() + u64::from(config.blocks) * CacheConfig::ENTRY_BYTES <= front.capacity_bytes());
        let depth = Self::depth(max_requests);
        let share = |share: f64| (f64::from(config.blocks) * share) as u32;
        Cached {
            front,
            back,
            config,
            directory: Directory::new(&config),
            streams: Streams::new(config.sequential_cutoff_bytes),
            explain,
            front_port: Port::new(depth),
            back_port: Port::new(depth),
            pending: vec![None; max_requests as usize],
            transfers: Vec::new(),
            free_transfers: Vec::new(),
            waiters: FxHashMap::default(),
            write_backs: 0,
            dirty_share_blocks: share(config.dirty_share),
            dirty_limit_blocks: share(config.dirty_limit).max(1),
            map_noted: 0,
            map_at: 0,
            counts: Counts::new(Time::ZERO, Default::default()),
            in_flight: 0,
            submitted: 0,
            finished: 0,
        }
    }

    /// Requests that each of the devices has at once, where the host has so many.
    pub fn depth(max_requests: u32) -> u32 {
        2 * max_requests + 2 * MAX_WRITE_BACKS
    }

    /// The flash, as it is.
    pub fn front(&self) -> &F {
        &self.front
    }

    /// The flash, to precondition.
    pub fn front_mut(&mut self) -> &mut F {
        &mut self.front
    }

    /// The device behind.
    pub fn back(&self) -> &B {
        &self.back
    }

    /// The device behind, to precondition.
    pub fn back_mut(&mut self) -> &mut B {
        &mut self.back
    }

    /// The settings of the cache.
    pub fn config(&self) -> &CacheConfig {
        &self.config
    }

    /// The map of what lies on the flash.
    pub fn directory(&self) -> &Directory {
        &self.directory
    }

    /// Figures since measurement began.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Begins to count.
    pub fn start_measurement(&mut self, now: Time) {
        self.counts = Counts::new(now, self.directory.moves());
    }

    fn block_bytes(&self) -> u64 {
        u64::from(self.config.block_bytes)
    }

    /// Returns whether a range covers a block from end to end.
    pub(super) fn covers(&self, range: ByteRange, block: u64) -> bool {
        let start = block * self.block_bytes();
        range.offset_bytes <= start && range.end_bytes() >= start + self.block_bytes()
    }

    /// The part of a range that lies in some blocks.
    fn part(&self, range: ByteRange, first: u64, last: u64) -> ByteRange {
        let start = range.offset_bytes.max(first * self.block_bytes());
        let end = range.end_bytes().min((last + 1) * self.block_bytes());
        ByteRange { offset_bytes: start, len_bytes: (end - start) as u32 }
    }

    /// Blocks that a range touches.
    pub(super) fn blocks(&self, range: ByteRange) -> std::ops::RangeInclusive<u64> {
        let last = range.end_bytes().max(range.offset_bytes + 1) - 1;
        range.offset_bytes / self.block_bytes()..=last / self.block_bytes()
    }

    /// Returns whether the device behind has all of a block: the end of one may lie past its capacity.
    pub(super) fn is_whole(&self, block: u64) -> bool {
        (block + 1) * self.block_bytes() <= self.back.capacity_bytes()
    }

    /// Notes a request; returns its kind, and whether it passes the cache by.
    pub(super) fn note(&mut self, request: &Request) -> (Kind, bool) {
        let write = request.operation == Operation::Write;
        let blocks = self.blocks(request.range);
        let all = blocks.end() - blocks.start() + 1;
        let here = |block: &u64| self.directory.slot_of(*block).is_some_and(|slot| !self.directory.is_fetching(slot));
        let found = blocks.filter(here).count() as u64;
        let kind = match (write, found == all) {
            (false, true) => Kind::ReadHit,
            (false, false) => Kind::ReadMiss,
            (true, true) => Kind::WriteHit,
            (true, false) => Kind::WriteMiss,
        };
        let pass_by = self.config.mode == CacheMode::Passthrough
            || self.streams.pass_by(request.range.offset_bytes, request.range.len_bytes.into());
        self.counts.note(kind);
        self.counts.blocks += all;
        self.counts.block_hits += found;
        self.counts.passed_by += u64::from(pass_by && self.config.mode != CacheMode::Passthrough);
        if write {
            self.counts.written_bytes += u64::from(request.range.len_bytes);
        }
        (kind, pass_by)
    }

    fn pending(&mut self, id: u32) -> &mut Pending {
        self.pending[id as usize].as_mut().expect("a part belongs to a request")
    }

    fn send_front(&mut self, now: Time, job: FrontJob, request: Request) {
        if request.operation == Operation::Write {
            self.counts.flash_bytes += u64::from(request.range.len_bytes);
        }
        self.front_port.send(&mut self.front, now, job, request);
    }

    fn host_to_front(&mut self, now: Time, id: u32, request: Request) {
        self.pending(id).parts_left += 1;
        self.send_front(now, FrontJob::Host(id), request);
    }

    fn host_to_back(&mut self, now: Time, id: u32, request: Request) {
        self.pending(id).parts_left += 1;
        self.back_port.send(&mut self.back, now, BackJob::Host(id), request);
    }

    /// The request for a run of blocks that lie in slots one after another.
    fn on_front(&self, request: Request, (block, slot): (u64, u32), last: u64) -> Request {
        let part = self.part(request.range, block, last);
        let within = part.offset_bytes - block * self.block_bytes();
        let offset_bytes = u64::from(slot) * self.block_bytes() + within;
        Request { range: ByteRange { offset_bytes, ..part }, ..request }
    }

    /// Sends the runs of blocks whose slots follow each other to the flash.
    fn send_slots(&mut self, now: Time, id: u32, request: Request, slots: &[(u64, u32)]) {
        for run in slots.chunk_by(|a, b| a.0 + 1 == b.0 && a.1 + 1 == b.1) {
            let request = self.on_front(request, run[0], run[run.len() - 1].0);
            self.host_to_front(now, id, request);
        }
    }

    /// Sends the runs of blocks that follow each other to the device behind.
    fn send_blocks(&mut self, now: Time, id: u32, request: Request, blocks: &[u64]) {
        for run in blocks.chunk_by(|a, b| a + 1 == *b) {
            let range = self.part(request.range, run[0], run[run.len() - 1]);
            self.host_to_back(now, id, Request { range, ..request });
        }
    }

    fn read(&mut self, now: Time, id: u32, request: Request, pass_by: bool) {
        let (mut here, mut behind, mut fetch) = (Vec::new(), Vec::new(), Vec::new());
        for block in self.blocks(request.range) {
            match self.directory.slot_of(block) {
                Some(slot) if self.directory.is_fetching(slot) => {
                    self.directory.hit(slot);
                    self.counts.delayed += 1;
                    self.wait(slot, id, request);
                }
                Some(slot) => {
                    self.directory.hit(slot);
                    here.push((block, slot));
                }
                None => match self.promote(block, pass_by) {
                    Some(slot) => {
                        self.directory.fetch(slot);
                        fetch.push((block, slot));
                    }
                    None => behind.push(block),
                },
            }
        }
        self.send_slots(now, id, request, &here);
        self.send_blocks(now, id, request, &behind);
        for run in fetch.chunk_by(|a, b| a.0 + 1 == b.0) {
            let range = self.run_behind(run);
            self.pending(id).parts_left += 1;
            let transfer = self.transfer(Transfer { blocks: run.to_vec(), parts_left: 0, request: id });
            let request = Request { range, ..Request::read(0, 0) };
            self.back_port.send(&mut self.back, now, BackJob::Fetch(transfer), request);
        }
    }

    /// The bytes of neighbouring blocks behind.
    fn run_behind(&self, run: &[(u64, u32)]) -> ByteRange {
        let len_bytes = run.len() as u32 * self.config.block_bytes;
        ByteRange { offset_bytes: run[0].0 * self.block_bytes(), len_bytes }
    }

    pub(super) fn promote(&mut self, block: u64, pass_by: bool) -> Option<u32> {
        if pass_by || !self.is_whole(block) {
            return None;
        }
        self.directory.admit(block)
    }

    fn wait(&mut self, slot: u32, id: u32, request: Request) {
        let pending = self.pending(id);
        pending.parts_left += 1;
        pending.waited_for = Cause::DiskQueue;
        self.waiters.entry(slot).or_default().push(Waiter { id, request });
    }

    fn write(&mut self, now: Time, id: u32, request: Request, pass_by: bool) {
        let (mut here, mut behind) = (Vec::new(), Vec::new());
        for block in self.blocks(request.range) {
            match self.directory.slot_of(block) {
                Some(slot) if self.directory.is_fetching(slot) && !self.writes_around(pass_by) => {
                    self.directory.hit(slot);
                    self.wait(slot, id, Request { range: self.part(request.range, block, block), ..request });
                }
                _ => {
                    let (slot, to_back) = self.place_write(block, self.covers(request.range, block), pass_by);
                    here.extend(slot.map(|slot| (block, slot)));
                    if to_back {
                        behind.push(block);
                    }
                }
            }
        }
        self.send_slots(now, id, request, &here);
        self.send_blocks(now, id, request, &behind);
    }

    fn writes_around(&self, pass_by: bool) -> bool {
        pass_by || matches!(self.config.mode, CacheMode::Writearound | CacheMode::Passthrough)
    }

    /// Where a write to a block goes: to its slot, to the device behind, or to both. A block that is written in part can
    /// only come in by a read.
    pub(super) fn place_write(&mut self, block: u64, whole: bool, pass_by: bool) -> (Option<u32>, bool) {
        let around = self.writes_around(pass_by);
        let found = self.directory.slot_of(block);
        if let Some(slot) = found.filter(|&slot| around && !self.directory.is_dirty(slot)) {
            self.directory.drop(slot);
            return (None, true);
        }
        let slot = match found {
            Some(slot) => {
                self.directory.hit(slot);
                Some(slot)
            }
            None if around || !whole => None,
            None => self.promote(block, false),
        };
        let Some(slot) = slot else { return (None, true) };
        let stays_clean = self.config.mode != CacheMode::Writeback
            || !self.directory.is_dirty(slot) && self.directory.dirty() >= self.dirty_limit_blocks;
        if !stays_clean {
            self.directory.dirty_now(slot);
        }
        (Some(slot), stays_clean)
    }

    fn trim(&mut self, now: Time, id: u32, request: Request) {
        let mut slots = Vec::new();
        for block in self.blocks(request.range) {
            let slot = self.directory.slot_of(block).filter(|_| self.covers(request.range, block));
            if let Some(slot) = slot.filter(|&slot| !self.directory.is_fetching(slot)) {
                self.directory.drop(slot);
                slots.push((block, slot));
            }
        }
        self.send_slots(now, id, request, &slots);
        self.host_to_back(now, id, request);
    }

    fn flush(&mut self, now: Time, id: u32, request: Request) {
        if self.config.mode == CacheMode::Writeback {
            self.pending(id).parts_left += 1;
            self.send_front(now, FrontJob::Flush(id), request);
        }
        self.host_to_back(now, id, request);
    }

    fn transfer(&mut self, transfer: Transfer) -> u32 {
        match self.free_transfers.pop() {
            Some(at) => {
                self.transfers[at as usize] = transfer;
                at
            }
            None => {
                self.transfers.push(transfer);
                self.transfers.len() as u32 - 1
            }
        }
    }

    fn end_transfer(&mut self, at: u32) -> Vec<(u64, u32)> {
        self.free_transfers.push(at);
        std::mem::take(&mut self.transfers[at as usize].blocks)
    }

    /// A part of a request is done.
    fn part_done(&mut self, now: Time, id: u32, part: &Completion, done: &mut Vec<Completion>) {
        let pending = self.pending(id);
        pending.parts_left -= 1;
        if let Err(error) = part.result {
            pending.failed = Some(error);
        }
        if pending.parts_left > 0 {
            return;
        }
        if pending.then_map && pending.failed.is_none() {
            pending.then_map = false;
            pending.parts_left = 1;
            return self.map_follows(now, id, part, done);
        }
        let pending = self.pending[id as usize].take().expect("a part belongs to a request");
        let latency_ns = now - pending.submitted;
        let mut parts = part.parts;
        if self.explain {
            // The part that finished last is the critical path; before it the request waited. A part that waited for
            // another's fetch has spent all of its time so.
            parts = if parts.total_ns() > latency_ns { Parts::default() } else { parts };
            parts.add(pending.waited_for, latency_ns - parts.total_ns());
        }
        self.counts.finish(pending.kind, latency_ns);
        self.in_flight -= 1;
        self.finished += 1;
        let result = pending.failed.map_or(Ok(()), Err);
        done.push(Completion { id: RequestId(id), result, data: (), parts });
    }

    /// Data first, then the map that says where they are; the part of the request is done with it.
    fn map_follows(&mut self, now: Time, id: u32, part: &Completion, done: &mut Vec<Completion>) {
        if self.directory.moves().map_changes == self.map_noted {
            return self.part_done(now, id, part, done);
        }
        self.pending(id).waited_for = Cause::Durable;
        let request = Request { fua: true, ..self.map_write() };
        self.send_front(now, FrontJob::Map(id), request);
    }

    /// The next sector of the map, with all changes that were made.
    fn map_write(&mut self) -> Request {
        self.map_noted = self.directory.moves().map_changes;
        let sectors = (u64::from(self.config.blocks) * CacheConfig::ENTRY_BYTES)
            .div_ceil(u64::from(MAP_SECTOR_BYTES))
            .min((self.front.capacity_bytes() - self.config.bytes()) / u64::from(MAP_SECTOR_BYTES));
        let at = self.config.bytes() + self.map_at % sectors.max(1) * u64::from(MAP_SECTOR_BYTES);
        self.map_at += 1;
        Request::write(at, MAP_SECTOR_BYTES)
    }

    /// Returns the write of the map that is due when a sector of it has changed; one that is lost loses dirty blocks, so only
    /// writing back needs it.
    pub(super) fn due_map_write(&mut self) -> Option<Request> {
        let changed = self.directory.moves().map_changes - self.map_noted;
        let due = self.config.mode == CacheMode::Writeback && changed >= ENTRIES_PER_SECTOR;
        due.then(|| self.map_write())
    }

    fn front_done(&mut self, now: Time, job: FrontJob, part: &Completion, done: &mut Vec<Completion>) {
        match job {
            FrontJob::Host(id) | FrontJob::Map(id) => self.part_done(now, id, part, done),
            FrontJob::Flush(id) => self.map_follows(now, id, part, done),
            FrontJob::MapAlone => {}
            FrontJob::Fill(at) => {
                self.transfers[at as usize].parts_left -= 1;
                if self.transfers[at as usize].parts_left == 0 {
                    for (_, slot) in self.end_transfer(at) {
                        self.directory.unpin(slot);
                    }
                }
            }
            FrontJob::WriteBack(at) => {
                let transfer = &mut self.transfers[at as usize];
                transfer.parts_left -= 1;
                if transfer.parts_left == 0 {
                    let run = std::mem::take(&mut transfer.blocks);
                    let request = Request { range: self.run_behind(&run), ..Request::write(0, 0) };
                    self.transfers[at as usize].blocks = run;
                    self.back_port.send(&mut self.back, now, BackJob::WriteBack(at), request);
                }
            }
        }
    }

    fn back_done(&mut self, now: Time, job: BackJob, part: &Completion, done: &mut Vec<Completion>) {
        match job {
            BackJob::Host(id) => self.part_done(now, id, part, done),
            BackJob::Fetch(at) => self.fetch_done(now, at, part, done),
            BackJob::WriteBack(at) => {
                for (_, slot) in self.end_transfer(at) {
                    self.directory.written_back(slot);
                }
                self.write_backs -= 1;
            }
        }
    }

    /// The data of a fetch are there: who asked has them, and they go to the flash.
    fn fetch_done(&mut self, now: Time, at: u32, part: &Completion, done: &mut Vec<Completion>) {
        let run = self.end_transfer(at);
        let id = self.transfers[at as usize].request;
        self.part_done(now, id, part, done);
        let mut fill: Vec<(u64, u32)> = Vec::with_capacity(run.len());
        let mut waiters = Vec::new();
        for &(block, slot) in &run {
            waiters.extend(self.waiters.remove(&slot).into_iter().flatten());
            if self.directory.is_dropped(slot) {
                self.directory.unpin(slot);
            } else {
                self.directory.fetched(slot);
                fill.push((block, slot));
            }
        }
        let runs: Vec<&[(u64, u32)]> = fill.chunk_by(|a, b| a.1 + 1 == b.1).collect();
        if !runs.is_empty() {
            let at = self.transfer(Transfer { blocks: fill.clone(), parts_left: runs.len() as u32, request: 0 });
            for run in runs {
                let len_bytes = run.len() as u32 * self.config.block_bytes;
                let request = Request::write(u64::from(run[0].1) * self.block_bytes(), len_bytes);
                self.send_front(now, FrontJob::Fill(at), request);
            }
        }
        for Waiter { id, request } in waiters {
            if request.operation == Operation::Write {
                self.write(now, id, request, false);
            }
            self.part_done(now, id, &Completion { parts: Parts::default(), ..*part }, done);
        }
    }

    /// Writes back under way that the dirty share asks for: the more, the nearer it is to the limit.
    fn wanted_write_backs(&self) -> u32 {
        let dirty = self.directory.dirty();
        let by_share = if self.directory.waiting() <= self.dirty_share_blocks {
            0
        } else {
            let (over, room) = (dirty - self.dirty_share_blocks, self.dirty_limit_blocks - self.dirty_share_blocks);
            (u64::from(MAX_WRITE_BACKS) * u64::from(over)).div_ceil(u64::from(room.max(1))) as u32
        };
        by_share.max(self.directory.leaving() as u32).min(MAX_WRITE_BACKS)
    }

    fn write_back(&mut self, now: Time) {
        while self.write_backs < self.wanted_write_backs() {
            let most = (WRITE_BACK_BYTES / self.config.block_bytes).max(1);
            let above = self.directory.waiting().saturating_sub(self.dirty_share_blocks).max(1);
            let run = self.directory.take_dirty(most.min(above));
            if run.is_empty() {
                return;
            }
            self.write_backs += 1;
            self.counts.write_backs += 1;
            let slots: Vec<&[(u64, u32)]> = run.chunk_by(|a, b| a.1 + 1 == b.1).collect();
            let at = self.transfer(Transfer { blocks: run.clone(), parts_left: slots.len() as u32, request: 0 });
            for slots in slots {
                let len_bytes = slots.len() as u32 * self.config.block_bytes;
                let request = Request::read(u64::from(slots[0].1) * self.block_bytes(), len_bytes);
                self.send_front(now, FrontJob::WriteBack(at), request);
            }
        }
    }

    /// Handles what the devices have finished, and what this lets begin.
    fn go_on(&mut self, now: Time, done: &mut Vec<Completion>) {
        loop {
            if let Some((job, part)) = self.front_port.next_done(&mut self.front, now) {
                self.front_done(now, job, &part, done);
            } else if let Some((job, part)) = self.back_port.next_done(&mut self.back, now) {
                self.back_done(now, job, &part, done);
            } else if let Some(request) = self.due_map_write() {
                self.send_front(now, FrontJob::MapAlone, request);
            } else {
                self.write_back(now);
                if self.front_port.done.is_empty() && self.back_port.done.is_empty() {
                    break;
                }
            }
        }
        assert_eq!(self.submitted, self.finished + self.in_flight, "a request was lost");
    }
}

impl<F: Device<Data = ()>, B: Device<Data = ()>> Device for Cached<F, B> {
    type Data = ();

    fn submit(&mut self, now: Time, id: RequestId, request: Request, done: &mut Vec<Completion>) {
        assert!(self.pending[id.0 as usize].is_none(), "request id {} is in use", id.0);
        let moves_data = matches!(request.operation, Operation::Read | Operation::Write);
        let (kind, pass_by) = if moves_data { self.note(&request) } else { (Kind::Other, false) };
        let then_map = request.fua && self.config.mode == CacheMode::Writeback;
        self.pending[id.0 as usize] = Some(Pending {
            kind,
            submitted: now,
            parts_left: 0,
            then_map,
            waited_for: Cause::CommandQueue,
            failed: None,
        });
        self.submitted += 1;
        self.in_flight += 1;
        let id = id.0;
        match request.operation {
            Operation::Read => self.read(now, id, request, pass_by),
            Operation::Write => self.write(now, id, request, pass_by),
            Operation::Flush => self.flush(now, id, request),
            Operation::Trim => self.trim(now, id, request),
        }
        self.go_on(now, done);
    }

    fn next_event(&self) -> Time {
        self.front.next_event().min(self.back.next_event())
    }

    fn advance(&mut self, now: Time, done: &mut Vec<Completion>) {
        if self.front.next_event() <= now {
            self.front.advance(now, &mut self.front_port.done);
        }
        if self.back.next_event() <= now {
            self.back.advance(now, &mut self.back_port.done);
        }
        self.go_on(now, done);
    }

    fn capacity_bytes(&self) -> u64 {
        self.back.capacity_bytes()
    }

    fn in_flight(&self) -> u64 {
        self.in_flight
    }
}
