//! Files and block devices on one io_uring. This file and `arena.rs` have the only `unsafe` code of
//! the crate.
//!
//! The code is sound because of these invariants:
//! - The buffer of a request belongs to the ring from [`Disks::begin`] until the request has ended, and no other code
//!   can reach it.
//! - Buffers are freed only when no request is in flight. If a device never answers, they are leaked.
//! - A file is closed only when no request to it is in flight.

#![allow(unsafe_code)]

use crate::arena::Arena;
use crate::buffer::Buffer;
use crate::disks::{Disks, Done, Handle, Io, IoKind, Make, Opened};
use crate::error::FilesError;
use crate::locked::{Found, LockedFile, LockedFiles, USUAL_ALIGN_BYTES, failed, file_align, legal_align, look};
use crate::queue::Queue;
use crate::sizes::PAGE_BYTES;
use io_uring::{IoUring, opcode, squeue, types};
use rustix::fs::{FallocateFlags, Mode, OFlags};
use slab::Slab;
use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// `RWF_DSYNC`, the flag of a write that is durable when it ends.
const DSYNC: i32 = 2;
/// The time that a dropped ring waits for requests in flight: a few times the kernel's own limit of 30 seconds for a
/// request to a device.
const DRAIN_LIMIT: Duration = Duration::from_secs(120);
/// The number of entries of the submission queue.
const QUEUE_ENTRIES: u32 = 1024;
/// The highest number of requests in the kernel, for which the completion queue has room. Other requests wait here.
const MAX_IN_KERNEL: usize = 2 * QUEUE_ENTRIES as usize;
/// The highest size of a run.
const MAX_RUN_BYTES: usize = 1 << 20;
/// The highest number of pieces in a run. The kernel takes 1,024.
const MAX_RUN_PIECES: usize = 256;
/// Ended requests are taken so many at once, or a quarter of those in flight if that is more. The caller goes on with
/// them while the rest is taken: a device would be idle until all of its queue was looked at.
const MIN_REAPED: usize = 4;

pub(crate) struct Ring {
    uring: Option<IoUring>,
    in_flight: Slab<Io>,
    /// Requests in `in_flight` that the kernel does not have yet.
    waiting: VecDeque<usize>,
    /// Writes that the kernel has as one request.
    runs: Slab<Run>,
    files: Slab<Open>,
    /// The files of all rings that share them.
    locked: LockedFiles,
    /// The kernel's registered buffer; `None`: it takes none, because a user may lock little memory, for example.
    pinned: Option<Arc<Arena>>,
}

/// Writes to consecutive places, or a single one whose bytes lie in pieces. A unit is small, and a request costs a disk more
/// than its bytes do.
struct Run {
    slots: Vec<usize>,
    /// The `iovec`s, which the kernel reads.
    _pieces: Vec<Piece>,
    bytes: usize,
}

/// An `iovec` with a number instead of a pointer, because the ring may move between threads.
#[repr(C)]
struct Piece {
    address: usize,
    bytes: usize,
}

const _: () = assert!(size_of::<Piece>() == size_of::<libc::iovec>());

/// Appends where the bytes of a write lie. Neighbours are one piece.
fn append_pieces(buffer: &Buffer, pieces: &mut Vec<Piece>) {
    for part in buffer.lead().iter().map(|lead| &lead[..]).chain([buffer.bytes()]) {
        let (address, bytes) = (part.as_ptr() as usize, part.len());
        match pieces.last_mut() {
            Some(last) if last.address + last.bytes == address => last.bytes += bytes,
            _ => pieces.push(Piece { address, bytes }),
        }
    }
}

/// The result of a write of a run that was written as a whole.
const WHOLE: i32 = i32::MAX;
/// The mark of a run in the user data of a completion.
const OF_RUN: u64 = 1 << 63;

struct Open {
    file: Arc<LockedFile>,
    queue: Queue,
    in_flight: usize,
    is_leaving: bool,
}

impl fmt::Debug for Ring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} files, {} requests", self.files.len(), self.in_flight.len())
    }
}

