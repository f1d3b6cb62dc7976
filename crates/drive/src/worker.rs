//! A generator thread: its slots, its ring, its timers.
//!
//! A request's latency counts from the moment its session asked until the thread saw that it had finished. All that
//! finished together is seen together, and a session asks again at the moment at which it saw the last one finish, so
//! the sum of a busy session's latencies is the time that went by. With a schedule (`due`), a request that was asked
//! for late counts from when it was due.
//!
//! CPU time of a session (`cpu_ns`) passes as on a machine with a processor for each session: the session waits, and no
//! processor is used up. Really computing would make every other session of the thread wait, and charge their requests
//! with it; leaving it out would ask more than the sessions can. Consecutive bursts follow each other by the schedule
//! and not by when the timer went off, so that timers' lateness does not add up.
//!
//! A slot has one thing to come: its request, or a timer, or somebody who wakes it.

use crate::common::{Common, MAX_WAIT, Script, WINDOWS};
use crate::error::DriveError;
use crate::host;
use crate::payload::{self, Stamp};
use crate::ring::{Finished, Ring, short_turns};
use device::{ByteRange, Operation, Parts, Request, Time};
use load::{ProcessId, Step};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io;
use std::num::NonZeroU64;
use std::os::fd::AsFd;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use target::Recorder;

/// Times that a request is asked again which the kernel could not take just then.
const MAX_RETRIES: u32 = 1000;
/// Bound on the time for which requests in flight are waited for when a run is over.
const DRAIN_LIMIT: Duration = Duration::from_secs(120);
/// Steps that are drawn before the ring is looked at again, for each slot.
const STEPS_A_TURN: usize = 4;

/// A slot's action when its timer goes off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    NextStep,
    /// Its session has computed and asks now.
    Issue,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    process: ProcessId,
    then: Then,
    request: Request,
    /// When its latency begins.
    issued: Time,
    due: Option<Time>,
    /// When its last burst of computing was over by the schedule; only while bursts follow each other.
    computed: Option<Time>,
    retries: u32,
}

/// A thread's results when it is done.
pub(crate) struct Share {
    pub recorder: Recorder,
    pub windows: [u64; WINDOWS],
    pub issued: u64,
    pub finished: u64,
    pub recorded: u64,
    /// CPU time over elapsed time, while recording.
    pub cpu: f64,
    pub buffers_registered: bool,
}

/// See the module.
pub(crate) struct Worker<'a, 'b> {
    common: &'a Common<'b>,
    number: u32,
    threads: u32,
    ring: Ring<'a>,
    slots: Vec<Slot>,
    /// When, and which slot.
    timers: BinaryHeap<Reverse<(u64, u32)>>,
    /// Slots whose session is to be asked what it does next.
    ready: VecDeque<u32>,
    /// Slots whose request goes out now.
    unsent: Vec<u32>,
    wake: Vec<ProcessId>,
    live: usize,
    share: Share,
    /// CPU time and moment at which recording began.
    recording: Option<(u64, Instant)>,
}

impl<'a, 'b> Worker<'a, 'b> {
    /// Slot `i` of thread `number` is process `i * threads + number`. To be called by the thread itself.
    pub fn new(common: &'a Common<'b>, number: u32, processes: u32) -> Result<Worker<'a, 'b>, DriveError> {
        let threads = common.inboxes.len() as u32;
        // Timers within a microsecond, not within the usual 50; without it they are late, but right.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        short_turns();
        let slots: Vec<Slot> = (number..processes)
            .step_by(threads as usize)
            .map(|process| Slot {
                process: ProcessId(process),
                then: Then::NextStep,
                request: Request::flush(),
                issued: Time::ZERO,
                due: None,
                computed: None,
                retries: 0,
            })
            .collect();
        let bell = common.inboxes[number as usize].bell.as_ref().map(AsFd::as_fd);
        let ring = Ring::new(common.medium.file, bell, slots.len(), common.buffer_bytes as usize, common.register)
            .map_err(|source| DriveError::Ring { path: common.medium.path.to_owned(), source })?;
        Ok(Worker {
            common,
            number,
            threads,
            share: Share {
                recorder: Recorder::new(common.from, false),
                windows: [0; WINDOWS],
                issued: 0,
                finished: 0,
                recorded: 0,
                cpu: 0.0,
                buffers_registered: ring.buffers_registered(),
            },
            ring,
            timers: BinaryHeap::with_capacity(slots.len()),
            ready: (0..slots.len() as u32).collect(),
            unsent: Vec::with_capacity(slots.len()),
            wake: Vec::new(),
            live: slots.len(),
            slots,
            recording: None,
        })
    }

