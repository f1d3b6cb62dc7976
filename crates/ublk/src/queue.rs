//! A queue of a disk, as the thread that serves it sees it.

use crate::error::{Step, UblkError};
use crate::ring::{Happened, QueueRing};
use crate::words::{self, DeviceInfo, Requested};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// Bound on the time in which the system makes the file of a disk that was added.
const APPEARS_WITHIN: Duration = Duration::from_secs(5);

/// Something that a queue has waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A request has come, under this tag.
    Request(u16, Requested),
    /// A watched descriptor is readable, or was.
    Readable(usize),
}

/// A queue that is not taken yet, and may be by any thread.
#[derive(Debug)]
pub struct Place {
    file: File,
    info: DeviceInfo,
    number: u16,
}

/// The queues of a disk. The driver lets them be taken once: until all are given up, by nobody else.
pub fn places(info: &DeviceInfo) -> Result<Vec<Place>, UblkError> {
    let failed = |error| UblkError::of(Step::Queue)(error);
    let file = appeared(info.number).map_err(failed)?;
    let place = |number| Ok(Place { file: file.try_clone()?, info: *info, number });
    (0..info.queues).map(place).collect::<io::Result<_>>().map_err(failed)
}

/// A queue. It belongs to the thread that made it.
pub struct Queue {
    ring: QueueRing,
    happened: Vec<Happened>,
}

impl Queue {
    /// Takes a queue of a disk that is not started, or is to be taken back. `watched`: descriptors that can end a wait.
    pub fn open(place: Place, watched: Vec<OwnedFd>) -> Result<Queue, UblkError> {
        let failed = |error| UblkError::of(Step::Queue)(error);
        let Place { file, info, number } = place;
        let mut ring = QueueRing::new(file, number, info.depth, info.request_bytes, watched).map_err(failed)?;
        ring.fetch_all().map_err(failed)?;
        Ok(Queue { ring, happened: Vec::new() })
    }

    /// Has the next waits end when a watched descriptor becomes readable, once.
    pub fn watch(&mut self, index: usize) -> io::Result<()> {
        self.ring.watch(index)
    }

    /// Hands over what was answered, waits until something has happened (not if `waits` is false), and appends it.
    pub fn wait(&mut self, waits: bool, events: &mut Vec<Event>) -> io::Result<()> {
        self.ring.wait(waits, &mut self.happened)?;
        for happened in self.happened.drain(..) {
            match happened {
                Happened::Request(tag) => {
                    events.push(Event::Request(tag, Requested::decode(&self.ring.descriptor(tag))));
                }
                Happened::Readable(index) => events.push(Event::Readable(index)),
                Happened::Ended => {}
            }
        }
        Ok(())
    }

    /// The payload of a request that is not answered.
    pub fn payload(&self, tag: u16, bytes: usize) -> &[u8] {
        self.ring.payload(tag, bytes)
    }

    /// The same, to be filled by a read.
    pub fn payload_mut(&mut self, tag: u16, bytes: usize) -> &mut [u8] {
        self.ring.payload_mut(tag, bytes)
    }

    /// Answers a request: bytes that were read or written, or a negative error number. It goes out with the next wait.
    pub fn answer(&mut self, tag: u16, result: i32) -> io::Result<()> {
        self.ring.commit(tag, result)
    }

    /// The disk was stopped, and no request is left.
    pub fn is_over(&self) -> bool {
        self.ring.is_over()
    }
}

/// The file of a disk that was added just now. The system makes it when it hears of the disk.
fn appeared(number: u32) -> io::Result<File> {
    let (path, began) = (words::server_path(number), Instant::now());
    loop {
        match File::options().read(true).write(true).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && began.elapsed() < APPEARS_WITHIN => {
                std::thread::sleep(Duration::from_millis(1));
            }
            opened => return opened,
        }
    }
}
