//! Opening, making and removing what is measured.
//!
//! A file that this program made carries the extended attribute `user.flashrig`. A file's first sector is the mark
//! where the file system has none: everything that is written here is payload that proves itself ([`crate::payload`]),
//! and an overwritten sector 0 is payload again. So there is no second file that could be lost or left behind.
//!
//! Invariants:
//! - a file that is there is never overwritten by making one (`O_EXCL`), and only a marked one is adopted or removed;
//! - a block device is opened exclusively, which the kernel refuses while it is mounted or part of an array;
//! - a file that could not be made whole is removed again.

use crate::arena::Arena;
use crate::error::DriveError;
use crate::payload::{self, SECTOR_BYTES, Stamp};
use rustix::fs::{AtFlags, FallocateFlags, FileType, Mode, OFlags, StatxFlags, XattrFlags};
use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Extended attribute of files that this program made.
const MARK: &str = "user.flashrig";
/// File systems in memory. They open for direct I/O and do none.
const TMPFS: i64 = 0x0102_1994;
const RAMFS: i64 = 0x8584_58f6;
/// Alignments of direct I/O where nobody says: tried in this order.
const ALIGNMENTS: [u32; 2] = [512, 4096];

/// Something that can be measured.
pub(crate) struct Opened {
    pub file: File,
    pub size_bytes: u64,
    pub align_bytes: u32,
}

/// The kind of thing that is to be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    BlockDevice,
}

impl Kind {
    fn check(self, mode: u32, path: &Path) -> Result<(), DriveError> {
        let wanted = match (self, FileType::from_raw_mode(mode)) {
            (Kind::File, FileType::RegularFile) | (Kind::BlockDevice, FileType::BlockDevice) => return Ok(()),
            (_, FileType::Directory) => return Err(DriveError::Directory { path: path.to_owned() }),
            (Kind::File, _) => "a regular file",
            (Kind::BlockDevice, _) => "a block device",
        };
        Err(DriveError::Kind { path: path.to_owned(), wanted })
    }
}

/// Opens for direct reads and writes; a block device for this process alone.
pub(crate) fn open(path: &Path, kind: Kind) -> Result<Opened, DriveError> {
    let opening = |e: rustix::io::Errno| DriveError::opening(path, e.into());
    // Looked at before it is opened: opening a pipe waits, and opening a tape winds it.
    let stat = rustix::fs::stat(path).map_err(opening)?;
    kind.check(stat.st_mode, path)?;
    if kind == Kind::File && stat.st_mode & 0o222 == 0 {
        // Root could write it all the same; its owner meant otherwise.
        return Err(DriveError::ReadOnly { path: path.to_owned() });
    }
    let exclusive = if kind == Kind::BlockDevice { OFlags::EXCL } else { OFlags::empty() };
    let flags = OFlags::RDWR | OFlags::DIRECT | OFlags::CLOEXEC | exclusive;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty()).map_err(opening)?);
    examine(file, path, kind)
}

/// Makes a file or device that is open ready for direct reads and writes; checks that it is what it should be.
pub(crate) fn examine(mut file: File, path: &Path, kind: Kind) -> Result<Opened, DriveError> {
    let opening = |e: rustix::io::Errno| DriveError::opening(path, e.into());
    kind.check(rustix::fs::fstat(&file).map_err(opening)?.st_mode, path)?;
    let in_memory = rustix::fs::fstatfs(&file).is_ok_and(|fs| [TMPFS, RAMFS].contains(&fs.f_type));
    if in_memory && kind == Kind::File {
        return Err(DriveError::NotDirect { path: path.to_owned() });
    }
    let flags = rustix::fs::fcntl_getfl(&file).map_err(opening)?;
    rustix::fs::fcntl_setfl(&file, flags | OFlags::DIRECT).map_err(opening)?;
    let align_bytes = alignment(&file).ok_or_else(|| DriveError::NotDirect { path: path.to_owned() })?;
    let size_bytes = file.seek(SeekFrom::End(0)).map_err(|e| DriveError::opening(path, e))?;
    let size_bytes = size_bytes / u64::from(align_bytes) * u64::from(align_bytes);
    if size_bytes == 0 {
        let needed_bytes = align_bytes.into();
        return Err(DriveError::TooSmall { path: path.to_owned(), bytes: size_bytes, needed_bytes });
    }
    Ok(Opened { file, size_bytes, align_bytes })
}

/// Returns the number of which offsets and lengths must be multiples; `None`: it can't do direct I/O.
fn alignment(file: &File) -> Option<u32> {
    let statx = rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN);
    if let Ok(statx) = statx
        && StatxFlags::from_bits_retain(statx.stx_mask).contains(StatxFlags::DIOALIGN)
    {
        let align_bytes = statx.stx_dio_offset_align;
        return (align_bytes > 0).then(|| align_bytes.next_power_of_two().max(SECTOR_BYTES as u32));
    }
    // Linux before 6.1 is asked by trying.
    let mut arena = Arena::new(1, 4096).ok()?;
    ALIGNMENTS.into_iter().find(|&bytes| {
        let Ok((buffer, _)) = arena.buffer(0, bytes as usize) else { return false };
        // At the second block, so that a larger one is found out.
        file.read_at(buffer, u64::from(bytes)).is_ok()
    })
}

