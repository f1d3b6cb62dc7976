//! The file system: a directory with one file, and what the kernel may ask of both.

use crate::fuse::FILE;
use crate::fuse::answers::Answers;
use crate::fuse::lane::{Lane, Pending};
use crate::fuse::range::Range;
use device::SECTOR_BYTES;
use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, InitFlags,
    KernelConfig, LockOwner, OpenAccMode, OpenFlags, ReplyAttr, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry,
    ReplyLseek, ReplyOpen, ReplyStatfs, ReplyWrite, Request, TimeOrNow, WriteFlags,
};
use live::Live;
use rustix::fs::{FallocateFlags, OFlags};
use std::cell::Cell;
use std::ffi::OsStr;
use std::io;
use std::sync::Weak;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

const DIRECTORY: INodeNo = INodeNo::ROOT;
const DISK: INodeNo = INodeNo(2);
/// How long the kernel may believe what it was told of names and attributes: they don't change.
const BELIEVED: Duration = Duration::from_secs(3600);
/// How long it may believe how much of the card is in use.
const IN_USE_BELIEVED: Duration = Duration::from_secs(1);
/// Asynchronous requests that the kernel sends at once; further ones wait in the kernel.
const AT_ONCE: u16 = 1024;
/// Looked at for data or holes before others have their turn.
const LOOKED_AT_BYTES: u64 = 64 << 20;

thread_local! {
    /// The lane of this thread of the session, which serves one file system only.
    static LANE: Cell<Option<usize>> = const { Cell::new(None) };
}

/// See the module.
pub(in crate::fuse) struct Disk {
    pub answers: Answers,
    /// Not to keep a card alive that its owner has given up.
    pub live: Weak<Live>,
    pub size_bytes: u64,
    pub volume: Option<u32>,
    pub read_only: bool,
    pub since: SystemTime,
    pub next_lane: AtomicUsize,
}

impl Disk {
    fn lane(&self) -> &Lane {
        let lanes = &self.answers.lanes;
        let lane = LANE.get().unwrap_or_else(|| {
            let lane = self.next_lane.fetch_add(1, Ordering::Relaxed) % lanes.len();
            LANE.set(Some(lane));
            lane
        });
        &lanes[lane]
    }

    fn attr(&self, ino: INodeNo) -> Option<FileAttr> {
        let (kind, perm, nlink, size, blocks) = match ino {
            DIRECTORY => (FileType::Directory, 0o500, 2, 0, 0),
            DISK => {
                let perm = if self.read_only { 0o400 } else { 0o600 };
                (FileType::RegularFile, perm, 1, self.size_bytes, self.bytes_in_use() / 512)
            }
            _ => return None,
        };
        Some(FileAttr {
            ino,
            size,
            blocks,
            atime: self.since,
            mtime: self.since,
            ctime: self.since,
            crtime: self.since,
            kind,
            perm,
            nlink,
            uid: rustix::process::getuid().as_raw(),
            gid: rustix::process::getgid().as_raw(),
            rdev: 0,
            blksize: SECTOR_BYTES as u32,
            flags: 0,
        })
    }

    /// Programs that copy holes as holes look for them only in files that use less than their size.
    fn bytes_in_use(&self) -> u64 {
        let Some(live) = self.live.upgrade() else { return self.size_bytes };
        if let Some(id) = self.volume {
            return live.volume_bytes(id).map_or(0, |(_, allocated_bytes)| allocated_bytes.min(self.size_bytes));
        }
        let status = live.status();
        if !status.powered {
            return self.size_bytes;
        }
        ((status.fill * self.size_bytes as f64) as u64).next_multiple_of(SECTOR_BYTES).min(self.size_bytes)
    }

    /// The first byte at or after `from` that is written, or that is not.
    fn seek(&self, from: u64, written: bool) -> Option<u64> {
        let mut at = from;
        while at < self.size_bytes {
            let extents = self.lane().extents(at, (self.size_bytes - at).min(LOOKED_AT_BYTES), 2);
            for (len, is_written) in extents {
                if is_written == written {
                    return Some(at);
                }
                at += len;
            }
        }
        // At the end of every file there is a hole.
        (!written).then_some(self.size_bytes)
    }
}

