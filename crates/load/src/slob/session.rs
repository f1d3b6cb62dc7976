//! One session of SLOB: executions of random single-block work.
//!
//! ```text
//!   execution = work_unit_blocks x [ logical read -> (miss: single-block read) -> (update: change, redo) ]
//!   after commit_every updating executions: commit, log file sync
//! ```
//!
//! Blocks in memory take no step: their CPU time adds up and is spent in one step before the next wait, or when the
//! execution ends.

use super::SlobConfig;
use super::database::Database;
use crate::cache::Update;
use crate::{ProcessId, Step};
use device::{Rng, Time};

#[derive(Clone, Debug)]
pub(super) struct Session {
    rng: Rng,
    /// First block of its range.
    base_block: u32,
    updater: bool,
    /// An execution is under way.
    executing: bool,
    updating: bool,
    /// Blocks that it has still to touch.
    blocks_left: u32,
    /// Updating executions since the last commit.
    uncommitted: u32,
    /// CPU time that was used and not yet spent in a step.
    cpu_ns: u64,
    /// When its last step began, and the CPU time that this was to spend.
    stepped: Time,
    computing_ns: u64,
    at: At,
}

/// A session's next action when it is stepped.
#[derive(Clone, Copy, Debug)]
enum At {
    /// Goes on with the execution, or begins one.
    Run,
    /// Asks for a block that is not in memory.
    AskBlock(u32),
    /// Has the block.
    Reading {
        block: u32,
        since: Time,
    },
    /// Changes a block; there may be no clean buffer for it.
    Change(u32),
    /// Was woken: there may be a clean buffer.
    NoBuffer {
        block: u32,
        since: Time,
    },
    /// Goes on if there is room in the log buffer.
    CheckLogRoom,
    /// Was woken: there may be room in the log buffer.
    NoLogRoom {
        since: Time,
    },
    Commit,
    /// Its commit is durable.
    Committing {
        since: Time,
    },
}

impl Session {
    pub fn new(config: &SlobConfig, number: u32, seed: u64) -> Session {
        Session {
            // Readers and writers count from 0 each: another reader does not change what the writers draw.
            rng: Rng::stream(
                seed,
                &match number.checked_sub(config.readers) {
                    None => format!("slob reader {number}"),
                    Some(writer) => format!("slob writer {writer}"),
                },
            ),
            base_block: number * config.scale_blocks,
            updater: number >= config.readers,
            executing: false,
            updating: false,
            blocks_left: 0,
            uncommitted: 0,
            cpu_ns: 0,
            stepped: Time::ZERO,
            computing_ns: 0,
            at: At::Run,
        }
    }

    pub fn step(&mut self, me: ProcessId, db: &mut Database, now: Time, wake: &mut Vec<ProcessId>) -> Step {
        db.counts.db_time_ns += now.since_ns(self.stepped);
        if self.computing_ns > 0 {
            db.counts.computed(std::mem::take(&mut self.computing_ns), self.stepped, now);
        }
        self.stepped = now;
        loop {
            match self.at {
                At::Run => {
                    if let Some(step) = self.run(db, wake) {
                        return step;
                    }
                }
                At::AskBlock(block) => {
                    self.at = At::Reading { block, since: now };
                    return Step::io(db.instance.cache.area().read(block));
                }
                At::Reading { block, since } => {
                    db.counts.single_block_read.add(since, now);
                    self.at = At::Run;
                    if self.updating {
                        db.instance.cache.finish_update(block, wake);
                        self.changed(db, wake);
                    }
                }
                At::Change(block) => match db.instance.cache.update(block, &mut self.rng, wake) {
                    Update::Done => {
                        self.at = At::Run;
                        self.changed(db, wake);
                    }
                    Update::Miss => self.at = At::AskBlock(block),
                    Update::NoBuffer => {
                        db.instance.cache.wait_for_buffer(me);
                        self.at = At::NoBuffer { block, since: now };
                        return Step::Park;
                    }
                },
                At::NoBuffer { block, since } => {
                    db.counts.free_buffer.add(since, now);
                    self.at = At::Change(block);
                }
                At::CheckLogRoom => {
                    if db.instance.log.is_full() {
                        db.instance.log.wait_for_room(me, wake);
                        self.at = At::NoLogRoom { since: now };
                        return Step::Park;
                    }
                    self.at = At::Run;
                }
                At::NoLogRoom { since } => {
                    db.counts.log_buffer_space.add(since, now);
                    self.at = At::CheckLogRoom;
                }
                At::Commit => {
                    self.at = At::Run;
                    if db.instance.log.commit(me, wake) {
                        self.at = At::Committing { since: now };
                        return Step::Park;
                    }
                }
                At::Committing { since } => {
                    db.counts.log_file_sync.add(since, now);
                    self.at = At::Run;
                }
            }
        }
    }

    /// Touches blocks until something has to be waited for or the execution ends. A step: CPU time to spend before
    /// what `at` says now. (An execution that ends without one has spent its CPU time before a wait.)
    fn run(&mut self, db: &mut Database, wake: &mut Vec<ProcessId>) -> Option<Step> {
        if !self.executing {
            self.executing = true;
            self.blocks_left = db.config.work_unit_blocks;
            self.updating = self.updater && self.rng.unit() * 100.0 < db.config.update_percent;
        }
        while self.blocks_left > 0 {
            self.blocks_left -= 1;
            self.cpu_ns += db.config.cpu_per_logical_read_ns;
            db.counts.logical_reads += 1;
            let block = self.base_block + db.sampler.draw(&mut self.rng) as u32;
            if self.updating {
                self.at = match db.instance.cache.update(block, &mut self.rng, wake) {
                    Update::Done => {
                        self.changed(db, wake);
                        self.at
                    }
                    Update::Miss => At::AskBlock(block),
                    // Tried again after its CPU time: by then there may be a buffer.
                    Update::NoBuffer => At::Change(block),
                };
            } else if !db.instance.cache.read(block, &mut self.rng) {
                self.at = At::AskBlock(block);
            }
            if !matches!(self.at, At::Run) {
                return self.spend(db);
            }
        }
        self.executing = false;
        db.counts.executes += 1;
        if self.updating {
            self.uncommitted += 1;
            if self.uncommitted == db.config.commit_every {
                self.uncommitted = 0;
                self.at = At::Commit;
            }
        }
        self.spend(db)
    }

    /// A block was changed.
    fn changed(&mut self, db: &mut Database, wake: &mut Vec<ProcessId>) {
        self.cpu_ns += db.config.cpu_per_update_ns;
        db.instance.log.append(db.config.redo_bytes_per_update.into(), wake);
        if db.instance.log.is_full() {
            self.at = At::CheckLogRoom;
        }
    }

    fn spend(&mut self, db: &mut Database) -> Option<Step> {
        let cpu_ns = std::mem::take(&mut self.cpu_ns);
        db.counts.cpu_ns += cpu_ns;
        self.computing_ns = cpu_ns;
        (cpu_ns > 0).then_some(Step::Cpu { cpu_ns })
    }
}
