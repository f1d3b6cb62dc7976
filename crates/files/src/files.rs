//! A card's modules in files: the requests in flight, and their ends.

use crate::ahead::Wanted;
use crate::buffer::{Buffer, Pool};
use crate::counted::Reads;
use crate::discard::Discards;
use crate::disks::{Disks, Done, Handle, Io, IoKind};
use crate::erase::{Change, Next, Waiter, page_of};
use crate::layout::{self, Layout};
use crate::module::{BegunLog, Die, Module, Operation, Part, SectorRead, Slot, Sync};
use crate::sizes::PAGE_BYTES;
use media::{BlockAt, Ended, MediaError, Shape};
use slab::Slab;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// The options of new files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Block devices may be overwritten. Everything on them is lost.
    pub overwrite: bool,
    /// Units begin on multiples of so many bytes, a power of two from 512 to 4,096. Smaller values are raised to the
    /// disk's own blocks; 0 means the disk's own blocks. A larger value takes more room, and suits disks with blocks of
    /// 4,096 bytes that report 512.
    pub align_bytes: u32,
}

/// A remark for people about a module that was opened, or could not be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The slot of the module.
    pub slot: u32,
    /// The remark, in one line with the path.
    pub text: String,
}

/// The modules of a card, in files. The owner calls [`Media::submit`](media::Media::submit) after it has begun
/// operations, and collects the ends with [`Media::take_ended`](media::Media::take_ended) before it sleeps on
/// [`Media::bell`](media::Media::bell): a call that waits for an end of its own collects the ends of others too.
#[derive(Debug)]
pub struct Files {
    pub(crate) shape: Shape,
    pub(crate) slots: Vec<Slot>,
    pub(crate) disks: Box<dyn Disks>,
    pub(crate) pool: Pool,
    requests: Slab<Request>,
    /// Requests that have ended and are being handled.
    reaped: Vec<Done>,
    /// Ends that the owner has not collected yet.
    pub(crate) ended: Vec<Ended>,
    /// Ends of requests that a call waits for, by tag.
    called: BTreeMap<usize, (i32, Buffer)>,
    /// Reads of sectors that were begun and whose results were not taken, by tag.
    pub(crate) sector_reads: BTreeMap<u64, SectorRead>,
    /// Writes of header copies that were begun on the present modules, by slot and copy.
    pub(crate) headers: BTreeMap<(u32, u32), BegunHeader>,
    /// Writes of logs that were begun, by slot.
    pub(crate) logs: BTreeMap<u32, BegunLog>,
    /// The number of the shard whose regions of the modules these are, and the number of shards.
    pub(crate) shard: (u32, u32),
    /// The size of each module's log area; 0: the card's modules have none.
    pub(crate) log_bytes: u64,
    /// Ends of changes of the table that a call waits for, by ticket.
    changed: BTreeMap<u64, Result<(), MediaError>>,
    pub(crate) tickets: u64,
    /// Pages of tables that have changes and whose round has not begun: slot, visit, page.
    changed_pages: Vec<(u32, u64, u32)>,
    pub(crate) notes: Vec<Note>,
    /// The files are opened read-only.
    pub(crate) read_only: bool,
    /// Disks are told which bands were erased.
    pub(crate) discards: bool,
    /// Reads since they were last asked for.
    pub(crate) reads: Reads,
}

/// A copy of a header that is being written.
#[derive(Debug)]
pub(crate) struct BegunHeader {
    pub bytes: Vec<u8>,
    /// The result, when the write has ended.
    pub ended: Option<Result<(), MediaError>>,
}

/// A request in flight, and its purpose.
#[derive(Clone, Copy, Debug)]
struct Request {
    slot: u32,
    visit: u64,
    len: usize,
    purpose: Purpose,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    /// A call waits for the request.
    Call,
    /// The operation of a die.
    Die(u32),
    /// A read of the superblock that shows whether the file can be read at all, after a die could not read a unit.
    Probe(u32),
    /// A part of a read of sectors.
    Sectors {
        tag: u64,
        part: Part,
    },
    /// A page of the table.
    Page(u32),
    /// A copy of the header.
    Header(u32),
    /// A record of the log.
    Log,
    Sync,
    Record,
    /// A window that is read ahead.
    Window(u64),
    /// The frame of a unit, read for its spare areas.
    Frame(u64),
    Discard,
}

/// A request that a call waits for.
#[derive(Clone, Copy, Debug)]
struct Call {
    tag: usize,
    len: usize,
}