impl Filesystem for Disk {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        // Older kernels don't have all of it, and work without.
        for wanted in [InitFlags::FUSE_ASYNC_DIO, InitFlags::FUSE_HANDLE_KILLPRIV_V2] {
            let _ = config.add_capabilities(wanted);
        }
        let _ = config.set_max_background(AT_ONCE);
        let _ = config.set_congestion_threshold(AT_ONCE);
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        match self.attr(DISK).filter(|_| parent == DIRECTORY && name == FILE) {
            Some(attr) => reply.entry_with_ttls(&IN_USE_BELIEVED, &BELIEVED, &attr, Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.attr(ino) {
            Some(attr) => reply.attr(&IN_USE_BELIEVED, &attr),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn setattr(
        &self,
        _: &Request,
        ino: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        _: Option<TimeOrNow>,
        _: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let resized = size.is_some_and(|size| size != self.size_bytes);
        match self.attr(ino) {
            None => reply.error(Errno::ENOENT),
            Some(_) if resized || mode.is_some() || uid.is_some() || gid.is_some() => reply.error(Errno::EPERM),
            // Times are not kept.
            Some(attr) => reply.attr(&IN_USE_BELIEVED, &attr),
        }
    }

    fn open(&self, _: &Request, ino: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        match ino {
            DISK if self.read_only && flags.acc_mode() != OpenAccMode::O_RDONLY => reply.error(Errno::EROFS),
            DISK => {
                // The card keeps apart what overlaps, so the kernel need not let one write in at a time. Closing makes
                // nothing durable: fsync does.
                let flags =
                    FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES | FopenFlags::FOPEN_NOFLUSH;
                reply.opened(FileHandle(0), flags);
            }
            _ => reply.error(Errno::EISDIR),
        }
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let len = u64::from(size).min(self.size_bytes.saturating_sub(offset)) as u32;
        if len == 0 {
            return reply.data(&[]);
        }
        self.lane().read(reply, offset, len);
    }

    fn write(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        flags: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        // As on a disk: what fits is written, and nothing fits at the end.
        let len = (data.len() as u64).min(self.size_bytes.saturating_sub(offset)) as u32;
        if len == 0 {
            return if data.is_empty() { reply.written(0) } else { reply.error(Errno::ENOSPC) };
        }
        let fua = OFlags::from_bits_retain(flags.0 as u32).contains(OFlags::DSYNC);
        let data = &data[..len as usize];
        self.lane().call(Pending::Write(reply, len), live::Request::write(0, offset, data).with_fua(fua));
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        // Kernels that don't know FOPEN_NOFLUSH ask when a descriptor is closed.
        reply.ok();
    }

    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        self.lane().call(Pending::Flush(reply), live::Request::flush(0));
    }

    fn fallocate(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let mode = FallocateFlags::from_bits_retain(mode as u32);
        let kind = mode - FallocateFlags::KEEP_SIZE;
        let end = offset.saturating_add(length);
        if self.read_only {
            return reply.error(Errno::EROFS);
        }
        if end > self.size_bytes && !mode.contains(FallocateFlags::KEEP_SIZE) {
            return reply.error(Errno::ENOSPC);
        }
        // With KEEP_SIZE nothing is done beyond the end.
        let end = end.min(self.size_bytes);
        let mut range = match kind {
            // There is room for every sector of a card always.
            _ if kind.is_empty() => return reply.ok(),
            FallocateFlags::PUNCH_HOLE => Range::new(offset, end, false),
            FallocateFlags::ZERO_RANGE => Range::new(offset, end, true),
            _ => return reply.error(Errno::EOPNOTSUPP),
        };
        match range.next() {
            Some(request) => self.lane().call(Pending::Range(reply, range), request),
            None => reply.ok(),
        }
    }

    fn lseek(&self, _: &Request, _: INodeNo, _: FileHandle, offset: i64, whence: i32, reply: ReplyLseek) {
        const SEEK_DATA: i32 = 3;
        const SEEK_HOLE: i32 = 4;
        let written = match whence {
            SEEK_DATA => true,
            SEEK_HOLE => false,
            // The kernel does the others itself.
            _ => return reply.error(Errno::EINVAL),
        };
        let from = u64::try_from(offset).ok().filter(|from| *from < self.size_bytes);
        match from.and_then(|from| self.seek(from, written)) {
            Some(found) => reply.offset(found as i64),
            None => reply.error(Errno::ENXIO),
        }
    }

    fn readdir(&self, _: &Request, ino: INodeNo, _: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        if ino != DIRECTORY {
            return reply.error(Errno::ENOTDIR);
        }
        let entries = [
            (DIRECTORY, FileType::Directory, "."),
            (DIRECTORY, FileType::Directory, ".."),
            (DISK, FileType::RegularFile, FILE),
        ];
        for ((ino, kind, name), next) in entries.into_iter().zip(1..).skip(offset as usize) {
            if reply.add(ino, next, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        // A loop device takes the block size as the granularity of its discards.
        let blocks = self.size_bytes / SECTOR_BYTES;
        reply.statfs(blocks, 0, 0, 1, 0, SECTOR_BYTES as u32, 255, SECTOR_BYTES as u32);
    }
}
