//! One disk: commands go in, finished commands come out.
//!
//! A command passes the firmware, then (a write's data) the interface, waits for the arm, is served, and (a read's
//! data) passes the interface. The firmware and the interface work while the arm moves for another command. With a
//! write cache a write ends when its data are in it; the arm destages when nothing else is to do, and in turns with
//! the host's commands when the cache is over its limit or a flush waits.
//!
//! Invariants:
//! - at most `queue_depth` commands are in the disk, the others wait in the backlog in front of it;
//! - a flush ends when the cache is empty, and until then the cache takes no write, so it does end;
//! - no command is overtaken for longer than the age limit while it waits for the arm;
//! - the stages of a command follow each other without gaps: its [`Spent`] adds up to its time.

use crate::DiskConfig;
use crate::cache::WriteCache;
use crate::error::DiskError;
use crate::mechanism::{Access, Mechanism, Target};
use crate::scheduler;
use crate::server::Server;
use crate::span::{BLOCK_BYTES, Span};
use crate::spent::Spent;
use device::Time;
use std::collections::VecDeque;

/// A disk with its cache fuller than this destages even while the host has work for it.
const DESTAGE_ABOVE: f64 = 0.75;

/// Bound on the time by which a command may be overtaken, in times that a full queue takes in order of arrival. For 32
/// random readers of a 15k disk, 2 makes the longest wait a third of what it is without a limit and costs a hundredth
/// of the throughput; 1 would cost a fifth.
const AGE_LIMIT_QUEUES: u64 = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Read,
    Write,
    Flush,
}

/// A command of the array to a disk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Command {
    /// The array's name for it.
    pub op: u32,
    pub kind: Kind,
    /// Ignored by a flush.
    pub span: Span,
    /// A write ends on the medium, not in the cache.
    pub durable: bool,
}

/// A command that has ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finished {
    pub op: u32,
    pub kind: Kind,
    pub spent: Spent,
}

/// A command in the disk.
#[derive(Clone, Copy, Debug)]
struct Active {
    command: Command,
    /// Reads and writes have one.
    target: Option<Target>,
    /// Start of the stage it is in.
    since: Time,
    spent: Spent,
}