    /// Until the time is over, all sessions have ended, or somebody says stop.
    pub fn run(mut self) -> Result<Share, DriveError> {
        let result = self.turns();
        if let Some((cpu_ns, began)) = self.recording {
            let elapsed_ns = (began.elapsed().as_nanos() as f64).max(1.0);
            self.share.cpu = (host::thread_cpu_ns() - cpu_ns) as f64 / elapsed_ns;
        }
        if result.is_err() {
            self.common.stop.store(true, Ordering::Release);
        }
        let drained = self.drain();
        result.and(drained)?;
        Ok(self.share)
    }

    fn turns(&mut self) -> Result<(), DriveError> {
        let mut finished = Vec::with_capacity(self.slots.len());
        let mut now = self.common.now();
        loop {
            if now >= self.common.until || self.common.stop.load(Ordering::Acquire) {
                return Ok(());
            }
            self.fire_timers(now);
            self.open_inbox();
            self.step_ready(now);
            self.send()?;
            if self.live == 0 && self.ring.in_flight() == 0 {
                return Ok(());
            }
            self.ring.wait(self.patience()).map_err(|e| self.common.doing("waiting for requests", e))?;
            self.ring.reap(&mut finished);
            now = self.common.now();
            if self.recording.is_none() && now >= self.common.from {
                self.begin_recording(now);
            }
            for finished in finished.drain(..) {
                self.finish(finished, now)?;
            }
        }
    }

    /// Returns the time for which there is nothing to do but wait.
    fn patience(&self) -> Duration {
        if !self.ready.is_empty() {
            return Duration::ZERO;
        }
        let next = self.timers.peek().map_or(u64::MAX, |Reverse((at, _))| *at).min(self.common.until.0);
        if next == u64::MAX {
            return MAX_WAIT;
        }
        MAX_WAIT.min(Duration::from_nanos(next.saturating_sub(self.common.now().0)))
    }

    fn begin_recording(&mut self, now: Time) {
        self.recording = Some((host::thread_cpu_ns(), Instant::now()));
        let mut script = self.common.script();
        if !std::mem::replace(&mut script.measuring, true) {
            script.load.start_measurement(now);
        }
    }

    fn fire_timers(&mut self, now: Time) {
        while let Some(&Reverse((at, slot))) = self.timers.peek()
            && at <= now.0
        {
            self.timers.pop();
            match self.slots[slot as usize].then {
                Then::NextStep => self.ready.push_back(slot),
                Then::Issue => self.issue(slot, Time(at)),
            }
        }
    }

    fn open_inbox(&mut self) {
        if self.ring.take_woken() {
            let inbox = &self.common.inboxes[self.number as usize];
            let mut woken = inbox.woken.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            self.ready.extend(woken.drain(..).map(|process| process.0 / self.threads));
        }
    }

    /// Asks the sessions what they do next, until all wait for something.
    fn step_ready(&mut self, now: Time) {
        if self.ready.is_empty() {
            return;
        }
        let common = self.common;
        let mut script = common.script();
        let limit = self.slots.len() * STEPS_A_TURN;
        for _ in 0..limit {
            let Some(slot) = self.ready.pop_front() else { break };
            self.step(&mut script, slot, now);
        }
    }

