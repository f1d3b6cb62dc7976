//! Reads of the host that go past the dies, on modules that are drives: a drive has a queue, and reads while it writes.
//!
//! A read that takes far longer than others is hedged: the same sectors of the other members of the stripe are read, and
//! the answer that comes first counts. The number of hedges is limited to a small part of all reads, because each reads a
//! whole stripe's worth, and a stall that all drives share would only grow.

use super::read_ahead::ReadAhead;
use crate::core::read_run::{ReadRun, Wanted};
use device::Time;
use ftl::{Ppa, UnitAddress};
use media::SectorsAt;
use std::collections::{BTreeMap, BTreeSet};

/// The purpose of a read.
#[derive(Clone, Copy, Debug)]
pub enum For {
    /// The read brings sectors of a request.
    Host(Wanted),
    /// The read brings sectors that a host will probably want.
    Ahead(ReadRun),
    /// The read brings a member of a stripe for the rebuild of this number.
    Member(u64),
}

/// A read of neighbouring sectors of a unit.
#[derive(Clone, Copy, Debug)]
pub struct DirectRead {
    pub purpose: For,
    /// The unit that is read.
    pub unit: UnitAddress,
    /// The place when the read began; a module may have come or gone since.
    pub at: SectorsAt,
    pub began: Time,
    /// When the read ends, or the card stops to wait for it.
    pub ends: Time,
    /// When it is hedged, if it has not ended; it is hedged once.
    pub hedge: Time,
}

impl DirectRead {
    /// The address of the first sector that is read; a member of a rebuild has none.
    pub fn first_ppa(&self) -> Option<Ppa> {
        match self.purpose {
            For::Host(Wanted { ppa, .. }) | For::Ahead(ReadRun { ppa, .. }) => Some(ppa),
            For::Member(_) => None,
        }
    }

    fn due(&self) -> Time {
        self.ends.min(self.hedge)
    }
}

/// Sectors that are rebuilt from the other members of their stripe.
#[derive(Clone, Debug)]
pub struct ReadRebuild {
    pub wanted: Wanted,
    /// The read that it hedges, while that one is in flight.
    pub hedges: Option<u64>,
    /// Members that have not come.
    pub left: u32,
    /// A member can't be read.
    pub lacks_member: bool,
    /// The sum of the members so far, by exclusive or.
    pub sum: Vec<u8>,
}

/// One hedge for so many reads at most. Each reads all other members: with sixteen of them some 4 % more bytes.
const READS_A_HEDGE: u32 = 400;
/// Hedges that may follow each other at once after a time without any.
const MAX_HEDGES_SAVED: u32 = 8;
/// A read is hedged when it takes so many times the median.
const HEDGE_AFTER_MEDIANS: u64 = 10;
/// The median is believed after so many reads.
const MIN_SAMPLES: u32 = 64;

/// A running median of the time of reads: each read moves it by a part of itself.
#[derive(Clone, Copy, Debug, Default)]
struct Median {
    ns: u64,
    samples: u32,
}

impl Median {
    fn note(&mut self, ns: u64) {
        // The first reads move it far, because the very first says little.
        let step = (self.ns / u64::from(self.samples.clamp(2, MIN_SAMPLES))).max(1);
        self.ns = match self.samples {
            0 => ns,
            _ if ns > self.ns => self.ns + step,
            _ => self.ns.saturating_sub(step),
        };
        self.samples = self.samples.saturating_add(1);
    }
}

/// The reads in flight, by tag. A tag is never used again, because a read that was given up may end late.
#[derive(Clone, Debug, Default)]
pub struct DirectReads {
    reads: BTreeMap<u64, DirectRead>,
    /// Reads that nobody waits for any longer, and that the medium has not ended.
    given_up: BTreeMap<u64, DirectRead>,
    due: BTreeSet<(Time, u64)>,
    /// By number. The members of one that is gone come for nobody.
    rebuilds: BTreeMap<u64, ReadRebuild>,
    numbers: u64,
    median: Median,
    pub ahead: ReadAhead,
    /// Reads since the last hedge, at most those of [`MAX_HEDGES_SAVED`].
    saved: u32,
}

