//! Read-ahead on modules that are drives: a host that reads in order finds its next sectors there.
//!
//! As much is read ahead as was read in order so far, up to [`MAX_WINDOW`]. Sectors read ahead are given out once, and only
//! while the map has the address that they were read from and their checksum: nobody has to tell of writes.

use crate::core::read_run::Wanted;
use ftl::canary::{Canary, planted};
use ftl::{Lba, Ppa};
use media::SectorData;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

/// Readers that are followed at once.
const MAX_STREAMS: usize = 16;
/// Sectors that are read ahead of one reader, at most: 1 MiB.
const MAX_WINDOW: u32 = 256;
/// Sectors that are kept for all readers.
const MAX_SECTORS: usize = 2 * MAX_STREAMS * MAX_WINDOW as usize;

/// A reader, as far as it reads in order.
#[derive(Clone, Copy, Debug)]
struct Stream {
    /// The sector that it reads next if it goes on.
    next: u32,
    /// Sectors that it has read in order.
    run: u32,
    /// Sectors before this one are there or on their way.
    ahead: u32,
    /// The last time that it read, in requests.
    used: u64,
}

/// A sector that was read ahead.
#[derive(Clone, Debug)]
enum Sector {
    InFlight { ppa: Ppa, tag: u64 },
    There { ppa: Ppa, data: SectorData, crc: u32 },
}

/// The result of looking for sectors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Look {
    Nowhere,
    /// They come with the read of this tag.
    InFlight(u64),
    /// Their data, with the checksums that they were found to have.
    There(Vec<(SectorData, u32)>),
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct ReadAhead {
    streams: Vec<Stream>,
    requests: u64,
    sectors: FxHashMap<u32, Sector>,
    /// The sectors in the order in which their reads began.
    order: VecDeque<u32>,
    /// Requests that wait for a read ahead, by its tag.
    waiting: BTreeMap<u64, Vec<Wanted>>,
}

impl ReadAhead {
    /// A host reads `count` sectors from `first` on. Returns the sectors to read ahead now: they end with a unit of `unit`
    /// sectors, and before `end`.
    pub fn asked(&mut self, first: u32, count: u32, unit: u32, end: u32) -> Option<Range<u32>> {
        self.requests += 1;
        let used = self.requests;
        let next = first + count;
        let Some(stream) = self.streams.iter_mut().find(|stream| stream.next == first) else {
            let stream = Stream { next, run: count, ahead: next, used };
            if self.streams.len() < MAX_STREAMS {
                self.streams.push(stream);
            } else if let Some(oldest) = self.streams.iter_mut().min_by_key(|stream| stream.used) {
                *oldest = stream;
            }
            return None;
        };
        *stream = Stream { next, run: stream.run.saturating_add(count), ahead: stream.ahead.max(next), used };
        let window = stream.run.min(MAX_WINDOW);
        // The next window is begun when half of the last one was read.
        if stream.ahead - next > window / 2 {
            return None;
        }
        let to = (next + window).next_multiple_of(unit).min(end);
        let from = stream.ahead;
        stream.ahead = from.max(to);
        (from < to).then_some(from..to)
    }

    /// A read ahead begins.
    pub fn begin(&mut self, tag: u64, lba: Lba, ppa: Ppa, count: u32) {
        for i in 0..count {
            let sector = Sector::InFlight { ppa: Ppa(ppa.0 + i), tag };
            if self.sectors.insert(lba.0 + i, sector).is_none() {
                self.order.push_back(lba.0 + i);
            }
        }
        while self.order.len() > MAX_SECTORS
            && let Some(oldest) = self.order.pop_front()
        {
            self.sectors.remove(&oldest);
        }
    }

    /// A sector has come that is what the map says.
    pub fn came(&mut self, lba: Lba, ppa: Ppa, data: SectorData, crc: u32) {
        if let Some(sector @ Sector::InFlight { .. }) = self.sectors.get_mut(&lba.0) {
            *sector = Sector::There { ppa, data, crc };
        }
    }

    /// A sector can't be had so.
    pub fn forget(&mut self, lba: Lba) {
        self.sectors.remove(&lba.0);
    }

    /// Forgets what was read ahead, because a module is gone: a sector that only it held would be read once and then no
    /// more.
    pub fn forget_all(&mut self) {
        self.sectors.clear();
        self.order.clear();
    }