    fn step(&mut self, script: &mut Script, slot: u32, now: Time) {
        let process = self.slots[slot as usize].process;
        let step = script.load.step(process, now, &mut self.wake);
        let state = &mut self.slots[slot as usize];
        let computed = state.computed.take();
        match step {
            Step::Io { cpu_ns, request, due } => {
                state.request = request;
                state.due = due;
                if cpu_ns == 0 {
                    self.issue(slot, now);
                } else {
                    self.sleep(slot, computed.unwrap_or(now) + cpu_ns, Then::Issue);
                }
            }
            Step::Cpu { cpu_ns } => {
                // A step of no time still takes one, so that a load of such steps can't stop the clock.
                let until = computed.unwrap_or(now) + cpu_ns.max(1);
                state.computed = Some(until);
                self.sleep(slot, until, Then::NextStep);
            }
            Step::Sleep { until } => self.sleep(slot, until, Then::NextStep),
            Step::Park => script.parked[process.0 as usize] = true,
            Step::End => self.live -= 1,
        }
        while let Some(process) = self.wake.pop() {
            if std::mem::take(&mut script.parked[process.0 as usize]) {
                self.wake_up(process);
            }
        }
    }

    fn sleep(&mut self, slot: u32, until: Time, then: Then) {
        self.slots[slot as usize].then = then;
        self.timers.push(Reverse((until.0, slot)));
    }

    fn wake_up(&mut self, process: ProcessId) {
        let thread = process.0 % self.threads;
        if thread == self.number {
            self.ready.push_back(process.0 / self.threads);
            return;
        }
        let inbox = &self.common.inboxes[thread as usize];
        inbox.woken.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(process);
        let bell = inbox.bell.as_ref().expect("several threads have bells");
        // It fails only when the counter is full, and then the bell rings already.
        let _ = rustix::io::write(bell, &1_u64.to_ne_bytes());
    }

    fn issue(&mut self, slot: u32, now: Time) {
        let state = &mut self.slots[slot as usize];
        state.issued = state.due.map_or(now, |due| due.min(now));
        state.retries = 0;
        self.share.issued += 1;
        self.unsent.push(slot);
    }

    /// Hands the requests that were asked for to the kernel, one by one, as sessions on their own would.
    ///
    /// In batches it costs fewer system calls, but the kernel holds a batch back until its last request is there, and
    /// the device runs dry meanwhile: at 64 threads of random writes a tenth of the throughput was lost. And it merges
    /// adjacent requests of a batch into one, so that the device is asked for less than what is counted.
    fn send(&mut self) -> Result<(), DriveError> {
        for i in 0..self.unsent.len() {
            let sent = self.send_one(self.unsent[i]);
            // A request that does not go out was not issued; one in the ring was, even if the kernel would not take it
            // yet.
            let left = self.unsent.len() - i - usize::from(sent.is_ok());
            if let Err(error) = sent.and_then(|()| self.submit()) {
                self.share.issued -= left as u64;
                self.unsent.clear();
                return Err(error);
            }
        }
        self.unsent.clear();
        Ok(())
    }

    fn submit(&mut self) -> Result<(), DriveError> {
        self.ring.submit().map_err(|e| self.common.doing("asking", e))
    }

    fn send_one(&mut self, slot: u32) -> Result<(), DriveError> {
        let request = self.slots[slot as usize].request;
        let Request { operation: op, range: ByteRange { offset_bytes, len_bytes }, .. } = request;
        let slot = slot as usize;
        if op != Operation::Flush {
            let align_bytes = self.common.medium.align_bytes;
            if (offset_bytes | u64::from(len_bytes)) & u64::from(align_bytes - 1) != 0 {
                let path = self.common.medium.path.to_owned();
                return Err(DriveError::Misaligned { path, align_bytes, offset_bytes, len_bytes });
            }
        }
        let common = self.common;
        let memory = |e| common.doing("allocating a buffer", e);
        if op == Operation::Write {
            let version = self.common.versions.fetch_add(1, Ordering::Relaxed);
            let stamp = Stamp { run: self.common.run, version };
            payload::fill(self.ring.buffer(slot, len_bytes as usize).map_err(memory)?, offset_bytes, stamp);
        }
        self.ring.queue(slot, &request).map_err(memory)
    }