impl DirectReads {
    /// A read of the host begins that takes until `ends`, or that the card waits for until then. Returns its tag.
    pub fn begin(&mut self, wanted: Wanted, at: SectorsAt, began: Time, ends: Time) -> u64 {
        self.saved = (self.saved + 1).min(READS_A_HEDGE * MAX_HEDGES_SAVED);
        // A rebuild is checked by checksums that are known already.
        let is_known = self.median.samples >= MIN_SAMPLES && !at.with_spares;
        let hedge = if is_known { began + (self.median.ns * HEDGE_AFTER_MEDIANS).max(1) } else { Time::NEVER };
        self.insert(DirectRead { purpose: For::Host(wanted), unit: wanted.unit, at, began, ends, hedge })
    }

    /// As [`DirectReads::begin`], for sectors that a host will probably want.
    pub fn begin_ahead(&mut self, run: ReadRun, at: SectorsAt, began: Time, ends: Time) -> u64 {
        let purpose = For::Ahead(run);
        let tag = self.insert(DirectRead { purpose, unit: run.unit, at, began, ends, hedge: Time::NEVER });
        self.ahead.begin(tag, run.lba, run.ppa, run.sectors);
        tag
    }

    /// As [`DirectReads::begin`], for a member of a rebuild.
    pub fn begin_member(&mut self, rebuild: u64, unit: UnitAddress, at: SectorsAt, began: Time, ends: Time) -> u64 {
        self.insert(DirectRead { purpose: For::Member(rebuild), unit, at, began, ends, hedge: Time::NEVER })
    }

    fn insert(&mut self, read: DirectRead) -> u64 {
        self.numbers += 1;
        self.reads.insert(self.numbers, read);
        self.due.insert((read.due(), self.numbers));
        self.numbers
    }

    /// When the first read is due.
    pub fn next_due(&self) -> Time {
        self.due.first().map_or(Time::NEVER, |(due, _)| *due)
    }

    /// A read that is due by now.
    pub fn first_due(&self, now: Time) -> Option<u64> {
        self.due.first().filter(|(due, _)| *due <= now).map(|(_, tag)| *tag)
    }

    /// A read in flight, also one that was given up.
    pub fn get(&self, tag: u64) -> Option<&DirectRead> {
        self.reads.get(&tag).or_else(|| self.given_up.get(&tag))
    }

    /// A read has ended. `None` if it was given up before.
    pub fn end(&mut self, now: Time, tag: u64) -> Option<DirectRead> {
        self.given_up.remove(&tag);
        let read = self.reads.remove(&tag)?;
        self.due.remove(&(read.due(), tag));
        if matches!(read.purpose, For::Host(_)) {
            self.median.note(now - read.began);
        }
        Some(read)
    }

    /// Nobody waits for a read any longer, though the medium has not ended it.
    pub fn give_up(&mut self, tag: u64) -> Option<DirectRead> {
        let read = self.reads.remove(&tag)?;
        self.due.remove(&(read.due(), tag));
        self.given_up.insert(tag, read);
        Some(read)
    }

    /// A read that is due takes too long: whether it may be hedged. It is not asked again.
    pub fn may_hedge(&mut self, tag: u64) -> bool {
        let read = self.reads.get_mut(&tag).expect("it is due");
        self.due.remove(&(read.due(), tag));
        read.hedge = Time::NEVER;
        self.due.insert((read.due(), tag));
        let may = self.saved >= READS_A_HEDGE;
        self.saved -= if may { READS_A_HEDGE } else { 0 };
        may
    }

    /// Makes the reads end now whose units lie on some of the dies.
    pub fn hasten(&mut self, now: Time, is_on: impl Fn(u32) -> bool) {
        for (tag, read) in self.reads.iter_mut().filter(|(_, read)| is_on(read.unit.die)) {
            self.due.remove(&(read.due(), *tag));
            read.ends = read.ends.min(now);
            self.due.insert((read.due(), *tag));
        }
    }

    /// A rebuild begins.
    pub fn begin_rebuild(&mut self, rebuild: ReadRebuild) -> u64 {
        self.numbers += 1;
        self.rebuilds.insert(self.numbers, rebuild);
        self.numbers
    }

    /// A rebuild whose members are awaited.
    pub fn rebuild(&mut self, number: u64) -> Option<&mut ReadRebuild> {
        self.rebuilds.get_mut(&number)
    }

    /// A rebuild has all members.
    pub fn end_rebuild(&mut self, number: u64) -> Option<ReadRebuild> {
        self.rebuilds.remove(&number)
    }

    /// A read has ended: takes the rebuild that hedges it.
    pub fn end_hedge_of(&mut self, tag: u64) {
        self.rebuilds.retain(|_, rebuild| rebuild.hedges != Some(tag));
    }

