//! One session of OLTP 80/20: transaction after transaction.
//!
//! ```text
//!   think -> CPU -> pages (a read for each miss) -> select: finished
//!                                                -> insert, update: log, commit, finished
//! ```

use super::database::{Database, Kind};
use crate::cache::Update;
use crate::{ProcessId, Step};
use device::{Rng, Time};

#[derive(Clone, Debug)]
pub(super) struct Session {
    rng: Rng,
    at: At,
    kind: Kind,
    /// When the transaction began.
    begun: Time,
    /// Pages that it has still to touch.
    pages_left: u32,
}

/// A session's next action when it is stepped.
#[derive(Clone, Copy, Debug)]
enum At {
    /// Its first transaction comes after a part of the think time, so that sessions do not march in step.
    Connect,
    /// Begins a transaction.
    Begin,
    Touch,
    /// Has the page that was not in memory; `change`: to change it.
    Reading {
        page: u32,
        change: bool,
    },
    /// Changes a page; there may be no clean buffer for it.
    Change(u32),
    /// Has touched all pages.
    Log,
    /// Goes on if there is room in the log buffer.
    CheckLogRoom,
    /// Its commit is durable.
    Committing,
}

impl Session {
    pub fn new(number: u32, seed: u64) -> Session {
        Session {
            rng: Rng::stream(seed, &format!("oltp session {number}")),
            at: At::Connect,
            kind: Kind::Select,
            begun: Time::ZERO,
            pages_left: 0,
        }
    }

    pub fn step(&mut self, me: ProcessId, db: &mut Database, now: Time, wake: &mut Vec<ProcessId>) -> Step {
        loop {
            match self.at {
                At::Connect => {
                    self.at = At::Begin;
                    if db.config.think_ns > 0 {
                        return Step::Sleep { until: now + self.rng.below(db.config.think_ns) };
                    }
                }
                At::Begin => return self.begin(db, now),
                At::Touch => {
                    if let Some(step) = self.touch(db) {
                        return step;
                    }
                }
                At::Reading { page, change } => {
                    db.counts.physical_reads += 1;
                    if change {
                        db.instance.cache.finish_update(page, wake);
                    }
                    self.at = At::Touch;
                }
                At::Change(page) => match db.instance.cache.update(page, &mut self.rng, wake) {
                    Update::Done => self.at = At::Touch,
                    Update::Miss => return self.read(page, true, db),
                    Update::NoBuffer => {
                        // Comes back to this place when it is woken.
                        db.instance.cache.wait_for_buffer(me);
                        return Step::Park;
                    }
                },
                At::Log => {
                    if self.kind == Kind::Select {
                        return self.finish(db, now);
                    }
                    self.at = At::CheckLogRoom;
                }
                At::CheckLogRoom => {
                    if db.instance.log.is_full() {
                        db.instance.log.wait_for_room(me, wake);
                        return Step::Park;
                    }
                    db.instance.log.append(db.config.wal_bytes_per_write.into(), wake);
                    self.at = At::Committing;
                    if db.instance.log.commit(me, wake) {
                        return Step::Park;
                    }
                }
                At::Committing => return self.finish(db, now),
            }
        }
    }

    fn begin(&mut self, db: &Database, now: Time) -> Step {
        let config = &db.config;
        let percent = self.rng.unit() * 100.0;
        self.kind = if percent < config.select_percent {
            Kind::Select
        } else if percent < config.select_percent + config.insert_percent {
            Kind::Insert
        } else {
            Kind::Update
        };
        let (pages, cpu_ns) = match self.kind {
            Kind::Select => (config.pages_per_select, config.cpu_per_select_ns),
            Kind::Insert | Kind::Update => (config.pages_per_write, config.cpu_per_write_ns),
        };
        self.begun = now;
        self.pages_left = pages;
        self.at = At::Touch;
        Step::Cpu { cpu_ns: cpu_ns + config.cpu_per_session_ns * u64::from(config.sessions) }
    }

    /// Touches pages up to the first that is not in memory or has to be changed.
    fn touch(&mut self, db: &mut Database) -> Option<Step> {
        while self.pages_left > 0 {
            self.pages_left -= 1;
            db.counts.pages_touched += 1;
            let page = db.sampler.draw(&mut self.rng) as u32;
            // A write finds its way through the index before it changes anything: the last pages are changed.
            if self.kind != Kind::Select && self.pages_left < db.config.changed_pages_per_write {
                self.at = At::Change(page);
                return None;
            }
            if !db.instance.cache.read(page, &mut self.rng) {
                return Some(self.read(page, false, db));
            }
        }
        self.at = At::Log;
        None
    }

    fn read(&mut self, page: u32, change: bool, db: &mut Database) -> Step {
        db.counts.pages_missed += 1;
        self.at = At::Reading { page, change };
        Step::io(db.instance.cache.area().read(page))
    }

    fn finish(&mut self, db: &mut Database, now: Time) -> Step {
        db.counts.latencies[self.kind as usize].record(now.since_ns(self.begun));
        self.at = At::Begin;
        match db.config.think_ns {
            0 => self.begin(db, now),
            think_ns => Step::Sleep { until: now + think_ns },
        }
    }
}