    /// A request has come back.
    fn finish(&mut self, finished: Finished, now: Time) -> Result<(), DriveError> {
        let Finished { slot, result } = finished;
        let state = &mut self.slots[slot];
        let Request { operation: op, range: ByteRange { offset_bytes, len_bytes }, .. } = state.request;
        let common = self.common;
        let path = || common.medium.path.to_owned();
        if result < 0 {
            if matches!(-result, libc::EINTR | libc::EAGAIN) && state.retries < MAX_RETRIES {
                state.retries += 1;
                self.unsent.push(slot as u32);
                return Ok(());
            }
            self.share.finished += 1;
            let source = io::Error::from_raw_os_error(-result);
            return Err(DriveError::Request { path: path(), op, offset_bytes, len_bytes, source });
        }
        self.share.finished += 1;
        let moves = matches!(op, Operation::Read | Operation::Write);
        if moves && result as u32 != len_bytes {
            let done_bytes = result as u32;
            return Err(DriveError::Short { path: path(), op, offset_bytes, len_bytes, done_bytes });
        }
        let issued = state.issued;
        if self.common.verify && op == Operation::Read {
            let buffer = self.ring.buffer(slot, len_bytes as usize).map_err(|e| common.doing("finding a buffer", e))?;
            payload::check(buffer, offset_bytes).map_err(|(offset_bytes, fault)| DriveError::Verify {
                path: path(),
                offset_bytes,
                fault,
            })?;
        }
        if moves {
            self.common.bytes.fetch_add(len_bytes.into(), Ordering::Relaxed);
        }
        self.record(op, len_bytes, issued, now);
        self.ready.push_back(slot as u32);
        Ok(())
    }

    fn record(&mut self, op: Operation, bytes: u32, issued: Time, now: Time) {
        let Common { from, until, .. } = *self.common;
        // A request that finished before or after the measured time is not part of it.
        if now < from || now > until || op == Operation::Trim {
            return;
        }
        self.share.recorder.record(op, bytes, issued, now, Parts::default);
        self.share.recorded += 1;
        if until != Time::NEVER && op != Operation::Flush {
            let window = ((now - from) as u128 * WINDOWS as u128 / ((until - from) as u128).max(1)) as usize;
            self.share.windows[window.min(WINDOWS - 1)] += u64::from(bytes);
        }
    }

    /// Waits for what is in flight. An error is the first that was met, and no reason to wait less.
    fn drain(&mut self) -> Result<(), DriveError> {
        // Requests that were to be tried again, or were about to go out, no longer are.
        let unsent = self.unsent.len() as u64;
        self.unsent.clear();
        self.share.issued -= unsent;
        let mut result = Ok(());
        let mut finished = Vec::new();
        let began = Instant::now();
        while self.ring.in_flight() > 0 {
            if began.elapsed() > DRAIN_LIMIT {
                let source = io::Error::from_raw_os_error(libc::ETIMEDOUT);
                return Err(self.common.doing("waiting for the last requests", source));
            }
            self.ring.wait(MAX_WAIT).map_err(|e| self.common.doing("waiting for the last requests", e))?;
            self.ring.reap(&mut finished);
            let now = self.common.now();
            for finished in finished.drain(..) {
                let done = self.finish(finished, now);
                if result.is_ok() {
                    result = done;
                }
            }
            self.share.issued -= self.unsent.len() as u64;
            self.unsent.clear();
        }
        result
    }
}
