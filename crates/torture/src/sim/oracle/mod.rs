//! What may a sector read as?
//!
//! The contract: after any fault within the redundancy each sector reads as its last durable version or a version
//! issued later. Never an older one, never mixed, never another sector's. Beyond the redundancy: an explicit error for
//! exactly the sectors concerned, or a refusal to start.
//!
//! Each sector is a register of its own; a request of several sectors is one version of each, and nothing is promised
//! between sectors. Writes, trims, write-zeroes, and losses that a fault may have caused are *versions*. Precisely:
//!
//! - **Order.** A version takes effect at some moment between its submission and its answer. Version `a` is known to
//!   come before `b` when `a` was answered (or seen by a completed read, or cut) before `b` was submitted, or when a
//!   read that began after `a` was settled returned `b`. Versions whose order is not known may have been applied
//!   either way.
//! - **Reads.** A read may return every version that was submitted before it was answered, except those superseded
//!   before it began. A version is superseded from when a version that comes after it is acknowledged or seen, and
//!   from when a read that began after it was settled has returned another. Reads never go back while there is power.
//! - **Failed requests** may have taken effect or not, and may still do so in a recovery; what was submitted after the
//!   failure comes after them. A failed flush covers nothing.
//! - **Durable** is a version: with capacitors ([`Durability::OnAck`]) once it was acknowledged or seen; otherwise once
//!   its own FUA request was acknowledged, or a flush that was submitted after its acknowledgement. That it was read
//!   before a cut does not make it durable then.
//! - **Cuts.** After a cut every version may be read that no durable version is known to come after; also those that
//!   had been superseded by versions which were not durable.
//! - **Recovery decides.** A version that was issued before a cut and is read after the recovery is durable from then
//!   on, in all modes, and the others from before the cut are gone for ever, older or newer: a recovered card never
//!   goes back, and what was seen to be missing does not return.
//! - **Losses.** A fault may issue a loss to a sector, which reads as an error, if ever it takes effect. Missing data
//!   may come back: the sector then reads as it could have without the loss, and as nothing older. A loss that was seen
//!   is over when something else has been read after it, or something that was submitted after the fault supersedes it.
//!
//! - **Beyond the redundancy**, where nobody can say what is lost ([`Oracle::beyond`]): any sector may read as an error
//!   at any time, any request may fail and any start may be refused. An error then says nothing; whatever else is read
//!   must be what could be read without the errors.
//!
//! The rules never blame a correct card. Orders that only a search through all overlapping requests would exclude are
//! not looked for. Zeroes of several versions look alike; where that leaves a doubt the card gets its benefit.

mod history;
mod register;
#[cfg(test)]
mod tests;
mod version;
mod violation;

pub use version::{Moment, Version};
pub use violation::{Violation, Wrong, WrongSector};

use crate::sim::{
    Ask, Done, Durability, HostOp, Impact, Lba, Lost, OpError, OpId, Outcome, PARTS, Refusal, Sector, Stamp,
};
use history::Seeing;
use register::{ALL, Misread, Register};
use std::collections::BTreeMap;

/// A request in flight.
#[derive(Clone, Debug)]
struct Pending {
    client: u32,
    submitted: Moment,
    kind: PendingKind,
}

#[derive(Clone, Debug)]
enum PendingKind {
    /// One version of each sector.
    Versions {
        versions: Vec<(Lba, u32)>,
        fua: bool,
    },
    Flush,
    Read {
        lba: Lba,
        count: u32,
    },
}

/// An acknowledged version that waits for a flush.
#[derive(Clone, Copy, Debug)]
struct Unflushed {
    client: u32,
    lba: Lba,
    version: u32,
    acknowledged: Moment,
}

/// Knows what each sector may read as.
#[derive(Clone, Debug)]
pub struct Oracle {
    durability: Durability,
    now: u64,
    power_cuts: u32,
    sectors: Vec<Register>,
    pending: BTreeMap<OpId, Pending>,
    unflushed: Vec<Unflushed>,
    /// Versions of clients that are gone: nobody hears of their end.
    orphans: Vec<(Lba, u32)>,
    /// Flushes that covered what another client had written.
    cross_flushes: u64,
    may_refuse: bool,
    may_fail: bool,
    may_have_stopped: bool,
    beyond: bool,
}

