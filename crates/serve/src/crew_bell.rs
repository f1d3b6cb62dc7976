//! The bell of a thread that serves several clients.

use crate::waker::Waker;
use parking_lot::Mutex;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Tells a thread which of its clients have to be looked at. Waking a thread costs more than a request does, so a thread that
/// is awake is not woken: it looks here before it sleeps.
pub(crate) struct CrewBell {
    waker: Waker,
    /// The places of the clients.
    rung: Mutex<Vec<usize>>,
    is_awake: AtomicBool,
}

impl CrewBell {
    pub fn new() -> io::Result<Arc<CrewBell>> {
        Ok(Arc::new(CrewBell { waker: Waker::new()?, rung: Mutex::default(), is_awake: AtomicBool::new(false) }))
    }

    /// The client in a place has to be looked at.
    pub fn ring(&self, place: usize) {
        self.rung.lock().push(place);
        self.wake();
    }

    /// Wakes the thread, unless it is awake.
    pub fn wake(&self) {
        if !self.is_awake.swap(true, Ordering::SeqCst) {
            self.waker.wake();
        }
    }

    /// Whether the thread may sleep: it is woken from now on.
    pub fn may_sleep(&self) -> bool {
        self.is_awake.store(false, Ordering::SeqCst);
        let may_sleep = self.rung.lock().is_empty();
        if !may_sleep {
            self.is_awake.store(true, Ordering::SeqCst);
        }
        may_sleep
    }

    /// The thread has slept. It is not woken from now on.
    pub fn is_awake(&self) {
        self.is_awake.store(true, Ordering::SeqCst);
    }

    /// Somebody has to be looked at.
    pub fn has_rung(&self) -> bool {
        !self.rung.lock().is_empty()
    }

    /// Takes the places that the bell has rung for.
    pub fn take(&self, places: &mut Vec<usize>) {
        places.append(&mut self.rung.lock());
    }

    /// The descriptor that is readable when the thread is woken.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.waker.fd()
    }

    pub fn clear(&self) {
        self.waker.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    fn is_readable(bell: &CrewBell) -> bool {
        let mut fds = [PollFd::from_borrowed_fd(bell.fd(), PollFlags::IN)];
        poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).unwrap() > 0
    }

    #[test]
    fn a_thread_that_is_awake_is_not_woken_and_sleeps_only_after_it_has_looked() {
        let bell = CrewBell::new().unwrap();
        assert!(bell.may_sleep());
        bell.ring(3);
        bell.ring(5);
        assert!(is_readable(&bell));
        bell.is_awake();
        bell.clear();
        bell.ring(7);
        assert!(!is_readable(&bell) && !bell.may_sleep());
        let mut places = Vec::new();
        bell.take(&mut places);
        assert_eq!(places, [3, 5, 7]);
        bell.ring(1);
        assert!(!is_readable(&bell) && !bell.may_sleep(), "it was awake until it had looked");
        bell.take(&mut places);
        assert!(bell.may_sleep());
        bell.ring(2);
        assert!(is_readable(&bell));
    }
}
