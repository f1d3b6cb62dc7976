//! A controller that contends for an array on shelves: threads and a clock around [`session::ownership`].
//!
//! One thread for each module asks it for reservations, and one takes their answers and decides. The server of
//! the array takes the decisions, and opens and closes it as they say.

use crate::lease::Lease;
use crate::remote::address::ModuleAddress;
use crate::remote::asker::{Asker, News};
use crate::remote::boot_clock;
use crate::remote::host_name::HostName;
use crate::remote::session::RemoteOptions;
use crate::remote::watch::{Loss, Watch};
use device::Time;
use parking_lot::Mutex;
use session::ownership::{Action, Claim, Command, End, Ownership, Standing, Terms};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// The longest time for which nothing is looked at.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// A decision of the ownership that its array follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Open the array without the modules of these numbers, answer nobody yet, and call [`Contender::opened`].
    Open {
        /// The claim of this owner.
        claim: Claim,
        /// The modules that are not held.
        without: Vec<usize>,
    },
    /// Answer hosts while [`Lease::may_answer`] says so.
    Serve,
    /// This module is held from now on, as others are, and may be inserted.
    Insert {
        /// The number of the module.
        module: usize,
    },
    /// End in order: answer what is in flight, close the array, and call [`Contender::closed`].
    Close,
    /// It is over. The next owner of this process is another contender.
    Ended(End),
}

/// The lease of an owner, as those who answer hosts see it.
#[derive(Debug)]
pub struct OwnerLease {
    /// The end, in nanoseconds of the clock of leases; 0 while hosts may not be answered.
    until: AtomicU64,
    watch: Watch,
}

impl Lease for OwnerLease {
    fn may_answer(&self) -> bool {
        !self.watch.is_lost() && boot_clock::now() < Time(self.until.load(Ordering::SeqCst))
    }
}

/// The state of a contender, for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContenderStatus {
    /// The part of the contender.
    pub standing: Standing,
    /// The highest claim that any module was seen with.
    pub highest: Claim,
    /// Modules whose reservations it can ask for.
    pub reached: usize,
    /// Modules that it holds.
    pub held: usize,
    /// The time until its lease ends.
    pub lease_left: Duration,
}

enum Event {
    OfModule(usize, News),
    Left(ModuleAddress),
    Taken,
    Opened,
    Closed,
    GiveUp,
    TakeOver,
    Release,
}

/// See the module. When it is dropped it stops, without any word to the modules.
pub struct Contender {
    events: Sender<Event>,
    lease: Arc<OwnerLease>,
    status: Arc<Mutex<ContenderStatus>>,
    watch: Watch,
    threads: Vec<JoinHandle<()>>,
}

impl Contender {
    /// Contends for the array whose modules lie at these addresses, some of which may be gone, as the controller of a number,
    /// under a name that no host has had before. The names that it has at modules are written into `options`, which the
    /// array's disks are to use. The decisions come one after the other; after the last one there is none.
    pub fn start(
        modules: &[ModuleAddress],
        may_be_gone: usize,
        number: u8,
        options: &RemoteOptions,
    ) -> io::Result<(Contender, Receiver<Decision>)> {
        let (events, happened) = channel();
        let (decide, decisions) = channel();
        let hears = events.clone();
        let watch = Watch::heard_by(move |loss| {
            // An owner that has ended does not listen any more.
            let _ = hears.send(match loss {
                Loss::Taken => Event::Taken,
                Loss::Left(address) => Event::Left(address),
            });
        });
        let lease = Arc::new(OwnerLease { until: AtomicU64::new(0), watch: watch.clone() });
        let core = Ownership::new(number, Terms::usual(modules.len(), may_be_gone, number));
        let status = Arc::new(Mutex::new(ContenderStatus {
            standing: core.standing(),
            highest: core.highest_claim(),
            reached: 0,
            held: 0,
            lease_left: Duration::ZERO,
        }));
        let host = HostName::new()?;
        let (mut threads, mut askers) = (Vec::new(), Vec::new());
        for (module, address) in modules.iter().enumerate() {
            let (stop, stops) = channel();
            let asker = Asker { address: address.clone(), options: options.clone(), stops };
            let (events, host) = (events.clone(), host.clone());
            let tell = move |news| events.send(Event::OfModule(module, news)).is_ok();
            let run = move || asker.run(host, tell);
            threads.push(std::thread::Builder::new().name("reservation".into()).stack_size(256 << 10).spawn(run)?);
            askers.push(stop);
        }
        let driver = Driver {
            core,
            modules: modules.to_vec(),
            asked: vec![None; modules.len()],
            _askers: askers,
            decide,
            lease: Arc::clone(&lease),
            status: Arc::clone(&status),
            watch: watch.clone(),
        };
        let drive = move || driver.run(&happened);
        threads.push(std::thread::Builder::new().name("ownership".into()).spawn(drive)?);
        Ok((Contender { events, lease, status, watch, threads }, decisions))
    }

    fn tell(&self, event: Event) {
        // After its end there is nobody to be told.
        let _ = self.events.send(event);
    }

