//! The io_urings of commands and of a queue, and the memory that the driver writes to. The only `unsafe` of the crate.
//!
//! The code is sound because of these invariants:
//! - a command about a disk has ended before what it points to can be reached again;
//! - the payload and the descriptor of a tag are the driver's from the command that fetches until its completion, and nobody
//!   else gets at them then;
//! - the memory of payloads is freed only when no tag is the driver's; else it is leaked.

#![allow(unsafe_code)]

use crate::words::{self, DESCRIPTOR_BYTES};
use io_uring::{IoUring, cqueue, opcode, squeue, types};
use memmap2::{MmapOptions, MmapRaw};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

/// `user_data` from here on is of a descriptor that is watched; below it is a tag.
const WATCHED: u64 = 1 << 32;

/// The ring of commands about disks.
pub(crate) struct ControlRing(IoUring<squeue::Entry128>);

impl ControlRing {
    pub fn new() -> io::Result<ControlRing> {
        Ok(ControlRing(IoUring::<squeue::Entry128>::builder().build(4)?))
    }

    /// Carries out a command, and waits for its end. `pointed_to` is read and written by the driver meanwhile.
    pub fn run(
        &mut self,
        control: &File,
        command: u32,
        number: u32,
        pointed_to: &mut [u8],
        data: u64,
    ) -> io::Result<i32> {
        let bytes = u16::try_from(pointed_to.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
        let address = if pointed_to.is_empty() { 0 } else { pointed_to.as_mut_ptr() as u64 };
        let words = words::control_command(number, address, bytes, data);
        let entry = opcode::UringCmd80::new(types::Fd(control.as_raw_fd()), command).cmd(words).build();
        // SAFETY: what the command points to is borrowed until this function returns, and it does so only after the
        // command's completion.
        unsafe { self.0.submission().push(&entry) }.map_err(|_| io::ErrorKind::WouldBlock)?;
        loop {
            match self.0.submit_and_wait(1) {
                Ok(_) => {}
                Err(error) if Errno::from_io_error(&error) == Some(Errno::INTR) => {}
                // The command may be under way, and its memory is not given back.
                Err(error) => panic!("io_uring takes nothing any more: {error}"),
            }
            if let Some(ended) = self.0.completion().next() {
                return answer(ended.result());
            }
        }
    }
}

fn answer(result: i32) -> io::Result<i32> {
    if result < 0 { Err(io::Error::from_raw_os_error(-result)) } else { Ok(result) }
}

/// Where a tag is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The driver has it, and may write its payload and descriptor.
    Driver,
    /// It has a request, which is to be answered.
    Here,
    /// It has ended with the disk, or with this queue.
    Ended,
}

/// Something that has happened on the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Happened {
    Request(u16),
    Ended,
    Readable(usize),
}

/// The ring of a queue.
pub(crate) struct QueueRing {
    uring: Option<IoUring>,
    payloads: Option<MmapRaw>,
    descriptors: MmapRaw,
    places: Vec<Place>,
    armed: Vec<bool>,
    watched: Vec<OwnedFd>,
    queue: u16,
    request_bytes: usize,
    server: RawFd,
    /// Keeps the descriptor open that the ring uses.
    _server: File,
}

impl QueueRing {
    /// Makes the ring of a queue of a disk. To be called by the thread that uses it: the driver takes a queue from one
    /// thread only.
    pub fn new(
        server: File,
        queue: u16,
        depth: u16,
        request_bytes: u32,
        watched: Vec<OwnedFd>,
    ) -> io::Result<QueueRing> {
        let request_bytes = request_bytes as usize;
        let payloads: MmapRaw = MmapOptions::new().len(request_bytes * usize::from(depth)).map_anon()?.into();
        let descriptors = MmapOptions::new()
            .offset(u64::from(queue) * words::QUEUE_SPAN_BYTES)
            .len(usize::from(depth) * DESCRIPTOR_BYTES)
            .populate()
            .map_raw_read_only(&server)?;
        let entries = (u32::from(depth) + watched.len() as u32).next_power_of_two();
        let uring = IoUring::builder().setup_coop_taskrun().setup_single_issuer().build(entries)?;
        Ok(QueueRing {
            uring: Some(uring),
            payloads: Some(payloads),
            descriptors,
            places: vec![Place::Ended; depth.into()],
            armed: vec![false; watched.len()],
            watched,
            queue,
            request_bytes,
            server: server.as_raw_fd(),
            _server: server,
        })
    }

    fn uring(&mut self) -> &mut IoUring {
        self.uring.as_mut().expect("present until drop")
    }

    /// # Safety
    /// The memory that the entry points to must stay valid until its completion.
    unsafe fn push(&mut self, entry: &squeue::Entry) -> io::Result<()> {
        // SAFETY: the caller guarantees it.
        while unsafe { self.uring().submission().push(entry) }.is_err() {
            self.uring().submit()?;
        }
        Ok(())
    }