/// The error of a request that failed.
pub(crate) fn media_error(result: i32) -> MediaError {
    match -result {
        libc::ENOSPC | libc::EDQUOT => MediaError::NoSpace,
        libc::ENODEV | libc::ENXIO | libc::ENOMEDIUM => MediaError::NoModule,
        // A module on a shelf, whose reservation another host has taken.
        libc::EBADE => MediaError::Fenced,
        _ => MediaError::Host,
    }
}

fn whole(result: i32, len: usize) -> Result<(), MediaError> {
    match usize::try_from(result) {
        Ok(bytes) if bytes == len => Ok(()),
        Ok(_) => Err(MediaError::Host),
        Err(_) => Err(media_error(result)),
    }
}

impl Files {
    /// A card, or a shard of one, without modules.
    pub(crate) fn empty(shape: Shape, shard: (u32, u32), disks: Box<dyn Disks>) -> Files {
        let slot = |_| Slot { dies: (0..shape.dies_per_module).map(|_| Die::Idle).collect(), ..Slot::default() };
        let pool = Pool::with(disks.pinned());
        Files {
            shape,
            slots: (0..shape.modules).map(slot).collect(),
            disks,
            pool,
            requests: Slab::new(),
            reaped: Vec::new(),
            ended: Vec::new(),
            called: BTreeMap::new(),
            sector_reads: BTreeMap::new(),
            headers: BTreeMap::new(),
            logs: BTreeMap::new(),
            shard,
            log_bytes: layout::best_log_bytes(&shape),
            changed: BTreeMap::new(),
            tickets: 0,
            changed_pages: Vec::new(),
            notes: Vec::new(),
            read_only: false,
            discards: true,
            reads: Reads::default(),
        }
    }

    /// The number of the shard whose regions of the modules these are, and the number of shards.
    pub fn shard(&self) -> (u32, u32) {
        self.shard
    }

    /// Remarks for people about the files.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// Whether disks are told which bands were erased, where they have a use for it. Counts for modules that are opened
    /// from now on, and, if it is `false`, for those that are open.
    pub fn set_discards(&mut self, are_wanted: bool) {
        self.discards = are_wanted;
        if !are_wanted {
            let modules = self.slots.iter_mut().filter_map(|slot| slot.module.as_mut());
            modules.for_each(|module| module.discards = None);
        }
    }

    /// Takes a module out. Its operations in flight end with [`MediaError::NoModule`]. `false` if there was no module.
    ///
    /// # Panics
    /// If there is no such slot.
    pub fn pull(&mut self, slot: u32) -> bool {
        let state = &mut self.slots[slot as usize];
        let Some(module) = state.module.take() else { return false };
        state.visit += 1;
        for (number, die) in (0..).zip(&mut state.dies) {
            match std::mem::take(die) {
                Die::Busy(operation) => {
                    *die = Die::Ended(operation, Err(MediaError::NoModule));
                    self.ended.push(Ended::Die { module: slot, die: number });
                }
                other => *die = other,
            }
        }
        if matches!(state.sync, Sync::Busy(_)) {
            state.sync = Sync::Ended(Err(MediaError::NoModule));
            self.ended.push(Ended::Sync { module: slot });
        }
        self.headers.retain(|(of, _), _| *of != slot);
        self.log_ended(slot, Err(MediaError::NoModule));
        self.end_sector_reads(slot);
        self.disks.close(module.handle);
        true
    }

    /// Appends the operations that have ended since the last call. The result of an operation may have been taken
    /// before its end is appended here.
    pub(crate) fn tell(&mut self, ended: &mut Vec<Ended>) {
        self.collect();
        ended.append(&mut self.ended);
    }

    /// Appends the operations that have ended. If any is in flight, waits until one has ended, no longer than
    /// `timeout`.
    pub fn wait(&mut self, timeout: Option<Duration>, ended: &mut Vec<Ended>) -> io::Result<()> {
        let began = Instant::now();
        self.begin_pages();
        self.collect();
        while self.ended.is_empty() && !self.requests.is_empty() {
            let left = timeout.map(|timeout| timeout.saturating_sub(began.elapsed()));
            if left.is_some_and(|left| left.is_zero()) {
                break;
            }
            self.disks.wait(left)?;
            self.collect();
        }
        self.tell(ended);
        Ok(())
    }

