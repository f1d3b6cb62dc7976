//! The requests of a card to one module on a shelf: commands in flight on the I/O queue.

use crate::nvme::Status;
use crate::nvme::initiator::{Arrival, Ask, Broken, Completion, HostQueue, NamespaceFacts};
use crate::remote::address::ModuleAddress;
use crate::remote::error::RemoteError;
use crate::remote::host_name::HostNames;
use crate::remote::keeper::Keeper;
use crate::remote::link::{INPUT_BYTES, Link};
use crate::remote::session::{RemoteOptions, Session};
use crate::remote::watch::{Loss, Watch};
use files::{Done, Io, IoKind};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use slab::Slab;
use std::collections::VecDeque;
use std::io;
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};

/// A shelf ends a controller of which it has heard nothing for so long.
const KEEP_ALIVE_MS: u32 = 30_000;
/// The most blocks of a Write Zeroes.
const MAX_ZEROED_BLOCKS: u64 = 1 << 16;
/// Bytes that were damaged on their way are sent again so often.
const TRIES: u8 = 3;
/// Commands wait in the card, not in memory behind a socket that takes nothing.
const MAX_UNSENT_BYTES: usize = 4 << 20;

/// A request of the card.
#[derive(Debug)]
struct Running {
    io: Io,
    /// Commands of it that have not ended.
    left: u32,
    /// The first error number; 0: none.
    error: i32,
}

/// A command of a request.
#[derive(Clone, Copy, Debug)]
struct Part {
    running: usize,
    /// The offset in the request.
    offset: u64,
    bytes: u64,
    tries: u8,
}

/// See the module.
pub(crate) struct Channel {
    address: ModuleAddress,
    stream: TcpStream,
    queue: HostQueue,
    namespace: NamespaceFacts,
    namespace_id: u32,
    can_zero: bool,
    transfer_bytes: u64,
    input: Vec<u8>,
    begin: usize,
    end: usize,
    out: Vec<u8>,
    sent: usize,
    requests: Slab<Running>,
    waiting: VecDeque<Part>,
    in_flight: Vec<Option<Part>>,
    is_lost: bool,
    _keeper: Keeper,
    /// The name of this host at the module, when the connection was made.
    host: [u8; 16],
    hosts: HostNames,
    watch: Watch,
}

impl Channel {
    pub fn open(address: ModuleAddress, options: &RemoteOptions, watch: &Watch) -> Result<Channel, RemoteError> {
        let host = options.host_at(&address).id;
        let session = Session::open(&address, options, KEEP_ALIVE_MS)?;
        let Session { admin, io, controller, namespace, namespace_id } = session;
        if namespace.read_only {
            return Err(RemoteError::Unfit { what: "takes no writes" });
        }
        let Link { stream, queue, .. } = io;
        let keeper = Keeper::start(admin, &stream, options.timeout);
        let keeper = keeper.map_err(|source| RemoteError::System { source })?;
        Ok(Channel {
            address,
            stream,
            queue,
            transfer_bytes: u64::from(controller.transfer_bytes / namespace.block_bytes * namespace.block_bytes),
            can_zero: controller.can_zero,
            namespace,
            namespace_id,
            input: vec![0; INPUT_BYTES],
            begin: 0,
            end: 0,
            out: Vec::new(),
            sent: 0,
            requests: Slab::new(),
            waiting: VecDeque::new(),
            in_flight: vec![None; crate::nvme::initiator::DEPTH],
            is_lost: false,
            _keeper: keeper,
            host,
            hosts: options.hosts.clone(),
            watch: watch.clone(),
        })
    }

    pub fn fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    pub fn bytes(&self) -> u64 {
        self.namespace.blocks * u64::from(self.namespace.block_bytes)
    }

    pub fn block_bytes(&self) -> u32 {
        self.namespace.block_bytes
    }

    pub fn can_zero(&self) -> bool {
        self.can_zero
    }

    /// A request is not answered.
    pub fn is_busy(&self) -> bool {
        !self.requests.is_empty()
    }

    pub fn is_lost(&self) -> bool {
        self.is_lost
    }

    /// Commands or bytes are to be sent.
    pub fn has_waiting(&self) -> bool {
        !self.waiting.is_empty() || self.has_unsent()
    }

    /// Bytes wait for room in the socket.
    pub fn has_unsent(&self) -> bool {
        self.sent < self.out.len()
    }