    fn command(&mut self, command: u32, tag: u16, result: i32) -> io::Result<()> {
        let at = usize::from(tag) * self.request_bytes;
        let payloads = self.payloads.as_ref().expect("present until drop");
        let address = payloads.as_mut_ptr() as u64 + at as u64;
        let words = words::io_command(self.queue, tag, result, address);
        let entry = opcode::UringCmd16::new(types::Fd(self.server), command).cmd(words).build();
        self.places[usize::from(tag)] = Place::Driver;
        // SAFETY: the payload of the tag can't be reached while the driver has it, and `drop` frees it only when the
        // driver has none.
        unsafe { self.push(&entry.user_data(tag.into())) }
    }

    /// Gives all tags to the driver, to be returned with requests.
    pub fn fetch_all(&mut self) -> io::Result<()> {
        for tag in 0..self.places.len() as u16 {
            self.command(words::FETCH, tag, 0)?;
        }
        self.uring().submit()?;
        Ok(())
    }

    /// Answers the request of a tag, and gives the tag back to the driver with the next [`QueueRing::wait`].
    ///
    /// # Panics
    /// When the tag has no request.
    pub fn commit(&mut self, tag: u16, result: i32) -> io::Result<()> {
        assert!(self.places[usize::from(tag)] == Place::Here, "tag {tag} has no request");
        self.command(words::COMMIT_AND_FETCH, tag, result)
    }

    /// Has the next waits end when a watched descriptor becomes readable, once.
    pub fn watch(&mut self, index: usize) -> io::Result<()> {
        if std::mem::replace(&mut self.armed[index], true) {
            return Ok(());
        }
        let fd = types::Fd(self.watched[index].as_raw_fd());
        // `POLLIN`.
        let entry = opcode::PollAdd::new(fd, 1).build().user_data(WATCHED + index as u64);
        // SAFETY: it points to no memory.
        unsafe { self.push(&entry) }
    }

    /// Submits what was queued, waits until something has happened unless `waits` is false, and appends all that has.
    pub fn wait(&mut self, waits: bool, happened: &mut Vec<Happened>) -> io::Result<()> {
        let entered = self.uring().submit_and_wait(waits.into());
        match entered {
            Ok(_) => {}
            Err(error) if matches!(Errno::from_io_error(&error), Some(Errno::INTR | Errno::BUSY | Errno::AGAIN)) => {}
            Err(error) => return Err(error),
        }
        let QueueRing { uring, places, armed, .. } = self;
        for ended in uring.as_mut().expect("present until drop").completion() {
            happened.push(take(&ended, places, armed));
        }
        Ok(())
    }

    /// No tag is the driver's, and none has a request.
    pub fn is_over(&self) -> bool {
        self.places.iter().all(|place| *place == Place::Ended)
    }

    /// The descriptor of the request of a tag.
    ///
    /// # Panics
    /// When the tag has no request.
    pub fn descriptor(&self, tag: u16) -> [u8; DESCRIPTOR_BYTES] {
        assert!(self.places[usize::from(tag)] == Place::Here, "tag {tag} has no request");
        let at = usize::from(tag) * DESCRIPTOR_BYTES;
        // SAFETY: it lies within the mapping, and the driver writes it only while it has the tag.
        unsafe { self.descriptors.as_ptr().add(at).cast::<[u8; DESCRIPTOR_BYTES]>().read_volatile() }
    }

    /// The payload of the request of a tag.
    ///
    /// # Panics
    /// When the tag has no request, or the payload is longer than one may be.
    pub fn payload(&self, tag: u16, bytes: usize) -> &[u8] {
        let first = self.first_of_payload(tag, bytes);
        // SAFETY: it lies within the mapping, and the driver doesn't have it.
        unsafe { std::slice::from_raw_parts(first, bytes) }
    }

    /// The same, to be filled.
    pub fn payload_mut(&mut self, tag: u16, bytes: usize) -> &mut [u8] {
        let first = self.first_of_payload(tag, bytes);
        // SAFETY: as above; the ring is borrowed as mutable, so nobody else here has it.
        unsafe { std::slice::from_raw_parts_mut(first, bytes) }
    }

    fn first_of_payload(&self, tag: u16, bytes: usize) -> *mut u8 {
        assert!(self.places[usize::from(tag)] == Place::Here, "tag {tag} has no request");
        assert!(bytes <= self.request_bytes);
        let payloads = self.payloads.as_ref().expect("present until drop");
        // SAFETY: each tag has so many bytes of the mapping.
        unsafe { payloads.as_mut_ptr().add(usize::from(tag) * self.request_bytes) }
    }
}

fn take(ended: &cqueue::Entry, places: &mut [Place], armed: &mut [bool]) -> Happened {
    if ended.user_data() >= WATCHED {
        let index = (ended.user_data() - WATCHED) as usize;
        armed[index] = false;
        return Happened::Readable(index);
    }
    let tag = ended.user_data() as u16;
    let (place, happened) = match ended.result() {
        0 => (Place::Here, Happened::Request(tag)),
        // The disk was stopped, or the command refused: either way the driver has the tag no longer.
        _ => (Place::Ended, Happened::Ended),
    };
    places[usize::from(tag)] = place;
    happened
}

impl Drop for QueueRing {
    fn drop(&mut self) {
        // A ring that is closed cancels its commands later: the driver may write to a payload until then.
        if self.places.contains(&Place::Driver) {
            std::mem::forget(self.payloads.take());
        }
        self.uring = None;
    }
}
