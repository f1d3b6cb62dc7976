//! One io_uring with the buffers of its requests, and the system calls that have no safe wrapper. The only `unsafe` here.
//!
//! Invariants, which are what makes it sound:
//! - a slot has at most one request outstanding, and while it has, nobody gets at its buffer;
//! - buffers are freed only when nothing is outstanding; where a device never answers, they are leaked;
//! - the file and the eventfd outlive the ring (they are borrowed).

#![allow(unsafe_code)]

use crate::arena::Arena;
use crate::nvme::{Admin, Controller};
use device::{Operation, Request};
use io_uring::{IoUring, cqueue, opcode, squeue, types};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::{Duration, Instant};

/// The file's number among the ring's registered files.
const FILE: types::Fixed = types::Fixed(0);
/// `user_data` of the poll that another thread's wake-up finishes.
const WAKE: u64 = u64::MAX;
/// Write through: `RWF_DSYNC`.
const DSYNC: i32 = 2;
/// Largest buffer that the kernel registers.
const MAX_REGISTERED_BYTES: usize = 1 << 30;
/// Bound on the time for which a ring that is given up waits for requests in flight. The kernel's own limit for a
/// request to a device is 30 seconds, a few times over.
const DRAIN_LIMIT: Duration = Duration::from_secs(120);

/// A finished request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finished {
    pub slot: usize,
    /// Bytes, or a negative error number.
    pub result: i32,
}

/// See the module.
pub(crate) struct Ring<'a> {
    uring: Option<IoUring>,
    arena: Option<Arena>,
    outstanding: Vec<bool>,
    in_flight: usize,
    buffers_registered: bool,
    wake: Option<BorrowedFd<'a>>,
    wake_armed: bool,
    woken: bool,
    /// Keeps the file open.
    _file: BorrowedFd<'a>,
}