impl Ring {
    /// A new ring, which shares files with others. Any thread may use it, one at a time.
    pub fn sharing(locked: &LockedFiles) -> io::Result<Ring> {
        // Completions are handled when the submitting thread enters the kernel (from 5.19 on), without interrupting it.
        let uring =
            IoUring::builder().setup_coop_taskrun().build(QUEUE_ENTRIES).or_else(|_| IoUring::new(QUEUE_ENTRIES))?;
        let pinned = Arena::new().ok().filter(|memory| {
            let (start, bytes) = memory.place();
            let place = libc::iovec { iov_base: start.cast(), iov_len: bytes };
            // SAFETY: the kernel holds the pages itself, until the ring is closed. It writes into them for requests to
            // parts that `in_flight` owns, and for nothing else.
            unsafe { uring.submitter().register_buffers(&[place]) }.is_ok()
        });
        Ok(Ring {
            uring: Some(uring),
            in_flight: Slab::new(),
            waiting: VecDeque::new(),
            runs: Slab::new(),
            files: Slab::new(),
            locked: locked.clone(),
            pinned,
        })
    }

    fn uring(&mut self) -> &mut IoUring {
        self.uring.as_mut().expect("present until drop")
    }

    /// # Safety
    /// The memory that the entry points to must stay valid until the request has ended.
    unsafe fn push(&mut self, entry: &squeue::Entry) {
        loop {
            // SAFETY: the caller guarantees it.
            if unsafe { self.uring().submission().push(entry) }.is_ok() {
                return;
            }
            // The queue is full, and entering the kernel empties it. The kernel keeps completions that find no room.
            if let Err(error) = self.enter() {
                panic!("io_uring takes nothing any more: {error}");
            }
        }
    }

    /// Submits the queued entries to the kernel.
    fn enter(&mut self) -> io::Result<()> {
        match self.uring().submit() {
            Ok(_) => Ok(()),
            // Completions must be fetched first; the remaining entries go out with the next call.
            Err(e) if matches!(e.raw_os_error(), Some(libc::EINTR | libc::EBUSY | libc::EAGAIN)) => Ok(()),
            Err(e) => Err(e),
        }
    }

    /// Takes the waiting writes that need not be durable at their end and that are consecutive in a file, as runs; and those
    /// whose bytes lie in pieces. All other requests stay. Requests to different places may be carried out in any order.
    fn take_runs(&mut self) -> Vec<Vec<usize>> {
        let in_flight = &self.in_flight;
        let place = |slot: usize| (in_flight[slot].handle.0, in_flight[slot].offset);
        let is_plain = |slot: &usize| in_flight[*slot].kind == IoKind::Write { durable: false };
        let mut writes: Vec<usize> = self.waiting.iter().copied().filter(is_plain).collect();
        if writes.is_empty() {
            return Vec::new();
        }
        writes.sort_unstable_by_key(|slot| place(*slot));
        let mut runs: Vec<Vec<usize>> = Vec::new();
        let (mut end, mut bytes, mut pieces) = ((usize::MAX, 0), 0, 0);
        for slot in writes {
            let buffer = &in_flight[slot].buffer;
            let (len, parts) = (buffer.request_bytes(), buffer.lead().len() + 1);
            let has_room = bytes + len <= MAX_RUN_BYTES && pieces + parts <= MAX_RUN_PIECES;
            match runs.last_mut() {
                Some(run) if end == place(slot) && has_room => run.push(slot),
                _ => {
                    runs.push(vec![slot]);
                    (bytes, pieces) = (0, 0);
                }
            }
            (bytes, pieces) = (bytes + len, pieces + parts);
            end = (place(slot).0, place(slot).1 + len as u64);
        }
        runs.retain(|run| run.len() > 1 || !in_flight[run[0]].buffer.lead().is_empty());
        let taken: BTreeSet<usize> = runs.iter().flatten().copied().collect();
        self.waiting.retain(|slot| !taken.contains(slot));
        runs
    }

