//! The versions of one sector.

use super::version::{Moment, Version};
use crate::sim::Sector;
use std::collections::VecDeque;

/// Versions that no read can return any more are kept for messages, this many.
const KEPT_PAST: usize = 12;

/// Facts by which a read may make the version that it returns durable.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seeing {
    /// Power cuts up to now: what is older has survived one.
    pub power_cuts: u32,
    /// Capacitors care for every version that could be read.
    pub on_ack: bool,
}

impl Seeing {
    fn makes_durable(self, version: &Version) -> bool {
        version.durable || self.on_ack || version.power_cuts < self.power_cuts
    }
}

/// The versions of one sector that may still be read, now or after a power cut.
#[derive(Clone, Debug)]
pub(super) struct History {
    issued: u32,
    live: Vec<Version>,
    past: VecDeque<Version>,
}

impl History {
    pub fn new() -> History {
        let mut formatted = Version::new(0, Sector::Zero, 0, Moment(0));
        formatted.ended = Some(Moment(0));
        formatted.settled = Some(Moment(0));
        formatted.applied = Some(Moment(0));
        formatted.durable = true;
        History { issued: 0, live: vec![formatted], past: VecDeque::new() }
    }

    /// Number of the next version.
    pub fn next(&self) -> u32 {
        self.issued + 1
    }

    /// The last version that was issued.
    pub fn issued(&self) -> u32 {
        self.issued
    }

    /// A version is on its way.
    pub fn issue(&mut self, reads_as: Sector, power_cuts: u32, at: Moment) -> u32 {
        self.issued += 1;
        self.live.push(Version::new(self.issued, reads_as, power_cuts, at));
        self.issued
    }

    /// The next version is of other parts of the sector.
    pub fn skip(&mut self) -> u32 {
        self.issued += 1;
        self.issued
    }

    /// A fault may have destroyed what was written up to now.
    pub fn may_be_lost(&mut self, power_cuts: u32, at: Moment) {
        let number = self.issue(Sector::Error, power_cuts, at);
        self.edit(number, |v| v.ended = Some(at));
    }

    pub fn acknowledged(&mut self, number: u32, at: Moment, durable: bool) {
        self.edit(number, |v| v.acknowledged = true);
        self.apply(number, at);
        if durable {
            self.durable(number);
        }
    }

    pub fn failed(&mut self, number: u32, at: Moment) {
        self.edit(number, |v| {
            v.failed = true;
            v.ended = v.ended.or(Some(at));
        });
    }

    /// A completed flush covers it. Without effect when it can't be read any more.
    pub fn durable(&mut self, number: u32) {
        let Some(i) = self.find(number) else { return };
        self.live[i].durable = true;
        self.forget_before(i);
    }

    /// A version that was not durable may or may not be there after the recovery; nothing in flight takes effect later.
    pub fn cut(&mut self, at: Moment) {
        for v in &mut self.live {
            v.ended = v.ended.or(Some(at));
            if !v.is_loss() {
                v.settled = v.settled.or(Some(at));
            }
            if !v.gone {
                v.superseded = None;
            }
        }
    }

    /// A read from `started` to `at` returned `what`. `false`: it must not have.
    pub fn read(&mut self, started: Moment, at: Moment, what: Sector, seeing: Seeing) -> bool {
        let can_be = |v: &Version| v.reads_as == what && v.readable(started);
        if what == Sector::Error {
            return self.seen_lost(started, at);
        }
        let mut candidates = (0..self.live.len()).filter(|&i| can_be(&self.live[i]));
        let Some(first) = candidates.next() else { return false };
        if candidates.next().is_none() {
            self.seen(first, started, at, seeing);
            return true;
        }
        // Zeroes of several versions look alike: what is known is only that all else that was settled is superseded.
        let durable = self.live.iter().filter(|v| can_be(v)).all(|v| seeing.makes_durable(v));
        for v in &mut self.live {
            if !can_be(v) && v.settled.is_some_and(|s| s < started) {
                supersede(v, at);
                v.gone |= durable;
            }
        }
        true
    }

    /// It can't be read. That says nothing of the other versions: what is missing may come back.
    fn seen_lost(&mut self, started: Moment, at: Moment) -> bool {
        let mut can_be = self.live.iter_mut().filter(|v| v.is_loss() && v.readable(started)).peekable();
        let explained = can_be.peek().is_some();
        for loss in can_be {
            loss.settled = loss.settled.or(Some(at));
            loss.durable = true;
        }
        explained
    }

    fn seen(&mut self, i: usize, started: Moment, at: Moment, seeing: Seeing) {
        self.apply(self.live[i].number, at);
        let version = &mut self.live[i];
        version.seen_from = version.seen_from.max(Some(started));
        version.durable = seeing.makes_durable(version);
        let durable = version.durable;
        for (j, v) in self.live.iter_mut().enumerate() {
            if j != i && v.settled.is_some_and(|s| s < started) {
                supersede(v, at);
            }
        }
        if durable {
            self.forget_before(i);
        }
    }

    /// It has taken effect by now.
    fn apply(&mut self, number: u32, at: Moment) {
        let Some(i) = self.find(number) else { return };
        let version = &mut self.live[i];
        version.ended = version.ended.or(Some(at));
        version.settled = version.settled.or(Some(at));
        if version.applied.is_some() {
            return;
        }
        version.applied = Some(at);
        let submitted = version.submitted;
        for v in &mut self.live {
            if v.ended.is_some_and(|e| e < submitted) {
                supersede(v, at);
            }
        }
    }

    fn forget_before(&mut self, i: usize) {
        let durable = self.live[i].clone();
        for v in &mut self.live {
            if v.number != durable.number && v.is_before(&durable) {
                v.gone = true;
            }
        }
    }

    /// Drops what no read can return any more, when no read that is in flight began before `oldest`.
    pub fn prune(&mut self, oldest: Moment) {
        if !self.live.iter().any(|v| v.gone) {
            return;
        }
        let past = &mut self.past;
        self.live.retain(|v| {
            let keep = !v.gone || v.readable(oldest);
            if !keep {
                past.push_back(v.clone());
            }
            keep
        });
        while past.len() > KEPT_PAST {
            past.pop_front();
        }
    }

    /// The values that a read that began at `started` may return.
    pub fn allowed(&self, started: Moment) -> Vec<Sector> {
        let mut allowed = Vec::new();
        for v in self.live.iter().filter(|v| v.readable(started)) {
            if !allowed.contains(&v.reads_as) {
                allowed.push(v.reads_as);
            }
        }
        allowed
    }

    /// The last versions, oldest first.
    pub fn versions(&self) -> Vec<Version> {
        let mut all: Vec<Version> = self.past.iter().chain(&self.live).cloned().collect();
        all.sort_by_key(|v| v.number);
        all
    }

    fn find(&self, number: u32) -> Option<usize> {
        self.live.iter().position(|v| v.number == number)
    }

    fn edit(&mut self, number: u32, change: impl FnOnce(&mut Version)) {
        if let Some(i) = self.find(number) {
            change(&mut self.live[i]);
        }
    }
}

fn supersede(v: &mut Version, at: Moment) {
    v.superseded = Some(v.superseded.map_or(at, |s| s.min(at)));
}