    /// Looks for sectors of one unit at their present addresses. Those that are there are taken out.
    pub fn look(&mut self, lba: Lba, ppa: Ppa, count: u32) -> Look {
        let at = |i: u32| self.sectors.get(&(lba.0 + i));
        match at(0) {
            Some(Sector::InFlight { tag, .. }) => {
                let tag = *tag;
                let is_its = |i: u32| {
                    matches!(at(i), Some(Sector::InFlight { ppa: found, tag: other })
                        if *other == tag && found.0 == ppa.0 + i)
                };
                if (0..count).all(is_its) { Look::InFlight(tag) } else { Look::Nowhere }
            }
            Some(Sector::There { .. }) => {
                let sectors: Option<Vec<(SectorData, u32)>> = (0..count)
                    .map(|i| match at(i)? {
                        Sector::There { ppa: found, data, crc }
                            if found.0 == ppa.0 + i || planted(Canary::ReadAheadStale) =>
                        {
                            Some((data.clone(), *crc))
                        }
                        _ => None,
                    })
                    .collect();
                (0..count).for_each(|i| self.forget(Lba(lba.0 + i)));
                sectors.map_or(Look::Nowhere, Look::There)
            }
            None => Look::Nowhere,
        }
    }

    /// A request waits for a read ahead.
    pub fn wait(&mut self, tag: u64, wanted: Wanted) {
        self.waiting.entry(tag).or_default().push(wanted);
        (0..wanted.count).for_each(|i| self.forget(Lba(wanted.lba.0 + i)));
    }

    /// The requests that wait for a read ahead, which has ended.
    pub fn take_waiting(&mut self, tag: u64) -> Vec<Wanted> {
        self.waiting.remove(&tag).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use device::RequestId;
    use ftl::{BandId, UnitAddress};

    const END: u32 = 100_000;

    #[test]
    fn readers_in_order_are_read_ahead_of_by_as_much_as_they_have_read_up_to_the_window() {
        let mut ahead = ReadAhead::default();
        let (mut next, mut there) = ([1_000, 5_000], [1_000, 5_000]);
        for request in 0..100 {
            for reader in 0..2 {
                if let Some(range) = ahead.asked(next[reader], 8, 16, END) {
                    assert!(request > 0 && range.start == there[reader].max(next[reader] + 8) && range.end % 16 == 0);
                    there[reader] = range.end;
                }
                next[reader] += 8;
                assert!(request == 0 || there[reader] >= next[reader] + (8 * request).min(MAX_WINDOW) / 2);
                assert!(there[reader] <= next[reader] + MAX_WINDOW + 16);
            }
        }
        for far in 0..1_000 {
            assert_eq!(ahead.asked(far * 50, 8, 16, END), None, "readers at random");
        }
        assert_eq!(ahead.streams.len(), MAX_STREAMS);
        let mut last = ReadAhead::default();
        assert_eq!(last.asked(END - 20, 10, 16, END), None);
        assert_eq!(last.asked(END - 10, 5, 16, END), Some(END - 5..END));
        assert_eq!(last.asked(END - 5, 5, 16, END), None);
    }

    #[test]
    fn sectors_are_given_out_once_and_from_their_present_address_alone() {
        let mut ahead = ReadAhead::default();
        let data = |byte: u8| SectorData::Data(vec![byte; 8].into());
        ahead.begin(7, Lba(40), Ppa(100), 4);
        assert_eq!(ahead.look(Lba(40), Ppa(100), 4), Look::InFlight(7));
        assert_eq!(ahead.look(Lba(40), Ppa(200), 4), Look::Nowhere);
        assert_eq!(ahead.look(Lba(42), Ppa(102), 4), Look::Nowhere, "more than was read");
        (0..4).for_each(|i| ahead.came(Lba(40 + i), Ppa(100 + i), data(i as u8), i));
        assert_eq!(ahead.look(Lba(40), Ppa(100), 2), Look::There(vec![(data(0), 0), (data(1), 1)]));
        assert_eq!(ahead.look(Lba(40), Ppa(100), 2), Look::Nowhere);
        assert_eq!(ahead.look(Lba(42), Ppa(999), 2), Look::Nowhere, "written since");
        ahead.came(Lba(42), Ppa(102), data(2), 2);
        assert_eq!(ahead.look(Lba(42), Ppa(102), 1), Look::Nowhere, "nobody keeps it");
    }

    #[test]
    fn requests_wait_for_reads_ahead_and_no_more_is_kept_than_there_is_room_for() {
        let mut ahead = ReadAhead::default();
        let unit = UnitAddress { band: BandId(0), die: 0, row: 0 };
        let wanted = Wanted { id: RequestId(3), unit, lba: Lba(1), ppa: Ppa(1), count: 1 };
        ahead.begin(1, Lba(0), Ppa(0), 2);
        ahead.wait(1, wanted);
        assert_eq!(ahead.look(Lba(1), Ppa(1), 1), Look::Nowhere);
        assert_eq!(ahead.take_waiting(1).len(), 1);
        assert!(ahead.take_waiting(1).is_empty());
        for tag in 0..2 * MAX_SECTORS as u64 / 16 {
            ahead.begin(tag, Lba(tag as u32 * 16), Ppa(tag as u32 * 16), 16);
        }
        assert!(ahead.sectors.len() <= MAX_SECTORS && ahead.order.len() <= MAX_SECTORS);
    }
}