    /// The file of the module in a slot.
    pub fn path(&self, slot: u32) -> Option<&Path> {
        self.slots.get(slot as usize)?.module.as_ref().map(|module| &*module.path)
    }

    /// The layout of the file of the module in a slot.
    pub fn layout(&self, slot: u32) -> Option<Layout> {
        self.slots.get(slot as usize)?.module.as_ref().map(|module| module.superblock.layout)
    }

    /// The number of requests to files that have not ended.
    pub fn in_flight(&self) -> usize {
        self.requests.len() + self.changed_pages.len()
    }

    /// Whether a request is in flight on a module that was pulled.
    pub(crate) fn is_leaving(&self) -> bool {
        let of_earlier = |request: &Request| self.slots[request.slot as usize].visit != request.visit;
        self.requests.iter().any(|(_, request)| !matches!(request.purpose, Purpose::Call) && of_earlier(request))
    }

    pub(crate) fn module(&self, slot: u32) -> Result<&Module, MediaError> {
        assert!(slot < self.shape.modules, "illegal address: module {slot} of {:?}", self.shape);
        self.slots[slot as usize].module.as_ref().ok_or(MediaError::NoModule)
    }

    pub(crate) fn module_mut(&mut self, slot: u32) -> Result<&mut Module, MediaError> {
        assert!(slot < self.shape.modules, "illegal address: module {slot} of {:?}", self.shape);
        self.slots[slot as usize].module.as_mut().ok_or(MediaError::NoModule)
    }

    /// Begins a request to the module of a slot.
    pub(crate) fn begin(&mut self, slot: u32, purpose: Purpose, kind: IoKind, offset: u64, buffer: Buffer) {
        let module = self.slots[slot as usize].module.as_ref().expect("a module is asked that is there");
        let handle = module.handle;
        let visit = self.slots[slot as usize].visit;
        let request = Request { slot, visit, len: buffer.request_bytes(), purpose };
        self.reads.count(kind, request.len);
        let tag = self.requests.insert(request) as u64;
        self.disks.begin(Io { tag, handle, kind, offset, buffer });
    }

    /// Makes a request to a file and waits for its end. Other requests continue meanwhile.
    pub(crate) fn call(
        &mut self,
        handle: Handle,
        kind: IoKind,
        offset: u64,
        buffer: Buffer,
    ) -> (Result<(), MediaError>, i32, Buffer) {
        let call = self.begin_call(handle, kind, offset, buffer);
        self.end_call(call)
    }

    /// Makes requests to files side by side and waits until all of them have ended.
    pub(crate) fn call_all(
        &mut self,
        requests: impl IntoIterator<Item = (Handle, IoKind, u64, Buffer)>,
    ) -> Vec<(Result<(), MediaError>, i32, Buffer)> {
        let mut calls = Vec::new();
        for (handle, kind, offset, buffer) in requests {
            calls.push(self.begin_call(handle, kind, offset, buffer));
        }
        calls.into_iter().map(|call| self.end_call(call)).collect()
    }

    fn begin_call(&mut self, handle: Handle, kind: IoKind, offset: u64, buffer: Buffer) -> Call {
        let len = buffer.request_bytes();
        self.reads.count(kind, len);
        let tag = self.requests.insert(Request { slot: 0, visit: 0, len, purpose: Purpose::Call });
        self.disks.begin(Io { tag: tag as u64, handle, kind, offset, buffer });
        Call { tag, len }
    }

    fn end_call(&mut self, Call { tag, len }: Call) -> (Result<(), MediaError>, i32, Buffer) {
        loop {
            if let Some((result, buffer)) = self.called.remove(&tag) {
                return (whole(result, len), result, buffer);
            }
            self.turn();
        }
    }

    /// Waits for the end of a change of the table.
    pub(crate) fn await_change(&mut self, ticket: u64) -> Result<(), MediaError> {
        loop {
            if let Some(result) = self.changed.remove(&ticket) {
                return result;
            }
            self.turn();
        }
    }

    /// Waits until something has ended.
    pub(crate) fn turn(&mut self) {
        self.begin_pages();
        if let Err(error) = self.disks.wait(None) {
            panic!("io_uring does not answer any more: {error}");
        }
        self.collect();
    }

    pub(crate) fn collect(&mut self) {
        let mut reaped = std::mem::take(&mut self.reaped);
        self.disks.reap(&mut reaped);
        reaped.drain(..).for_each(|done| self.complete(done));
        self.reaped = reaped;
    }