    /// Queues as many waiting requests as the kernel has room for.
    fn hand_over(&mut self) {
        // Without room for all, requests are queued one by one as room comes.
        if self.in_flight.len() < MAX_IN_KERNEL {
            for slots in self.take_runs() {
                self.hand_over_run(slots);
            }
        }
        self.hand_over_singly();
    }

    fn hand_over_singly(&mut self) {
        while self.in_flight.len() - self.waiting.len() < MAX_IN_KERNEL
            && let Some(slot) = self.waiting.pop_front()
        {
            let Io { handle, kind, offset, buffer, .. } = &mut self.in_flight[slot];
            if !buffer.lead().is_empty() {
                self.hand_over_run(vec![slot]);
                continue;
            }
            let (fd, offset) = (types::Fd(self.files[handle.0].file.as_raw_fd()), *offset);
            let is_pinned = self.pinned.as_ref().is_some_and(|memory| buffer.is_of(memory));
            let bytes = buffer.bytes_mut();
            let (address, len) = (bytes.as_mut_ptr(), bytes.len() as u32);
            let entry = match *kind {
                IoKind::Read if is_pinned => opcode::ReadFixed::new(fd, address, len, 0).offset(offset).build(),
                IoKind::Read => opcode::Read::new(fd, address, len).offset(offset).build(),
                IoKind::Write { durable } => {
                    let flags = if durable { DSYNC } else { 0 };
                    opcode::Write::new(fd, address, len).offset(offset).rw_flags(flags).build()
                }
                // A request that does nothing ends like any other.
                IoKind::Sync if self.files[handle.0].queue.is_write_through() => opcode::Nop::new().build(),
                IoKind::Sync => opcode::Fsync::new(fd).flags(types::FsyncFlags::DATASYNC).build(),
                IoKind::Discard { bytes } => {
                    let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
                    opcode::Fallocate::new(fd, bytes).offset(offset).mode(hole.bits() as i32).build()
                }
            };
            // SAFETY: the memory is a mapping that `in_flight` owns until the request has ended (moving the mapping
            // moves no bytes), and `drop` frees nothing before that; the file stays open as long.
            unsafe { self.push(&entry.user_data(slot as u64)) };
        }
    }

    fn hand_over_run(&mut self, slots: Vec<usize>) {
        let mut pieces = Vec::new();
        slots.iter().for_each(|slot| append_pieces(&self.in_flight[*slot].buffer, &mut pieces));
        let bytes = pieces.iter().map(|piece| piece.bytes).sum();
        let Io { handle, offset, .. } = self.in_flight[slots[0]];
        let fd = types::Fd(self.files[handle.0].file.as_raw_fd());
        let (first, count) = (pieces.as_ptr().cast::<libc::iovec>(), pieces.len() as u32);
        let entry = opcode::Writev::new(fd, first, count).offset(offset).build();
        let run = self.runs.insert(Run { slots, _pieces: pieces, bytes }) as u64;
        // SAFETY: as with single requests; the pieces lie in `runs` until the run has ended, and moving a `Vec` moves
        // none.
        unsafe { self.push(&entry.user_data(OF_RUN | run)) };
    }

    /// Takes an open file, which others may have as well.
    pub fn keep(&mut self, file: Arc<LockedFile>) -> Opened {
        let queue = Queue::of(file.file());
        let LockedFile { bytes, align_bytes, .. } = *file;
        let through = "its cache is written through, so nothing has to be synced";
        let note = file.note.clone().or_else(|| queue.is_write_through().then(|| through.into()));
        let can_discard = queue.can_discard;
        let handle = Handle(self.files.insert(Open { file, queue, in_flight: 0, is_leaving: false }));
        Opened { handle, bytes, align_bytes, is_zero: false, can_discard, note }
    }

    fn give_up(&mut self, handle: Handle) {
        let open = &mut self.files[handle.0];
        open.is_leaving = true;
        if open.in_flight == 0 {
            self.files.remove(handle.0);
        }
    }
}

