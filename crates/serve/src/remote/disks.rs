//! The disks of a card some of whose modules lie on shelves, and others in files.

use crate::nvme::initiator::Report;
use crate::remote::address::{ModuleAddress, ModuleAddressError};
use crate::remote::channel::Channel;
use crate::remote::client::ModuleClient;
use crate::remote::error::RemoteError;
use crate::remote::session::RemoteOptions;
use crate::remote::watch::Watch;
use crate::stream::wait;
use crate::waker::Waker;
use files::{Arena, Buffer, Disks, Done, Files, FilesError, Handle, Io, IoKind, Make, Opened, PAGE_BYTES};
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, Timespec};
use slab::Slab;
use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The names of descriptors that are none of a channel's.
const OF_FILES: u64 = u64::MAX;
const OF_WAKER: u64 = u64::MAX - 1;
/// Ready descriptors that are taken at once.
const MAX_EVENTS: usize = 64;

/// See the module. Handles of files are even, those of modules on shelves odd.
pub struct ModuleDisks {
    files: Box<dyn Disks>,
    channels: Slab<Channel>,
    /// Channels that were closed with requests in flight.
    leaving: Vec<usize>,
    options: Arc<RemoteOptions>,
    watch: Watch,
    read_only: bool,
    epoll: OwnedFd,
    /// Wakes whoever waits, because a request has ended without any answer.
    waker: Waker,
    done: Vec<Done>,
}

impl fmt::Debug for ModuleDisks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} modules on shelves, {:?}", self.channels.len(), self.files)
    }
}

impl ModuleDisks {
    /// Disks for each shard of a card. The owner of `watch` hears of modules that are lost.
    pub fn of_shards(
        shards: u32,
        options: &Arc<RemoteOptions>,
        watch: &Watch,
    ) -> Result<Vec<Box<dyn Disks>>, FilesError> {
        let all = Files::disks(shards)?.into_iter();
        all.map(|files| ModuleDisks::around(files, options, watch, false)).collect()
    }

    /// Disks that change nothing.
    pub fn read_only(options: &Arc<RemoteOptions>) -> Result<Box<dyn Disks>, FilesError> {
        ModuleDisks::around(Files::read_only_disks(), options, &Watch::default(), true)
    }

    fn around(
        files: Box<dyn Disks>,
        options: &Arc<RemoteOptions>,
        watch: &Watch,
        read_only: bool,
    ) -> Result<Box<dyn Disks>, FilesError> {
        let system = |error: io::Error| FilesError::Io { path: "shelves".into(), action: "wait for them", error };
        let epoll = epoll::create(CreateFlags::CLOEXEC).map_err(|error| system(error.into()))?;
        let waker = Waker::new().map_err(system)?;
        let add = |fd: BorrowedFd, name| epoll::add(&epoll, fd, EventData::new_u64(name), EventFlags::IN);
        add(waker.fd(), OF_WAKER).map_err(|error| system(error.into()))?;
        if let Some(fd) = files.fd() {
            add(fd, OF_FILES).map_err(|error| system(error.into()))?;
        }
        Ok(Box::new(ModuleDisks {
            files,
            channels: Slab::new(),
            leaving: Vec::new(),
            options: Arc::clone(options),
            watch: watch.clone(),
            read_only,
            epoll,
            waker,
            done: Vec::new(),
        }))
    }

    /// Connects to a module, unless another host holds its reservation.
    fn connect(&mut self, path: &Path) -> Result<Opened, FilesError> {
        let address = address_of(path)?;
        let unreached = |error| unreached(path, error);
        if self.watch.is_lost() {
            return Err(unreached(RemoteError::Conflict));
        }
        let channel = Channel::open(address.clone(), &self.options, &self.watch).map_err(unreached)?;
        match ModuleClient::connect(&address, &self.options).and_then(|mut client| client.report()) {
            Ok(report) if !self.read_only && is_anothers(&report, &self.options.host_at(&address).id) => {
                return Err(unreached(RemoteError::Conflict));
            }
            // A foreign target without reservations is a module all the same.
            Ok(_) | Err(RemoteError::Unfit { .. }) => {}
            Err(error) => return Err(unreached(error)),
        }
        let (bytes, align_bytes, can_discard) = (channel.bytes(), channel.block_bytes(), channel.can_zero());
        let at = self.channels.insert(channel);
        let name = EventData::new_u64(at as u64);
        let added = epoll::add(&self.epoll, self.channels[at].fd(), name, EventFlags::IN);
        added.map_err(|error| unreached(RemoteError::System { source: error.into() }))?;
        Ok(Opened { handle: of_channel(at), bytes, align_bytes, is_zero: false, can_discard, note: None })
    }