impl<'a> Ring<'a> {
    /// For `slots` requests at once to `file`, with buffers of `bytes` each. `wake`: an eventfd that ends waiting.
    /// Buffers are registered if `register` and if the limit on locked memory permits.
    ///
    /// To be called by the thread that uses it.
    pub fn new(
        file: BorrowedFd<'a>,
        wake: Option<BorrowedFd<'a>>,
        slots: usize,
        bytes: usize,
        register: bool,
    ) -> io::Result<Ring<'a>> {
        let mut arena = Arena::new(slots, bytes)?;
        let uring = build((slots + 1) as u32)?;
        uring.submitter().register_files(&[file.as_raw_fd()])?;
        let whole = arena.whole();
        let buffers_registered = register && whole.len() <= MAX_REGISTERED_BYTES && {
            let iovec = iovec(whole);
            // SAFETY: the memory stays mapped until the ring is gone, see `drop`.
            unsafe { uring.submitter().register_buffers(&[iovec]) }.is_ok()
        };
        Ok(Ring {
            uring: Some(uring),
            arena: Some(arena),
            outstanding: vec![false; slots],
            in_flight: 0,
            buffers_registered,
            wake,
            wake_armed: false,
            woken: false,
            _file: file,
        })
    }

    pub fn buffers_registered(&self) -> bool {
        self.buffers_registered
    }

    /// Returns the number of requests in flight.
    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Another thread has rung since this was last asked.
    pub fn take_woken(&mut self) -> bool {
        std::mem::take(&mut self.woken)
    }

    /// A slot's buffer, while it has no request outstanding.
    pub fn buffer(&mut self, slot: usize, bytes: usize) -> io::Result<&mut [u8]> {
        assert!(!self.outstanding[slot], "the kernel has the buffer");
        Ok(self.arena.as_mut().expect("present until drop").buffer(slot, bytes)?.0)
    }

    /// Queues a request; it goes out with the next [`Ring::wait`].
    pub fn queue(&mut self, slot: usize, request: &Request) -> io::Result<()> {
        assert!(!self.outstanding[slot], "one request at a time");
        let len = request.range.len_bytes;
        let (buffer, regular) = self.arena.as_mut().expect("present until drop").buffer(slot, len as usize)?;
        let address = buffer.as_mut_ptr();
        let fixed = regular && self.buffers_registered;
        let offset = request.range.offset_bytes;
        let entry = match request.operation {
            Operation::Read if fixed => opcode::ReadFixed::new(FILE, address, len, 0).offset(offset).build(),
            Operation::Read => opcode::Read::new(FILE, address, len).offset(offset).build(),
            Operation::Write => {
                let flags = if request.fua { DSYNC } else { 0 };
                if fixed {
                    opcode::WriteFixed::new(FILE, address, len, 0).offset(offset).rw_flags(flags).build()
                } else {
                    opcode::Write::new(FILE, address, len).offset(offset).rw_flags(flags).build()
                }
            }
            Operation::Flush => opcode::Fsync::new(FILE).flags(types::FsyncFlags::DATASYNC).build(),
            Operation::Trim => {
                let punch = rustix::fs::FallocateFlags::PUNCH_HOLE | rustix::fs::FallocateFlags::KEEP_SIZE;
                opcode::Fallocate::new(FILE, u64::from(len)).offset(offset).mode(punch.bits() as i32).build()
            }
        };
        // SAFETY: the buffer is `len` bytes of the arena or of the slot's own mapping; `outstanding` keeps everybody
        // from it until the request has finished, and `drop` frees neither before that.
        unsafe { self.push(&entry.user_data(slot as u64)) };
        self.outstanding[slot] = true;
        self.in_flight += 1;
        Ok(())
    }

    /// # Safety
    /// The memory to which the entry points stays valid until the request has finished.
    unsafe fn push(&mut self, entry: &squeue::Entry) {
        let uring = self.uring.as_mut().expect("present until drop");
        // SAFETY: the caller's. The queue has an entry for each slot and one for the wake-up, so it is never full.
        unsafe { uring.submission().push(entry) }.expect("an entry for each slot");
    }

    /// Hands over what was queued, and waits for nothing.
    pub fn submit(&mut self) -> io::Result<()> {
        match self.uring.as_ref().expect("present until drop").submit() {
            Ok(_) => Ok(()),
            // Completions must be fetched first: what is left goes out with the next [`Ring::wait`].
            Err(e) if matches!(e.raw_os_error(), Some(libc::EINTR | libc::EBUSY | libc::EAGAIN)) => Ok(()),
            Err(e) => Err(e),
        }
    }

    /// Hands over what was queued and waits for something to finish, unless `timeout` is zero, and no longer than it.
    pub fn wait(&mut self, timeout: Duration) -> io::Result<()> {
        if let Some(wake) = self.wake
            && !self.wake_armed
        {
            let entry = opcode::PollAdd::new(types::Fd(wake.as_raw_fd()), libc::POLLIN as u32).build();
            // SAFETY: it points to nothing.
            unsafe { self.push(&entry.user_data(WAKE)) };
            self.wake_armed = true;
        }
        let uring = self.uring.as_ref().expect("present until drop");
        let want = usize::from(!timeout.is_zero());
        let timespec = types::Timespec::from(timeout);
        let args = types::SubmitArgs::new().timespec(&timespec);
        match uring.submitter().submit_with_args(want, &args) {
            Ok(_) => Ok(()),
            // Nothing finished in time; a signal; completions that must be fetched first.
            Err(e) if matches!(e.raw_os_error(), Some(libc::ETIME | libc::EINTR | libc::EBUSY | libc::EAGAIN)) => {
                Ok(())
            }
            Err(e) => Err(e),
        }
    }

    /// Appends what has finished.
    pub fn reap(&mut self, finished: &mut Vec<Finished>) {
        let uring = self.uring.as_mut().expect("present until drop");
        for entry in uring.completion() {
            if entry.user_data() == WAKE {
                self.wake_armed = false;
                self.woken = true;
                // Sets the counter back, so that the next poll waits for the next ring of the bell.
                let _ = rustix::io::read(self.wake.expect("it was armed"), &mut [0; 8]);
                continue;
            }
            debug_assert!(!cqueue::more(entry.flags()));
            let slot = entry.user_data() as usize;
            assert!(std::mem::take(&mut self.outstanding[slot]), "finished without having been asked");
            self.in_flight -= 1;
            finished.push(Finished { slot, result: entry.result() });
        }
    }
}