impl Oracle {
    /// A card that was just formatted.
    pub fn new(sectors: u32, durability: Durability) -> Oracle {
        Oracle {
            durability,
            now: 0,
            power_cuts: 0,
            sectors: (0..sectors).map(|_| Register::new()).collect(),
            pending: BTreeMap::new(),
            unflushed: Vec::new(),
            orphans: Vec::new(),
            cross_flushes: 0,
            may_refuse: false,
            may_fail: false,
            may_have_stopped: false,
            beyond: false,
        }
    }

    fn tick(&mut self) -> Moment {
        self.now += 1;
        Moment(self.now)
    }

    fn history(&mut self, lba: Lba) -> &mut Register {
        &mut self.sectors[lba.0 as usize]
    }

    /// Things that happened so far: between two looks at it that find the same, nothing was asked or answered.
    pub fn moment(&self) -> Moment {
        Moment(self.now)
    }

    /// Requests in flight.
    pub fn in_flight(&self) -> usize {
        self.pending.len()
    }

    /// The last versions of a sector, oldest first.
    pub fn versions(&self, lba: Lba) -> Vec<Version> {
        self.sectors[lba.0 as usize].versions(0)
    }

    /// The values that a read that is submitted now may return, if nothing else is.
    pub fn allowed(&self, lba: Lba) -> Vec<Sector> {
        self.sectors[lba.0 as usize].allowed(0, Moment(self.now + 1))
    }

    /// The request to submit for `ask`: writes get the next stamps of their sectors.
    pub fn stamped(&self, ask: &Ask) -> HostOp {
        let stamp = |lba: Lba| Stamp::new(lba, self.sectors[lba.0 as usize].next());
        let stamps = match *ask {
            Ask::Write { lba, count, .. } => lba.run(count).map(stamp).collect(),
            Ask::WriteParts { lba, first, parts, .. } => {
                let of_sector = |(lba, _, count)| std::iter::repeat_n(stamp(lba), count as usize);
                by_sector(lba, first, parts).flat_map(of_sector).collect()
            }
            _ => Vec::new(),
        };
        HostOp { ask: *ask, stamps }
    }

    /// A request of the first client was submitted. Writes must carry the stamps of [`Oracle::stamped`].
    pub fn submitted(&mut self, id: OpId, op: &HostOp) -> Result<(), Violation> {
        self.submitted_by(0, id, op)
    }

    /// As [`Oracle::submitted`], by any client.
    pub fn submitted_by(&mut self, client: u32, id: OpId, op: &HostOp) -> Result<(), Violation> {
        let at = self.tick();
        let cuts = self.power_cuts;
        let mut zeroes = |lba: Lba, count: u32, fua: bool| {
            let versions =
                lba.run(count).map(|lba| (lba, self.history(lba).issue(ALL, Sector::Zero, cuts, at))).collect();
            PendingKind::Versions { versions, fua }
        };
        let kind = match op.ask {
            Ask::Write { lba, count, fua } => {
                let mut versions = Vec::with_capacity(op.stamps.len());
                for (lba, &stamp) in lba.run(count).zip(&op.stamps) {
                    let version = self.history(lba).issue(ALL, Sector::Value(stamp), cuts, at);
                    assert_eq!(stamp, Stamp::new(lba, version), "a write carries the next stamp of its sector");
                    versions.push((lba, version));
                }
                PendingKind::Versions { versions, fua }
            }
            Ask::WriteParts { lba, first, parts, fua } => {
                let mut versions = Vec::new();
                let mut at_part = 0;
                for (lba, mask, count) in by_sector(lba, first, parts) {
                    let stamp = op.stamps[at_part];
                    at_part += count as usize;
                    let version = self.history(lba).issue(mask, Sector::Value(stamp), cuts, at);
                    assert_eq!(stamp, Stamp::new(lba, version), "a write carries the next stamp of its sector");
                    versions.push((lba, version));
                }
                PendingKind::Versions { versions, fua }
            }
            Ask::ZeroParts { lba, first, parts, fua, .. } => {
                let zero = |(lba, mask, _)| (lba, self.history(lba).issue(mask, Sector::Zero, cuts, at));
                PendingKind::Versions { versions: by_sector(lba, first, parts).map(zero).collect(), fua }
            }
            Ask::TrimParts { lba, first, parts } => {
                let whole = by_sector(lba, first, parts).filter(|(_, mask, _)| *mask == ALL);
                let zero = |(lba, mask, _)| (lba, self.history(lba).issue(mask, Sector::Zero, cuts, at));
                PendingKind::Versions { versions: whole.map(zero).collect(), fua: false }
            }
            Ask::Trim { lba, count } => zeroes(lba, count, false),
            Ask::WriteZeroes { lba, count, fua } => zeroes(lba, count, fua),
            Ask::Flush => PendingKind::Flush,
            Ask::Read { lba, count } => PendingKind::Read { lba, count },
        };
        match self.pending.insert(id, Pending { client, submitted: at, kind }) {
            None => Ok(()),
            Some(_) => Err(Violation::NameInUse { id }),
        }
    }