impl Active {
    fn access(&self) -> Access {
        if self.command.kind == Kind::Read { Access::Read } else { Access::Write }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tag(usize);

/// The command that the arm serves.
#[derive(Clone, Copy, Debug)]
struct Serving {
    tag: Option<Tag>,
    target: Target,
    access: Access,
    /// When the first block comes under the head.
    transfer_from: Time,
    end: Time,
}

#[derive(Clone, Debug)]
pub(crate) struct Disk {
    command_ns: u64,
    interface_bytes_per_s: u64,
    age_limit_ns: u64,
    backlog_limit: usize,
    mechanism: Mechanism,
    /// Slots of commands; as many as the queue is deep.
    active: Vec<Option<Active>>,
    free: Vec<Tag>,
    /// Commands that the disk can't take yet, and when they came. At most `backlog_limit`.
    backlog: VecDeque<(Time, Command)>,
    /// These five hold tags, so each holds at most `queue_depth`.
    firmware: Server<Tag>,
    interface: Server<Tag>,
    /// Waits for the arm, in order of arrival.
    ready: Vec<Tag>,
    /// Waits for room in the cache, in order of arrival.
    room: VecDeque<Tag>,
    flushes: Vec<Tag>,
    serving: Option<Serving>,
    cache: Option<WriteCache>,
    /// The arm served the host last; a destage that presses is next.
    host_was_last: bool,
    /// End of the last range that the arm was sent to.
    arm_lba: u64,
    /// End of the last read that the array sent.
    read_to_lba: u64,
    outstanding: usize,
}

impl Disk {
    /// `backlog_limit` is how many commands the array may have outstanding.
    pub fn new(config: &DiskConfig, phase_ns: u64, backlog_limit: usize) -> Result<Disk, DiskError> {
        let depth = config.queue_depth as usize;
        let mechanism = Mechanism::new(config, phase_ns)?;
        let in_order_ns = config.average_seek_ns + mechanism.turn_ns() / 2 + config.command_ns;
        Ok(Disk {
            command_ns: config.command_ns,
            interface_bytes_per_s: config.interface_bytes_per_s,
            age_limit_ns: AGE_LIMIT_QUEUES * u64::from(config.queue_depth) * in_order_ns,
            backlog_limit,
            mechanism,
            active: vec![None; depth],
            free: (0..depth).rev().map(Tag).collect(),
            backlog: VecDeque::new(),
            firmware: Server::new(depth),
            interface: Server::new(depth),
            ready: Vec::with_capacity(depth),
            room: VecDeque::new(),
            flushes: Vec::new(),
            serving: None,
            cache: (config.write_cache_bytes >= BLOCK_BYTES).then(|| WriteCache::new(config.write_cache_bytes)),
            host_was_last: false,
            arm_lba: 0,
            read_to_lba: 0,
            outstanding: 0,
        })
    }

    /// Commands that have not ended.
    pub fn outstanding(&self) -> usize {
        self.outstanding
    }

    /// True when a read from `lba` would go on where the last one ends.
    pub fn continues_at(&self, lba: u64) -> bool {
        self.read_to_lba == lba && lba != 0
    }

    /// Returns the arm's distance from `lba`.
    pub fn distance_blocks(&self, lba: u64) -> u64 {
        self.arm_lba.abs_diff(lba)
    }

    pub fn next_event(&self) -> Time {
        let arm = self.serving.map_or(Time::NEVER, |s| s.end);
        self.firmware.next().min(self.interface.next()).min(arm)
    }

    pub fn submit(&mut self, now: Time, command: Command) {
        self.outstanding += 1;
        if command.kind == Kind::Read {
            self.read_to_lba = command.span.end;
        }
        if self.free.is_empty() {
            assert!(
                self.backlog.len() < self.backlog_limit,
                "a disk was given more than {} commands",
                self.backlog_limit
            );
            self.backlog.push_back((now, command));
        } else {
            self.accept(now, now, command);
        }
    }

    fn accept(&mut self, now: Time, submitted: Time, command: Command) {
        let tag = self.free.pop().expect("a command is accepted when a tag is free");
        let target = (command.kind != Kind::Flush).then(|| self.mechanism.target(command.span));
        let spent = Spent { disk_queue_ns: now - submitted, ..Spent::default() };
        self.active[tag.0] = Some(Active { command, target, since: now, spent });
        self.firmware.push(now, self.command_ns, tag);
    }

    fn of(&mut self, tag: Tag) -> &mut Active {
        self.active[tag.0].as_mut().expect("a tag in a queue is in use")
    }

    /// Handles everything that is due at `now`.
    pub fn advance(&mut self, now: Time, finished: &mut Vec<Finished>) {
        loop {
            if let Some(tag) = self.firmware.pop(now) {
                self.after_firmware(now, tag, finished);
            } else if let Some(tag) = self.interface.pop(now) {
                self.after_interface(now, tag, finished);
            } else if self.serving.is_some_and(|s| s.end <= now) {
                self.after_service(now, finished);
            } else if !self.start_service(now) {
                break;
            }
        }
    }

    fn after_firmware(&mut self, now: Time, tag: Tag, finished: &mut Vec<Finished>) {
        let active = self.of(tag);
        active.spent.command_queue_ns += now - active.since;
        active.since = now;
        let (kind, span, target) = (active.command.kind, active.command.span, active.target);
        match (kind, target) {
            (Kind::Flush, _) | (_, None) => {
                if self.cache.as_ref().is_none_or(WriteCache::is_empty) {
                    self.finish(now, tag, finished);
                } else {
                    self.flushes.push(tag);
                }
            }
            (Kind::Write, _) => self.interface.push(now, self.interface_ns(span), tag),
            (Kind::Read, Some(target)) => {
                let cached = self.cache.as_ref().is_some_and(|c| c.holds(span));
                if cached || self.mechanism.buffered(now, &target) {
                    self.interface.push(now, self.interface_ns(span), tag);
                } else {
                    self.ready.push(tag);
                }
            }
        }
    }

    fn after_interface(&mut self, now: Time, tag: Tag, finished: &mut Vec<Finished>) {
        let active = self.of(tag);
        active.spent.transfer_ns += now - active.since;
        active.since = now;
        let command = active.command;
        if command.kind == Kind::Read {
            self.finish(now, tag, finished);
            return;
        }
        match &self.cache {
            Some(cache) if !command.durable && !cache.too_small_for(command.span) => {
                self.room.push_back(tag);
                self.admit(now, finished);
            }
            _ => self.ready.push(tag),
        }
    }

    /// Takes writes into the cache, in order of arrival, while it has room and no flush waits.
    fn admit(&mut self, now: Time, finished: &mut Vec<Finished>) {
        while let Some(&tag) = self.room.front() {
            let span = self.of(tag).command.span;
            let cache = self.cache.as_mut().expect("only a cache is waited for");
            if !self.flushes.is_empty() || !cache.fits(span) {
                return;
            }
            cache.put(span);
            self.room.pop_front();
            let active = self.of(tag);
            active.spent.disk_queue_ns += now - active.since;
            active.since = now;
            self.finish(now, tag, finished);
        }
    }

    fn after_service(&mut self, now: Time, finished: &mut Vec<Finished>) {
        let serving = self.serving.take().expect("the arm was serving");
        self.mechanism.finish(now, &serving.target, serving.access);
        if let (Access::Write, Some(cache)) = (serving.access, &mut self.cache) {
            match serving.tag {
                None => cache.arrived(serving.target.span),
                Some(_) => cache.supersede(serving.target.span),
            }
            if cache.is_empty() {
                for tag in std::mem::take(&mut self.flushes) {
                    self.finish(now, tag, finished);
                }
            }
            self.admit(now, finished);
        }
        match (serving.tag, serving.access) {
            (None, _) => {}
            (Some(tag), Access::Write) => self.finish(now, tag, finished),
            (Some(tag), Access::Read) => {
                // Data leave while they come in; the interface is done after the last block at the earliest.
                let out_ns = self.interface_ns(serving.target.span);
                self.interface.push_streamed(now, serving.transfer_from, out_ns, tag);
            }
        }
    }

    /// Sends the arm to its next work. False when it is busy or has none.
    fn start_service(&mut self, now: Time) -> bool {
        if self.serving.is_some() {
            return false;
        }
        let pressed = !self.flushes.is_empty()
            || !self.room.is_empty()
            || self.cache.as_ref().is_some_and(|c| c.fill() > DESTAGE_ABOVE);
        let destage_first = self.ready.is_empty() || (pressed && self.host_was_last);
        if destage_first && self.start_destage(now) {
            return true;
        }
        let Some(index) = self.choose(now) else { return false };
        let tag = self.ready.remove(index);
        let active = self.active[tag.0].as_mut().expect("a tag in a queue is in use");
        let target = active.target.expect("only reads and writes wait for the arm");
        let access = active.access();
        let motion = self.mechanism.start(now, &target, access);
        active.spent.disk_queue_ns += now - active.since;
        active.spent.seek_ns += motion.seek_ns;
        active.spent.rotation_ns += motion.rotation_ns;
        active.spent.transfer_ns += motion.transfer_ns;
        let end = now + motion.total_ns();
        active.since = end;
        self.arm_lba = target.span.end;
        self.host_was_last = true;
        let transfer_from = now + motion.seek_ns + motion.rotation_ns;
        self.serving = Some(Serving { tag: Some(tag), target, access, transfer_from, end });
        true
    }

    /// Index in `ready` of the command to serve.
    fn choose(&self, now: Time) -> Option<usize> {
        let of = |tag: &Tag| self.active[tag.0].as_ref().expect("a tag in a queue is in use");
        let oldest = self.ready.first()?;
        if now.since_ns(of(oldest).since) > self.age_limit_ns {
            return Some(0);
        }
        let commands = self.ready.iter().map(|tag| {
            let active = of(tag);
            (active.target.as_ref().expect("only reads and writes wait for the arm"), active.access())
        });
        scheduler::shortest(now, &self.mechanism, commands)
    }

    fn start_destage(&mut self, now: Time) -> bool {
        let Some(cache) = &mut self.cache else { return false };
        let Some(target) = scheduler::destage(now, &self.mechanism, cache, self.arm_lba) else { return false };
        cache.take(target.span);
        let end = now + self.mechanism.start(now, &target, Access::Write).total_ns();
        self.arm_lba = target.span.end;
        self.host_was_last = false;
        self.serving = Some(Serving { tag: None, target, access: Access::Write, transfer_from: end, end });
        true
    }

    fn interface_ns(&self, span: Span) -> u64 {
        (u128::from(span.bytes()) * 1_000_000_000 / u128::from(self.interface_bytes_per_s)) as u64
    }

    fn finish(&mut self, now: Time, tag: Tag, finished: &mut Vec<Finished>) {
        let mut active = self.active[tag.0].take().expect("a command ends once");
        if active.command.kind == Kind::Flush {
            active.spent.durable_ns += now - active.since;
        }
        finished.push(Finished { op: active.command.op, kind: active.command.kind, spent: active.spent });
        self.free.push(tag);
        self.outstanding -= 1;
        if let Some((submitted, command)) = self.backlog.pop_front() {
            self.accept(now, submitted, command);
        }
    }
}