    /// The array is open, with all that was there when its modules were taken.
    pub fn opened(&self) {
        self.tell(Event::Opened);
    }

    /// The array is closed: nothing of it is in flight to any module.
    pub fn closed(&self) {
        self.tell(Event::Closed);
    }

    /// The array can't be opened or served here.
    pub fn give_up(&self) {
        self.tell(Event::GiveUp);
    }

    /// An operator wants the array to be owned here, whether its owner lives or not.
    pub fn take_over(&self) {
        self.tell(Event::TakeOver);
    }

    /// An operator wants it to end in order.
    pub fn release(&self) {
        self.tell(Event::Release);
    }

    /// The lease, for those who answer hosts.
    #[must_use]
    pub fn lease(&self) -> Arc<OwnerLease> {
        Arc::clone(&self.lease)
    }

    /// The watch, for the disks of the array.
    #[must_use]
    pub fn watch(&self) -> Watch {
        self.watch.clone()
    }

    /// How it stands.
    #[must_use]
    pub fn status(&self) -> ContenderStatus {
        *self.status.lock()
    }
}

impl Drop for Contender {
    fn drop(&mut self) {
        self.watch.give_up();
        self.tell(Event::GiveUp);
        for thread in self.threads.drain(..).rev() {
            // A panic of the thread is its own message.
            let _ = thread.join();
        }
    }
}

/// The thread that decides.
struct Driver {
    core: Ownership,
    modules: Vec<ModuleAddress>,
    /// The way to the thread of each module that is connected.
    asked: Vec<Option<Sender<Command>>>,
    /// The threads of modules end when these are dropped.
    _askers: Vec<Sender<()>>,
    decide: Sender<Decision>,
    lease: Arc<OwnerLease>,
    status: Arc<Mutex<ContenderStatus>>,
    watch: Watch,
}

impl Driver {
    fn run(mut self, happened: &Receiver<Event>) {
        loop {
            let now = boot_clock::now();
            let wait = match self.core.next_event() {
                Time::NEVER => LONGEST_WAIT,
                next => Duration::from_nanos(next.since_ns(now)).min(LONGEST_WAIT),
            };
            match happened.recv_timeout(wait) {
                Ok(event) => self.take(event),
                Err(RecvTimeoutError::Timeout) => self.core.advance(boot_clock::now()),
                Err(RecvTimeoutError::Disconnected) => return,
            }
            let ended = self.act();
            self.show();
            if ended {
                return;
            }
        }
    }

    fn take(&mut self, event: Event) {
        let now = boot_clock::now();
        match event {
            Event::OfModule(module, News::Connected(host, ask)) => {
                self.asked[module] = Some(ask);
                self.core.connected(now, module, host);
            }
            Event::OfModule(module, News::Answered(answer)) => self.core.answered(now, module, answer),
            Event::OfModule(module, News::Lost) => {
                self.asked[module] = None;
                self.core.lost(now, module);
            }
            Event::Left(address) => {
                let left = self.modules.iter().position(|module| *module == address);
                // A module that this host has another name at by now was left before.
                if let Some(module) = left.filter(|module| self.core.holds(*module)) {
                    self.asked[module] = None;
                    self.core.left(now, module);
                }
            }
            Event::Taken => self.core.conflict(),
            Event::Opened => self.core.opened(now),
            Event::Closed => self.core.closed(now),
            Event::GiveUp => self.core.give_up(),
            Event::TakeOver => self.core.take_over(now),
            Event::Release => self.core.release(now),
        }
    }

    /// Carries out what was decided. `true`: it was the end.
    fn act(&mut self) -> bool {
        let mut ended = false;
        let actions: Vec<Action> = self.core.actions().collect();
        for action in actions {
            let decision = match action {
                Action::Ask { module, command } => {
                    if let Some(asker) = &self.asked[module] {
                        // One whose connection was lost is about to say so.
                        let _ = asker.send(command);
                    }
                    continue;
                }
                Action::Open { claim } => {
                    let without = (0..self.modules.len()).filter(|module| !self.core.holds(*module)).collect();
                    Decision::Open { claim, without }
                }
                Action::Serve => Decision::Serve,
                Action::Held { module } => Decision::Insert { module },
                Action::Close => Decision::Close,
                Action::End(end) => {
                    self.watch.give_up();
                    ended = true;
                    Decision::Ended(end)
                }
            };
            let _ = self.decide.send(decision);
        }
        let now = boot_clock::now();
        let until = match self.core.may_answer(now) {
            true => self.core.lease_end(),
            false => Time::ZERO,
        };
        self.lease.until.store(until.0, Ordering::SeqCst);
        ended
    }

    fn show(&self) {
        let now = boot_clock::now();
        *self.status.lock() = ContenderStatus {
            standing: self.core.standing(),
            highest: self.core.highest_claim(),
            reached: self.asked.iter().flatten().count(),
            held: (0..self.modules.len()).filter(|module| self.core.holds(*module)).count(),
            lease_left: Duration::from_nanos(Time(self.lease.until.load(Ordering::SeqCst)).since_ns(now)),
        };
    }
}