    /// A request was answered.
    pub fn done(&mut self, done: &Done) -> Result<(), Violation> {
        let at = self.tick();
        let id = done.id;
        let Some(Pending { client, submitted, kind }) = self.pending.remove(&id) else {
            return Err(Violation::NotInFlight { id });
        };
        match (kind, &done.outcome) {
            (PendingKind::Versions { versions, .. }, Outcome::Failed(error)) => {
                let may_fail = *error == OpError::Unreadable
                    && versions.iter().any(|(lba, _)| self.sectors[lba.0 as usize].may_be_unreadable(at));
                for (lba, version) in versions {
                    self.history(lba).failed(version, at);
                }
                if may_fail { Ok(()) } else { self.failure(id, *error) }
            }
            (_, Outcome::Failed(error)) => self.failure(id, *error),
            (PendingKind::Versions { versions, fua }, Outcome::Ok) => {
                self.acknowledged(client, &versions, fua, at);
                Ok(())
            }
            (PendingKind::Flush, Outcome::Ok) => {
                self.flushed(client, submitted);
                Ok(())
            }
            (PendingKind::Read { lba, count }, Outcome::Values(values)) if values.len() == count as usize => {
                for (lba, &what) in lba.run(count).zip(values) {
                    self.read(lba, submitted, at, what)?;
                }
                Ok(())
            }
            (kind, outcome) => {
                let expected = if let PendingKind::Read { count, .. } = kind { count } else { 0 };
                let got = if let Outcome::Values(values) = outcome { values.len() as u32 } else { 0 };
                Err(Violation::Misfit { id, expected, got })
            }
        }
    }

    fn failure(&self, id: OpId, error: crate::sim::OpError) -> Result<(), Violation> {
        if self.may_fail || self.may_have_stopped || self.beyond {
            Ok(())
        } else {
            Err(Violation::Failed { id, error })
        }
    }

    fn acknowledged(&mut self, client: u32, versions: &[(Lba, u32)], fua: bool, at: Moment) {
        let durable = fua || self.durability == Durability::OnAck;
        let oldest = self.oldest_read();
        for &(lba, version) in versions {
            let history = self.history(lba);
            history.acknowledged(version, at, durable);
            history.prune(oldest);
            if !durable {
                self.unflushed.push(Unflushed { client, lba, version, acknowledged: at });
            }
        }
    }

    fn flushed(&mut self, client: u32, submitted: Moment) {
        let oldest = self.oldest_read();
        let crosses = |u: &Unflushed| u.client != client && u.acknowledged < submitted;
        self.cross_flushes += u64::from(self.unflushed.iter().any(crosses));
        let sectors = &mut self.sectors;
        self.unflushed.retain(|u| {
            let covered = u.acknowledged < submitted;
            if covered {
                let history = &mut sectors[u.lba.0 as usize];
                history.durable(u.version);
                history.prune(oldest);
            }
            !covered
        });
    }

    fn read(&mut self, lba: Lba, started: Moment, at: Moment, what: Sector) -> Result<(), Violation> {
        let seeing = Seeing { power_cuts: self.power_cuts, on_ack: self.durability == Durability::OnAck };
        let oldest = self.oldest_read();
        if self.beyond && what == Sector::Error {
            return Ok(());
        }
        let history = self.history(lba);
        let misread = match history.read(started, at, what, seeing) {
            Ok(()) => {
                history.prune(oldest);
                return Ok(());
            }
            Err(misread) => misread,
        };
        let (part, wrong) = match misread {
            Misread::Part(part) => (part, self.classify(lba, part, register::part_of(what, part))),
            Misread::Mixed => (0, Wrong::NeverWritten),
        };
        let history = &self.sectors[lba.0 as usize];
        Err(Violation::Sector(Box::new(WrongSector {
            lba,
            read: what,
            wrong,
            started,
            at,
            power_cuts: self.power_cuts,
            allowed: history.allowed(part, started),
            history: history.versions(part),
        })))
    }