impl Disks for Ring {
    fn open(&mut self, path: &Path) -> Result<Opened, FilesError> {
        let file = self.locked.open(path)?;
        Ok(self.keep(file))
    }

    fn align_bytes(&mut self, path: &Path) -> Result<u32, FilesError> {
        if let Some(Found::Device) = look(path)? {
            let device = rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
            let align = device.and_then(|device| rustix::fs::ioctl_blksszget(&device));
            return align.map(legal_align).map_err(|e| failed(path, "look at it", e.into()));
        }
        // A temporary file in the same folder tells the alignment.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC;
        match rustix::fs::open(folder, flags, Mode::RUSR | Mode::WUSR) {
            Ok(file) => Ok(file_align(&File::from(file))),
            Err(_) => Ok(USUAL_ALIGN_BYTES),
        }
    }

    fn make(&mut self, path: &Path, how: Make) -> Result<Opened, FilesError> {
        match look(path)? {
            Some(Found::File) => return Err(FilesError::Exists { path: path.into() }),
            Some(Found::Device) if !how.overwrite => return Err(FilesError::Device { path: path.into() }),
            Some(Found::Device) => {
                let file = self.locked.open(path)?;
                if file.bytes < how.bytes {
                    return Err(FilesError::NoRoom { path: path.into(), bytes: how.bytes });
                }
                let zero = FallocateFlags::ZERO_RANGE | FallocateFlags::KEEP_SIZE;
                let whole = file.bytes / PAGE_BYTES * PAGE_BYTES;
                let is_zero = rustix::fs::fallocate(file.file(), zero, 0, whole).is_ok();
                return Ok(Opened { is_zero, ..self.keep(file) });
            }
            None => {}
        }
        let mut file = LockedFile::make(path)?;
        let allocated = rustix::fs::fallocate(file.file(), FallocateFlags::empty(), 0, how.bytes);
        let result = match allocated {
            Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => {
                file.note = Some("the file system can't set room aside for it".into());
                file.file().set_len(how.bytes)
            }
            allocated => allocated.map_err(io::Error::from),
        };
        file.bytes = how.bytes;
        if let Err(error) = result.and_then(|()| sync_folder(path)) {
            self.unmake(path);
            let no_room = matches!(error.raw_os_error(), Some(libc::ENOSPC | libc::EDQUOT | libc::EFBIG));
            return Err(match no_room {
                true => FilesError::NoRoom { path: path.into(), bytes: how.bytes },
                false => failed(path, "set room aside", error),
            });
        }
        let file = self.locked.keep(path, file);
        Ok(Opened { is_zero: true, ..self.keep(file) })
    }

    fn unmake(&mut self, path: &Path) {
        if let Ok(Some(Found::File)) = look(path) {
            let _ = std::fs::remove_file(path);
        }
    }

    fn close(&mut self, handle: Handle) {
        self.give_up(handle);
    }

    fn begin(&mut self, io: Io) {
        let open = &mut self.files[io.handle.0];
        assert!(!open.is_leaving, "a request to a file that was closed");
        open.in_flight += 1;
        let slot = self.in_flight.insert(io);
        self.waiting.push_back(slot);
    }

    fn submit(&mut self) -> io::Result<()> {
        self.hand_over();
        if self.uring().submission().is_empty() {
            return Ok(());
        }
        self.enter()
    }

    fn wait(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        self.hand_over();
        let waited = match timeout {
            None => self.uring().submit_and_wait(1),
            Some(timeout) => {
                let timespec = types::Timespec::from(timeout);
                let args = types::SubmitArgs::new().timespec(&timespec);
                self.uring().submitter().submit_with_args(1, &args)
            }
        };
        match waited {
            Ok(_) => Ok(()),
            // No request ended in time, or a signal came, or completions must be fetched first.
            Err(e) if matches!(e.raw_os_error(), Some(libc::ETIME | libc::EINTR | libc::EBUSY | libc::EAGAIN)) => {
                Ok(())
            }
            Err(e) => Err(e),
        }
    }