    /// Takes a request, which is sent with the next [`Channel::send`].
    pub fn begin(&mut self, io: Io, done: &mut Vec<Done>) {
        let len = io.buffer.bytes().len() as u64;
        let (bytes, most) = match io.kind {
            IoKind::Read | IoKind::Write { .. } => (len, self.transfer_bytes),
            IoKind::Sync => (0, 0),
            IoKind::Discard { bytes } => (bytes, MAX_ZEROED_BLOCKS * u64::from(self.namespace.block_bytes)),
        };
        let block = u64::from(self.namespace.block_bytes);
        let is_aligned = io.offset.is_multiple_of(block) && bytes.is_multiple_of(block);
        let is_within = io.offset.checked_add(bytes).is_some_and(|end| end <= self.bytes());
        let refused = match io.kind {
            _ if self.watch.is_lost() => Some(Errno::BADE),
            _ if self.is_lost => Some(Errno::IO),
            IoKind::Sync => None,
            IoKind::Discard { .. } if !self.can_zero => Some(Errno::OPNOTSUPP),
            _ if !is_aligned || !is_within || bytes == 0 => Some(Errno::INVAL),
            _ => None,
        };
        if let Some(errno) = refused {
            done.push(Done { tag: io.tag, result: -errno.raw_os_error(), buffer: io.buffer });
            return;
        }
        let parts = if bytes == 0 { 1 } else { bytes.div_ceil(most) };
        let running = self.requests.insert(Running { io, left: parts as u32, error: 0 });
        let part = |number: u64| {
            let offset = number * most;
            Part { running, offset, bytes: most.min(bytes - offset), tries: 0 }
        };
        self.waiting.extend((0..parts).map(part));
    }

    /// Sends as many commands as the queue has room for, and as many bytes as the socket takes.
    pub fn send(&mut self, done: &mut Vec<Done>) {
        if self.watch.is_lost() {
            for part in std::mem::take(&mut self.waiting) {
                self.end_part(part, Errno::BADE.raw_os_error(), done);
            }
        }
        while self.queue.has_room()
            && self.out.len() - self.sent < MAX_UNSENT_BYTES
            && let Some(part) = self.waiting.pop_front()
        {
            let Running { io, .. } = &self.requests[part.running];
            let (block, id) = (self.namespace.block_bytes, self.namespace_id);
            let (first, count) = ((io.offset + part.offset) / u64::from(block), (part.bytes / u64::from(block)) as u32);
            let ask = match io.kind {
                IoKind::Read => Ask::read(id, first, count, block),
                IoKind::Write { durable } => Ask::write(id, first, count, block, durable),
                IoKind::Sync => Ask::flush(id),
                IoKind::Discard { .. } => Ask::zero(id, first, count),
            };
            let data = match io.kind {
                IoKind::Write { .. } => &io.buffer.bytes()[part.offset as usize..][..part.bytes as usize],
                _ => &[],
            };
            let slot = self.queue.send(&ask, data, &mut self.out);
            self.in_flight[slot] = Some(part);
        }
        if let Err(error) = self.write_out() {
            self.lose(RemoteError::Lost { source: error }, done);
        }
    }

