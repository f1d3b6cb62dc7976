//! Reads of the host that go past the dies, on modules that are drives: a drive has a queue, and reads while it writes.

use device::{RequestId, Time};
use ftl::{Lba, Ppa, UnitAddress};
use media::SectorsAt;
use std::collections::{BTreeMap, BTreeSet};

/// A read of neighbouring sectors of a unit.
#[derive(Clone, Copy, Debug)]
pub struct DirectRead {
    pub id: RequestId,
    pub unit: UnitAddress,
    /// The place when the read began; a module may have come or gone since.
    pub at: SectorsAt,
    pub lba: Lba,
    pub ppa: Ppa,
    pub began: Time,
    /// When the card stops to wait for it.
    due: Time,
    /// The request was helped otherwise, and the medium has yet to end the read.
    is_given_up: bool,
}

impl DirectRead {
    /// A read of a request. [`DirectReads::begin`] sets the rest.
    pub fn of(id: RequestId, unit: UnitAddress, at: SectorsAt, lba: Lba, ppa: Ppa) -> DirectRead {
        DirectRead { id, unit, at, lba, ppa, began: Time::ZERO, due: Time::NEVER, is_given_up: false }
    }
}

/// The reads in flight, by tag. A tag is never used again, because a read that was given up may end late.
#[derive(Clone, Debug, Default)]
pub struct DirectReads {
    reads: BTreeMap<u64, DirectRead>,
    due: BTreeSet<(Time, u64)>,
    tags: u64,
}

impl DirectReads {
    /// A read begins, and is due at a time. Returns its tag.
    pub fn begin(&mut self, read: DirectRead, began: Time, due: Time) -> u64 {
        self.tags += 1;
        self.reads.insert(self.tags, DirectRead { began, due, ..read });
        self.due.insert((due, self.tags));
        self.tags
    }

    /// When the first read is due.
    pub fn next_due(&self) -> Time {
        self.due.first().map_or(Time::NEVER, |(due, _)| *due)
    }

    /// A read that is due by now.
    pub fn first_due(&self, now: Time) -> Option<u64> {
        self.due.first().filter(|(due, _)| *due <= now).map(|(_, tag)| *tag)
    }

    pub fn get(&self, tag: u64) -> Option<&DirectRead> {
        self.reads.get(&tag)
    }

    /// A read has ended. `None` if it was given up before.
    pub fn end(&mut self, tag: u64) -> Option<DirectRead> {
        let read = self.reads.remove(&tag)?;
        self.due.remove(&(read.due, tag));
        (!read.is_given_up).then_some(read)
    }

    /// Nobody waits for a read any longer, though the medium has not ended it.
    pub fn give_up(&mut self, tag: u64) -> DirectRead {
        let read = self.reads.get_mut(&tag).expect("it is in flight");
        self.due.remove(&(read.due, tag));
        read.is_given_up = true;
        *read
    }

    /// Makes the reads due now whose units lie on some of the dies.
    pub fn hasten(&mut self, now: Time, is_on: impl Fn(u32) -> bool) {
        for (tag, read) in self.reads.iter_mut().filter(|(_, read)| !read.is_given_up && is_on(read.unit.die)) {
            self.due.remove(&(read.due, *tag));
            read.due = read.due.min(now);
            self.due.insert((read.due, *tag));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftl::BandId;
    use media::{BlockAt, UnitAt};

    fn read(die: u32) -> DirectRead {
        let unit = UnitAddress { band: BandId(3), die, row: 1 };
        let block = BlockAt { module: die, die: 0, block: 3 };
        let at = SectorsAt { unit: UnitAt { block, row: 1 }, first: 0, count: 2, with_spares: false };
        DirectRead::of(RequestId(0), unit, at, Lba(8), Ppa(40))
    }

    #[test]
    fn reads_are_due_in_order_of_time_and_those_of_a_die_that_goes_at_once() {
        let mut reads = DirectReads::default();
        let late = reads.begin(read(0), Time(0), Time(90));
        let early = reads.begin(read(1), Time(1), Time(50));
        assert_eq!((reads.next_due(), reads.first_due(Time(49))), (Time(50), None));
        assert_eq!(reads.first_due(Time(50)), Some(early));
        reads.hasten(Time(20), |die| die == 0);
        assert_eq!(reads.first_due(Time(20)), Some(late));
        assert_eq!(reads.end(late).map(|read| read.began), Some(Time(0)));
        assert_eq!(reads.next_due(), Time(50));
        assert!(reads.end(late).is_none());
    }

    #[test]
    fn a_read_that_was_given_up_ends_for_nobody() {
        let mut reads = DirectReads::default();
        let tag = reads.begin(read(0), Time(0), Time(90));
        assert_eq!(reads.give_up(tag).lba, Lba(8));
        assert_eq!(reads.next_due(), Time::NEVER);
        reads.hasten(Time(1), |_| true);
        assert_eq!(reads.first_due(Time(99)), None);
        assert!(reads.get(tag).is_some() && reads.end(tag).is_none() && reads.get(tag).is_none());
        assert_ne!(reads.begin(read(0), Time(0), Time(90)), tag);
    }
}
