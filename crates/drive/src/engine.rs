//! Drives a load against a file or device: threads, time, and what they have in common.
//!
//! A process of the load is a *slot* with one request outstanding. Slots are dealt out to the generator threads; each has
//! a ring of its own, and the load is behind a lock, which is held for the microsecond in which the next steps of a
//! batch are drawn.
//!
//! The thread that called looks after the rest: samples the machine, tells progress, hears that somebody wants to stop.
//!
//! Invariants:
//! - when it returns, nothing is in flight, whatever happened;
//! - requests asked = requests finished, and those finished in the measured time = those recorded: both are checked.

use crate::common::{Common, Inbox, Medium, Script, WINDOWS};
use crate::error::DriveError;
use crate::host::{self, Watch};
use crate::worker::{Share, Worker};
use device::Time;
use load::Load;
use results::{Application, GeneratorLoad};
use rustix::event::{EventfdFlags, eventfd};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};
use target::{Progress, Recorder};

/// Time between two looks at whether somebody wants to stop; a generator thread hears of it within [`MAX_WAIT`].
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Most memory for buffers.
const MAX_MEMORY_BYTES: u64 = 4 << 30;
/// Slots for each generator thread above which another one is worth while. Below, one thread has the requests of all
/// and gives them to the kernel in batches. From `benches/threads.sh` on two processors and a virtio disk: two threads
/// instead of one did 0.93 to 0.99 of the requests at 4 slots, 0.97 to 1.18 at 16, 1.19 to 1.30 at 64.
const SLOTS_A_THREAD: u32 = 8;

/// Length of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Span {
    /// An unrecorded time, followed by a recorded one.
    Timed { warm_up: Duration, measured: Duration },
    /// Until all processes have ended.
    UntilEnd,
}

/// Unit in which progress is counted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Told {
    /// Milliseconds of the measured time.
    Milliseconds,
    /// Bytes moved, and so many before.
    Bytes(u64),
}

/// One piece of work.
pub(crate) struct Job<'a> {
    pub medium: Medium<'a>,
    pub load: Box<dyn Load>,
    pub span: Span,
    /// Bytes of the largest usual request.
    pub buffer_bytes: u32,
    /// Number of the run, for what is written.
    pub run: u64,
    /// Number of the next write.
    pub versions: &'a AtomicU64,
    /// Check all that is read.
    pub verify: bool,
    pub register: bool,
    /// Generator threads; `None`: the engine's rule.
    pub threads: Option<u32>,
    pub told: Told,
}

/// Outcome of a run.
pub(crate) struct Outcome {
    pub recorder: Recorder,
    /// When recording ended.
    pub end: Time,
    pub elapsed_s: f64,
    /// Bytes of each window of the measured time.
    pub windows: [u64; WINDOWS],
    pub generator: GeneratorLoad,
    pub application: Option<Application>,
    pub buffers_registered: bool,
}

/// Generator threads for so many slots.
fn threads_for(slots: u32) -> u32 {
    slots.div_ceil(SLOTS_A_THREAD).min(host::cores()).max(1)
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX / 4).min(u64::MAX / 4)
}

/// Does the job. `Err` only after everything in flight has come back.
pub(crate) fn run(job: Job, progress: &dyn Progress) -> Result<Outcome, DriveError> {
    let slots = job.load.processes();
    let request_bytes = u64::from(job.buffer_bytes);
    if u64::from(slots) * request_bytes > MAX_MEMORY_BYTES {
        return Err(DriveError::Memory { requests: slots, request_bytes, limit_bytes: MAX_MEMORY_BYTES });
    }
    let threads = job.threads.unwrap_or_else(|| threads_for(slots)).clamp(1, slots.max(1));
    let path = job.medium.path;
    let doing = |doing, source: std::io::Error| DriveError::Doing { path: path.to_owned(), doing, source };
    let inbox = |_| -> Result<Inbox, DriveError> {
        let bell = if threads == 1 {
            None
        } else {
            Some(
                eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
                    .map_err(|e| doing("making an eventfd", e.into()))?,
            )
        };
        Ok(Inbox { woken: Mutex::new(Vec::new()), bell })
    };
    let (from, until) = match job.span {
        Span::Timed { warm_up, measured } => {
            let from = Time(nanoseconds(warm_up));
            (from, from + nanoseconds(measured))
        }
        Span::UntilEnd => (Time::ZERO, Time::NEVER),
    };
    let common = Common {
        medium: job.medium,
        script: Mutex::new(Script { load: job.load, parked: vec![false; slots as usize], measuring: false }),
        inboxes: (0..threads).map(inbox).collect::<Result<_, _>>()?,
        stop: AtomicBool::new(false),
        bytes: AtomicU64::new(0),
        versions: job.versions,
        run: job.run,
        verify: job.verify,
        register: job.register,
        buffer_bytes: job.buffer_bytes,
        began: Instant::now(),
        from,
        until,
    };
    let (shares, watched, cancelled) = drive(&common, slots, job.told, progress)?;
    if cancelled {
        return Err(DriveError::Cancelled);
    }
    Ok(outcome(&common, shares, watched))
}