    fn reap(&mut self, done: &mut Vec<Done>) {
        let Ring { uring, in_flight, files, runs, waiting, .. } = self;
        let most = MIN_REAPED.max((in_flight.len() - waiting.len()) / 4);
        let mut end = |slot: usize, result: i32| {
            let Io { tag, handle, buffer, .. } = in_flight.remove(slot);
            let result = if result == WHOLE { buffer.request_bytes() as i32 } else { result };
            done.push(Done { tag, result, buffer });
            let open = &mut files[handle.0];
            open.in_flight -= 1;
            if open.is_leaving && open.in_flight == 0 {
                files.remove(handle.0);
            }
        };
        let mut failed = Vec::new();
        for entry in uring.as_mut().expect("present until drop").completion().take(most) {
            if entry.user_data() & OF_RUN == 0 {
                end(entry.user_data() as usize, entry.result());
                continue;
            }
            let Run { slots, bytes, .. } = runs.remove((entry.user_data() & !OF_RUN) as usize);
            match (usize::try_from(entry.result()) == Ok(bytes), &slots[..]) {
                (true, _) => slots.into_iter().for_each(|slot| end(slot, WHOLE)),
                (false, [slot]) => end(*slot, entry.result()),
                // Writing each by itself shows which of them failed.
                (false, _) => failed.extend(slots),
            }
        }
        // These requests bypass `take_runs`, which would make the same run of them.
        waiting.extend(&failed);
        if !failed.is_empty() {
            self.hand_over_singly();
        }
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        let raw = self.uring.as_ref()?.as_raw_fd();
        // SAFETY: the ring is open as long as it is borrowed.
        Some(unsafe { BorrowedFd::borrow_raw(raw) })
    }

    fn pinned(&self) -> Option<Arc<Arena>> {
        self.pinned.clone()
    }

    fn gathers(&self, _handle: Handle) -> bool {
        true
    }

    fn unique(&mut self) -> u64 {
        let mut bytes = [0; 8];
        rustix::rand::getrandom(&mut bytes[..], rustix::rand::GetRandomFlags::empty())
            .expect("the system has random numbers");
        u64::from_le_bytes(bytes)
    }
}

impl Drop for Ring {
    /// Waits for the requests in flight, because even a panic must not free memory that the kernel writes to.
    fn drop(&mut self) {
        let began = Instant::now();
        let mut done = Vec::new();
        while !self.in_flight.is_empty() && began.elapsed() < DRAIN_LIMIT {
            if self.wait(Some(Duration::from_millis(100))).is_err() {
                break;
            }
            self.reap(&mut done);
        }
        if !self.in_flight.is_empty() {
            std::mem::forget(std::mem::take(&mut self.in_flight));
            std::mem::forget(std::mem::take(&mut self.runs));
        }
        // The ring is closed before the files.
        self.uring = None;
        for open in self.files.drain() {
            if open.in_flight > 0 {
                // A write in flight may still happen: nobody else may have the file.
                std::mem::forget(open);
            }
        }
    }
}