    fn write_out(&mut self) -> io::Result<()> {
        while self.sent < self.out.len() {
            match send(&self.stream, &self.out[self.sent..], SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Ok(sent) => self.sent += sent,
                Err(Errno::AGAIN) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.out.clear();
        self.sent = 0;
        Ok(())
    }

    /// Takes what has arrived, and appends the requests that have ended.
    pub fn receive(&mut self, done: &mut Vec<Done>) {
        while !self.is_lost {
            match recv(&self.stream, &mut self.input[self.end..], RecvFlags::DONTWAIT) {
                Ok((0, _)) => {
                    let source = io::ErrorKind::UnexpectedEof.into();
                    return self.lose(RemoteError::Lost { source }, done);
                }
                Ok((bytes, _)) => {
                    self.end += bytes;
                    let was_full = self.end == self.input.len();
                    if let Err(broken) = self.parse(done) {
                        return self.lose(broken.into(), done);
                    }
                    if !was_full {
                        // Probably nothing more has arrived; if it has, the descriptor stays readable.
                        break;
                    }
                }
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => {}
                Err(error) => return self.lose(RemoteError::Lost { source: error.into() }, done),
            }
        }
        if !self.is_lost {
            // There may be room for commands now, and data that were asked for.
            self.send(done);
        }
    }

    fn parse(&mut self, done: &mut Vec<Done>) -> Result<(), Broken> {
        loop {
            let (consumed, arrival) = self.queue.parse(&self.input[self.begin..self.end])?;
            let at = self.begin;
            self.begin += consumed;
            match arrival {
                Arrival::Missing { .. } => break,
                Arrival::Initialized => {}
                Arrival::Data { slot, offset, range, completion } => {
                    let part = self.in_flight[slot].expect("the queue knows the command");
                    let io = &mut self.requests[part.running].io;
                    let place = &mut io.buffer.bytes_mut()[part.offset as usize + offset..][..range.len()];
                    place.copy_from_slice(&self.input[range.start + at..range.end + at]);
                    if let Some(completion) = completion {
                        self.complete(completion, done);
                    }
                }
                Arrival::Wants { slot, tag, offset, length } => {
                    let part = self.in_flight[slot].expect("the queue knows the command");
                    let bytes = self.requests[part.running].io.buffer.bytes();
                    let data = &bytes[part.offset as usize + offset as usize..][..length as usize];
                    self.queue.send_data(slot, tag, offset, data, &mut self.out);
                }
                Arrival::Completed(completion) => self.complete(completion, done),
            }
        }
        if self.begin == self.end {
            (self.begin, self.end) = (0, 0);
        } else if self.begin > 0 {
            self.input.copy_within(self.begin..self.end, 0);
            (self.begin, self.end) = (0, self.end - self.begin);
        }
        Ok(())
    }

    fn complete(&mut self, Completion { slot, status, .. }: Completion, done: &mut Vec<Done>) {
        let part = self.in_flight[slot].take().expect("the queue knows the command");
        if status == Status::TRANSIENT_TRANSPORT_ERROR && part.tries + 1 < TRIES {
            self.waiting.push_back(Part { tries: part.tries + 1, ..part });
            return;
        }
        let error = match status {
            Status::SUCCESS => 0,
            // This host has taken the module from the one that it was.
            Status::RESERVATION_CONFLICT if self.hosts.has_another(&self.address, &self.host) => {
                Errno::IO.raw_os_error()
            }
            Status::RESERVATION_CONFLICT => {
                self.watch.tell(Loss::Taken);
                Errno::BADE.raw_os_error()
            }
            Status::CAPACITY_EXCEEDED => Errno::NOSPC.raw_os_error(),
            _ => {
                let (kind, code) = status.code();
                tracing::warn!(module = %self.address, status = format!("{kind:x}h/{code:02x}h"), "a request has failed");
                Errno::IO.raw_os_error()
            }
        };
        self.end_part(part, error, done);
    }

    fn end_part(&mut self, part: Part, error: i32, done: &mut Vec<Done>) {
        let running = &mut self.requests[part.running];
        running.left -= 1;
        running.error = if running.error == 0 { error } else { running.error };
        if running.left > 0 {
            return;
        }
        let Running { io, error, .. } = self.requests.remove(part.running);
        let whole = match io.kind {
            IoKind::Read | IoKind::Write { .. } => io.buffer.bytes().len() as i32,
            IoKind::Sync | IoKind::Discard { .. } => 0,
        };
        done.push(Done { tag: io.tag, result: if error == 0 { whole } else { -error }, buffer: io.buffer });
    }

    /// The module is out of reach: all requests fail, now and later. It comes back by being opened again.
    fn lose(&mut self, why: RemoteError, done: &mut Vec<Done>) {
        tracing::warn!(module = %self.address, %why, "a module on a shelf is lost");
        self.is_lost = true;
        let in_flight: Vec<Part> = self.in_flight.iter_mut().filter_map(Option::take).collect();
        for part in in_flight.into_iter().chain(std::mem::take(&mut self.waiting)) {
            self.end_part(part, Errno::IO.raw_os_error(), done);
        }
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
        (self.out, self.sent) = (Vec::new(), 0);
        if !self.hosts.has_another(&self.address, &self.host) {
            self.watch.tell(Loss::Left(self.address.clone()));
        }
    }
}

impl Drop for Channel {
    /// Ends the connection now: the thread that asks for signs of life has its socket a little longer.
    fn drop(&mut self) {
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
    }
}
