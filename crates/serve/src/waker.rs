//! The waker of a thread that waits for several descriptors.

use rustix::event::{EventfdFlags, eventfd};
use std::io;
use std::os::fd::{AsFd, OwnedFd};

/// A descriptor that is readable once somebody has woken its thread.
pub(crate) struct Waker(OwnedFd);

impl Waker {
    pub fn new() -> io::Result<Waker> {
        Ok(Waker(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?))
    }

    pub fn wake(&self) {
        // The counter is far from full, because each read sets it back.
        let _ = rustix::io::write(&self.0, &1u64.to_ne_bytes());
    }

    pub fn fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.0.as_fd()
    }

    pub fn clear(&self) {
        let _ = rustix::io::read(&self.0, &mut [0u8; 8]);
    }
}