/// Runs the generator threads and looks after them.
fn drive(
    common: &Common,
    slots: u32,
    told: Told,
    progress: &dyn Progress,
) -> Result<(Vec<Share>, Watch, bool), DriveError> {
    let threads = common.inboxes.len() as u32;
    std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        let handles: Vec<_> = (0..threads)
            .map(|number| {
                let sender = sender.clone();
                scope.spawn(move || {
                    // However the thread ends, the others must not run on, and nobody must wait for it.
                    let mut ending = Ending { common, sender, well: false };
                    let share = Worker::new(common, number, slots).and_then(Worker::run);
                    ending.well = share.is_ok();
                    share
                })
            })
            .collect();
        drop(sender);
        let mut watch = None;
        let mut cancelled = false;
        loop {
            match receiver.recv_timeout(LOOK_EVERY) {
                Ok(()) => {}
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {}
            }
            let now = common.now();
            if now >= common.from {
                watch.get_or_insert_with(Watch::start).look();
            }
            progress.at(match told {
                Told::Milliseconds => now.min(common.until).since_ns(common.from) / 1_000_000,
                Told::Bytes(before) => before + common.bytes.load(Ordering::Relaxed),
            });
            if !cancelled && progress.cancelled() {
                cancelled = true;
                common.stop.store(true, Ordering::Release);
            }
        }
        let shares: Vec<_> = handles
            .into_iter()
            .map(|handle| handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect();
        let shares = shares.into_iter().collect::<Result<Vec<Share>, DriveError>>()?;
        Ok((shares, watch.unwrap_or_else(Watch::start), cancelled))
    })
}

/// Tells the others that a thread has ended: by being dropped, so that a panic is heard too.
struct Ending<'a, 'b> {
    common: &'a Common<'b>,
    sender: mpsc::Sender<()>,
    well: bool,
}

impl Drop for Ending<'_, '_> {
    fn drop(&mut self) {
        if !self.well {
            self.common.stop.store(true, Ordering::Release);
        }
        let _ = self.sender.send(());
    }
}

fn outcome(common: &Common, shares: Vec<Share>, watch: Watch) -> Outcome {
    let cpu: Vec<f64> = shares.iter().map(|share| share.cpu).collect();
    let generator = watch.finish(&cpu);
    let end = match common.until {
        Time::NEVER => common.now(),
        until => until,
    };
    let elapsed_s = ((end - common.from) as f64 / 1e9).max(1e-9);
    let mut recorder = Recorder::new(common.from, false);
    let mut windows = [0; WINDOWS];
    let (mut issued, mut finished, mut recorded) = (0, 0, 0);
    let mut buffers_registered = true;
    for share in &shares {
        recorder.merge(&share.recorder);
        for (sum, bytes) in windows.iter_mut().zip(share.windows) {
            *sum += bytes;
        }
        issued += share.issued;
        finished += share.finished;
        recorded += share.recorded;
        buffers_registered &= share.buffers_registered;
    }
    assert_eq!(issued, finished, "a request was lost");
    let (read, write, sync) = recorder.classes(end, false);
    assert_eq!(recorded, read.total_ios + write.total_ios + sync.total_ios, "a request was not recorded");
    let application = common.script().load.report(end);
    Outcome { recorder, end, elapsed_s, windows, generator, application, buffers_registered }
}

#[cfg(test)]
mod tests;
