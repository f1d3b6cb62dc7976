//! A connection to a controller on which one command follows the other.

use crate::nvme::Status;
use crate::nvme::initiator::{Arrival, Ask, Completion, HostQueue, MAX_INPUT_BYTES};
use crate::remote::address::ShelfAddress;
use crate::remote::error::RemoteError;
use crate::stream::wait;
use rustix::event::{PollFd, PollFlags};
use rustix::net::{RecvFlags, SendFlags, recv, send};
use std::io;
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

/// The room for what a controller sends; pages that are not used take no memory.
pub(crate) const INPUT_BYTES: usize = MAX_INPUT_BYTES + (64 << 10);

/// The answer to a command.
pub(crate) struct Answered {
    pub status: Status,
    pub value: u64,
    pub data: Vec<u8>,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Link {
    pub stream: TcpStream,
    pub queue: HostQueue,
    input: Vec<u8>,
    begin: usize,
    end: usize,
    timeout: Duration,
}

impl Link {
    /// Connects, and initializes the connection.
    pub fn open(shelf: &ShelfAddress, timeout: Duration) -> Result<Link, RemoteError> {
        let failed = |source| RemoteError::Connect { shelf: shelf.clone(), source };
        let deadline = Instant::now() + timeout;
        let mut last = io::ErrorKind::AddrNotAvailable.into();
        let left = |deadline: Instant| deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        let addresses = shelf.resolve().map_err(failed)?;
        let stream = addresses
            .iter()
            .find_map(|address| TcpStream::connect_timeout(address, left(deadline)).map_err(|error| last = error).ok());
        let stream = stream.ok_or_else(|| failed(last))?;
        let system = |source| RemoteError::System { source };
        stream.set_nodelay(true).map_err(system)?;
        stream.set_nonblocking(true).map_err(system)?;
        let mut out = Vec::new();
        let queue = HostQueue::begin(&mut out);
        let mut link = Link { stream, queue, input: vec![0; INPUT_BYTES], begin: 0, end: 0, timeout };
        link.send(&out, deadline)?;
        let arrival = link.arrival(deadline)?;
        assert_eq!(arrival, Arrival::Initialized, "nothing else comes before the connection is initialized");
        Ok(link)
    }

    /// Asks, and waits for the answer, at most as long as the connection's timeout.
    pub fn ask(&mut self, ask: &Ask, data: &[u8]) -> Result<Answered, RemoteError> {
        let deadline = Instant::now() + self.timeout;
        let mut out = Vec::new();
        let mine = self.queue.send(ask, data, &mut out);
        self.send(&out, deadline)?;
        let mut read = vec![0; ask.read_bytes as usize];
        loop {
            let completion = match self.arrival(deadline)? {
                Arrival::Data { offset, range, completion, .. } => {
                    let length = range.len();
                    read[offset..offset + length].copy_from_slice(&self.input[range]);
                    completion
                }
                Arrival::Wants { slot, tag, offset, length } => {
                    let mut out = Vec::new();
                    let piece = &data[offset as usize..(offset + length) as usize];
                    self.queue.send_data(slot, tag, offset, piece, &mut out);
                    self.send(&out, deadline)?;
                    None
                }
                Arrival::Completed(completion) => Some(completion),
                Arrival::Initialized | Arrival::Missing { .. } => None,
            };
            if let Some(Completion { slot, status, value }) = completion {
                assert_eq!(slot, mine, "one command follows the other");
                return Ok(Answered { status, value, data: read });
            }
        }
    }

    /// As [`Link::ask`], of a command that has to succeed.
    pub fn get(&mut self, what: &'static str, ask: &Ask, data: &[u8]) -> Result<Answered, RemoteError> {
        let answered = self.ask(ask, data)?;
        match answered.status {
            Status::SUCCESS => Ok(answered),
            Status::RESERVATION_CONFLICT => Err(RemoteError::Conflict),
            status => Err(RemoteError::Refused { what, status }),
        }
    }

    fn silent(&self) -> RemoteError {
        RemoteError::Silent { after: self.timeout }
    }

    fn send(&mut self, mut bytes: &[u8], deadline: Instant) -> Result<(), RemoteError> {
        let lost = |source| RemoteError::Lost { source };
        while !bytes.is_empty() {
            match send(&self.stream, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Ok(sent) => bytes = &bytes[sent..],
                Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => {
                    let mut fds = [PollFd::from_borrowed_fd(self.stream.as_fd(), PollFlags::OUT)];
                    if !wait(&mut fds, Some(deadline)).map_err(lost)? {
                        return Err(self.silent());
                    }
                }
                Err(error) => return Err(lost(error.into())),
            }
        }
        Ok(())
    }

    /// The next thing that arrives. A range of data lies in the input until the next call.
    fn arrival(&mut self, deadline: Instant) -> Result<Arrival, RemoteError> {
        let lost = |source| RemoteError::Lost { source };
        loop {
            let (consumed, mut arrival) = self.queue.parse(&self.input[self.begin..self.end])?;
            if let Arrival::Data { range, .. } = &mut arrival {
                *range = range.start + self.begin..range.end + self.begin;
            }
            self.begin += consumed;
            if !matches!(arrival, Arrival::Missing { .. }) {
                return Ok(arrival);
            }
            self.input.copy_within(self.begin..self.end, 0);
            (self.begin, self.end) = (0, self.end - self.begin);
            match recv(&self.stream, &mut self.input[self.end..], RecvFlags::DONTWAIT) {
                Ok((0, _)) => return Err(lost(io::ErrorKind::UnexpectedEof.into())),
                Ok((bytes, _)) => self.end += bytes,
                Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => {
                    let mut fds = [PollFd::from_borrowed_fd(self.stream.as_fd(), PollFlags::IN)];
                    if !wait(&mut fds, Some(deadline)).map_err(lost)? {
                        return Err(self.silent());
                    }
                }
                Err(error) => return Err(lost(error.into())),
            }
        }
    }
}