    fn complete(&mut self, done: Done) {
        let tag = done.tag as usize;
        let Request { slot, visit, len, purpose } = self.requests.remove(tag);
        if let Purpose::Call = purpose {
            self.called.insert(tag, (done.result, done.buffer));
            return;
        }
        let is_here = self.slots[slot as usize].visit == visit && self.slots[slot as usize].module.is_some();
        if !is_here {
            // The module was pulled. No call waits for a change of its table then.
            self.pool.give(done.buffer);
            return;
        }
        let result = whole(done.result, len);
        match purpose {
            Purpose::Call => unreachable!("dealt with above"),
            Purpose::Discard => self.discard_ended(slot, done.result),
            Purpose::Die(die) => self.die_ended(slot, die, result, done),
            Purpose::Sectors { tag, part } => self.sectors_came(tag, part, result, done.result, done.buffer),
            Purpose::Probe(die) => self.probed(slot, die, result, done.buffer),
            Purpose::Page(page) => {
                self.pool.give(done.buffer);
                self.page_written(slot, page, result);
            }
            Purpose::Header(copy) => {
                self.pool.give(done.buffer);
                self.headers.get_mut(&(slot, copy)).expect("it was begun").ended = Some(result);
            }
            Purpose::Log => {
                self.pool.give(done.buffer);
                self.log_ended(slot, result);
            }
            Purpose::Sync => self.synced(slot, result),
            Purpose::Record => {
                self.pool.give(done.buffer);
                let syncs = &mut self.module_mut(slot).expect("it is there").syncs;
                syncs.is_recording = false;
            }
            Purpose::Frame(number) => {
                let frames = &mut self.module_mut(slot).expect("it is there").frames;
                if let Some(buffer) = frames.arrived(number, done.buffer, result.is_ok()) {
                    self.pool.give(buffer);
                }
            }
            Purpose::Window(number) => {
                let ahead = &mut self.module_mut(slot).expect("it is there").ahead;
                if let Some(buffer) = ahead.arrived(number, done.buffer, result.is_ok()) {
                    self.pool.give(buffer);
                }
            }
        }
    }

    fn die_ended(&mut self, slot: u32, die: u32, result: Result<(), MediaError>, done: Done) {
        let is_read = matches!(self.slots[slot as usize].dies[die as usize], Die::Busy(Operation::Read(_)));
        if is_read && result.is_err() && is_of_place(done.result) {
            self.pool.give(done.buffer);
            // Probe the file: can only this place not be read?
            let offset = self.module(slot).expect("it is there").superblock.layout.superblock(0);
            let buffer = self.pool.take(PAGE_BYTES as usize);
            return self.begin(slot, Purpose::Probe(die), IoKind::Read, offset, buffer);
        }
        self.end_die(slot, die, result, done.buffer);
    }

    fn probed(&mut self, slot: u32, die: u32, result: Result<(), MediaError>, buffer: Buffer) {
        self.pool.give(buffer);
        // An empty buffer stands for a unit that is uncorrectable as a whole.
        self.end_die(slot, die, result, Buffer::none());
    }

    /// Ends the operation of a die.
    pub(crate) fn end_die(&mut self, slot: u32, die: u32, result: Result<(), MediaError>, buffer: Buffer) {
        let state = &mut self.slots[slot as usize].dies[die as usize];
        let Die::Busy(operation) = std::mem::take(state) else { panic!("die {die} of slot {slot} has nothing to end") };
        let failed = match operation {
            Operation::Program { at, .. } if result.is_err() => Some(at.block),
            _ => None,
        };
        let keeps = matches!(operation, Operation::Read(_)) && result.is_ok();
        let (kept, given) = if keeps { (buffer, Buffer::none()) } else { (Buffer::none(), buffer) };
        *state = Die::Ended(operation, result.map(|()| kept));
        self.pool.give(given);
        if let Some(block) = failed {
            self.forget_block(block);
        }
        self.ended.push(Ended::Die { module: slot, die });
    }

    /// Ends an operation that can't begin.
    pub(crate) fn end_at_once(&mut self, slot: u32, die: u32, operation: Operation, error: MediaError) {
        self.slots[slot as usize].dies[die as usize] = Die::Ended(operation, Err(error));
        self.ended.push(Ended::Die { module: slot, die });
    }

    /// Ends a sync that can't begin.
    pub(crate) fn end_sync_at_once(&mut self, slot: u32, error: MediaError) {
        self.slots[slot as usize].sync = Sync::Ended(Err(error));
        self.ended.push(Ended::Sync { module: slot });
    }

