//! A card's modules in files: what is under way, and how it ends.

use crate::Buffer;
use crate::ahead::Wanted;
use crate::buffer::Pool;
use crate::disks::{Disks, Done, Handle, Io, What};
use crate::erase::{Change, Next, Waits, page_of};
use crate::layout::{Layout, PAGE_BYTES};
use crate::module::{Die, Module, Operation, Slot, Sync};
use media::{Ended, MediaError, Shape};
use slab::Slab;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// How files are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Block devices may be overwritten. All that they hold is lost.
    pub overwrite: bool,
    /// Units begin on multiples of so many bytes, a power of two from 512 to 4,096; less than the disk's own blocks is
    /// raised to them. 0: the disk's own blocks. It takes more room, and disks of 4,096 bytes that say 512 like it.
    pub align_bytes: u32,
}

/// Something that a person should know of a module that was opened, or was not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Its slot.
    pub slot: u32,
    /// One line, with the path.
    pub text: String,
}

/// See the crate. Whoever has it calls [`Media::submit`](media::Media::submit) when it has begun what there is to begin, and
/// collects what has ended with [`Media::take_ended`](media::Media::take_ended) before it goes to sleep on
/// [`Media::bell`](media::Media::bell): a call that waits for an end of its own collects those of others too.
#[derive(Debug)]
pub struct Files {
    pub(crate) shape: Shape,
    pub(crate) slots: Vec<Slot>,
    pub(crate) disks: Box<dyn Disks>,
    pub(crate) pool: Pool,
    requests: Slab<Request>,
    /// Has been reaped, and is being looked at.
    reaped: Vec<Done>,
    /// Has ended, and nobody was told.
    pub(crate) ended: Vec<Ended>,
    /// Ends of requests that a call waits for, by tag.
    called: BTreeMap<usize, (i32, Buffer)>,
    /// Copies of headers that were begun on the modules that are there, by slot and copy.
    pub(crate) headers: BTreeMap<(u32, u32), BegunHeader>,
    /// Ends of changes of the table that a call waits for, by ticket.
    changed: BTreeMap<u64, Result<(), MediaError>>,
    pub(crate) tickets: u64,
    /// Pages of tables of which no copy is being written, and that have changes: slot, visit, page.
    changed_pages: Vec<(u32, u64, u32)>,
    pub(crate) notes: Vec<Note>,
    /// Nothing is written.
    pub(crate) only_looks: bool,
}

/// A copy of a header that is being written.
#[derive(Debug)]
pub(crate) struct BegunHeader {
    pub bytes: Vec<u8>,
    /// How it ended.
    pub ended: Option<Result<(), MediaError>>,
}

/// Why a request was made.
#[derive(Clone, Copy, Debug)]
struct Request {
    slot: u32,
    visit: u64,
    len: usize,
    purpose: Purpose,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    /// A call waits for it.
    Call,
    /// What a die does.
    Die(u32),
    /// A unit could not be read: whether anything can.
    Probe(u32),
    /// A page of the table.
    Page(u32),
    /// A copy of the header.
    Header(u32),
    Sync,
    Record,
    /// A window that is read ahead.
    Window(u64),
}