impl Drop for Ring<'_> {
    /// Waits for what is outstanding: a panic, too, must not free memory that the kernel writes to.
    fn drop(&mut self) {
        let began = Instant::now();
        let mut finished = Vec::new();
        while self.in_flight > 0 && began.elapsed() < DRAIN_LIMIT {
            if self.wait(Duration::from_millis(100)).is_err() {
                break;
            }
            self.reap(&mut finished);
        }
        if self.in_flight > 0 {
            std::mem::forget(self.arena.take());
        }
        // The ring goes before the buffers. Registered files and buffers are given back first: a ring that is closed
        // lets go of them some time later, and until then a device is still in use and a file system can't be
        // unmounted.
        if let Some(uring) = self.uring.take()
            && self.in_flight == 0
        {
            let _ = uring.submitter().unregister_files();
            if self.buffers_registered {
                let _ = uring.submitter().unregister_buffers();
            }
        }
    }
}

fn iovec(bytes: &mut [u8]) -> libc::iovec {
    libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() }
}

/// The cheapest ring that this kernel gives: one thread submits, and completions are worked off when it asks for them
/// (6.1), without interrupting it (5.19), or as they come.
fn build(entries: u32) -> io::Result<IoUring> {
    IoUring::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .build(entries)
        .or_else(|_| IoUring::builder().setup_coop_taskrun().build(entries))
        .or_else(|_| IoUring::new(entries))
}

/// Tells a block device that a range is unused (`BLKDISCARD`).
pub(crate) fn discard(device: BorrowedFd, offset_bytes: u64, len_bytes: u64) -> io::Result<()> {
    const BLKDISCARD: rustix::ioctl::Opcode = rustix::ioctl::opcode::none(0x12, 119);
    // SAFETY: BLKDISCARD reads two 64-bit numbers, first byte and length, and writes nothing to memory.
    unsafe {
        let range = rustix::ioctl::Setter::<BLKDISCARD, [u64; 2]>::new([offset_bytes, len_bytes]);
        rustix::ioctl::ioctl(device, range)?;
    }
    Ok(())
}

/// The command as the kernel takes it (`struct nvme_admin_cmd` of linux/nvme_ioctl.h).
#[repr(C)]
struct KernelAdmin {
    opcode: u8,
    flags: u8,
    reserved: u16,
    namespace: u32,
    dwords_2: [u32; 2],
    metadata: u64,
    data: u64,
    metadata_bytes: u32,
    data_bytes: u32,
    dwords_10: [u32; 6],
    timeout_ms: u32,
    result: u32,
}

/// A device that may be an NVMe drive. A partition of one must not come here: the kernel would pass its commands on.
impl Controller for BorrowedFd<'_> {
    fn namespace(&self) -> io::Result<u32> {
        const NVME_ID: rustix::ioctl::Opcode = rustix::ioctl::opcode::none(b'N', 0x40);
        // SAFETY: the request takes no argument; what it returns is a number.
        let number = unsafe { rustix::ioctl::ioctl(self, Returning::<NVME_ID>) };
        Ok(number? as u32)
    }

    fn admin(&self, admin: &Admin, data: &mut [u8]) -> io::Result<u16> {
        const NVME_ADMIN: rustix::ioctl::Opcode = rustix::ioctl::opcode::read_write::<KernelAdmin>(b'N', 0x41);
        let mut command = KernelAdmin {
            opcode: admin.opcode,
            flags: 0,
            reserved: 0,
            namespace: admin.namespace,
            dwords_2: [0; 2],
            metadata: 0,
            data: if data.is_empty() { 0 } else { data.as_mut_ptr() as u64 },
            metadata_bytes: 0,
            data_bytes: u32::try_from(data.len()).map_err(|_| io::ErrorKind::InvalidInput)?,
            dwords_10: [admin.dword10, 0, 0, 0, 0, 0],
            timeout_ms: u32::try_from(admin.patience.as_millis()).unwrap_or(u32::MAX),
            result: 0,
        };
        // SAFETY: the kernel reads the structure, and writes its result and the bytes of `data`, which is borrowed alone.
        let status = unsafe { rustix::ioctl::ioctl(self, Exchanging::<NVME_ADMIN>(&mut command)) }?;
        // Status Code Type and Status Code, without the bits that say whether to try again.
        Ok((status & 0x7ff) as u16)
    }
}