/// Makes the folder's entry of a new file durable.
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lender::Lender;

    #[test]
    fn writes_that_follow_each_other_are_one_and_end_one_by_one() {
        let folder = tempfile::tempdir().unwrap();
        let mut ring = Ring::sharing(&LockedFiles::default()).unwrap();
        let make = Make { bytes: 1 << 20, overwrite: false };
        let files = ["a", "b"].map(|name| ring.make(&folder.path().join(name), make).unwrap().handle);
        // The writes are out of order, to two files, with a gap.
        let places = [(0, 8192), (1, 4096), (0, 0), (0, 4096), (1, 0), (0, 65536)];
        for (tag, (file, offset)) in places.into_iter().enumerate() {
            let mut buffer = Buffer::new(4096).unwrap();
            buffer.bytes_mut().fill(tag as u8 + 1);
            let kind = IoKind::Write { durable: false };
            ring.begin(Io { tag: tag as u64, handle: files[file], kind, offset, buffer });
        }
        ring.submit().unwrap();
        assert_eq!(ring.runs.iter().map(|(_, run)| run.slots.len()).collect::<Vec<_>>(), [3, 2]);
        let mut done = Vec::new();
        while done.len() < places.len() {
            ring.wait(None).unwrap();
            ring.reap(&mut done);
        }
        assert!(done.iter().all(|done| done.result == 4096 && done.buffer.bytes()[0] == done.tag as u8 + 1));
        assert!(ring.runs.is_empty() && ring.in_flight.is_empty());
        drop(ring);
        for (tag, (file, offset)) in places.into_iter().enumerate() {
            let bytes = std::fs::read(folder.path().join(["a", "b"][file])).unwrap();
            assert!(bytes[offset as usize..][..4096].iter().all(|byte| *byte == tag as u8 + 1));
        }
    }

    /// A buffer of a page behind two pages of a long write.
    fn with_lead(mark: u8) -> Buffer {
        let mut long = Lender::for_bytes(1).take(8192).unwrap();
        long.bytes_mut().fill(mark);
        let long = long.freeze();
        let mut buffer = Buffer::new(4096).unwrap();
        buffer.bytes_mut().fill(mark + 1);
        buffer.set_lead(vec![long.slice(..4096), long.slice(4096..)]);
        buffer
    }

    #[test]
    fn a_write_has_its_lead_before_it_alone_or_among_others() {
        let folder = tempfile::tempdir().unwrap();
        let mut ring = Ring::sharing(&LockedFiles::default()).unwrap();
        let path = folder.path().join("a");
        let handle = ring.make(&path, Make { bytes: 1 << 20, overwrite: false }).unwrap().handle;
        let kind = IoKind::Write { durable: false };
        for (tag, offset) in [(1, 0), (3, 12_288), (5, 65_536)] {
            ring.begin(Io { tag, handle, kind, offset, buffer: with_lead(tag as u8) });
        }
        ring.submit().unwrap();
        assert_eq!(ring.runs.iter().map(|(_, run)| run.slots.len()).collect::<Vec<_>>(), [2, 1]);
        // The last one can't be written, and is not tried for ever.
        let offset = i64::MAX as u64 / 4096 * 4096;
        ring.begin(Io { tag: 7, handle, kind, offset, buffer: with_lead(7) });
        let mut done = Vec::new();
        while done.len() < 4 {
            ring.wait(None).unwrap();
            ring.reap(&mut done);
        }
        assert!(done.iter().all(|done| (done.result == 12_288) == (done.tag < 7)), "{done:?}");
        drop(ring);
        let bytes = std::fs::read(&path).unwrap();
        for (mark, offset) in [(1, 0), (3, 12_288), (5, 65_536)] {
            assert!(bytes[offset..][..8192].iter().all(|byte| *byte == mark));
            assert!(bytes[offset + 8192..][..4096].iter().all(|byte| *byte == mark + 1));
        }
    }

    #[test]
    fn of_writes_that_fail_as_one_each_is_tried_by_itself() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let mut ring = Ring::sharing(&LockedFiles::default()).unwrap();
        let made = ring.make(&path, Make { bytes: 1 << 20, overwrite: false }).unwrap();
        // The second one begins where a file can't reach.
        let last = i64::MAX as u64 / 4096 * 4096;
        for (tag, offset) in [(0, last - 4096), (1, last), (2, 0), (3, 4096)] {
            let kind = IoKind::Write { durable: false };
            ring.begin(Io { tag, handle: made.handle, kind, offset, buffer: Buffer::new(4096).unwrap() });
        }
        let mut done = Vec::new();
        while done.len() < 4 {
            ring.wait(None).unwrap();
            ring.reap(&mut done);
        }
        done.sort_by_key(|done| done.tag);
        assert!(done[0].result < 0 && done[1].result < 0, "{done:?}");
        assert!(done[2].result == 4096 && done[3].result == 4096, "{done:?}");
    }
}