    /// Begins a change of the table of blocks.
    pub(crate) fn change(&mut self, slot: u32, change: Change) {
        let module = self.module_mut(slot).expect("its module is there");
        if module.pages.add(change) {
            let visit = self.slots[slot as usize].visit;
            self.changed_pages.push((slot, visit, page_of(change.block)));
        }
    }

    /// Begins to write the pages of the table that changed.
    fn begin_pages(&mut self) {
        for (slot, visit, page) in std::mem::take(&mut self.changed_pages) {
            let state = &mut self.slots[slot as usize];
            if let Some(module) = state.module.as_mut().filter(|_| state.visit == visit) {
                let copy = module.pages.begin(page);
                self.write_page(slot, page, copy);
            }
        }
    }

    /// Submits everything that was begun.
    pub(crate) fn hand_over(&mut self) {
        self.begin_pages();
        if let Err(error) = self.disks.submit() {
            panic!("io_uring takes nothing any more: {error}");
        }
    }

    fn write_page(&mut self, slot: u32, page: u32, copy: usize) {
        let mut buffer = self.pool.take(PAGE_BYTES as usize);
        let module = self.module(slot).expect("its module is there");
        module.pages.image(page, &module.table, module.superblock.file, buffer.bytes_mut());
        let offset = module.superblock.layout.table(copy, page);
        self.begin(slot, Purpose::Page(page), IoKind::Write { durable: true }, offset, buffer);
    }

    fn page_written(&mut self, slot: u32, page: u32, result: Result<(), MediaError>) {
        let Module { pages, table, .. } = self.module_mut(slot).expect("it is there");
        let (next, waiters) = pages.written(page, result, table);
        for waiter in waiters {
            match waiter {
                Waiter::Die(die) => {
                    self.note_erase(slot, die, result);
                    self.end_die(slot, die, result, Buffer::none());
                }
                Waiter::Call(ticket) => drop(self.changed.insert(ticket, result)),
            }
        }
        if let Next::Write(copy) = next {
            self.write_page(slot, page, copy);
        }
    }

    /// Notes a block that was erased, and has its band discarded when it was the last one.
    fn note_erase(&mut self, slot: u32, die: u32, result: Result<(), MediaError>) {
        let state = &mut self.slots[slot as usize];
        let (Ok(()), Die::Busy(Operation::Erase(at))) = (result, &state.dies[die as usize]) else { return };
        let discards = state.module.as_mut().and_then(|module| module.discards.as_mut());
        if let Some(discards) = discards {
            discards.erased(at.block, die, self.shape.dies_per_module);
            self.begin_discard(slot);
        }
    }

    fn begin_discard(&mut self, slot: u32) {
        let module = self.module_mut(slot).expect("its module is there");
        let Some(band) = module.discards.as_mut().and_then(Discards::begin) else { return };
        let (offset, bytes) = module.superblock.layout.band(band);
        self.begin(slot, Purpose::Discard, IoKind::Discard { bytes }, offset, Buffer::none());
    }

    fn discard_ended(&mut self, slot: u32, result: i32) {
        let module = self.module_mut(slot).expect("it is there");
        if let Some(discards) = &mut module.discards {
            discards.ended(result < 0);
            self.begin_discard(slot);
        }
    }

    /// Waits until a block may be programmed: the discard of its band must not come after the program.
    pub(crate) fn keep_from_discard(&mut self, at: BlockAt) {
        loop {
            let module = self.slots[at.module as usize].module.as_mut();
            let Some(discards) = module.and_then(|module| module.discards.as_mut()) else { return };
            if discards.may_program(at.block) {
                return;
            }
            self.turn();
        }
    }

    /// Begins to read windows ahead.
    pub(crate) fn read_ahead(&mut self, slot: u32, wanted: Vec<Wanted>) {
        let layout = self.module(slot).expect("its module is there").superblock.layout;
        for Wanted { number, first, units } in wanted {
            let buffer = self.pool.take(units as usize * layout.unit_bytes());
            self.begin(slot, Purpose::Window(number), IoKind::Read, layout.unit_offset(first), buffer);
        }
    }
}

/// Whether an error may concern only this place of the disk.
pub(crate) fn is_of_place(result: i32) -> bool {
    matches!(-result, libc::EIO | libc::EBADMSG | libc::EILSEQ | libc::EREMOTEIO)
}