/// A request without an argument, whose return value counts.
struct Returning<const OPCODE: rustix::ioctl::Opcode>;

/// A request with a structure that is read and written, whose return value counts.
struct Exchanging<'a, const OPCODE: rustix::ioctl::Opcode>(&'a mut KernelAdmin);

// SAFETY: there is no argument.
unsafe impl<const OPCODE: rustix::ioctl::Opcode> rustix::ioctl::Ioctl for Returning<OPCODE> {
    type Output = i32;
    const IS_MUTATING: bool = false;

    fn opcode(&self) -> rustix::ioctl::Opcode {
        OPCODE
    }

    fn as_ptr(&mut self) -> *mut libc::c_void {
        std::ptr::null_mut()
    }

    unsafe fn output_from_ptr(out: rustix::ioctl::IoctlOutput, _: *mut libc::c_void) -> rustix::io::Result<i32> {
        Ok(out)
    }
}

// SAFETY: the argument is the structure that the request is defined for, borrowed alone.
unsafe impl<const OPCODE: rustix::ioctl::Opcode> rustix::ioctl::Ioctl for Exchanging<'_, OPCODE> {
    type Output = i32;
    const IS_MUTATING: bool = true;

    fn opcode(&self) -> rustix::ioctl::Opcode {
        OPCODE
    }

    fn as_ptr(&mut self) -> *mut libc::c_void {
        std::ptr::from_mut(self.0).cast()
    }

    unsafe fn output_from_ptr(out: rustix::ioctl::IoctlOutput, _: *mut libc::c_void) -> rustix::io::Result<i32> {
        Ok(out)
    }
}

/// Asks the scheduler for short turns of the calling thread (Linux 6.12), so that it runs soon after it is woken, also
/// when something else computes: the turn of a neighbour (3 ms) is not the device's latency. It gets no more of the
/// processor for it. Other kernels leave everything as it is.
pub(crate) fn short_turns() {
    const TURN_NS: u64 = 100_000;
    #[repr(C)]
    struct Attributes {
        size: u32,
        policy: u32,
        flags: u64,
        nice: i32,
        priority: u32,
        runtime: u64,
        deadline: u64,
        period: u64,
    }
    let mut attributes = Attributes {
        size: size_of::<Attributes>() as u32,
        policy: 0,
        flags: 0,
        nice: 0,
        priority: 0,
        runtime: 0,
        deadline: 0,
        period: 0,
    };
    let own_thread: libc::pid_t = 0;
    // SAFETY: sched_getattr writes at most `size` bytes of the structure, which has the layout of `struct sched_attr` in
    // its first version; sched_setattr reads them. Neither keeps the pointer.
    unsafe {
        let attributes = &raw mut attributes;
        if libc::syscall(libc::SYS_sched_getattr, own_thread, attributes, size_of::<Attributes>(), 0) == 0
            && (*attributes).policy == libc::SCHED_OTHER as u32
        {
            (*attributes).runtime = TURN_NS;
            libc::syscall(libc::SYS_sched_setattr, own_thread, attributes, 0);
        }
    }
}