    fn classify(&self, lba: Lba, part: usize, what: Sector) -> Wrong {
        match what {
            Sector::Error => Wrong::UnexplainedError,
            Sector::Mixed | Sector::Parts(_) => Wrong::NeverWritten,
            Sector::Zero => Wrong::Older,
            Sector::Value(stamp) => {
                let (named, number) = stamp.names();
                let Some(history) = self.sectors.get(named.0 as usize) else { return Wrong::NeverWritten };
                if number == 0 || number > history.issued() {
                    Wrong::NeverWritten
                } else if named != lba {
                    Wrong::AnotherSector(named)
                } else if history.versions(part).iter().any(|v| v.number > number && v.applied.is_some()) {
                    Wrong::Older
                } else {
                    Wrong::Returned
                }
            }
        }
    }

    /// The begin of the first read in flight, or now.
    fn oldest_read(&self) -> Moment {
        let reads = self.pending.values().filter(|p| matches!(p.kind, PendingKind::Read { .. }));
        reads.map(|p| p.submitted).min().unwrap_or(Moment(self.now + 1))
    }

    /// A client is gone: nothing that it has in flight is answered. It takes effect or not, and nobody hears of it.
    pub fn disconnected(&mut self, client: u32) {
        self.tick();
        let orphans = &mut self.orphans;
        self.pending.retain(|_, pending| {
            if let (true, PendingKind::Versions { versions, .. }) = (pending.client == client, &pending.kind) {
                orphans.extend(versions);
            }
            pending.client != client
        });
    }

    /// Requests of clients that are gone may be in flight.
    pub fn has_orphans(&self) -> bool {
        !self.orphans.is_empty()
    }

    /// None of them is in flight any more.
    pub fn orphans_ended(&mut self) {
        let at = self.tick();
        for (lba, version) in std::mem::take(&mut self.orphans) {
            self.history(lba).failed(version, at);
        }
    }

    /// Flushes that covered what another client had written.
    pub fn cross_flushes(&self) -> u64 {
        self.cross_flushes
    }

    /// The power was cut: nothing in flight is answered any more.
    pub fn cut(&mut self) {
        let at = self.tick();
        self.power_cuts += 1;
        self.pending.clear();
        self.unflushed.clear();
        self.orphans.clear();
        for history in &mut self.sectors {
            history.cut(at);
        }
    }

    /// Power cuts up to now.
    pub fn power_cuts(&self) -> u32 {
        self.power_cuts
    }

    /// The card has started, and has stopped for nothing.
    pub fn started(&mut self) {
        self.may_have_stopped = false;
    }

    /// The card does not start.
    pub fn refused(&self, refusal: Refusal) -> Result<(), Violation> {
        if self.may_refuse || self.beyond { Ok(()) } else { Err(Violation::Refused(refusal)) }
    }

    /// The damage that made a refusal acceptable was undone.
    pub fn must_start(&mut self) {
        self.may_refuse = false;
    }

    /// More than the redundancy makes up for is gone, and nobody can say of which sectors. From now on all that is
    /// promised is that no sector reads as anything that it must not be.
    pub fn beyond(&mut self) {
        self.beyond = true;
    }

    /// A fault beyond the redundancy: from now on the card may be as bad as this, and no worse.
    pub fn allow(&mut self, impact: &Impact) {
        let at = self.tick();
        let cuts = self.power_cuts;
        self.may_refuse |= impact.may_refuse;
        self.may_fail |= impact.may_fail;
        self.may_have_stopped |= impact.may_stop;
        match &impact.lost {
            Lost::None => {}
            Lost::These(sectors) => {
                for &lba in sectors {
                    self.history(lba).may_be_lost(cuts, at);
                }
            }
            Lost::All => self.sectors.iter_mut().for_each(|h| h.may_be_lost(cuts, at)),
        }
    }
}

/// The sectors that parts lie in: which parts of each, as bits, and how many.
fn by_sector(lba: Lba, first: u32, parts: u32) -> impl Iterator<Item = (Lba, u8, u32)> {
    let (from, end) = (lba.0 * PARTS + first, lba.0 * PARTS + first + parts);
    (from / PARTS..end.div_ceil(PARTS)).map(move |sector| {
        let (low, high) = (from.max(sector * PARTS) % PARTS, end.min((sector + 1) * PARTS) - sector * PARTS);
        (Lba(sector), (u32::from(ALL) >> (PARTS - high)) as u8 & (ALL << low), high - low)
    })
}
