//! A client's way to a raw disk: the kernel's asynchronous direct I/O on a ring of its own.

use crate::reply::{Data, Failed, Reply};
use crate::shelf::lent::Lending;
use device::Operation;
use files::{Buffer, Disks, Done, Handle, Io, IoKind};
use live::{Ear, ReplyError, Request};
use rustix::io::Errno;
use std::sync::Arc;

/// Zeroes that have to be written are written in pieces of so many bytes, one after the other.
const ZERO_BYTES: u64 = 1 << 20;

/// See the module.
pub(crate) struct DiskPort {
    disks: Box<dyn Disks>,
    handle: Handle,
    size_bytes: u64,
    /// Requests in flight, by the tag that the ring has of them.
    jobs: Vec<Option<Job>>,
    free: Vec<usize>,
    done: Vec<Done>,
    buffers: Lending,
    ear: Option<Arc<Ear>>,
}

/// A request in flight.
#[derive(Clone, Copy, Debug)]
struct Job {
    tag: u64,
    fua: bool,
    what: What,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Read,
    Write {
        bytes: u64,
    },
    /// The last part of what has to be durable, or a flush.
    Sync,
    /// A place that need not be kept: a disk that refuses has done no harm.
    Trim,
    /// A place is to read as zeroes: the disk is asked for that first.
    Zero {
        offset: u64,
        end: u64,
    },
    /// The rest of it is written.
    WriteZeroes {
        next: u64,
        end: u64,
    },
}

impl DiskPort {
    pub fn new(disks: Box<dyn Disks>, handle: Handle, size_bytes: u64) -> DiskPort {
        let (jobs, free, done, buffers) = (Vec::new(), Vec::new(), Vec::new(), Lending::default());
        DiskPort { disks, handle, size_bytes, jobs, free, done, buffers, ear: None }
    }

    /// The ear that hears whether a request has ended.
    pub fn listen(&mut self) -> Vec<Arc<Ear>> {
        let fd = self.disks.fd().and_then(|fd| fd.try_clone_to_owned().ok());
        self.ear = fd.map(|fd| Arc::new(Ear::new(fd)));
        self.tell();
        self.ear.iter().cloned().collect()
    }

    /// The connection's thread hears the disk while a reply is outstanding.
    fn tell(&self) {
        self.ear.iter().for_each(|ear| ear.set_hears(self.jobs.len() > self.free.len()));
    }

    pub fn submit(&mut self, requests: &[Request], replies: &mut Vec<Reply>) {
        for request in requests {
            if let Err(failed) = self.begin(request) {
                replies.push(Reply { tag: request.tag, result: Err(failed) });
            }
        }
        self.hand_over();
    }

    /// Takes what has ended.
    pub fn hear(&mut self, replies: &mut Vec<Reply>) {
        let mut done = std::mem::take(&mut self.done);
        self.disks.reap(&mut done);
        for Done { tag, result, buffer } in done.drain(..) {
            self.ended(tag as usize, result, buffer, replies);
        }
        self.done = done;
        self.hand_over();
    }

    fn hand_over(&mut self) {
        self.tell();
        if let Err(error) = self.disks.submit() {
            // The entries stay in the queue, and go out with the next ones.
            tracing::warn!(%error, "the kernel takes no requests to a disk now");
        }
    }