    /// Sends what a channel has, and has the kernel tell when its socket takes more.
    fn pump(&mut self, at: usize) {
        let channel = &mut self.channels[at];
        let had_unsent = channel.has_unsent();
        channel.send(&mut self.done);
        self.listen(at, had_unsent);
    }

    fn listen(&mut self, at: usize, had_unsent: bool) {
        let channel = &self.channels[at];
        let name = EventData::new_u64(at as u64);
        let changed = if channel.is_lost() {
            epoll::delete(&self.epoll, channel.fd())
        } else if channel.has_unsent() != had_unsent {
            let mut flags = EventFlags::IN;
            flags.set(EventFlags::OUT, channel.has_unsent());
            epoll::modify(&self.epoll, channel.fd(), name, flags)
        } else {
            Ok(())
        };
        if let Err(error) = changed
            && error != rustix::io::Errno::NOENT
        {
            tracing::error!(%error, "a module on a shelf can't be waited for");
        }
    }

    /// Frees the channels that were closed and have nothing in flight.
    fn forget(&mut self) {
        let (gone, leaving) =
            std::mem::take(&mut self.leaving).into_iter().partition(|at| !self.channels[*at].is_busy());
        self.leaving = leaving;
        let gone: Vec<usize> = gone;
        for at in gone {
            let channel = self.channels.remove(at);
            let _ = epoll::delete(&self.epoll, channel.fd());
        }
    }

    /// Waits for one request to a module that was just opened. Requests to others that end meanwhile are kept for whoever
    /// has begun them.
    fn call(&mut self, io: Io) -> Done {
        let tag = io.tag;
        Disks::begin(self, io);
        let mut done = Vec::new();
        let mine = loop {
            self.reap(&mut done);
            if let Some(at) = done.iter().position(|done| done.tag == tag) {
                break done.swap_remove(at);
            }
            if let Err(error) = self.wait(Some(Duration::from_millis(100))) {
                break Done { tag, result: -error.raw_os_error().unwrap_or(5), buffer: Buffer::none() };
            }
        };
        if !done.is_empty() {
            self.done.append(&mut done);
            self.waker.wake();
        }
        mine
    }

    /// Empties a module that is to become a new one. `true`: all of it reads as zeroes.
    fn empty(&mut self, path: &Path, opened: &Opened, overwrite: bool) -> Result<bool, FilesError> {
        /// No request of a card has this number.
        const TAG: u64 = u64::MAX;
        let failed = |action, result: i32| FilesError::Io {
            path: path.into(),
            action,
            error: io::Error::from_raw_os_error(-result),
        };
        let last = opened.bytes / PAGE_BYTES * PAGE_BYTES - PAGE_BYTES;
        for offset in [0, last] {
            let buffer = Buffer::new(PAGE_BYTES as usize).map_err(|error| FilesError::Io {
                path: path.into(),
                action: "read it",
                error,
            })?;
            let done = self.call(Io { tag: TAG, handle: opened.handle, kind: IoKind::Read, offset, buffer });
            if done.result < 0 {
                return Err(failed("read it", done.result));
            }
            if !overwrite && done.buffer.bytes().iter().any(|byte| *byte != 0) {
                return Err(FilesError::Device { path: path.into() });
            }
        }
        if !opened.can_discard {
            return Ok(false);
        }
        let kind = IoKind::Discard { bytes: opened.bytes };
        let done = self.call(Io { tag: TAG, handle: opened.handle, kind, offset: 0, buffer: Buffer::none() });
        if done.result < 0 { Err(failed("empty it", done.result)) } else { Ok(true) }
    }
}

fn of_files(Handle(at): Handle) -> Handle {
    Handle(at * 2)
}

fn of_channel(at: usize) -> Handle {
    Handle(at * 2 + 1)
}

fn address_of(path: &Path) -> Result<ModuleAddress, FilesError> {
    ModuleAddress::of_path(path).ok_or_else(|| {
        let text = (&*path.to_string_lossy()).into();
        let error = io::Error::other(ModuleAddressError::Module { text });
        FilesError::Io { path: path.into(), action: "read its address", error }
    })
}

fn unreached(path: &Path, error: RemoteError) -> FilesError {
    match error {
        RemoteError::Conflict => FilesError::InUse { path: path.into() },
        error => FilesError::Io { path: path.into(), action: "use it", error: io::Error::other(error) },
    }
}

/// Another host holds the reservation.
fn is_anothers(report: &Report, host: &[u8; 16]) -> bool {
    report.held.is_some() && !report.registered.iter().any(|one| one.holds && one.host == *host)
}

impl Disks for ModuleDisks {
    fn open(&mut self, path: &Path) -> Result<Opened, FilesError> {
        if ModuleAddress::is_meant(path) {
            return self.connect(path);
        }
        let opened = self.files.open(path)?;
        Ok(Opened { handle: of_files(opened.handle), ..opened })
    }

