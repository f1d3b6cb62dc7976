//! The bell of a mounted card, and the thread that waits for it.

use crate::rings::Rings;
use live::{Bell, Ear};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// See the module. It rings for lanes that have answers, for a change of the media to be heard, and at the end.
#[derive(Debug)]
pub(in crate::fuse) struct MountBell {
    rings: Rings,
    /// The lanes that have answers.
    lanes: Vec<AtomicBool>,
    stops: AtomicBool,
}

impl MountBell {
    pub fn new(lanes: usize) -> io::Result<Arc<MountBell>> {
        let lanes = (0..lanes).map(|_| AtomicBool::new(false)).collect();
        Ok(Arc::new(MountBell { rings: Rings::new()?, lanes, stops: AtomicBool::new(false) }))
    }

    pub fn ring(&self) {
        self.rings.ring();
    }

    /// Has the thread that waits end.
    pub fn stop(&self) {
        self.stops.store(true, Ordering::Release);
        self.ring();
    }

    pub fn stops(&self) -> bool {
        self.stops.load(Ordering::Acquire)
    }

    /// Whether this lane has answers since it was last asked.
    pub fn rang_for(&self, lane: usize) -> bool {
        self.lanes[lane].swap(false, Ordering::AcqRel)
    }

    /// Waits until the bell rings, or until a medium of these has done something; appends the indexes of those.
    pub fn wait(&self, media: &[(usize, &Ear)], readable: &mut Vec<usize>) -> io::Result<()> {
        let mut fds = vec![PollFd::new(self.rings.fd(), PollFlags::IN)];
        fds.extend(media.iter().map(|(_, medium)| PollFd::new(*medium, PollFlags::IN)));
        while let Err(error) = poll(&mut fds, None) {
            if error != Errno::INTR {
                return Err(error.into());
            }
        }
        if !fds[0].revents().is_empty() {
            self.rings.clear();
        }
        readable.extend(media.iter().zip(&fds[1..]).filter(|(_, fd)| !fd.revents().is_empty()).map(|(at, _)| at.0));
        Ok(())
    }
}

/// The bell as the card knows it: of one lane.
pub(in crate::fuse) struct LaneBell {
    pub bell: Arc<MountBell>,
    pub lane: usize,
}

impl Bell for LaneBell {
    fn ring(&self) {
        self.bell.lanes[self.lane].store(true, Ordering::Release);
        self.bell.ring();
    }
}