    fn begin(&mut self, request: &Request) -> Result<(), Failed> {
        let (offset, bytes) = (request.range.offset_bytes, u64::from(request.range.len_bytes));
        let end = offset.checked_add(bytes).filter(|end| *end <= self.size_bytes);
        let end = end.ok_or(Failed::OfCard(ReplyError::OutOfRange))?;
        let (what, kind, buffer) = match request.operation {
            Operation::Read => (What::Read, IoKind::Read, self.buffers.take(bytes as usize).map_err(|_| Failed::Read)?),
            Operation::Write => {
                // The receive buffer is not aligned, and its room is needed for what comes next.
                let mut buffer = self.buffers.take(bytes as usize).map_err(|_| Failed::Write)?;
                buffer.bytes_mut().copy_from_slice(request.bytes);
                (What::Write { bytes }, IoKind::Write { durable: request.fua }, buffer)
            }
            Operation::Flush => (What::Sync, IoKind::Sync, Buffer::none()),
            Operation::Trim if request.keeps_room => {
                let what = What::WriteZeroes { next: offset, end };
                return self.write_zeroes(Job { tag: request.tag, fua: request.fua, what }, offset, end);
            }
            Operation::Trim => {
                let what = if request.reads_zero { What::Zero { offset, end } } else { What::Trim };
                (what, IoKind::Discard { bytes }, Buffer::none())
            }
        };
        self.ask(Job { tag: request.tag, fua: request.fua, what }, kind, offset, buffer);
        Ok(())
    }

    fn ask(&mut self, job: Job, kind: IoKind, offset: u64, buffer: Buffer) {
        let at = self.free.pop().unwrap_or_else(|| {
            self.jobs.push(None);
            self.jobs.len() - 1
        });
        self.jobs[at] = Some(job);
        self.disks.begin(Io { tag: at as u64, handle: self.handle, kind, offset, buffer });
    }

    /// Writes the next zeroes of a place.
    fn write_zeroes(&mut self, job: Job, next: u64, end: u64) -> Result<(), Failed> {
        let bytes = (end - next).min(ZERO_BYTES);
        let mut buffer = self.buffers.take(bytes as usize).map_err(|_| Failed::Write)?;
        buffer.bytes_mut().fill(0);
        let what = What::WriteZeroes { next: next + bytes, end };
        self.ask(Job { what, ..job }, IoKind::Write { durable: job.fua }, next, buffer);
        Ok(())
    }

    fn ended(&mut self, at: usize, result: i32, buffer: Buffer, replies: &mut Vec<Reply>) {
        let job = self.jobs[at].take().expect("it is in flight");
        self.free.push(at);
        let reply = |result| Reply { tag: job.tag, result };
        let is_whole = |bytes: u64| u64::try_from(result) == Ok(bytes);
        let none = || Ok(Data::OfCard(Default::default()));
        let written = |ok| if ok { none() } else { Err(Failed::Write) };
        if let What::Read = job.what {
            let whole = is_whole(buffer.bytes().len() as u64);
            let data = whole.then(|| Data::OfDisk(self.buffers.lend(buffer))).ok_or(Failed::Read);
            replies.push(reply(data));
            return;
        }
        let piece_bytes = buffer.bytes().len() as u64;
        self.buffers.give(buffer);
        match job.what {
            What::Read => unreachable!("handled above"),
            What::Write { bytes } => replies.push(reply(match refused_for_room(result) {
                true => Err(Failed::OfCard(ReplyError::NoSpace)),
                false => written(is_whole(bytes)),
            })),
            What::Sync => replies.push(reply(written(result == 0))),
            // A hole is durable with the next sync, like a write.
            What::Trim | What::Zero { .. } if result == 0 && job.fua => {
                self.ask(Job { what: What::Sync, ..job }, IoKind::Sync, 0, Buffer::none());
            }
            What::Trim => replies.push(reply(none())),
            What::Zero { .. } if result == 0 => replies.push(reply(none())),
            What::Zero { offset, end } => {
                if let Err(failed) = self.write_zeroes(job, offset, end) {
                    replies.push(reply(Err(failed)));
                }
            }
            What::WriteZeroes { next, end } if is_whole(piece_bytes) && next < end => {
                if let Err(failed) = self.write_zeroes(job, next, end) {
                    replies.push(reply(Err(failed)));
                }
            }
            What::WriteZeroes { .. } => replies.push(reply(written(is_whole(piece_bytes)))),
        }
    }
}

fn refused_for_room(result: i32) -> bool {
    [Errno::NOSPC, Errno::DQUOT].iter().any(|errno| errno.raw_os_error() == -result)
}
