//! Emptying a drive: what a device takes for never written.
//!
//! A block device is discarded, or empties itself by a command of its own ([`crate::nvme`]). A file's space is given back
//! to its file system (which tells the device when it is mounted with `discard`, or at the next `fstrim`) and reserved
//! again, so that no later write finds the file system full.

use crate::drive::Drive;
use crate::error::DriveError;
use crate::file::{self, Kind};
use crate::nvme::{self, Erasure, PurgeBy, Standing};
use crate::ring;
use crate::size;
use results::Purge;
use rustix::fs::FallocateFlags;
use std::io;
use std::ops::Range;
use std::os::fd::AsFd;
use std::thread;
use std::time::{Duration, Instant};
use target::Progress;

/// Discarded at once: between two pieces somebody may say stop.
const DISCARD_BYTES: u64 = 1 << 30;
/// A drive that sanitizes itself is asked so often how far it is.
const ASK_AGAIN: Duration = Duration::from_millis(200);

impl Drive {
    /// Empties it, as far as it can.
    pub(crate) fn empty(&mut self, progress: &dyn Progress) -> Result<Purge, DriveError> {
        let began = Instant::now();
        progress.begin("purge", self.capacity_bytes);
        if let Some(erasure) = self.erasure {
            let what = self.erase(erasure, progress)?;
            self.in_use_bytes = 0;
            return Ok(Purge { what, discarded_bytes: self.capacity_bytes, took_s: began.elapsed().as_secs_f64() });
        }
        let done = self.discard(0..self.capacity_bytes, progress)?;
        let (what, discarded_bytes) = match done {
            Discarded::All => {
                self.in_use_bytes = 0;
                let amount = size::of(self.capacity_bytes);
                let what = match self.kind {
                    Kind::BlockDevice => format!("discarded {amount}"),
                    Kind::File => format!(
                        "gave the file's {amount} back to its file system and reserved them again; whether the device \
                         hears of it is up to the file system (mount option discard)"
                    ),
                };
                (what, self.capacity_bytes)
            }
            Discarded::NotSupported => {
                let what = match self.kind {
                    Kind::BlockDevice => "not supported: the device takes no discards",
                    Kind::File => "not supported: the file system can't give back a part of a file",
                };
                (what.to_owned(), 0)
            }
        };
        Ok(Purge { what, discarded_bytes, took_s: began.elapsed().as_secs_f64() })
    }

    /// Has the drive empty itself; returns that in words.
    fn erase(&self, erasure: Erasure, progress: &dyn Progress) -> Result<String, DriveError> {
        let failed = |source| DriveError::Purge { path: self.path.clone(), source };
        let drive = self.file.as_fd();
        progress.step(&format!("the drive's own {}, which nothing can stop", self.options.purge));
        // Namespaces may have come since the first look.
        let again = nvme::examine(&drive, self.options.purge).map_err(failed)?;
        if again != erasure {
            return Err(self.doing("formatting it", io::Error::other("it has been formatted by somebody else")));
        }
        nvme::begin(&drive, erasure).map_err(failed)?;
        if self.options.purge == PurgeBy::Sanitize {
            while let Standing::Under(share) = nvme::standing(&drive).map_err(failed)? {
                if progress.cancelled() {
                    // It goes on without us.
                    return Err(DriveError::Cancelled);
                }
                progress.at((share * self.capacity_bytes as f64) as u64);
                thread::sleep(ASK_AGAIN);
            }
        }
        let amount = size::of(self.capacity_bytes);
        Ok(match self.options.purge {
            PurgeBy::Sanitize => format!("sanitized {amount} by NVMe's Sanitize"),
            _ => format!("formatted {amount} by NVMe's Format, with erasure of user data"),
        })
    }

    /// Tells the device, or the file system, that a range is unused.
    pub(crate) fn discard(&mut self, range: Range<u64>, progress: &dyn Progress) -> Result<Discarded, DriveError> {
        let mut at = range.start;
        while at < range.end {
            if progress.cancelled() {
                self.reserve_again()?;
                return Err(DriveError::Cancelled);
            }
            let len = DISCARD_BYTES.min(range.end - at);
            let done = match self.kind {
                Kind::BlockDevice => ring::discard(self.file.as_fd(), at, len),
                Kind::File => {
                    let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
                    rustix::fs::fallocate(&self.file, punch, at, len).map_err(io::Error::from)
                }
            };
            match done {
                Ok(()) => at += len,
                Err(e) if matches!(e.raw_os_error(), Some(libc::EOPNOTSUPP | libc::ENOTTY | libc::ENOSYS)) => {
                    return Ok(Discarded::NotSupported);
                }
                Err(e) => return Err(self.doing("discarding", e)),
            }
            progress.at(at - range.start);
        }
        self.file.sync_all().map_err(|e| self.doing("flushing it", e))?;
        self.reserve_again()?;
        Ok(Discarded::All)
    }

    /// A file's holes become reserved space again.
    fn reserve_again(&mut self) -> Result<(), DriveError> {
        if self.kind == Kind::BlockDevice {
            return Ok(());
        }
        match rustix::fs::fallocate(&self.file, FallocateFlags::KEEP_SIZE, 0, self.capacity_bytes) {
            Ok(()) | Err(rustix::io::Errno::OPNOTSUPP) => {}
            Err(rustix::io::Errno::NOSPC | rustix::io::Errno::DQUOT) => {
                let left_bytes = rustix::fs::fstatvfs(&self.file).map_or(0, |fs| fs.f_bavail * fs.f_frsize);
                let needed_bytes = self.capacity_bytes;
                return Err(DriveError::NoSpace { path: self.path.clone(), left_bytes, needed_bytes });
            }
            Err(e) => return Err(self.doing("reserving its space", e.into())),
        }
        if self.marked_by_sector {
            file::mark_again(&self.path).map_err(|e| self.doing("marking it", e))?;
        }
        Ok(())
    }

    /// The error of a step that was not a request of a load.
    pub(crate) fn doing(&self, doing: &'static str, source: io::Error) -> DriveError {
        DriveError::Doing { path: self.path.clone(), doing, source }
    }
}

/// Whether it was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Discarded {
    All,
    NotSupported,
}