/// Why a request did not work.
pub(crate) fn media_error(result: i32) -> MediaError {
    match -result {
        libc::ENOSPC | libc::EDQUOT => MediaError::NoSpace,
        libc::ENODEV | libc::ENXIO | libc::ENOMEDIUM => MediaError::NoModule,
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
    /// No modules yet.
    pub(crate) fn empty(shape: Shape, disks: Box<dyn Disks>) -> Files {
        let slot = |_| Slot { dies: (0..shape.dies_per_module).map(|_| Die::Idle).collect(), ..Slot::default() };
        Files {
            shape,
            slots: (0..shape.modules).map(slot).collect(),
            disks,
            pool: Pool::default(),
            requests: Slab::new(),
            reaped: Vec::new(),
            ended: Vec::new(),
            called: BTreeMap::new(),
            headers: BTreeMap::new(),
            changed: BTreeMap::new(),
            tickets: 0,
            changed_pages: Vec::new(),
            notes: Vec::new(),
            only_looks: false,
        }
    }

    /// What a person should know of the files.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// Takes a module out. What is under way on it ends with [`MediaError::NoModule`]. `false`: there was none.
    ///
    /// # Panics
    /// When there is no such slot.
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
        self.disks.close(module.handle);
        true
    }

    /// Appends what has ended since the last call. An operation may have been asked how it ended before it is told here.
    pub(crate) fn tell(&mut self, ended: &mut Vec<Ended>) {
        self.collect();
        ended.append(&mut self.ended);
    }

    /// Appends what has ended; waits until something has, no longer than `timeout`, if anything is under way.
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

    /// How the module in a slot lies in its file.
    pub fn layout(&self, slot: u32) -> Option<Layout> {
        self.slots.get(slot as usize)?.module.as_ref().map(|module| module.superblock.layout)
    }

    /// Requests to files that have not ended.
    pub fn in_flight(&self) -> usize {
        self.requests.len() + self.changed_pages.len()
    }

    /// Something is under way on a module that was pulled.
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
    pub(crate) fn begin(&mut self, slot: u32, purpose: Purpose, what: What, offset: u64, buffer: Buffer) {
        let module = self.slots[slot as usize].module.as_ref().expect("a module is asked that is there");
        let handle = module.handle;
        let visit = self.slots[slot as usize].visit;
        let request = Request { slot, visit, len: buffer.bytes().len(), purpose };
        let tag = self.requests.insert(request) as u64;
        self.disks.begin(Io { tag, handle, what, offset, buffer });
    }

    /// Asks a file and waits for the answer. Others go on meanwhile.
    pub(crate) fn call(
        &mut self,
        handle: Handle,
        what: What,
        offset: u64,
        buffer: Buffer,
    ) -> (Result<(), MediaError>, i32, Buffer) {
        let len = buffer.bytes().len();
        let tag = self.requests.insert(Request { slot: 0, visit: 0, len, purpose: Purpose::Call });
        self.disks.begin(Io { tag: tag as u64, handle, what, offset, buffer });
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
            // The module was pulled; a change of its table that a call waits for is never under way then.
            self.pool.give(done.buffer);
            return;
        }
        let result = whole(done.result, len);
        match purpose {
            Purpose::Call => unreachable!("dealt with above"),
            Purpose::Die(die) => self.die_ended(slot, die, result, done),
            Purpose::Probe(die) => self.probed(slot, die, result, done.buffer),
            Purpose::Page(page) => {
                self.pool.give(done.buffer);
                self.page_written(slot, page, result);
            }
            Purpose::Header(copy) => {
                self.pool.give(done.buffer);
                self.headers.get_mut(&(slot, copy)).expect("it was begun").ended = Some(result);
            }
            Purpose::Sync => self.synced(slot, result),
            Purpose::Record => {
                self.pool.give(done.buffer);
                let syncs = &mut self.module_mut(slot).expect("it is there").syncs;
                syncs.is_recording = false;
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
            // Is it only this place?
            let offset = self.module(slot).expect("it is there").superblock.layout.superblock(0);
            let buffer = self.pool.take(PAGE_BYTES as usize);
            return self.begin(slot, Purpose::Probe(die), What::Read, offset, buffer);
        }
        self.end_die(slot, die, result, done.buffer);
    }

    fn probed(&mut self, slot: u32, die: u32, result: Result<(), MediaError>, buffer: Buffer) {
        self.pool.give(buffer);
        // No bytes: all of the unit is uncorrectable.
        self.end_die(slot, die, result, Buffer::none());
    }

    /// What a die does has ended.
    pub(crate) fn end_die(&mut self, slot: u32, die: u32, result: Result<(), MediaError>, buffer: Buffer) {
        let state = &mut self.slots[slot as usize].dies[die as usize];
        let Die::Busy(operation) = std::mem::take(state) else { panic!("die {die} of slot {slot} has nothing to end") };
        let keeps = matches!(operation, Operation::Read(_)) && result.is_ok();
        let (kept, given) = if keeps { (buffer, Buffer::none()) } else { (Buffer::none(), buffer) };
        *state = Die::Ended(operation, result.map(|()| kept));
        self.pool.give(given);
        self.ended.push(Ended::Die { module: slot, die });
    }

    /// An operation that can't begin has ended.
    pub(crate) fn end_at_once(&mut self, slot: u32, die: u32, operation: Operation, error: MediaError) {
        self.slots[slot as usize].dies[die as usize] = Die::Ended(operation, Err(error));
        self.ended.push(Ended::Die { module: slot, die });
    }

    /// A sync that can't begin has ended.
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

    /// Hands over what was begun.
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
        self.begin(slot, Purpose::Page(page), What::Write { durable: true }, offset, buffer);
    }

    fn page_written(&mut self, slot: u32, page: u32, result: Result<(), MediaError>) {
        let Module { pages, table, .. } = self.module_mut(slot).expect("it is there");
        let (next, waits) = pages.written(page, result, table);
        for waits in waits {
            match waits {
                Waits::Die(die) => self.end_die(slot, die, result, Buffer::none()),
                Waits::Call(ticket) => drop(self.changed.insert(ticket, result)),
            }
        }
        if let Next::Write(copy) = next {
            self.write_page(slot, page, copy);
        }
    }

    /// Begins to read windows ahead.
    pub(crate) fn read_ahead(&mut self, slot: u32, wanted: Vec<Wanted>) {
        let layout = self.module(slot).expect("its module is there").superblock.layout;
        for Wanted { number, first, units } in wanted {
            let buffer = self.pool.take(units as usize * layout.unit_bytes());
            self.begin(slot, Purpose::Window(number), What::Read, layout.unit_offset(first), buffer);
        }
    }
}

/// An error that may be of this place of the disk only.
pub(crate) fn is_of_place(result: i32) -> bool {
    matches!(-result, libc::EIO | libc::EBADMSG | libc::EILSEQ | libc::EREMOTEIO)
}