    /// A read could not be believed: its hedge, if it has one, answers alone. False if it has none.
    pub fn leave_to_hedge(&mut self, tag: u64) -> bool {
        let hedge = self.rebuilds.values_mut().find(|rebuild| rebuild.hedges == Some(tag));
        hedge.map(|rebuild| rebuild.hedges = None).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use device::RequestId;
    use ftl::{BandId, Lba};
    use media::{BlockAt, UnitAt};

    fn wanted(die: u32) -> (Wanted, SectorsAt) {
        let unit = UnitAddress { band: BandId(3), die, row: 1 };
        let block = BlockAt { module: die, die: 0, block: 3 };
        let at = SectorsAt { unit: UnitAt { block, row: 1 }, first: 0, count: 2, with_spares: false };
        (Wanted { id: RequestId(0), unit, lba: Lba(8), ppa: Ppa(40), count: 2 }, at)
    }

    fn begin(reads: &mut DirectReads, die: u32, began: u64, ends: u64) -> u64 {
        let (wanted, at) = wanted(die);
        reads.begin(wanted, at, Time(began), Time(ends))
    }

    #[test]
    fn reads_are_due_in_order_of_time_and_those_of_a_die_that_goes_at_once() {
        let mut reads = DirectReads::default();
        let late = begin(&mut reads, 0, 0, 90);
        let early = begin(&mut reads, 1, 1, 50);
        assert_eq!((reads.next_due(), reads.first_due(Time(49))), (Time(50), None));
        assert_eq!(reads.first_due(Time(50)), Some(early));
        reads.hasten(Time(20), |die| die == 0);
        assert_eq!(reads.first_due(Time(20)), Some(late));
        assert_eq!(reads.end(Time(20), late).map(|read| read.began), Some(Time(0)));
        assert_eq!(reads.next_due(), Time(50));
        assert!(reads.end(Time(20), late).is_none());
    }

    #[test]
    fn a_read_that_was_given_up_ends_for_nobody() {
        let mut reads = DirectReads::default();
        let tag = begin(&mut reads, 0, 0, 90);
        assert!(reads.give_up(tag).is_some() && reads.give_up(tag).is_none());
        assert_eq!(reads.next_due(), Time::NEVER);
        reads.hasten(Time(1), |_| true);
        assert_eq!(reads.first_due(Time(99)), None);
        assert!(reads.get(tag).is_some() && reads.end(Time(99), tag).is_none() && reads.get(tag).is_none());
        assert_ne!(begin(&mut reads, 0, 0, 90), tag);
    }

    #[test]
    fn reads_of_ten_times_the_median_are_hedged_and_few_of_them() {
        let mut reads = DirectReads::default();
        let mut hedged = 0;
        for read in 0..4_000u64 {
            // Every tenth read takes fifty times as long as the others.
            let (began, ns) = (read * 10_000, if read % 10 == 0 { 5_000 } else { 100 });
            let tag = begin(&mut reads, 0, began, began + ns);
            let due = reads.next_due();
            if due < Time(began + ns) {
                assert!(read >= 64 && ns == 5_000, "read {read} is hedged after {}", due - Time(began));
                assert!((700..1_300).contains(&(due - Time(began))), "the median is 100");
                hedged += u32::from(reads.may_hedge(tag));
                assert_eq!(reads.next_due(), Time(began + ns), "it is asked once");
            }
            reads.end(Time(began + ns), tag);
        }
        assert!((8..=10).contains(&hedged), "{hedged} of 400");
    }

    #[test]
    fn a_hedge_goes_with_its_read_or_answers_for_it() {
        let mut reads = DirectReads::default();
        let tag = begin(&mut reads, 0, 0, 90);
        let rebuild = |hedges| {
            let (wanted, _) = wanted(0);
            ReadRebuild { wanted, hedges, left: 2, lacks_member: false, sum: Vec::new() }
        };
        let first = reads.begin_rebuild(rebuild(Some(tag)));
        reads.end_hedge_of(tag);
        assert!(reads.rebuild(first).is_none() && !reads.leave_to_hedge(tag));
        let second = reads.begin_rebuild(rebuild(Some(tag)));
        assert!(reads.leave_to_hedge(tag) && !reads.leave_to_hedge(tag));
        reads.end_hedge_of(tag);
        assert_eq!(reads.end_rebuild(second).map(|rebuild| rebuild.hedges), Some(None));
    }
}
