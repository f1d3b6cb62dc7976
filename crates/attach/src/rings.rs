//! A descriptor that becomes readable when somebody rings, for threads that wait for other descriptors as well.

use rustix::event::{EventfdFlags, eventfd};
use std::io;
use std::os::fd::OwnedFd;

/// See the module. However often it was rung, it is cleared once.
#[derive(Debug)]
pub(crate) struct Rings(OwnedFd);

impl Rings {
    pub fn new() -> io::Result<Rings> {
        Ok(Rings(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?))
    }

    /// The descriptor to be watched.
    pub fn fd(&self) -> &OwnedFd {
        &self.0
    }

    pub fn ring(&self) {
        // The counter is far from full, because each read sets it back.
        let _ = rustix::io::write(&self.0, &1u64.to_ne_bytes());
    }

    pub fn clear(&self) {
        let _ = rustix::io::read(&self.0, &mut [0u8; 8]);
    }
}