    fn align_bytes(&mut self, path: &Path) -> Result<u32, FilesError> {
        if !ModuleAddress::is_meant(path) {
            return self.files.align_bytes(path);
        }
        let opened = self.connect(path)?;
        self.close(opened.handle);
        Ok(opened.align_bytes)
    }

    fn make(&mut self, path: &Path, how: Make) -> Result<Opened, FilesError> {
        if !ModuleAddress::is_meant(path) {
            let opened = self.files.make(path, how)?;
            return Ok(Opened { handle: of_files(opened.handle), ..opened });
        }
        let opened = self.connect(path)?;
        let made = match opened.bytes < how.bytes {
            true => Err(FilesError::NoRoom { path: path.into(), bytes: how.bytes }),
            false => self.empty(path, &opened, how.overwrite),
        };
        match made {
            Ok(is_zero) => Ok(Opened { is_zero, ..opened }),
            Err(error) => {
                self.close(opened.handle);
                Err(error)
            }
        }
    }

    fn unmake(&mut self, path: &Path) {
        // A module on a shelf stays as it is, as a device does.
        if !ModuleAddress::is_meant(path) {
            self.files.unmake(path);
        }
    }

    fn close(&mut self, handle: Handle) {
        if handle.0.is_multiple_of(2) {
            return self.files.close(Handle(handle.0 / 2));
        }
        self.leaving.push(handle.0 / 2);
        self.forget();
    }

    fn begin(&mut self, io: Io) {
        let at = io.handle.0 / 2;
        if io.handle.0.is_multiple_of(2) {
            self.files.begin(Io { handle: Handle(at), ..io });
            if self.files.fd().is_none() {
                // Its requests have ended when they were begun.
                self.waker.wake();
            }
            return;
        }
        let before = self.done.len();
        if self.read_only && io.kind != IoKind::Read {
            self.done.push(Done { tag: io.tag, result: -rustix::io::Errno::ROFS.raw_os_error(), buffer: io.buffer });
        } else {
            self.channels[at].begin(io, &mut self.done);
        }
        if self.done.len() > before {
            self.waker.wake();
        }
    }

    fn submit(&mut self) -> io::Result<()> {
        self.files.submit()?;
        let before = self.done.len();
        let waiting: Vec<usize> = self.channels.iter().filter(|(_, of)| of.has_waiting()).map(|(at, _)| at).collect();
        waiting.into_iter().for_each(|at| self.pump(at));
        if self.done.len() > before {
            self.waker.wake();
        }
        Ok(())
    }

    fn wait(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        if self.channels.is_empty() {
            return self.files.wait(timeout);
        }
        self.submit()?;
        if !self.done.is_empty() {
            return Ok(());
        }
        let deadline = timeout.map(|timeout| Instant::now() + timeout);
        let mut fds = [PollFd::from_borrowed_fd(self.epoll.as_fd(), PollFlags::IN)];
        wait(&mut fds, deadline).map(drop)
    }

    fn reap(&mut self, done: &mut Vec<Done>) {
        if self.channels.capacity() == 0 {
            // No module on a shelf was ever opened: files are asked as if this were not between.
            return self.files.reap(done);
        }
        let mut events: Vec<Event> = Vec::with_capacity(MAX_EVENTS);
        let none = Timespec { tv_sec: 0, tv_nsec: 0 };
        if let Err(error) = epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), Some(&none))
            && error != rustix::io::Errno::INTR
        {
            tracing::error!(%error, "modules on shelves can't be waited for");
        }
        for event in events {
            match event.data.u64() {
                OF_FILES => {}
                OF_WAKER => self.waker.clear(),
                at => {
                    let at = at as usize;
                    let had_unsent = self.channels[at].has_unsent();
                    self.channels[at].receive(&mut self.done);
                    self.listen(at, had_unsent);
                }
            }
        }
        self.files.reap(done);
        done.append(&mut self.done);
        if !self.leaving.is_empty() {
            self.forget();
        }
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        Some(self.epoll.as_fd())
    }

    fn pinned(&self) -> Option<Arc<Arena>> {
        self.files.pinned()
    }

    fn gathers(&self, handle: Handle) -> bool {
        handle.0.is_multiple_of(2) && self.files.gathers(Handle(handle.0 / 2))
    }

    fn unique(&mut self) -> u64 {
        self.files.unique()
    }

    fn beside(&self) -> Option<Box<dyn Disks>> {
        ModuleDisks::read_only(&self.options).ok()
    }

    fn is_there(&self, path: &Path) -> bool {
        ModuleAddress::is_meant(path) || self.files.is_there(path)
    }
}