/// Makes a file of this size, all of it reserved.
pub(crate) fn create(path: &Path, size_bytes: u64) -> Result<Opened, DriveError> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let made = rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR);
    let file = File::from(made.map_err(|e| DriveError::opening(path, e.into()))?);
    // From here on it is ours, so it may be removed.
    let whole = mark(&file).map_err(|source| DriveError::Doing { path: path.to_owned(), doing: "marking it", source });
    let whole = whole.and_then(|()| reserve(&file, path, 0, size_bytes)).and_then(|()| open(path, Kind::File));
    if whole.is_err() {
        let _ = std::fs::remove_file(path);
    }
    whole
}

/// Opens a file that this program made, and makes it at least this large.
pub(crate) fn adopt(path: &Path, size_bytes: u64) -> Result<Opened, DriveError> {
    let stat = rustix::fs::stat(path).map_err(|e| DriveError::opening(path, e.into()))?;
    if !is_ours(path) {
        return Err(DriveError::Foreign { path: path.to_owned() });
    }
    if (stat.st_size as u64) < size_bytes {
        let file = File::options().read(true).write(true).open(path).map_err(|e| DriveError::opening(path, e))?;
        reserve(&file, path, stat.st_size as u64, size_bytes)?;
    }
    open(path, Kind::File)
}

/// Reserves the space from `present_bytes` to `size_bytes`, so that no later write can find the file system full.
pub(crate) fn reserve(file: &File, path: &Path, present_bytes: u64, size_bytes: u64) -> Result<(), DriveError> {
    let needed_bytes = size_bytes.saturating_sub(present_bytes);
    if needed_bytes == 0 {
        return Ok(());
    }
    let left_bytes = || rustix::fs::fstatvfs(file).map_or(u64::MAX, |fs| fs.f_bavail * fs.f_frsize);
    let left = left_bytes();
    let no_space = |left_bytes| DriveError::NoSpace { path: path.to_owned(), left_bytes, needed_bytes };
    // Asked first: trying would fill the file system for everybody else until it failed.
    if left < needed_bytes {
        return Err(no_space(left));
    }
    match rustix::fs::fallocate(file, FallocateFlags::empty(), present_bytes, needed_bytes) {
        Ok(()) => Ok(()),
        Err(rustix::io::Errno::NOSPC | rustix::io::Errno::DQUOT) => Err(no_space(left_bytes().min(left))),
        // A file system that can't reserve: the fill takes the space, and there was enough of it.
        Err(rustix::io::Errno::OPNOTSUPP) => file.set_len(size_bytes).map_err(|e| doing(path, "setting its size", e)),
        Err(e) => Err(doing(path, "reserving its space", e.into())),
    }
}

fn doing(path: &Path, doing: &'static str, source: io::Error) -> DriveError {
    DriveError::Doing { path: path.to_owned(), doing, source }
}

fn mark(file: &File) -> io::Result<()> {
    match rustix::fs::fsetxattr(file, MARK, b"1", XattrFlags::empty()) {
        Ok(()) => Ok(()),
        Err(_) => mark_first_sector(file),
    }
}

fn mark_first_sector(file: &File) -> io::Result<()> {
    let mut sector = [0; SECTOR_BYTES];
    payload::fill(&mut sector, 0, Stamp { run: 0, version: 0 });
    file.write_all_at(&sector, 0)?;
    file.sync_data()
}

/// Marks a file again whose first sector was the mark and is gone.
pub(crate) fn mark_again(path: &Path) -> io::Result<()> {
    mark_first_sector(&File::options().write(true).open(path)?)
}

/// Returns whether a file was made by this program.
pub(crate) fn is_ours(path: &Path) -> bool {
    if !std::fs::symlink_metadata(path).is_ok_and(|file| file.is_file()) {
        return false;
    }
    let Ok(file) = File::open(path) else { return false };
    let mut sector = [0; SECTOR_BYTES];
    has_attribute(&file) || (file.read_exact_at(&mut sector, 0).is_ok() && payload::check_sector(&sector, 0).is_ok())
}

/// Returns whether the mark is the extended attribute.
pub(crate) fn has_attribute(file: impl AsFd) -> bool {
    let mut value = [0_u8; 16];
    rustix::fs::fgetxattr(file, MARK, &mut value).is_ok()
}

/// Removes a file that this program made.
pub(crate) fn remove(path: &Path) -> Result<(), DriveError> {
    rustix::fs::stat(path).map_err(|e| DriveError::opening(path, e.into()))?;
    if !is_ours(path) {
        return Err(DriveError::Foreign { path: path.to_owned() });
    }
    std::fs::remove_file(path).map_err(|e| doing(path, "removing it", e))
}
