//! State that the threads of an engine share.

use crate::error::DriveError;
use device::Time;
use load::{Load, ProcessId};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Equal parts of the measured time whose throughput is compared.
pub(crate) const WINDOWS: usize = 5;
/// Longest wait of a generator thread.
pub(crate) const MAX_WAIT: Duration = Duration::from_millis(20);

/// The file or device that is driven.
#[derive(Clone, Copy)]
pub(crate) struct Medium<'a> {
    pub file: BorrowedFd<'a>,
    pub path: &'a Path,
    /// Offsets and lengths are multiples of this.
    pub align_bytes: u32,
}

/// The load, and who of it waits to be woken.
pub(crate) struct Script {
    pub load: Box<dyn Load>,
    pub parked: Vec<bool>,
    /// Measurement has begun.
    pub measuring: bool,
}

/// Messages of one thread for another.
pub(crate) struct Inbox {
    pub woken: Mutex<Vec<ProcessId>>,
    pub bell: Option<OwnedFd>,
}

/// State that all threads share.
pub(crate) struct Common<'a> {
    pub medium: Medium<'a>,
    pub script: Mutex<Script>,
    pub inboxes: Vec<Inbox>,
    pub stop: AtomicBool,
    /// Bytes moved so far.
    pub bytes: AtomicU64,
    pub versions: &'a AtomicU64,
    pub run: u64,
    pub verify: bool,
    pub register: bool,
    pub buffer_bytes: u32,
    pub began: Instant,
    /// Recording begins and ends.
    pub from: Time,
    pub until: Time,
}

impl Common<'_> {
    /// Time since the engine began.
    #[inline]
    pub fn now(&self) -> Time {
        Time(self.began.elapsed().as_nanos() as u64)
    }

    /// An error of something that was not a request.
    pub fn doing(&self, doing: &'static str, source: std::io::Error) -> DriveError {
        DriveError::Doing { path: self.medium.path.to_owned(), doing, source }
    }

    /// The load; a thread that panicked has poisoned nothing that the others can still use.
    pub fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
