//! One session of TPC-C: transaction after transaction.
//!
//! ```text
//!   CPU -> locks -> pages (a read for each miss) -> Order-Status, Stock-Level, rolled back: finished
//!                                                -> else: log, commit, finished; locks are released
//! ```
//!
//! Pages in memory take no step: their CPU time adds up and is spent before the next wait.

use super::database::{Database, Part};
use super::script::{Kind, Place, Script, Visit};
use crate::cache::Update;
use crate::{ProcessId, Step};
use device::{Rng, Time};

#[derive(Clone, Debug)]
pub(super) struct Session {
    rng: Rng,
    kind: Kind,
    place: Place,
    locks: [Option<u32>; 2],
    script: Script,
    /// The visit that is next.
    next: usize,
    begun: Time,
    /// CPU time that was used and not yet spent in a step.
    cpu_ns: u64,
    /// When its last step began, and what it is.
    waits: Option<(Time, Part)>,
    /// CPU time of the step under way.
    computing_ns: u64,
    parts: [u64; Part::ALL.len()],
    at: At,
}

/// A session's next action when it is stepped.
#[derive(Clone, Copy, Debug)]
enum At {
    Begin,
    /// Takes the lock of this number.
    Lock(usize),
    /// Has its locks: the transaction can be written down.
    Write,
    Visit,
    /// Asks for a page that is not in memory; `change`: to change it.
    Ask {
        page: u32,
        change: bool,
    },
    Reading {
        page: u32,
        change: bool,
    },
    CheckLogRoom,
    Finish,
}

impl Session {
    pub fn new(number: u32, seed: u64) -> Session {
        let mut rng = Rng::stream(seed, &format!("tpcc session {number}"));
        Session {
            place: Place::draw(1, &mut rng),
            rng,
            kind: Kind::NewOrder,
            locks: [None; 2],
            script: Script::default(),
            next: 0,
            begun: Time::ZERO,
            cpu_ns: 0,
            waits: None,
            computing_ns: 0,
            parts: [0; Part::ALL.len()],
            at: At::Begin,
        }
    }

    pub fn step(&mut self, me: ProcessId, db: &mut Database, now: Time, wake: &mut Vec<ProcessId>) -> Step {
        self.account(now);
        loop {
            match self.at {
                At::Begin => {
                    self.begun = now;
                    self.parts = [0; Part::ALL.len()];
                    self.kind = Kind::draw(&db.config.mix, &mut self.rng);
                    self.place = Place::draw(db.contents.districts(), &mut self.rng);
                    self.locks = db.contents.locks_of(self.kind, self.place);
                    self.at = At::Lock(0);
                    return self.compute(db.config.cpu_per_transaction_ns, now);
                }
                At::Lock(number) => match self.locks.get(number).copied().flatten() {
                    None => self.at = At::Write,
                    Some(lock) => {
                        self.at = At::Lock(number + 1);
                        if !db.locks.acquire(lock, me) {
                            return self.park(Part::RowLock, now);
                        }
                    }
                },
                At::Write => {
                    db.contents.write(self.kind, self.place, &mut self.rng, &mut self.script);
                    self.next = 0;
                    self.at = At::Visit;
                }
                At::Visit => {
                    if let Some(step) = self.visit(me, db, now, wake) {
                        return step;
                    }
                }
                At::Ask { page, change } => {
                    db.counts.pages_missed += 1;
                    self.at = At::Reading { page, change };
                    self.waits = Some((now, Part::PageRead));
                    return Step::io(db.instance.cache.area().read(page));
                }
                At::Reading { page, change } => {
                    if change {
                        db.instance.cache.finish_update(page, wake);
                    }
                    self.at = At::Visit;
                }
                At::CheckLogRoom => {
                    if db.instance.log.is_full() {
                        db.instance.log.wait_for_room(me, wake);
                        return self.park(Part::LogRoom, now);
                    }
                    db.instance.log.append(self.script.log_bytes, wake);
                    self.at = At::Finish;
                    if !self.script.rolled_back && db.instance.log.commit(me, wake) {
                        return self.park(Part::Commit, now);
                    }
                }
                At::Finish => {
                    self.locks.iter_mut().for_each(|lock| {
                        if let Some(lock) = lock.take() {
                            db.locks.release(lock, wake);
                        }
                    });
                    db.counts.finish(self.kind, self.script.rolled_back, now.since_ns(self.begun), &self.parts);
                    self.at = At::Begin;
                }
            }
        }
    }

    /// Visits pages until something has to be waited for, or all are visited.
    fn visit(&mut self, me: ProcessId, db: &mut Database, now: Time, wake: &mut Vec<ProcessId>) -> Option<Step> {
        while let Some(&visit) = self.script.visits.get(self.next) {
            match visit {
                Visit::Read(page) => {
                    if !db.instance.cache.read(page, &mut self.rng) {
                        self.at = At::Ask { page, change: false };
                    }
                }
                Visit::Change(page) | Visit::Create(page) => {
                    match db.instance.cache.update(page, &mut self.rng, wake) {
                        Update::Done => {}
                        Update::Miss if visit == Visit::Create(page) => db.instance.cache.finish_update(page, wake),
                        Update::Miss => self.at = At::Ask { page, change: true },
                        Update::NoBuffer => {
                            // Comes back to this visit when it is woken.
                            if self.cpu_ns > 0 {
                                return Some(self.spend(now));
                            }
                            db.instance.cache.wait_for_buffer(me);
                            return Some(self.park(Part::FreeBuffer, now));
                        }
                    }
                }
            }
            self.next += 1;
            db.counts.pages_visited += 1;
            self.cpu_ns += db.config.cpu_per_page_ns;
            if matches!(self.at, At::Ask { .. }) {
                return (self.cpu_ns > 0).then(|| self.spend(now));
            }
        }
        self.at = if self.script.log_bytes > 0 { At::CheckLogRoom } else { At::Finish };
        (self.cpu_ns > 0).then(|| self.spend(now))
    }

    /// The wait is over: its time goes to its part.
    fn account(&mut self, now: Time) {
        let Some((since, part)) = self.waits.take() else { return };
        let waited_ns = now.since_ns(since);
        if part == Part::Cpu {
            self.parts[Part::Cpu as usize] += self.computing_ns;
            self.parts[Part::Cores as usize] += waited_ns - self.computing_ns;
        } else {
            self.parts[part as usize] += waited_ns;
        }
    }

    fn park(&mut self, part: Part, now: Time) -> Step {
        self.waits = Some((now, part));
        Step::Park
    }

    fn spend(&mut self, now: Time) -> Step {
        let cpu_ns = std::mem::take(&mut self.cpu_ns);
        self.compute(cpu_ns, now)
    }

    fn compute(&mut self, cpu_ns: u64, now: Time) -> Step {
        self.computing_ns = cpu_ns;
        self.waits = Some((now, Part::Cpu));
        Step::Cpu { cpu_ns }
    }
}
